"""Answers `introspect` from the catalog: lists, details and types."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from . import controls
from .errors import param_error
from .validation import nearest

Row: TypeAlias = Mapping[str, Any]
Warnings: TypeAlias = list[tuple[str, str]]

_WHOLE, _PAGE, _LARGEST = 50, 20, 200  # longest list without pages, usual page, largest page
_SEARCH_HITS, _DETAILS, _MOST_DETAILS, _TYPE_DETAILS, _GROUPS = 5, 5, 20, 10, 15
_NARROWING = ("search", "category", "endpoint", "tag")
_HINT = 'Find operations with {"search":"what you want to do"}, or narrow with tag, category or endpoint.'


async def introspect(catalog: Row, args: Row, call: Any) -> Row:
    # Some clients fill in every parameter, so blank texts are ignored.
    warnings = call.warnings
    ask = {key: value.strip() if isinstance(value, str) else value for key, value in args.items()}
    ask = {key: value for key, value in ask.items() if value not in ("", None)}
    types = ask.get("query") == "types"
    if types and (narrowed := next((key for key in _NARROWING if key in ask), None)):
        raise param_error(narrowed, "narrows operations, not types; leave out one of them.")
    if "name" in ask:
        return _by_name(catalog, ask, "type" if types else "operation", warnings)
    return _types(catalog, ask, warnings) if types else _operations(catalog, ask, warnings)


def _by_name(catalog: Row, ask: Row, kind: str, warnings: Warnings) -> Row:
    several, detail = isinstance(ask["name"], list), ask.get("detail", "detail")
    rows = {row["name"]: row for row in catalog[f"{kind}s"]}
    known = rows | {alias: row for row in rows.values() for alias in row.get("aliases", ())}
    found = []
    if idle := [key for key in (*_NARROWING, "first", "after") if key in ask]:
        warnings.append(("IGNORED_PARAMS", f"'name' selects the answer, so {', '.join(idle)} had no effect."))
    for name in ask["name"] if several else [ask["name"]]:
        if name in known:
            found.append(_form(known[name], "alone" if detail == "signature" else detail))
        else:
            near = ", ".join(nearest(name, rows, 3)) or f"list all with query '{kind}s'"
            warnings.append(("NOT_FOUND", f"There is no such {kind}. Nearest: {near}."))
            found += [] if several else [None]
    return {f"{kind}s": found} if several else {kind: found[-1]}


def _form(row: Row, detail: str) -> Any:
    """An operation or a type in a form of the catalog; `full` adds what the specification does not have."""
    if detail != "full":
        return row["name"] if detail == "names" else row["forms"][detail]
    about, extra = row["forms"]["detail"], row["extra"]
    own = zip(about.get("parameters", ()), extra.get("parameters", ()), strict=False)
    return {**about, **extra} | ({"parameters": [{**a, **b} for a, b in own]} if "parameters" in about else {})


def _types(catalog: Row, ask: Row, warnings: Warnings) -> Row:
    detail, rows = ask.get("detail", "summary"), catalog["types"]
    usual = _WHOLE if len(rows) <= _WHOLE else _PAGE
    shown, info = controls.page_of(ask, rows, warnings, {"names": _LARGEST, "full": _TYPE_DETAILS}.get(detail, usual))
    types = [_form(row, detail) for row in shown]
    if "first" in ask or "after" in ask:
        return {"_protocol": {"version": catalog["protocol"]["version"], "pageInfo": info}, "types": types}
    if len(shown) < len(rows):
        warnings.append(("VALIDATION_TRUNCATED_WARNING", "There are more types. Get them with 'first' and 'after'."))
    return {"types": types}


def _operations(catalog: Row, ask: Row, warnings: Warnings) -> Row:
    found, detail, search = catalog["operations"], ask.get("detail"), ask.get("search")
    for key in ("category", "endpoint"):
        found = [row for row in found if ask.get(key, row[key]) == row[key]]
    if "tag" in ask:
        found = [row for row in found if ask["tag"].lower() in map(str.lower, row["extra"].get("tags", ()))]
    if search is not None:
        found = controls.search(found, search)
    if not found:
        warnings.append(("NOT_FOUND", "No operation fits. Use other words, or leave a parameter out."))
    size = _SEARCH_HITS if search is not None else _WHOLE if len(found) <= _WHOLE else _PAGE
    size = {"full": _DETAILS, "names": size if search is not None else _LARGEST}.get(detail or "", size)
    shown, info = controls.page_of(ask, found, warnings, size, _MOST_DETAILS if detail == "full" else _LARGEST)
    is_part = len(shown) < len(found) and search is None
    is_start = detail is None and "after" not in ask
    is_plain = is_start and not any(key in ask for key in _NARROWING)
    about = dict(catalog["protocol"]) if is_plain else {"version": catalog["protocol"]["version"]}
    if says := "first" in ask or "after" in ask or is_part:
        about["pageInfo"] = info
    if is_part and is_start:
        about["groups"], about["hint"] = _groups(found), _HINT
    rows = [_form(row, detail or ("hit" if search is not None else "summary")) for row in shown]
    return {"_protocol": about, "operations": rows} if is_plain or says else {"operations": rows}


def _groups(found: Sequence[Row]) -> dict[str, Any]:
    counts = sorted(Counter(row["group"] for row in found).items(), key=lambda group: (-group[1], group[0]))
    more = {"more": len(counts) - _GROUPS} if len(counts) > _GROUPS else {}
    by = "tag" if 2 * sum(1 for row in found if row.get("tagged")) >= len(found) else "noun"
    return {"by": by, "counts": dict(counts[:_GROUPS]), **more}
