"""Arithmetic with 24 bits: what ranks operations must give the same order on every machine and in every language.

What always holds: each operation on numbers of 24 bits is done with 53 and rounded once, which is exact.
"""

from __future__ import annotations

from ctypes import c_float


def f32(number: float) -> float:
    """The number rounded to 24 bits."""
    return c_float(number).value


def product(*factors: float) -> float:
    """The product from left to right."""
    result = 1.0
    for factor in factors:
        result = c_float(result * factor).value
    return result


def total(numbers: list[float]) -> float:
    """The sum from left to right."""
    result = 0.0
    for number in numbers:
        result = c_float(result + number).value
    return result
