"""Compiled schemas as the catalog holds them: nodes of one arena, which refer to each other by their places."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..jsontext import Json

FUEL = 16
"""References that are followed from one value."""


@dataclass(frozen=True)
class Pattern:
    """A regular expression, made when a value is checked for the first time, because most never are."""

    text: str
    """As the author wrote it, for messages."""
    source: str | None
    """As this language reads it; what it cannot is left to the target."""

    @cached_property
    def _compiled(self) -> re.Pattern[str] | None:
        return None if self.source is None else re.compile(self.source)

    def matches(self, text: str) -> bool:
        """Whether it occurs in a text."""
        return self._compiled is None or self._compiled.search(text) is not None


@dataclass(slots=True)
class Numbers:
    """What numbers must be."""

    minimum: tuple[float, bool] | None
    """Bound, and whether it is excluded itself."""
    maximum: tuple[float, bool] | None
    says: str
    multiple_of: float | None
    multiple_says: str


@dataclass(slots=True)
class Strings:
    """What strings must be; lengths are in characters."""

    minimum: int | None
    maximum: int | None
    pattern: Pattern | None
    format: str | None


@dataclass(slots=True)
class Arrays:
    """What arrays must be."""

    prefix: list[int]
    items: int | None
    minimum: int | None
    maximum: int | None
    unique: bool


@dataclass(slots=True)
class Objects:
    """What objects must be."""

    properties: dict[str, int]
    required: list[str]
    patterns: list[tuple[Pattern, int]]
    additional: int | bool
    """The schema of what is not declared; `True` allows anything, `False` nothing."""
    minimum: int | None
    maximum: int | None


@dataclass(slots=True)
class Node:
    """A compiled schema; numbers of other nodes are places in the arena."""

    types: int
    nullable: bool = False
    sensitive: bool = False
    literals: list[Json] | None = None
    numbers: Numbers | None = None
    strings: Strings | None = None
    arrays: Arrays | None = None
    objects: Objects | None = None
    reference: int | None = None
    all_of: list[int] = field(default_factory=list)
    """The reference, then `allOf`."""
    choices: list[list[int]] = field(default_factory=list)
    """`anyOf` and `oneOf`, each with its variants."""
    excluded: int | None = None


def node_of(data: int | Mapping[str, Any], patterns: list[Pattern]) -> Node:
    """The node of that data; a number is a set of types and nothing else."""
    if isinstance(data, int):
        return Node(data)
    numbers, strings, arrays, objects = (data.get(key) for key in ("number", "string", "array", "object"))
    node = Node(
        data["types"],
        nullable=data.get("nullable", False),
        sensitive=data.get("sensitive", False),
        literals=data.get("enum"),
        reference=data.get("ref"),
        all_of=[data["ref"], *data.get("all", ())] if "ref" in data else data.get("all", []),
        choices=data.get("choices", []),
        excluded=data.get("not"),
    )
    if numbers:
        low, high, step = (numbers.get(key) for key in ("minimum", "maximum", "multiple_of"))
        pairs = (tuple(low) if low else None, tuple(high) if high else None)
        node.numbers = Numbers(*pairs, numbers.get("says", ""), step, numbers.get("multiple_says", ""))
    if strings:
        pattern = patterns[strings["pattern"]] if "pattern" in strings else None
        node.strings = Strings(strings.get("min"), strings.get("max"), pattern, strings.get("format"))
    if arrays:
        prefix, unique = arrays.get("prefix", []), arrays.get("unique", False)
        node.arrays = Arrays(prefix, arrays.get("items"), arrays.get("min"), arrays.get("max"), unique)
    if objects:
        node.objects = Objects(
            dict(objects.get("properties", ())),
            objects.get("required", []),
            [(patterns[pattern], inner) for pattern, inner in objects.get("patterns", ())],
            objects.get("additional", True),
            objects.get("min"),
            objects.get("max"),
        )
    return node
