"""What `introspect` answers, from the data of the catalog: lists, details, types, and a simple search."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import Code, OpError
from .http_response import Answer
from .validation import nearest, snake_case

_WHOLE, _PAGE, _LARGEST = 50, 20, 200  # a list up to this length comes whole; else a page; the longest page
_SEARCH_HITS, _DETAILS, _MOST_DETAILS, _TYPE_DETAILS = 5, 5, 20, 10
_GROUPS = 15
_NARROWING = ("search", "category", "endpoint", "tag")
_HINT = 'Find operations with {"search":"what you want to do"}, or narrow with tag, category or endpoint.'
_TYPE_HEAD = ("name", "kind", "description")


def introspect(catalog: Mapping[str, Any], args: Mapping[str, Any]) -> Answer:
    """Answers `introspect` for validated arguments. A name that does not exist is null and a warning."""
    # A blank text is as good as none: some callers fill in every parameter.
    ask = {key: value.strip() if isinstance(value, str) else value for key, value in args.items()}
    ask = {key: value for key, value in ask.items() if value not in ("", None)}
    types = ask.get("query") == "types"
    if types and (narrowed := next((key for key in _NARROWING if key in ask), None)):
        message = f"Parameter '{narrowed}' narrows operations, not types. Leave it out, or leave out 'query'."
        raise OpError(Code.INVALID_VALUE, message, param_name=narrowed)
    if "name" in ask:
        return _by_name(catalog, ask, "type" if types else "operation")
    return _types(catalog["types"], ask) if types else _operations(catalog, ask)


def _by_name(catalog: Mapping[str, Any], ask: Mapping[str, Any], kind: str) -> Answer:
    several = isinstance(ask["name"], list)
    if kind == "type":
        known = {row["detail"]["name"]: row for row in catalog["types"]}
        names = list(known)
    else:
        known = {name: row for row in catalog["operations"] for name in (row["name"], *row.get("aliases", ()))}
        names = [row["name"] for row in catalog["operations"]]
    warnings, found = [], []
    idle = [key for key in (*_NARROWING, "first", "after") if key in ask]
    if idle:
        warnings.append(("IGNORED_PARAMS", f"'name' says what to show, so {', '.join(idle)} had no effect."))
    show = _type if kind == "type" else _operation
    for name in ask["name"] if several else [ask["name"]]:
        if name in known:
            found.append(show(known[name], ask.get("detail", "full"), alone=True))
            continue
        near = nearest(name, names, 3)
        hint = f"Nearest: {', '.join(near)}." if near else f"List all with query '{kind}s'."
        warnings.append(("NOT_FOUND", f"There is no such {kind}. {hint}"))
        found += [] if several else [None]
    return Answer({f"{kind}s": found} if several else {kind: found[-1]}, None, warnings)


def _operation(row: Mapping[str, Any], detail: str, *, alone: bool = False) -> Any:
    """An operation, in as much detail as is asked for."""
    match detail:
        case "names":
            return row["name"]
        case "full":
            return row["detail"]
        case "signature" if not alone:
            return {"name": row["name"], "signature": row["listed"]}
        case "signature":
            own = {"name": row["name"], "endpoint": row["endpoint"], "signature": row["detail"]["signature"]}
            origins = {param["name"]: param["from"] for param in row["detail"]["parameters"] if "from" in param}
            return {**own, "from": origins} if origins else own
    head = {"name": row["name"], "semantic_category": row["category"], "endpoint": row["endpoint"]}
    return {**head, "description": row["summary"]}


def _type(row: Mapping[str, Any], detail: str, **_: bool) -> Any:
    about = row["detail"]
    match detail:
        case "names":
            return about["name"]
        case "full":
            return about
        case "signature" if "signature" in row:
            return {"name": about["name"], "signature": row["signature"]}
    return {key: about[key] for key in _TYPE_HEAD if key in about}


def _page(ask: Mapping[str, Any], rows: Sequence[Any], size: int, most: int) -> tuple[Sequence[Any], dict[str, Any]]:
    """The page that is asked for, and its `pageInfo`. A cursor holds a place and what was listed (FNV-1a)."""
    parts = ["types" if ask.get("query") == "types" else "", *(ask.get(key, "") for key in _NARROWING)]
    fingerprint = 0x811C9DC5
    for byte in "".join(f"{part}\0" for part in parts).encode():
        fingerprint = (fingerprint ^ byte) * 0x01000193 % 2**32
    start = 0
    if "after" in ask:
        place, _, listed = ask["after"].partition("-")
        if listed != f"{fingerprint:08x}" or not re.fullmatch("[0-9a-f]{1,8}", place) or int(place, 16) > len(rows):
            message = "Parameter 'after' is no cursor of this list. Take 'endCursor' of the page before."
            raise OpError(Code.INVALID_VALUE, message, param_name="after")
        start = int(place, 16)
    end = min(len(rows), start + min(max(int(ask.get("first", size)), 1), most))
    cursor = f"{end:x}-{fingerprint:08x}" if end > start else None
    return rows[start:end], {"hasNextPage": end < len(rows), "endCursor": cursor, "total": len(rows)}


def _types(rows: Sequence[Any], ask: Mapping[str, Any]) -> Answer:
    detail = ask.get("detail", "summary")
    usual = _WHOLE if len(rows) <= _WHOLE else _PAGE
    size = {"names": _LARGEST, "full": _TYPE_DETAILS}.get(detail, usual)
    shown, info = _page(ask, rows, size, _LARGEST)
    data: dict[str, Any] = {"types": [_type(row, detail) for row in shown]}
    if "first" in ask or "after" in ask or len(shown) < len(rows):
        data["pageInfo"] = info
    return Answer(data)


def _operations(catalog: Mapping[str, Any], ask: Mapping[str, Any]) -> Answer:
    rows, detail, search = catalog["operations"], ask.get("detail"), ask.get("search")
    found = [row for row in (rows if search is None else _ranked(rows, search)) if _fits(row, ask)]
    size, most = (_WHOLE if len(found) <= _WHOLE else _PAGE), _LARGEST
    if detail == "full":
        size, most = _DETAILS, _MOST_DETAILS
    elif search is not None:
        size = _SEARCH_HITS
    elif detail == "names":
        size = _LARGEST
    shown, info = _page(ask, found, size, most)
    is_part = len(shown) < len(found) and search is None
    data: dict[str, Any] = {}
    if detail is None and "after" not in ask and not any(key in ask for key in _NARROWING):
        data["_protocol"] = catalog["protocol"]
    if search is not None and detail is None:
        data["operations"] = [_hit(row, catalog["mode"]) for row in shown]
    else:
        data["operations"] = [_operation(row, detail or "summary") for row in shown]
    if "first" in ask or "after" in ask or is_part:
        data["pageInfo"] = info
    if is_part and detail is None and "after" not in ask:
        data["groups"], data["hint"] = _groups(found), _HINT
    nothing = ("NOT_FOUND", "No operation fits. Use other words, or leave a parameter out.")
    return Answer(data, None, [] if found else [nothing])


def _fits(row: Mapping[str, Any], ask: Mapping[str, Any]) -> bool:
    tags = [tag.lower() for tag in row["detail"].get("tags", ())]
    category, endpoint = ask.get("category", row["category"]), ask.get("endpoint", row["endpoint"])
    fits = row["category"] == category and row["endpoint"] == endpoint
    return fits and ("tag" not in ask or ask["tag"].lower() in tags)


def _groups(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    tagged = sum(1 for row in found if row.get("tagged"))
    counts = sorted(Counter(row["group"] for row in found).items(), key=lambda group: (-group[1], group[0]))
    more = {"more": len(counts) - _GROUPS} if len(counts) > _GROUPS else {}
    by = "tag" if 2 * tagged >= len(found) else "noun"
    return {"by": by, "counts": dict(counts[:_GROUPS]), **more}


def _hit(row: Mapping[str, Any], mode: str) -> dict[str, Any]:
    where = {"tool": row["tool"]} if mode == "discrete" else {"endpoint": row["endpoint"]}
    return {"name": row["name"], **where, "signature": row["brief"], "summary": row["summary"]}


def _ranked(rows: Sequence[Mapping[str, Any]], question: str) -> list[Mapping[str, Any]]:
    """Operations that share words with the question, the best first: names count most, then tags, then summaries."""
    words = {_stem(word) for word in snake_case(question[:500]).split("_")}

    def score(row: Mapping[str, Any]) -> float:
        name, tags = _words(row["name"]), _words(" ".join(row["detail"].get("tags", ())))
        hits = 3 * len(words & name) + 2 * len(words & tags) + len(words & _words(row["summary"]))
        return hits - len(name - words) / 10 if hits else 0.0

    scored = [(score(row), row) for row in rows]
    return [row for points, row in sorted(scored, key=lambda pair: -pair[0]) if points > 0]


def _words(text: str) -> set[str]:
    return {_stem(word) for word in snake_case(text).split("_")}


def _stem(word: str) -> str:
    return re.sub(r"(?<=\w{3})(ies|es|s|ing|ed|e|y)$", "", word)
