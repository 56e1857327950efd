"""Query controls of operations that read: `fields`, `filter`, `sort` and pages, and the token budget of answers.

The order is fixed: find the list in the answer, filter, sort, page, fields. Then the budget reduces a long answer.
Introspection has controls of its own: a search and pages.

What always holds: no data is added to the items; a control without effect is a warning, and one that this server does
not have is an error; data and codes are those of `mcpaql serve`, which shared test vectors check.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import islice
from typing import Any, TypeAlias

from .errors import OpError, param_error
from .requests import Answer
from .styles import MAX_NUMBER, json_text, read_json
from .validation import nearest, snake_case

Path: TypeAlias = tuple[str, ...]
Test: TypeAlias = Callable[[Any], bool]  # tests one value, or the values of a field
Note: TypeAlias = tuple[Any, ...]  # a warning for the model: a code, a message and perhaps details
Row: TypeAlias = Mapping[str, Any]
Accepts: TypeAlias = Callable[[str], object]  # whether the operation has a parameter with this name

_OTHERS = ["fields", "preset", "filter", "sort", "answer_budget"]
_STYLES = [["first", "after", "last", "before"], ["limit", "offset"], ["page", "page_size"]]
CONTROLS = [*_OTHERS, *(name for names in _STYLES for name in names)]
_MISSING = ["aggregate", "include_items", "part"]  # controls of `mcpaql serve` that this server does not have
_OPERATORS = "gt gte lt lte contains starts_with in not exists".split()
_PRESETS = ["minimal", "standard", "full"]
_MAX_PARTS, _MAX_FIELDS, _MAX_CONDITIONS, _MAX_DEPTH, _MAX_SORT_KEYS, _MAX_HINTS = 32, 200, 100, 8, 16, 5
_PAGE, _MAX_PAGE, _SAMPLE = 25, 1000, 20
_PLAIN = re.compile(r"[\w./:-]{1,64}")  # names in messages; others could be sentences
_BUDGET, _MIN_BUDGET, _OVERHEAD, _PAGE_TOKENS = 8000, 100, 200, 60


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page: `start` is the number of items before it, or its number in the style `page`."""

    style: str
    size: int
    start: int = 0
    cursor: str | None = None  # `after` or `before`


@dataclass(frozen=True, slots=True)
class Page:
    """Some items of a list of `total`, which is unknown if the API has more."""

    request: PageRequest
    start: int
    end: int
    total: int
    known: bool


@dataclass(slots=True)
class Controls:
    """The query controls of a call."""

    fields: tuple[str, list[Path]] | None = None  # a preset, and paths
    filter: list[tuple[Path, Test]] | None = None
    sort: list[tuple[Path, bool]] = field(default_factory=list)  # paths, and whether the largest value comes first
    page: PageRequest | None = None
    budget: int | None = None
    scope: Any = None  # the filter and the order as they were sent


def _whole(value: Any) -> Any:
    """Returns the integer that `2.0` or `"2"` means, and other values as they are."""
    if isinstance(value, str) and re.fullmatch(r"\+?[0-9]{1,20}", value.strip()):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _wrong_type(param: str, problem: str) -> OpError:
    return param_error(param, problem, "VALIDATION_INVALID_TYPE")


def _too_deep() -> OpError:
    message = "The answer or a query control is nested too deeply. Call without controls, or raise 'answer_budget'."
    return OpError("VALIDATION_PAYLOAD_TOO_LARGE", message, limit_type="nesting_depth")


# ---- The controls of a call


def take_token(params: dict[str, Any], accepts: Accepts) -> str | None:
    """Takes the token of a confirmation out of the parameters of a call, unless they have that name themselves."""
    names = [name for name in ("_confirmation", "confirmationToken", "confirmation_token") if not accepts(name)]
    given = [(name, params.pop(name, None)) for name in names]
    if wrong := next((name for name, token in given if not isinstance(token, str | None)), None):
        raise _wrong_type(wrong, "must be the text of a confirmation token.")
    return next((token for _, token in given if token is not None), None)


def _control(name: str) -> str | None:
    """Returns the control that a name means: `_filter`, `pageSize`."""
    plain = name.removeprefix("_")
    camel = snake_case(plain) if len(plain) <= 16 and re.search("[A-Z]", plain) else plain
    return next((one for one in (*CONTROLS, *_MISSING) if one in (plain, camel)), None)


def take(row: Row, params: dict[str, Any], accepts: Accepts, beside: Row, notes: list[Any]) -> Controls | None:
    """Takes the controls of a call out of its parameters. A name that the operation has itself is no control."""
    given, asked = dict[str, Any](), False
    if "controls" not in row:
        return None
    for name in [name for name in params if not accepts(name)]:
        if (control := _control(name)) is None:
            if name.startswith("_") and name != "_meta" and name not in beside:
                raise _unknown(name, "Unknown query control.")
            continue
        value, asked = params.pop(name), True
        # The exact name wins over another spelling.
        if value is not None and (name.lstrip("_") == control or control not in given):
            given[control] = value
    try:
        return _read(given, notes) if asked else None
    except RecursionError:
        raise _too_deep() from None


def _unknown(name: str, message: str) -> OpError:
    told = f"{message} There are: {', '.join(CONTROLS)}."
    return OpError("VALIDATION_UNKNOWN_PARAM", told, param_name=name[:64], query_controls=CONTROLS)


def _read(given: dict[str, Any], notes: list[Any]) -> Controls:
    if missing := next((name for name in _MISSING if name in given), None):
        raise _unknown(missing, f"This server does not have the query control '{missing}'.")
    for name in ("filter", "sort", "fields"):
        # Some models send objects and lists as text. Their meaning is clear.
        if isinstance(text := given.get(name), str) and text.lstrip().startswith(("{", "[")):
            try:
                given[name] = read_json(text)
            except ValueError:
                continue
    controls = Controls(scope=[_canonical(given.get("filter")), _canonical(given.get("sort"))])
    controls.fields = _read_fields(given.get("fields"), given.get("preset"))
    controls.filter = _read_filter(given["filter"]) if "filter" in given else None
    controls.sort = _read_sort(given["sort"]) if "sort" in given else []
    controls.page = _read_page(given, notes)
    controls.budget = budget = _whole(given.get("answer_budget"))
    if budget is not None and (type(budget) is not int or budget < _MIN_BUDGET):
        raise param_error("answer_budget", f"must be {_MIN_BUDGET} tokens or more.")
    return controls


def _path(text: Any) -> Path | None:
    parts = tuple(text.strip().split(".", _MAX_PARTS)) if isinstance(text, str) else ()
    is_short = len(parts) < _MAX_PARTS or "." not in parts[-1]
    return parts if parts and is_short and len(parts) <= _MAX_PARTS and all(parts) else None


def _read_fields(fields: Any, preset: Any) -> tuple[str, list[Path]] | None:
    if preset is not None and not isinstance(preset, str):
        raise _wrong_type("preset", "must be a text.")
    if preset is not None and preset not in _PRESETS:
        raise param_error("preset", f"is none of {', '.join(_PRESETS)}.")
    if fields is None:
        return None if preset is None else (preset, [])
    if isinstance(fields, str):
        if fields.strip() in _PRESETS:
            return fields.strip(), []
        fields = fields.split(",")
    if not isinstance(fields, list) or not all(isinstance(name, str) for name in fields):
        raise _wrong_type("fields", "must be minimal, standard, full, or a list of field names.")
    if not 1 <= len(fields) <= _MAX_FIELDS:
        raise param_error("fields", f"must have from 1 to {_MAX_FIELDS} names.")
    paths = [path for name in fields if (path := _path(name))]
    if len(paths) < len(fields):
        raise param_error("fields", "has an empty name. Write paths as 'user.login'.")
    return preset or "", paths


# ---- Filter and order


def _rank(value: Any) -> int:
    kinds: tuple[Any, ...] = (type(None), bool, (int, float), str, list)
    return next((rank for rank, kind in enumerate(kinds) if isinstance(value, kind)), 5)


def _canonical(value: Any) -> str:
    """Returns the same text for equal JSON values: `1` equals `1.0`, and the order of fields does not matter."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return f"[{','.join(map(_canonical, value))}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{key!r}:{_canonical(value[key])}' for key in sorted(value))}}}"
    return repr(value)


def _read_filter(given: Any) -> list[tuple[Path, Test]]:
    if not isinstance(given, dict):
        raise _wrong_type("filter", 'must be an object of fields, such as {"state": "open"}.')
    found = list[tuple[Path, Test]]()
    _read_conditions(given, (), 0, found)
    return found


def _read_conditions(fields: dict[str, Any], outer: Path, depth: int, found: list[tuple[Path, Test]]) -> None:
    if depth > _MAX_DEPTH:
        raise param_error("filter", "is nested too deeply. Write paths such as 'user.login'.")
    for name, condition in fields.items():
        if (inner := _path(name)) is None:
            raise param_error("filter", "has an empty field name.")
        path = outer + inner
        if isinstance(condition, dict) and condition and not any(key in _OPERATORS for key in condition):
            _read_conditions(condition, path, depth + 1, found)
        else:
            found += [(path, test) for test in _read_tests(condition, depth)]
        if len(found) > _MAX_CONDITIONS:
            raise param_error("filter", f"has more than {_MAX_CONDITIONS} conditions.")


def _read_tests(condition: Any, depth: int) -> list[Test]:
    if isinstance(condition, dict):
        return [_read_operator(operator, operand, depth) for operator, operand in condition.items()]
    return [_some(_any_of(condition if isinstance(condition, list) else [condition]))]


def _some(test: Test) -> Test:
    """Returns a test that one of the values passes; for a list, one of its items."""

    def inside(value: Any) -> bool:
        return isinstance(value, list) and any(test(item) for item in value if not isinstance(item, list))

    return lambda values: any(test(value) or inside(value) for value in values)


def _any_of(expected: list[Any]) -> Test:
    known, plain = set(map(_canonical, expected)), not any(isinstance(one, (list, dict)) for one in expected)
    return lambda value: not (plain and isinstance(value, (list, dict))) and _canonical(value) in known


_ORDERS: dict[str, Test] = {
    "gt": lambda pair: pair[0] > pair[1],
    "gte": lambda pair: pair[0] >= pair[1],
    "lt": lambda pair: pair[0] < pair[1],
    "lte": lambda pair: pair[0] <= pair[1],
}


def _read_operator(operator: str, operand: Any, depth: int) -> Test:
    rank, text = _rank(operand), operand.lower() if isinstance(operand, str) else ""
    needs = {"contains": "one value", "starts_with": "a text", "in": "a list of values", "exists": "true or false"}
    fits = {"contains": rank < 4, "starts_with": rank == 3, "in": rank == 4, "exists": rank == 1}
    if not fits.get(operator, operator not in _ORDERS or 1 <= rank <= 3):
        expected = needs.get(operator, "a number, a text or a date")
        raise param_error("filter", f"has the operator '{operator}', which needs {expected}.")
    match operator:
        case "gt" | "gte" | "lt" | "lte":
            return _some(lambda value: _rank(value) == rank and _ORDERS[operator]((value, operand)))
        case "contains" if rank == 3:
            return _some(lambda value: isinstance(value, str) and text in value.lower())
        case "contains":
            equal = _any_of([operand])
            return lambda values: any(isinstance(value, list) and any(map(equal, value)) for value in values)
        case "starts_with":
            return _some(lambda value: isinstance(value, str) and value.lower().startswith(text))
        case "in":
            return _some(_any_of(operand))
        case "exists":
            return lambda values: bool(values) == operand
        case "not":
            if depth >= _MAX_DEPTH:
                raise param_error("filter", "is nested too deeply. Use fewer 'not'.")
            tests, absent = _read_tests(operand, depth + 1), isinstance(operand, dict) and "exists" in operand
            return lambda values: (bool(values) or absent) and not all(test(values) for test in tests)
    near = "".join(f" Did you mean '{one}'?" for one in nearest(operator, _OPERATORS))
    raise param_error("filter", f"has an unknown operator. There are: {', '.join(_OPERATORS)}.{near}")


def _read_sort(given: Any) -> list[tuple[Path, bool]]:
    form, keys, found = 'must be {"field": NAME, "order": "asc" or "desc"}, or a list of them.', given, []
    keys = given if isinstance(given, list) else [given]
    if len(keys) > _MAX_SORT_KEYS:
        raise param_error("sort", f"has more than {_MAX_SORT_KEYS} fields.")
    for key in keys:
        if not isinstance(key, dict):
            raise _wrong_type("sort", form)
        path, order = _path(key.get("field")), key.get("order")
        word = "asc" if order is None else order.lower() if isinstance(order, str) else ""
        if path is None or word not in ("asc", "ascending", "desc", "descending") or key.keys() - {"field", "order"}:
            raise param_error("sort", form)
        found.append((path, word.startswith("desc")))
    return found


def _sorted(items: list[Any], keys: list[tuple[Path, bool]]) -> list[Any]:
    """Sorts items; stable. Null, false, true, numbers, texts, lists, objects; items without the field come last."""
    for path, descending in reversed(keys):
        present, missing = list[tuple[tuple[int, Any], Any]](), list[Any]()
        for item in items:
            if (value := next(_values(item, path), None)) is None:
                missing.append(item)
            else:
                present.append(((rank := _rank(value), json_text(value) if rank > 3 else value), item))
        present.sort(key=lambda pair: pair[0], reverse=descending)
        items = [item for _, item in present] + missing
    return items


def _values(value: Any, path: Path) -> Iterator[Any]:
    """Yields what a path leads to. A list on the way is searched item by item; a name may contain dots itself."""
    if not path:
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _values(item, path)
    elif isinstance(value, dict):
        found = list(_values(value[path[0]], path[1:])) if path[0] in value else []
        yield from found
        if not found and len(path) > 1 and (dotted := ".".join(path)) in value:
            yield value[dotted]


def _has(items: Sequence[Any], path: Path) -> bool:
    return any(True for item in items for _ in _values(item, path))


# ---- Pages


def _read_page(given: dict[str, Any], notes: list[Note]) -> PageRequest | None:
    used = [names for style in _STYLES if (names := [name for name in style if name in given])]
    names = used[0] if used else []
    mixed = {"first", "last"} <= set(names) or ("after" in names and "first" not in names)
    if len(used) > 1 or mixed or ("before" in names and "last" not in names):
        given_names = ", ".join(name for names in used for name in names)
        raise _wrong_type("pagination", f"has conflicting controls: {given_names}. Use one style of pages.")

    def number(name: str, least: int, usual: int) -> int:
        value = _whole(given.get(name, usual))
        if type(value) is not int or not 0 <= value < 2**64:
            raise _wrong_type(name, f"must be an integer from {least}.")
        if value < least:
            raise param_error(name, f"must be {least} or more.")
        return value

    def size(name: str, least: int = 1) -> int:
        if (requested := number(name, least, _PAGE)) > _MAX_PAGE:
            message = f"A page has up to {_MAX_PAGE} items here, so '{name}' was reduced."
            notes.append(_note("VALIDATION_CLAMPED_WARNING", message, param_name=name, maximum=_MAX_PAGE))
        return min(requested, _MAX_PAGE)

    def cursor(name: str) -> str | None:
        if not isinstance(value := given.get(name), str | None):
            raise _wrong_type(name, "must be a cursor of an earlier page.")
        return value

    if "last" in names:
        return PageRequest("last", size("last"), cursor=cursor("before"))
    if "first" in names:
        return PageRequest("first", size("first"), cursor=cursor("after"))
    if "limit" in names or "offset" in names:
        return PageRequest("offset", size("limit", 0), number("offset", 0, 0))
    return PageRequest("page", size("page_size"), number("page", 1, 1)) if names else None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _page_in(total: int, request: PageRequest, sign: Callable[[int], str]) -> tuple[int, int]:
    last, at = request.style == "last", request.start
    if request.style == "page":
        at = (request.start - 1) * request.size
    elif last:
        at = total
    if request.cursor is not None:
        found = re.match(r"([0-9a-f]{1,12})-", request.cursor)
        if found is None or sign(position := int(found[1], 16)) != request.cursor:
            problem = "must be a cursor of this list with the same parameters. Leave it out to start again."
            raise param_error("before" if last else "after", problem)
        at = position if last else position + 1
    at = min(at, total)
    return (max(0, at - request.size), at) if last else (at, min(at + request.size, total))


def _description(page: Page, sign: Callable[[int], str]) -> dict[str, Any]:
    request, more = page.request, page.end < page.total
    if request.style in ("first", "last"):
        info: dict[str, Any] = {"hasNextPage": more, "hasPreviousPage": page.start > 0}
        if page.start < page.end:
            info |= {"startCursor": sign(page.start), "endCursor": sign(page.end - 1)}
        return {"pageInfo": info | ({"totalCount": page.total} if page.known else {})}
    info = {"limit": request.size, "offset": page.start, "returned": page.end - page.start}
    if request.style == "page":
        info = {"page": request.start, "page_size": request.size}
    if page.known:
        info["total_items"] = page.total
        if request.style == "page":
            info["total_pages"] = -(-page.total // max(request.size, 1))
    return {"pagination": info | {"has_more": more}}


# ---- Introspection


def search(rows: Sequence[Row], question: str) -> list[Row]:
    """Operations that share words with the question, best first: names count most, then tags, then summaries."""
    words = _stems(question[:500])

    def score(row: Row) -> float:
        name, tags = _stems(row["name"]), _stems(" ".join(row["extra"].get("tags", ())))
        hits = 3 * len(words & name) + 2 * len(words & tags) + len(words & _stems(row["summary"]))
        return hits - len(name - words) / 10 if hits else 0.0

    return sorted((row for row in rows if score(row) > 0), key=score, reverse=True)


def _stems(text: str) -> set[str]:
    return {re.sub(r"(?<=\w{3})(ies|es|s|ing|ed|e|y)$", "", word) for word in snake_case(text).split("_")}


def page_of(ask: Row, rows: Sequence[Any], notes: list[Any], size: int, most: int = 200) -> tuple[Any, Row]:
    """Returns a page of a list of introspection, and its `pageInfo`. A cursor holds a position and a hash (FNV-1a)."""
    scope = ("search", "category", "endpoint", "tag")
    parts = ["types" if ask.get("query") == "types" else "", *(ask.get(key, "") for key in scope)]
    listed = 0x811C9DC5
    for byte in "".join(f"{part}\0" for part in parts).encode():
        listed = (listed ^ byte) * 0x01000193 % 2**32
    cursor = re.fullmatch(f"([0-9a-f]{{1,8}})-{listed:08x}", ask.get("after", f"0-{listed:08x}"))
    if cursor is None or (start := int(cursor[1], 16)) > len(rows):
        raise param_error("after", "is no cursor of this list; use 'endCursor' of the last page.")
    if (wanted := max(int(ask.get("first", size)), 1)) > most:
        notes.append(("VALIDATION_CLAMPED_WARNING", f"A page has up to {most} items, so 'first' was reduced."))
    end = min(len(rows), start + min(wanted, most))
    info = {"hasNextPage": end < len(rows), "hasPreviousPage": start > 0, "totalCount": len(rows)}
    cursors = {"startCursor": f"{start + 1:x}-{listed:08x}", "endCursor": f"{end:x}-{listed:08x}"}
    return rows[start:end], info | (cursors if end > start else {})


# ---- The list in an answer

_LIST_NAMES = """items data results result records entries values value nodes rows hits objects members list elements
content contents response collection documents""".split()
_ENVELOPES = "data result results response payload body content _embedded output".split()
_IDENTIFIERS = ("id", "_id", "uuid", "guid")
_LIST_WORDS = frozenset(
    """count total page pages pagination paging size limit offset next previous prev first last cursor more incomplete
    has link links meta metadata info kind etag href self url object success status ok error errors warnings took time
    timestamp per start end token query truncated facets version type number returned message code request sort order
    max min""".split()
)
_MAX_ENVELOPES = 3


def _words(name: str, marks: str = "_@") -> list[str]:
    return snake_case(name.lstrip(marks)).split("_")


def _describes_list(name: str) -> bool:
    return not _LIST_WORDS.isdisjoint(_words(name, "_@$"))


def _at(value: Any, path: Sequence[str]) -> Any:
    return reduce(lambda inner, name: inner.get(name) if isinstance(inner, dict) else None, path, value)


def _find(data: Any, declared: str | None) -> tuple[Path, bool]:
    """Returns the place of the list, or of the one item: directly, in a declared place, or in an envelope."""
    if declared is not None and isinstance(_at(data, path := tuple(filter(None, declared.split(".")))), list):
        return path, True
    path, value = (), data
    while isinstance(value, dict) and not any(name in value for name in _IDENTIFIERS):
        if (name := _list_member(value)) is None and len(path) < _MAX_ENVELOPES:
            name = next((name for name, one in value.items() if isinstance(one, dict) and name in _ENVELOPES), None)
            name = name if name is not None and _rest_describes(value, name) else None
        if name is None:
            break
        path, value = (*path, name), value[name]
    return path, isinstance(value, list)


def _rest_describes(members: dict[str, Any], name: str) -> bool:
    return all(other == name or _describes_list(other) for other in members)


def _list_member(members: dict[str, Any]) -> str | None:
    lists = [name for name, member in members.items() if isinstance(member, list)]
    for known in _LIST_NAMES:
        if named := next((name for name in lists if name.lower() == known), None):
            return named
    others = [name for name in lists if not _describes_list(name)]
    if len(others) != 1 or not isinstance((members[others[0]] or [{}])[0], dict):
        return None
    return others[0] if _rest_describes(members, others[0]) else None


def _evidence(value: Any, count: int, depth: int = 0) -> Iterator[bool]:
    """Yields what an answer says about whether its list has more items than these."""
    for name, member in value.items() if isinstance(value, dict) else ():
        if isinstance(member, dict) and depth < 2:
            yield from _evidence(member, count, depth + 1)
        elif not isinstance(member, (dict, list)):
            words = set(_words(name))
            if isinstance(member, bool):
                yield from [member] if words & {"more", "next", "incomplete", "truncated"} else []
            elif "next" in words and isinstance(member, str | None):
                yield bool(member)
            elif "total" in words and not words & {"page", "pages"} and isinstance(member, (int, float)):
                # A total below the number of items is wrong, or it counts something else.
                yield from [member > count] if isinstance(_whole(member), int) and member >= count else []


def _has_more(value: Any, count: int, rules: Row) -> bool:
    evidence = list(_evidence(value, count))
    return any(evidence) if evidence else bool(rules.get("more"))


def _replaced(value: Any, path: Path, new: Any) -> Any:
    if not path or not isinstance(value, dict):
        return new
    return {name: _replaced(one, path[1:], new) if name == path[0] else one for name, one in value.items()}


def _paged(value: Any, path: Path, items: list[Any], description: dict[str, Any]) -> dict[str, Any]:
    """Returns an answer that is a page: its items, its description, and what is beside the list."""
    found, info = {"items": items, **description}, next(iter(description.values()))
    # A complete list has no other pages than this one's.
    says_more = {"hasNextPage", "has_more"} if {"totalCount", "total_items"} & info.keys() else set[str]()
    for name in path:
        other = {key for key in _PAGE_NAMES if isinstance(one := value.get(key), dict) and says_more & one.keys()}
        found = found | {key: one for key, one in value.items() if key not in (name, *found, *other)}
        value = value[name]
    return found


# ---- Fields

_Tree: TypeAlias = dict[Any, Any]  # selected names, each with the tree of its value; `...` selects the whole value


def _tree(paths: Sequence[Path]) -> _Tree:
    root: _Tree = {}
    for path in paths:
        node = root
        for index, name in enumerate(path):
            if index + 1 < len(path):
                # A name may contain dots itself.
                node.setdefault(".".join(path[index:]), {})[...] = True
            node = node.setdefault(name, {})
        node[...] = True
    return root


def _part(value: Any, tree: _Tree) -> Any:
    """Returns the selected part of a value; `...` if there is none."""
    if ... in tree:
        return value
    if isinstance(value, list):
        return [part for item in value if (part := _part(item, tree)) is not ...] or ...
    if not isinstance(value, dict):
        return ...
    known = ((name, _part(one, tree[name])) for name, one in value.items() if name in tree)
    return {name: part for name, part in known if part is not ...} or ...


def _selected(item: Any, tree: _Tree) -> Any:
    if not isinstance(item, (list, dict)):
        return item
    part = _part(item, tree)
    return type(item)() if part is ... else part


def _union(into: Any, other: Any) -> Any:
    """Adds the members of an object that are missing in another."""
    if not isinstance(into, dict) or not isinstance(other, dict):
        return into
    return into | {name: _union(into[name], one) if name in into else one for name, one in other.items()}


def _select(items: list[Any], fields: tuple[str, list[Path]], place: Path, notes: list[Note]) -> list[Any]:
    preset, paths = fields
    local = [_local(path, place, items) for path in paths]
    _warn_unknown("fields", local, items, notes)
    if preset == "full":
        return items
    tree = _tree([*local, *_minimal(items[:_SAMPLE])] if preset == "minimal" else local)
    if preset != "standard":
        return [_selected(item, tree) for item in items]
    extra = (lambda item: _selected(item, tree)) if local else (lambda _: {})
    return [_union(_without_noise(item), extra(item)) if isinstance(item, dict) else item for item in items]


_ID_NAMES = "id _id uuid guid number iid key slug sha isbn sku".split()
_ID_ENDS = "id uuid key number code".split()
_NAMES = "name title full_name display_name subject label login username filename path".split()
_DATE_ENDS = "at date time timestamp created updated modified on due deadline".split()
_MAIN_DATES = "updated created modified due start published date".split()


def _minimal(items: list[Any]) -> list[Path]:
    """Returns the fields that identify an item: identifiers, names, states and dates, by the names of the fields."""
    scalar = dict[str, bool]()
    for name, value in (member for item in items if isinstance(item, dict) for member in item.items()):
        scalar[name] = scalar.get(name, False) or 0 < _rank(value) < 4
    fields = [(name, snake_case(name)) for name, is_scalar in scalar.items() if is_scalar]
    chosen = list[str]()

    def choose(ranked: Sequence[str], most: int) -> bool:
        new = [name for name in dict.fromkeys(ranked) if name not in chosen][:most]
        chosen.extend(new)
        return bool(new)

    def exact(words: Sequence[str]) -> list[str]:
        hits = (next((name for name, snake in fields if word in (name, snake)), None) for word in words)
        return list(filter(None, hits))

    def ending(words: Sequence[str]) -> list[str]:
        return [name for name, snake in fields if snake.rpartition("_")[2] in words]

    def importance(name: str) -> int:
        first = snake_case(name).partition("_")[0]
        return _MAIN_DATES.index(first) if first in _MAIN_DATES else len(_MAIN_DATES)

    if not choose(exact(_ID_NAMES), 2):
        choose(ending(_ID_ENDS), 1)
    if not choose(exact(_NAMES), 2):
        choose(ending(("name", "title", "subject")), 1)
    choose(ending(("state", "status", "phase", "stage")), 2)
    choose(sorted(ending(_DATE_ENDS), key=importance), 2)
    if not chosen:
        choose([name for name, _ in fields], 4)
    return [path for name in chosen if (path := _path(name))]


_PAGE_WORDS = set("html web permalink homepage website download browser public share view page".split())
_LINK_WORDS = set("url uri href link links urls self".split())


def _is_link(name: str, value: Any) -> bool:
    """Whether a member links to the API itself."""
    words = _words(name)
    return words[-1] in _LINK_WORDS and _PAGE_WORDS.isdisjoint(words) and _is_address(value)


def _is_address(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(member is None or _is_address(member) for member in value.values())
    if isinstance(value, list):
        return bool(value) and all(map(_is_address, value))
    return isinstance(value, str) and value.startswith(("http://", "https://", "/"))


def _without_noise(value: Any) -> Any:
    """Returns a value without links, nulls and empty containers. A container stays one, even if it is empty."""
    if isinstance(value, list):
        return [_without_noise(item) for item in value]  # a null in a list has a position, so it stays
    if not isinstance(value, dict):
        return value
    links = {name for name, member in value.items() if _is_link(name, member)}
    lone = links if len(links) == 1 and links <= {"url", "link", "uri", "href"} else set[str]()
    kept = {name: _without_noise(member) for name, member in value.items() if name not in links or name in lone}
    return {name: member for name, member in kept.items() if member is not None and member not in ([], {})}


def _local(path: Path, place: Path, items: list[Any]) -> Path:
    """Returns a path inside the items: `items.id` is `id` of each item, unless the items have `items` themselves."""
    inside = len(path) > len(place) and path[: len(place)] == place
    return path[len(place) :] if inside and not _has(items[:_SAMPLE], path) else path


# ---- Warnings


def _note(code: str, message: str, **details: Any) -> Note:
    return (code, message, details) if details else (code, message)


def _partial_list(count: int) -> Note:
    message = f"The API returned one page with {count} item(s), and there may be more. The query covers only this page."
    return _note("PARTIAL_LIST", f"{message} Get the others with the page parameters of the operation.", items=count)


def _warn_unknown(control: str, paths: list[Path], items: list[Any], notes: list[Note]) -> None:
    """Warns about fields that no item has, with the nearest ones."""
    unknown = [".".join(path) for path in dict.fromkeys(paths) if items and not _has(items, path)]
    known = list(dict.fromkeys(islice((name for item in items[:_SAMPLE] for name in _known(item)), 1000)))[:300]
    for name in unknown[:_MAX_HINTS]:
        near = nearest(name, known, 3)
        outer, _, last = name.rpartition(".")
        operator = nearest(last, _OPERATORS) if control == "filter" and outer in known else []
        plain = [path for path in near or known if _PLAIN.fullmatch(path) and (near or "." not in path)]
        shown = ", ".join(plain[:12])
        hint = f"Did you mean the operator '{operator[0]}'?" if operator else f"Fields: {shown}."
        field = f"the field '{name}'" if _PLAIN.fullmatch(name) else "a requested field"
        message = f"No item has {field} of '{control}'. {hint}"
        notes.append(_note("FIELD_NOT_FOUND", message, param_name=control, nearest=near))
    if (more := len(unknown) - _MAX_HINTS) > 0:
        message = f"No item has {more} more field(s) of '{control}'."
        notes.append(_note("FIELD_NOT_FOUND", message, param_name=control, more=more))


def _known(value: Any, prefix: str = "", depth: int = 0) -> Iterator[str]:
    if isinstance(value, list):
        for item in value[:3]:
            yield from _known(item, prefix, depth)
    elif isinstance(value, dict) and depth < 3:
        for name, member in value.items():
            if name and len(prefix + name) <= 96:
                yield prefix + name
                yield from _known(member, f"{prefix}{name}.", depth + 1)


def _examples(conditions: list[tuple[Path, Test]], items: list[Any]) -> dict[str, list[Any]]:
    """Returns some values of the fields of a filter, which show how the data spells them."""
    found = dict[str, list[Any]]()
    for path, _ in conditions:
        values = (value for item in items[:200] for value in _values(item, path) if _rank(value) < 4)
        short = {key: value for value in values if len((key := _canonical(value)).encode(errors="replace")) <= 42}
        found |= {".".join(path): list(short.values())[:5]} if short else {}
    return found


# ---- An answer


@dataclass(slots=True)
class _Step:
    """A call whose answer is shaped."""

    rules: Row  # the path of the list, and whether an answer is one page of it
    accepts: Accepts
    controls: Controls | None
    sign: Callable[[int], str]  # makes cursors of the list
    notes: list[Note]

    def name(self, control: str) -> str:
        return f"_{control}" if self.accepts(control) else control


def _finite(digits: str) -> float:
    return max(-MAX_NUMBER, min(MAX_NUMBER, float(digits)))


def _cursor(listed: str, position: int) -> str:
    return f"{position:x}-{_hash(f'{listed} {position}')[:12]}"


def shape(
    answer: Answer, row: Row, args: Row, controls: Controls | None, accepts: Accepts
) -> tuple[Answer, list[Note]]:
    """Returns the part of an answer that a call asks for, within its budget, and warnings."""
    if "controls" not in row:
        return answer, []
    try:
        given = controls or Controls()
        budget = given.budget or _BUDGET
        full = given.fields is not None and given.fields[0] == "full"
        whole = controls is None or (full and given.filter is None and not given.sort and given.page is None)
        text = json_text(answer.data) if answer.text is None else answer.text
        if whole and _fits(text, budget):
            return answer, []
        value = json.loads(text, parse_float=_finite)
        listed = _hash(json_text([row["name"], _canonical(dict(args)), given.scope]))
        step, page = _Step(row["controls"], accepts, controls, partial(_cursor, listed), []), None
        if not whole:
            value, page = _query(value, given, step)
        if not _fits(json_text(value), budget):
            value = _reduce(value, page, budget, step)
    except RecursionError:
        raise _too_deep() from None
    written = json_text(value)
    try:
        written.encode()
    except UnicodeEncodeError:
        written = json.dumps(value, separators=(",", ":"))  # half of a surrogate pair stays an escape
    return replace(answer, data=value, text=written), step.notes


def _query(data: Any, controls: Controls, step: _Step) -> tuple[Any, Page | None]:
    (place, is_list), fields, notes = _find(data, step.rules.get("items")), controls.fields, step.notes
    items = found = _at(data, place)
    if not is_list:
        given = {"filter": controls.filter is not None, "sort": controls.sort, "page parameters": controls.page}
        if idle := [name for name, is_given in given.items() if is_given]:
            notes.append(_note("IGNORED_PARAMS", f"Ignored: {', '.join(idle)}. The answer is one item and not a list."))
        return _replaced(data, place, _select([found], fields, place, notes)[0] if fields else found), None
    more = _has_more(data, len(found), step.rules)
    queries_all = controls.filter is not None or bool(controls.sort)
    if more and queries_all:
        notes.append(_partial_list(len(found)))
    if controls.filter is not None:
        local = [(_local(path, place, items), test) for path, test in controls.filter]
        _warn_unknown("filter", [path for path, _ in local], items, notes)
        items = [item for item in found if all(test(list(_values(item, path))) for path, test in local)]
        if found and not items:
            message = f"No item matches the filter; {len(found)} item(s) were checked."
            notes.append(_note("EMPTY_RESULT", message, checked=len(found), values=_examples(local, found)))
    if controls.sort:
        keys = [(_local(path, place, items), descending) for path, descending in controls.sort]
        _warn_unknown("sort", [path for path, _ in keys], items, notes)
        items = _sorted(items, keys)
    page = None
    if controls.page is not None:
        start, end = _page_in(total := len(items), controls.page, step.sign)
        if more and not queries_all and end >= total:
            notes.append(_partial_list(len(found)))
        page, items = Page(controls.page, start, end, total, not more), items[start:end]
    if fields:
        items = _select(items, fields, ("items",) if page else place, notes)
    return _paged(data, place, items, _description(page, step.sign)) if page else _replaced(data, place, items), page


# ---- The budget

# The longest texts (in characters) and lists (in items) of a shortened answer, from long to short.
_SIZES = [(8000, 200), (4000, 100), (2000, 60), (1000, 40), (500, 20), (250, 10), (120, 5), (60, 3), (20, 1), (0, 0)]
_PAGE_NAMES = ("pageInfo", "pagination")  # members that describe a page
_TEXT_SIZES = [(size, 2**53) for size in (4000, 2000, 1000, 500, 250)]
_Cut: TypeAlias = dict[str, Any]  # a value that was shortened


def _reduce(value: Any, page: Page | None, budget: int, step: _Step) -> Any:
    """Reduces an answer step by step until it fits. Warnings name the steps and how to get the rest."""
    room, notes, full = max(budget - _OVERHEAD, budget // 2), step.notes, value
    place, is_list = (("items",), True) if page else _find(value, step.rules.get("items"))

    def reduced(name: str, control: str, told: str, **details: Any) -> None:
        message = f"The answer was too long, so {told}"
        notes.append(_note("ANSWER_REDUCED", message, step=name, control=step.name(control), **details))

    def shortened(sizes: list[tuple[int, int]]) -> tuple[Any, list[_Cut]]:
        short, cuts = value, list[_Cut]()
        for characters, items in sizes:
            cuts = []
            short = _cut(value, characters, items, (), cuts)
            if _fits(json_text(short), room):
                break
        return short, cuts

    def tell(cuts: list[_Cut]) -> None:
        if cuts:
            shown = ", ".join(f"'{cut['field']}' to {cut['kept']} of {cut['total']} {cut['unit']}" for cut in cuts[:5])
            advice = f"Select fewer fields, or raise '{step.name('answer_budget')}'."
            told = f"{len(cuts)} value(s) were shortened: {shown}. {advice}"
            reduced("shorten", "answer_budget", told, shortened=cuts[:5])

    if step.controls is None or step.controls.fields is None:
        value = _replaced(value, place, _without_noise(_at(value, place)))
        if len(json_text(value)) < len(json_text(full)):
            told = "links, nulls and empty fields were left out. Select fields, or get all of them with"
            reduced("standard", "fields", f"{told} {step.name('fields')}: full.")
    if _fits(json_text(value), room):
        return value
    sizes = (name for name in ("first", "limit", "page_size") if step.accepts(name))
    own = next(sizes, None) if is_list and page is None and step.accepts("after") else None
    if own:
        # The cursor of the operation itself belongs to the last item: all items stay, or the cursor goes.
        short, cuts = shortened(_TEXT_SIZES)
        if _fits(json_text(short), room):
            tell(cuts)
            return short
        value = _cut_own_page(value, place, room, own, notes)
    elif is_list:
        # The first items that fit, as a page with a cursor.
        items, rest = _at(value, place), value
        if page:
            rest = {name: one for name, one in value.items() if name not in _PAGE_NAMES}
        beside = tokens(json_text(_replaced(rest, place, []))) + _PAGE_TOKENS
        count = min(max(1, _fitting(items, max(0, room - beside))), len(items))
        more = _has_more(rest, len(items), step.rules)
        page = page or Page(PageRequest("first", count), 0, len(items), len(items), not more)
        page = replace(page, request=PageRequest("first", count), end=page.start + count)
        if count < len(items):
            after = f'{step.name("after")}: "{step.sign(max(page.end - 1, 0))}"'
            told = f"it has the first {count} of {len(items)} items. For the next ones, call again with"
            told = f"{told} {step.name('first')}: {count} and {after}, or select fewer fields."
            reduced("page", "after", told, returned=count, total=len(items))
        value = _paged(rest, place, items[:count], _description(page, step.sign))
    if _fits(json_text(value), room):
        return value
    value, about, room = _apart(value, page, room)
    short, cuts = shortened(_SIZES)
    tell(cuts)
    return {"items": [], **short, **about} if about else short


def _apart(value: Any, page: Page | None, room: int) -> tuple[Any, dict[str, Any], int]:
    """Takes the description of a page out of an answer. Without it, nobody could go on."""
    about = {name: value[name] for name in _PAGE_NAMES if page and name in value}
    if not about:
        return value, about, room
    rest = {name: one for name, one in value.items() if name not in about}
    return rest, about, max(0, room - tokens(json_text(about)))


def _cut_own_page(value: Any, place: Path, room: int, size: str, notes: list[Note]) -> Any:
    """Keeps the first items of a page by the operation's own cursor. Its cursor would skip the others, so it goes."""
    items, rest = _at(value, place), value
    if isinstance(value, dict):
        rest = {name: one for name, one in value.items() if name not in _PAGE_NAMES}
    beside = tokens(json_text(_replaced(rest, place, [])))
    count = min(max(1, _fitting(items, max(0, room - beside))), len(items))
    told = f"The answer was too long, so it has the first {count} of {len(items)} items and no cursor."
    told = f"{told} For the others, call again with {size}: {count} and follow the cursors, or select fewer fields."
    notes.append(_note("ANSWER_REDUCED", told, step="page", control=size, returned=count, total=len(items)))
    return _replaced(rest, place, items[:count])


def _fitting(items: list[Any], room: int) -> int:
    for index, item in enumerate(items):
        text = json_text(item)
        room -= tokens(text) + 1 if _fits(text, room) else room + 1
        if room < 0:
            return index
    return len(items)


def _cut(value: Any, characters: int, items: int, path: Path, cuts: list[_Cut]) -> Any:
    def told(kept: int, total: int, unit: str) -> bool:
        if total > kept:
            cuts.append({"field": ".".join(path), "kept": kept, "total": total, "unit": unit})
        return total > kept

    if isinstance(value, str):
        is_long = told(characters, len(value), "characters")
        return f"{value[:characters]}… ({len(value)} characters)" if is_long else value
    if isinstance(value, list):
        told(items, len(value), "items")
        kept = enumerate(value[:items])
        return [_cut(item, characters, items, (*path, str(index)), cuts) for index, item in kept]
    if isinstance(value, dict):
        told(2 * items, len(value), "fields")  # fields are fewer than items, and they say more
        members = islice(value.items(), 2 * items)
        return {name: _cut(member, characters, items, (*path, name), cuts) for name, member in members}
    return value


def _fits(text: str, budget: int) -> bool:
    """Whether a text has at most this number of tokens. A token has at least one byte, and rarely more than 16."""
    size = len(text.encode(errors="surrogatepass"))
    return size <= budget or (size // 16 <= budget and tokens(text) <= budget)


_PIECES = re.compile(
    r"([A-Z]+[a-z]*|[a-z]+)|([0-9]+)|([\t\n\f\r ]+)|([^\0-\x7f]+)|([^A-Za-z0-9\t\n\f\r \x80-\U0010ffff]+)"
)
# Costs of words by length, in eighths of a token, alone and after a mark such as `_`.
_WORD_COSTS, _MARKED_COSTS = [0, 8, 8, 8, 8, 8, 9, 9, 10, 11], [0, 8, 8, 8, 9, 10, 10, 13, 13, 15]
_COMMON_MARKS = {'":"","', '":{"', '":["', '},{"', '"},{"'}


def _word_costs(word: str, *, marked: bool) -> tuple[int, int]:
    """Returns the cost of a word by its letters, and the same inside an identifier, whose letters form no words."""
    size, capitals = len(word), len(word.rstrip("abcdefghijklmnopqrstuvwxyz"))
    if capitals == 0:
        costs = _MARKED_COSTS if marked else _WORD_COSTS
        cost = costs[size] if size < len(costs) else costs[-1] + size - 9 if size < 14 else 2 * size - 12
        return cost, 8 if size <= 2 else 4 * size
    if capitals == 1:
        return 8 if size <= 6 else 9 if size <= 8 else 12, 9 if size <= 2 else 14 if size == 3 else 4 * size
    if capitals == size:
        return 8 if size <= 3 else 4 * size, 8 if size <= 2 else 5 * size
    return 5 * size, 5 * size


def tokens(text: str) -> int:
    """Estimates the tokens of a text: words, numbers, runs of punctuation and other scripts have typical costs."""
    total = words = identifier = pieces = 0
    digits = marked = False
    for match in _PIECES.finditer(text):
        piece, kind, size = match[0], match.lastindex or 0, len(match[0])
        if kind <= 2:
            costs = (8 * -(-size // 3),) * 2 if kind == 2 else _word_costs(piece, marked=marked)
            words, identifier, pieces = words + costs[0], identifier + costs[1], pieces + 1
            digits, marked = digits or kind == 2, False
            continue
        total += identifier if digits and pieces >= 3 else words
        words = identifier = pieces = 0
        following, digits = text[match.end() : match.end() + 1], False
        if kind == 3:
            total += 0 if size == 1 and following and not "0" <= following <= "9" else 8
        elif kind == 4:
            marked = False
            emoji = sum("\U0001f000" <= one <= "\U0001ffff" for one in piece)
            total += 4 + 4 * size + 10 * emoji + 2 * sum(one >= "\u2e80" for one in piece)
        else:
            marked = size == 1 and following.isascii() and following.isalpha()
            cost = 8 if size <= 3 or piece in _COMMON_MARKS else 16 if size <= 5 else 4 * size - 5
            total += 0 if marked else cost
    total += identifier if digits and pieces >= 3 else words
    return -(-total // 8)
