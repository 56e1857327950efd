"""JSON equality: `1` and `1.0` are the same number, a bool is none, and the order of fields means nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .typeset import FRACTION, INTEGER, type_of

if TYPE_CHECKING:
    from ..jsontext import Json


def compare(one: float, other: float) -> int:
    """Exact for integers; a number that is neither is compared as a float."""
    if not (isinstance(one, int) and isinstance(other, int)):
        one, other = float(one), float(other)
    return (one > other) - (one < other)


def is_multiple(number: float, step: float) -> bool:
    """Whether a number is a whole number of steps, as far as floats can tell."""
    if isinstance(number, int) and isinstance(step, int):
        return number % step == 0
    quotient = float(number) / float(step)
    if quotient in (float("inf"), float("-inf")):
        return True
    # Halves are rounded away from zero.
    nearest_whole = float(int(quotient + (0.5 if quotient >= 0 else -0.5)))
    return abs(quotient - nearest_whole) <= 1e-9 * max(abs(quotient), 1.0)


def same(one: Json, other: Json) -> bool:
    """JSON equality: `1` and `1.0` are the same number, the order of fields means nothing."""
    kind = type_of(one)
    if kind != type_of(other):
        return False
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(key in other and same(own, other[key]) for key, own in one.items())
    if isinstance(one, (int, float)) and isinstance(other, (int, float)) and kind & (INTEGER | FRACTION):
        return compare(one, other) == 0
    return one == other


def duplicate(items: list[Json]) -> int | None:
    """The first item that equals an earlier one."""
    seen: dict[Any, list[Json]] = {}
    for index, item in enumerate(items):
        alike = seen.setdefault(_fingerprint(item), [])
        if any(same(earlier, item) for earlier in alike):
            return index
        alike.append(item)
    return None


def _fingerprint(value: Json) -> Any:
    """Equal values have equal fingerprints."""
    match value:
        case bool() | None | str():
            return type(value), value
        case int() | float():
            return float(value)
        case list():
            return tuple(map(_fingerprint, value))
        case dict():
            return frozenset((key, _fingerprint(item)) for key, item in value.items())
