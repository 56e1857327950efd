"""How values are spelled in paths, queries, headers, cookies and forms: OpenAPI's `style` and `explode`.

A value never adds a pair, a fragment or, unless its style is `segments`, a segment of the path. Null and empty arrays
and objects are left out. Objects in a form, and `deepObject`, are spelled as deep as they go: `a[b][c]=1`.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any
from urllib.parse import quote

from .requests import Param

_HARMLESS = ":@!$'()*"  # reserved characters that mean nothing inside a segment of a path or a value
_ELEMENT = _HARMLESS + "/?[]="  # nor in a list, where a comma separates the elements
_QUERY = _ELEMENT + ",;"  # nor in a query, where `&` begins a pair, `+` is a space and `#` ends it
_DELIMITERS = {"spaceDelimited": "%20", "pipeDelimited": "%7C"}


def json_text(value: Any) -> str:
    """The value as minified JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def scalar(value: Any) -> str:
    """A value as text: strings as they are, anything else as JSON."""
    return value if isinstance(value, str) else json_text(value)


def encode(text: str, safe: str = "") -> str:
    """Percent-encodes everything but RFC 3986's unreserved characters and the safe ones."""
    return quote(text, safe=safe)


def path(name: str, value: Any, param: Param) -> str | None:
    """What fills a placeholder of a path."""
    spell = partial(encode, safe=_HARMLESS if param.reserved else "")
    match param.form:
        case "json":
            return None if value is None else spell(json_text(value))
        case "label":
            text = _joined(value, spell, "." if param.exploded else ",", explode=param.exploded)
            return None if text is None else f".{text}"
        case "matrix":
            return _matrix(name, value, spell, explode=param.exploded)
        case "segments":
            return _joined(value.split("/") if isinstance(value, str) else value, spell, "/", explode=False)
    return _joined(value, spell, ",", explode=param.exploded)


def header(value: Any, param: Param) -> str | None:
    """The value of a header, which no percent-encoding applies to."""
    if param.form == "json":
        return None if value is None else json_text(value)
    return _joined(value, str, ",", explode=param.exploded)


def pairs(name: str, value: Any, param: Param, form: str = "") -> Iterator[tuple[str, str]]:
    """A parameter as encoded pairs of a query or of a cookie."""
    own, form = encode(name), form or param.form
    joins = not param.exploded and isinstance(value, (list, dict))
    safe = "" if not param.reserved else _ELEMENT if joins or param.place == "cookie" else _QUERY
    spell = partial(encode, safe=safe)
    if form == "deepObject":
        yield from _deep(own, value)
    elif form == "json":
        yield from ((own, spell(json_text(given))) for given in _given([value]))
    elif param.exploded and isinstance(value, (list, dict)):
        found = _fields(value) if isinstance(value, dict) else [(name, item) for item in _given(value)]
        yield from ((encode(key), spell(scalar(item))) for key, item in found)
    elif (text := _joined(value, spell, _DELIMITERS.get(form, ","), explode=False)) is not None:
        yield own, text


def form_pairs(name: str, value: Any, param: Param) -> Iterator[tuple[str, str]]:
    """A field of a form body as encoded pairs."""
    nested = isinstance(value, dict) or (isinstance(value, list) and _has_nested(value))
    return pairs(name, value, param, "deepObject" if nested and param.form != "json" else "")


def written(found: Iterable[tuple[str, str]], between: str = "&") -> str:
    """Encoded pairs as text."""
    return between.join(f"{name}={value}" for name, value in found)


def _given(items: list[Any]) -> list[Any]:
    return [item for item in items if item is not None]


def _fields(value: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(key, item) for key, item in value.items() if item is not None]


def _has_nested(items: list[Any]) -> bool:
    return any(isinstance(item, (list, dict)) for item in items)


def _joined(value: Any, spell: Callable[[str], str], between: str, *, explode: bool) -> str | None:
    """`1,2`, and `a,1,b,2` or `a=1,b=2` for objects, with that separator."""
    if isinstance(value, dict):
        within = "=" if explode else between
        texts = [f"{spell(key)}{within}{spell(scalar(item))}" for key, item in _fields(value)]
    else:
        texts = [spell(scalar(item)) for item in _given(value if isinstance(value, list) else [value])]
    return between.join(texts) if texts else None


def _matrix(name: str, value: Any, spell: Callable[[str], str], *, explode: bool) -> str | None:
    """`;name=value`, or `;name` alone for an empty text."""
    if explode and isinstance(value, list):
        found = [(name, spell(scalar(item))) for item in _given(value)]
    elif explode and isinstance(value, dict):
        found = [(key, spell(scalar(item))) for key, item in _fields(value)]
    else:
        text = _joined(value, spell, ",", explode=False)
        found = [] if text is None else [(name, text)]
    return "".join(f";{spell(key)}={text}" if text else f";{spell(key)}" for key, text in found) or None


def _deep(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """`name[key]=…`, `name[]=…` for lists of scalars, `name[0][key]=…` for lists of objects."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _deep(f"{name}%5B{encode(key)}%5D", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _deep(f"{name}%5B{index if _has_nested(value) else ''}%5D", item)
    elif value is not None:
        yield name, encode(scalar(value))
