"""The JSON types as sets: bits of a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..jsontext import Json

NULL, BOOLEAN, INTEGER, FRACTION, STRING, ARRAY, OBJECT = (1 << bit for bit in range(7))
ANY = 127
LARGEST_EXACT = (1 << 53) - 1
"""The largest integer up to which a float holds every one."""
_NAMES = {
    STRING: "string",
    INTEGER: "integer",
    BOOLEAN: "boolean",
    ARRAY: "array",
    OBJECT: "object",
    NULL: "null",
}
"""Types in the order in which messages name them; a number is both `INTEGER` and `FRACTION`."""


def type_name(value: Json) -> str:
    """The JSON type of a value, as schemas call it."""
    return _NAMES.get(type_of(value), "number")


def type_of(value: Json) -> int:
    """The type of a value: one bit."""
    match value:
        case str():
            return STRING
        case None:
            return NULL
        case bool():
            return BOOLEAN
        case int():
            return INTEGER
        case float():
            return INTEGER if value.is_integer() else FRACTION
        case list():
            return ARRAY
        case dict():
            return OBJECT


def label(types: int) -> str:
    """`string | null`."""
    numeric = "number" if types & FRACTION else "integer"
    wanted = types | INTEGER if types & FRACTION else types
    names = [numeric if bit == INTEGER else name for bit, name in _NAMES.items() if wanted & bit]
    return " | ".join(names) or "nothing"
