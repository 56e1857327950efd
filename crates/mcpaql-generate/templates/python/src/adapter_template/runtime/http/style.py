"""How values are spelled outside a JSON body: OpenAPI's `style`, `explode` and `allowReserved`.

What always holds: a value never adds a pair, a fragment or, unless its style is `segments`, a segment, and who decodes
what was sent has the value back; every character that is not unreserved (RFC 3986) is percent-encoded, unless the
document allows reserved ones, and then those that separate something in that place still are. `null` and empty arrays
and objects are left out.

Where OpenAPI is silent: objects inside an array of a query are sent as JSON text; `deepObject` goes as deep as the
value does (`a[b][c]=1`), with `a[]=1` for arrays of scalars and `a[0][b]=1` for arrays of objects. Form bodies spell
objects that way too, because that is what form APIs read. The pairs of a cookie are separated as cookies are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from .. import jsontext
from ..bindings import Style

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..jsontext import Json

    Encode: TypeAlias = Callable[[str], str]

_HARMLESS = ":@!$'()*"
"""Reserved characters that mean nothing inside a segment of a path, a value of a query or a cookie."""
_ELEMENT = _HARMLESS + "/?[]="
"""In a list, where a comma separates the elements."""
_QUERY = _ELEMENT + ",;"
"""`&` begins a pair, `+` is a space to most servers, and `#` ends the query."""


def encode(text: str) -> str:
    """Percent-encodes everything but unreserved characters."""
    return quote(text, safe="")


def _harmless(text: str) -> str:
    return quote(text, safe=_HARMLESS)


def _element(text: str) -> str:
    return quote(text, safe=_ELEMENT)


def _reserved(text: str) -> str:
    return quote(text, safe=_QUERY)


def _as_it_is(text: str) -> str:
    return text


def scalar(value: Json) -> str | None:
    """A value as text: strings as they are, anything else as JSON. `null` has no text."""
    return value if value is None or isinstance(value, str) else jsontext.write(value)


def _json(value: Json) -> str | None:
    return None if value is None else jsontext.write(value)


def path(name: str, value: Json, style: Style) -> str | None:
    """What fills a placeholder of a path."""
    spell = _harmless if style.reserved else encode
    match style.form:
        case "json":
            text = _json(value)
            return None if text is None else spell(text)
        case "label":
            text = _joined(value, "." if style.explode else ",", spell, explode=style.explode)
            return None if text is None else f".{text}"
        case "matrix":
            return _matrix(name, value, spell, explode=style.explode)
        case "segments" if isinstance(value, str):
            return "/".join(spell(segment) for segment in value.split("/"))
        case "segments":
            return _joined(value, "/", spell, explode=False)
        case _:
            return _joined(value, ",", spell, explode=style.explode)


def header(value: Json, style: Style) -> str | None:
    """The value of a header, which no percent-encoding applies to."""
    return _json(value) if style.form == "json" else _joined(value, ",", _as_it_is, explode=style.explode)


def _fields(value: dict[str, Json]) -> Iterator[tuple[str, str]]:
    for key, item in value.items():
        if (text := scalar(item)) is not None:
            yield key, text


def _items(value: list[Json]) -> list[str]:
    return [text for text in map(scalar, value) if text is not None]


def _joined(value: Json, between: str, spell: Encode, *, explode: bool) -> str | None:
    """`1,2`, and `a,1,b,2` or `a=1,b=2` for objects, with that separator."""
    if isinstance(value, list):
        pieces = [spell(text) for text in _items(value)]
    elif isinstance(value, dict):
        within = "=" if explode else between
        pieces = [f"{spell(key)}{within}{spell(text)}" for key, text in _fields(value)]
    else:
        text = scalar(value)
        return None if text is None else spell(text)
    return between.join(pieces) if pieces else None


def _matrix(name: str, value: Json, spell: Encode, *, explode: bool) -> str | None:
    """`;name=value`, or `;name` alone for a text that is empty."""

    def pair(key: str, text: str) -> str:
        return f";{spell(key)}={text}" if text else f";{spell(key)}"

    if explode and isinstance(value, list):
        return "".join(pair(name, spell(text)) for text in _items(value)) or None
    if explode and isinstance(value, dict):
        return "".join(pair(key, spell(text)) for key, text in _fields(value)) or None
    text = _joined(value, ",", spell, explode=False)
    return None if text is None else pair(name, text)


class Pairs:
    """`name=value` pairs: a query, a form body or a cookie header."""

    def __init__(self, text: str = "", between: str = "&") -> None:
        """Behind what is there already."""
        self._pairs = [text] if text else []
        self._between = between

    def text(self) -> str:
        """All of them."""
        return self._between.join(self._pairs)

    def push(self, name: str, value: str) -> None:
        """Appends `name=value`, both encoded already."""
        self._pairs.append(f"{name}={value}")

    def append(self, name: str, value: Json, style: Style) -> None:
        """Appends one parameter."""
        own = encode(name)
        if style.form == "deepObject":
            self._append_deep(own, value)
            return
        separator = {"spaceDelimited": "%20", "pipeDelimited": "%7C"}.get(style.form, ",")
        spell = encode
        if style.reserved:
            joins = not style.explode and isinstance(value, (list, dict))
            spell = _element if joins or self._between != "&" else _reserved
        if style.form == "json":
            text = _json(value)
        elif style.explode and isinstance(value, list):
            for item in _items(value):
                self.push(own, spell(item))
            return
        elif style.explode and isinstance(value, dict):
            for key, item in _fields(value):
                self.push(encode(key), spell(item))
            return
        elif isinstance(value, (list, dict)):
            text = _joined(value, separator, spell, explode=False)
            spell = _as_it_is
        else:
            text = scalar(value)
        if text is not None:
            self.push(own, spell(text))

    def append_field(self, name: str, value: Json, style: Style) -> None:
        """Appends one field of a form body."""
        nested = isinstance(value, dict) or (isinstance(value, list) and _holds_nested(value))
        deep = nested and style.form != "json"
        self.append(name, value, Style("deepObject", explode=True, reserved=style.reserved) if deep else style)

    def _append_deep(self, name: str, value: Json) -> None:
        """`name` is encoded already. The depth of a value is bounded by the limit on requests."""
        if isinstance(value, dict):
            for key, item in value.items():
                self._append_deep(f"{name}%5B{encode(key)}%5D", item)
        elif isinstance(value, list) and _holds_nested(value):
            for index, item in enumerate(value):
                self._append_deep(f"{name}%5B{index}%5D", item)
        elif isinstance(value, list):
            for text in _items(value):
                self.push(f"{name}%5B%5D", encode(text))
        elif (own := scalar(value)) is not None:
            self.push(name, encode(own))


def _holds_nested(items: list[Json]) -> bool:
    return any(isinstance(item, (list, dict)) for item in items)
