"""What is wrong with a value, and where: what the schema wants, never the value that was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ..text import escaped, is_alphanumeric, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..jsontext import Json


@dataclass(frozen=True, slots=True)
class Field:
    """A step to a declared property."""

    name: str


@dataclass(frozen=True, slots=True)
class Key:
    """A step to a key that the caller chose."""

    name: str


Part: TypeAlias = Field | Key | int
"""A step into a value; a number is a position in an array."""


def path_text(base: str, path: Sequence[Part]) -> str:
    """`labels[2].name`: a path below the parameter `base`, as people write it."""
    out = base
    for part in path:
        if isinstance(part, int):
            out += f"[{part}]"
        elif part.name and all(is_alphanumeric(c) or c in "_-" for c in part.name):
            out += ("." if out else "") + shorten(part.name, 64)
        else:
            out += f'["{escaped(shorten(part.name, 64))}"]'
    return out


@dataclass(frozen=True, slots=True)
class OtherType:
    """Another JSON type."""

    expected: str
    actual: str

    def __str__(self) -> str:
        """`expected 'integer', got 'string'`."""
        return f"expected '{self.expected}', got '{self.actual}'"


@dataclass(frozen=True, slots=True)
class Missing:
    """A required property is absent."""

    field: str

    def __str__(self) -> str:
        """`misses required field 'name'`."""
        return f"misses required field '{shorten(self.field, 64)}'"


@dataclass(frozen=True, slots=True)
class UnknownField:
    """A property that a closed object does not declare."""

    field: str
    valid: list[str]
    nearest: str | None

    def __str__(self) -> str:
        """`has unknown field 'nam', did you mean 'name'?`."""
        hint = f", did you mean '{self.nearest}'?" if self.nearest is not None else ""
        return f"has unknown field '{shorten(self.field, 64)}'{hint}"


@dataclass(frozen=True, slots=True)
class OtherValue:
    """The right type, but outside what is allowed."""

    fragment: str
    """`must be one of 'open', 'closed'`."""
    allowed: dict[str, Json]
    """The keywords that were broken, with their values."""
    nearest: str | None = None
    """The enum literal that was probably meant."""

    def __str__(self) -> str:
        """What must be."""
        return self.fragment


@dataclass(frozen=True, slots=True)
class NoVariant:
    """None of several forms fits; the first violation of each."""

    forms: list[Violation]

    def __str__(self) -> str:
        """`matches none of its forms: …; or …`."""
        told = [f"{path_text('', form.path)}{' ' if form.path else ''}{form.kind}" for form in self.forms]
        return "matches none of its forms" + (": " if told else "") + "; or ".join(told)


@dataclass(frozen=True, slots=True)
class TooMuch:
    """What cannot be checked: nested deeper than any schema describes, or too large."""

    fragment: str

    def __str__(self) -> str:
        """Why it cannot be checked."""
        return self.fragment


TOO_DEEP = TooMuch("is nested too deeply")
TOO_COMPLEX = TooMuch("is too large to be checked against its schema")

Kind: TypeAlias = OtherType | Missing | UnknownField | OtherValue | NoVariant | TooMuch


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a value breaks its schema."""

    path: tuple[Part, ...]
    sensitive: bool
    """The schema calls this place a secret."""
    kind: Kind
