"""JSON as `serde_json` reads and writes it: minified, keys in order, numbers spelled as it spells them.

What always holds: what is read was valid JSON (no NaN, no half of a surrogate pair, no more than `DEEPEST` levels), an
integer beyond 64 bits is a float, and what is written is valid JSON again.
"""

from __future__ import annotations

import json
import math
from json.encoder import encode_basestring
from typing import Any, NoReturn, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""Any JSON value. A `bool` is not a number here, although Python lets it pass for one."""

DEEPEST = 127
"""Deeper texts are refused."""

_SMALLEST = -(1 << 63)
_LARGEST = (1 << 64) - 1
_FIXED = range(-5, 16)
"""Decimal exponents of floats that are written without one."""


def read(text: str) -> Json:
    """The value that a text spells.

    Raises `ValueError` for anything that is not one valid value.
    """
    try:
        value = json.loads(text, parse_constant=_refuse, parse_int=_whole, parse_float=_float)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    _check(value)
    return value  # type: ignore[no-any-return]


def write(value: Json) -> str:
    """The value as minified JSON."""
    parts: list[str] = []
    _write(value, parts)
    return "".join(parts)


def whole(number: int) -> int | float:
    """An integer; one that does not fit into 64 bits is a float.

    Raises `ValueError` for one that is no float either.
    """
    if _SMALLEST <= number <= _LARGEST:
        return number
    try:
        return float(number)
    except OverflowError:
        raise ValueError("number out of range") from None


def number_text(number: float) -> str:
    """A number as JSON spells it."""
    if isinstance(number, int):
        return str(number)
    digits = repr(number)
    mantissa, _, exponent = digits.partition("e")
    if not exponent:
        return digits
    scale = int(exponent)
    if scale not in _FIXED:
        return f"{mantissa}e{scale:+d}"
    sign, figures = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    return f"{sign}0.{'0' * (-scale - 1)}{figures.replace('.', '')}"


def _write(value: Json, parts: list[str]) -> None:
    match value:
        case str():
            parts.append(encode_basestring(value))
        case None:
            parts.append("null")
        case bool():
            parts.append("true" if value else "false")
        case int() | float():
            parts.append(number_text(value))
        case list():
            parts.append("[")
            for index, item in enumerate(value):
                if index:
                    parts.append(",")
                _write(item, parts)
            parts.append("]")
        case dict():
            parts.append("{")
            for index, (key, item) in enumerate(value.items()):
                if index:
                    parts.append(",")
                parts.append(encode_basestring(key))
                parts.append(":")
                _write(item, parts)
            parts.append("}")


def _check(value: Any) -> None:
    """Refuses what Python's reader lets through: values that are too deep, and halves of surrogate pairs."""
    stack = [(value, 0)]
    while stack:
        here, depth = stack.pop()
        if isinstance(here, str):
            here.encode()  # its error is a ValueError
        elif isinstance(here, (list, dict)):
            if depth >= DEEPEST:
                raise ValueError("nested too deeply")
            if isinstance(here, dict):
                stack.extend((key, depth) for key in here)
                stack.extend((item, depth + 1) for item in here.values())
            else:
                stack.extend((item, depth + 1) for item in here)


def _whole(digits: str) -> int | float:
    # Longer ones are slow to read exactly, and are floats anyway.
    return _float(digits) if len(digits) > 24 or digits == "-0" else whole(int(digits))


def _float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("number out of range")
    return number


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")
