"""Serializes values by OpenAPI's `style` and `explode`. A value never adds a pair, a fragment or another segment."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any
from urllib.parse import quote

from .requests import Param

_HARMLESS = ":@!$'()*"  # reserved characters without a meaning inside a path segment or a value
_ELEMENT = _HARMLESS + "/?[]="  # the same inside a list, where a comma separates elements
_QUERY = _ELEMENT + ",;"  # the same inside a query, where `&` begins a pair, `+` is a space and `#` ends it
json_text = partial(json.dumps, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
encode = partial(quote, safe="")
_MAX_DEPTH, MAX_NUMBER = 127, 1.7976931348623157e308
_DELIMITERS = {"spaceDelimited": "%20", "pipeDelimited": "%7C"}


def read_json(text: str) -> Any:
    """Returns the value of a JSON text. Raises `ValueError` for anything else, also for `NaN`."""
    try:
        return json.loads(text, parse_constant=int)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_lines(text: str) -> tuple[list[Any], str]:
    """Returns the values of JSON lines, and the text of the array of them. Raises `ValueError`."""
    rows = list(filter(None, map(str.strip, text.split("\n"))))
    return [read_json(row) for row in rows], f"[{','.join(rows)}]"


def check_given(value: Any) -> Any:
    """Raises `ValueError` for JSON that is nested too deeply, or has numbers out of range or lone surrogates."""
    level, depth = [value], 0
    while level := [inner for inner in level if isinstance(inner, (list, dict))]:
        level = [item for inner in level for item in (inner.values() if isinstance(inner, dict) else inner)]
        depth += 1
        if not all(abs(item) <= MAX_NUMBER for item in level if isinstance(item, (int, float))):
            raise ValueError("a number is out of range")
    if depth > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    json_text(value).encode()
    return value


def scalar(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def text(name: str, value: Any, param: Param, spell: Callable[[str], str] | None = None) -> str | None:
    """Returns the text of a parameter in a path or, with `str` as `spell`, in a header."""
    form = param.form if spell is None or param.form == "json" else "simple"
    spell = spell or partial(encode, safe=_HARMLESS if param.reserved else "")
    match form:
        case "json":
            return None if value is None else spell(json_text(value))
        case "label":
            items = _joined(value, spell, "." if param.exploded else ",", explode=param.exploded)
            return None if items is None else f".{items}"
        case "matrix":
            alone = param.exploded and isinstance(value, (list, dict))
            items = None if alone else _joined(value, spell, ",", explode=False)
            found = [(key, spell(scalar(item))) for key, item in _fields(name, value)] if alone else [(name, items)]
            parts = [f";{spell(key)}={item}" if item else f";{spell(key)}" for key, item in found if item is not None]
            return "".join(parts) or None
        case "segments":
            return _joined(value.split("/") if isinstance(value, str) else value, spell, "/", explode=False)
    return _joined(value, spell, ",", explode=param.exploded)


def pairs(name: str, value: Any, param: Param, *, nests: bool = False) -> Iterator[tuple[str, str]]:
    """Yields the pairs of a parameter. With `nests`, as in a form, objects become `deepObject`."""
    form, many = param.form, isinstance(value, (list, dict))
    if nests and form != "json" and (isinstance(value, dict) or _has_nested(value)):
        form = "deepObject"
    joins = many and not param.exploded
    spell = partial(encode, safe="" if not param.reserved else _ELEMENT if joins or param.place == "cookie" else _QUERY)
    if form == "deepObject":
        yield from _deep(encode(name), value)
    elif form == "json" and value is not None:
        yield encode(name), spell(json_text(value))
    elif form != "json" and joins:
        items = _joined(value, spell, _DELIMITERS.get(form, ","), explode=False)
        yield from [] if items is None else [(encode(name), items)]
    elif form != "json":
        yield from ((encode(key), spell(scalar(item))) for key, item in _fields(name, value))


def written(found: Iterable[tuple[str, str]], between: str = "&") -> str:
    return between.join(f"{name}={value}" for name, value in found)


def _fields(name: str, value: Any) -> list[tuple[str, Any]]:
    items = value if isinstance(value, list) else [value]
    found = value.items() if isinstance(value, dict) else ((name, item) for item in items)
    return [(key, item) for key, item in found if item is not None]


def _has_nested(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, (list, dict)) for item in value)


def _joined(value: Any, spell: Callable[[str], str], between: str, *, explode: bool) -> str | None:
    """Returns `1,2` for a list, and `a,1,b,2` or `a=1,b=2` for an object, with that separator."""
    within, keyed = "=" if explode else between, isinstance(value, dict)
    found = [(f"{spell(key)}{within}" if keyed else "") + spell(scalar(item)) for key, item in _fields("", value)]
    return between.join(found) if found else None


def _deep(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yields `name[key]=…`, `name[]=…` for lists of scalars, and `name[0][key]=…` for lists of objects."""
    if isinstance(value, (list, dict)):
        indexed = enumerate(value) if _has_nested(value) else (("", item) for item in value)
        for key, item in value.items() if isinstance(value, dict) else indexed:
            yield from _deep(f"{name}%5B{encode(str(key))}%5D", item)
    elif value is not None:
        yield name, encode(scalar(value))
