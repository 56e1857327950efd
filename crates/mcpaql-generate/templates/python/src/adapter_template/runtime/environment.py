"""Variables, and texts with `${env:NAME}`, or `${env:NAME:-fallback}` where the variable need not be set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Variables(Mapping[str, str]):
    """The variables of this process, as they are now; one whose value is no text is as good as not set."""

    def __getitem__(self, name: str) -> str:
        """The value."""
        value = os.environ[name]
        try:
            value.encode()
        except UnicodeEncodeError:
            raise KeyError(name) from None
        return value

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return (name for name in os.environ if name in self)

    def __len__(self) -> int:
        """How many there are."""
        return sum(1 for _ in self)


class Unset(LookupError):
    """A variable that is not set; `name` says which."""

    def __init__(self, name: str) -> None:
        """Of the variable."""
        super().__init__(name)
        self.name = name


@dataclass(frozen=True, slots=True)
class Variable:
    """The value of a variable, or what stands in for it."""

    name: str
    fallback: str | None


@dataclass(frozen=True, slots=True)
class Template:
    """A text in pieces: what is written, and variables."""

    pieces: tuple[str | Variable, ...]

    @staticmethod
    def parse(text: str) -> Template:
        """Splits the text.

        Raises `ValueError` where a `${` is not a closed `${env:NAME}`.
        """
        pieces: list[str | Variable] = []
        rest = text
        while "${" in rest:
            before, _, reference = rest.partition("${")
            inside, closed, rest = reference.removeprefix("env:").partition("}")
            name, has_fallback, fallback = inside.partition(":-")
            if not reference.startswith("env:") or not closed or not name:
                raise ValueError("a ${ that is no ${env:NAME}")
            pieces += [before, Variable(name, fallback if has_fallback else None)]
        return Template(tuple(piece for piece in [*pieces, rest] if piece))

    def variables(self) -> list[Variable]:
        """Those in it, in order; where there are any, the value may be a secret."""
        return [piece for piece in self.pieces if isinstance(piece, Variable)]

    def fill(self, lookup: Callable[[str], str | None]) -> str:
        """The text with its variables filled in.

        Raises `Unset` for the first one that is not set.
        """
        out: list[str] = []
        for piece in self.pieces:
            if isinstance(piece, str):
                out.append(piece)
                continue
            value = lookup(piece.name)
            if piece.fallback is not None and not value:
                value = piece.fallback
            if value is None:
                raise Unset(piece.name)
            out.append(value)
        return "".join(out)


def plain(environ: Mapping[str, str], name: str) -> str | None:
    """A variable's value without white space around it (a line feed at the end is common in secret files)."""
    value = environ.get(name, "").strip()
    return value or None
