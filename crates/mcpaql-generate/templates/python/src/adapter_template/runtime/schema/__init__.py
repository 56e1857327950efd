"""Compiled schemas × value → violations.

What always holds: a check reads no JSON Schema, only the nodes that the catalog holds, and always ends (depth and steps
are bounded); a violation tells what the schema wants, never the value that was given; a bool is no number, and `1` and
`1.0` are the same one.

Two deliberate leniencies: `oneOf` is satisfied by *at least* one variant, because variants of real documents overlap
and the target has the last word; and a nullable node admits `null` whatever else it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .check import MOST_STEPS, Checker
from .node import FUEL, Node, Pattern, node_of
from .typeset import ANY, FRACTION, LARGEST_EXACT, NULL, OBJECT, type_name
from .violation import (
    TOO_COMPLEX,
    TOO_DEEP,
    Field,
    Key,
    Kind,
    Missing,
    NoVariant,
    OtherType,
    OtherValue,
    TooMuch,
    UnknownField,
    Violation,
    path_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..jsontext import Json

__all__ = [
    "Field",
    "Key",
    "Kind",
    "Missing",
    "NoVariant",
    "OtherType",
    "OtherValue",
    "Schemas",
    "TooMuch",
    "UnknownField",
    "Violation",
    "load",
    "path_text",
    "type_name",
]


@dataclass(slots=True)
class Schemas:
    """All compiled schemas of an adapter."""

    nodes: list[Node]

    def check(self, place: int, value: Json) -> list[Violation]:
        """What is wrong with a value: nothing if it is valid, at most ten violations otherwise."""
        checker = Checker(self)
        checker.visit(place, value, ())
        # A probe that gave up decided nothing, so neither did what was built on it.
        if checker.steps > MOST_STEPS:
            return [Violation((), sensitive=False, kind=TOO_COMPLEX)]
        return [Violation((), sensitive=False, kind=TOO_DEEP)] if checker.too_deep else checker.found

    def add_object(self, properties: Mapping[str, int], required: Sequence[str]) -> int:
        """Adds the schema of an object with those properties, of known schemas; its place."""
        rules = {"properties": [*properties.items()], "required": required}
        self.nodes.append(node_of({"types": OBJECT, "object": rules}, []))
        return len(self.nodes) - 1

    def integers(self, place: int, value: Json) -> Json:
        """The value with whole floats (`1.0`, `1e3`) as integers wherever the schema asks for an integer."""
        return self._exact(place, value, FUEL) if _has_float(value) else value

    def types(self, place: int, fuel: int = FUEL) -> int:
        """The JSON types that a schema admits, references and variants followed a little."""
        if fuel == 0:
            return ANY
        node = self.nodes[place]
        admitted = node.types
        for other in node.all_of:
            admitted &= self.types(other, fuel - 1)
        for variants in node.choices:
            any_of = 0
            for variant in variants[:16]:
                any_of |= self.types(variant, (fuel - 1) // 2)
            admitted &= any_of
        return admitted | NULL if node.nullable else admitted

    def _exact(self, place: int, value: Json, fuel: int) -> Json:
        if fuel == 0:
            return value
        node = self.nodes[place]
        if isinstance(value, float):
            whole = value.is_integer() and abs(value) <= LARGEST_EXACT
            return int(value) if whole and not self.types(place) & FRACTION else value
        if isinstance(value, list) and node.arrays:
            rules = node.arrays
            for index, item in enumerate(value):
                inner = rules.prefix[index] if index < len(rules.prefix) else rules.items
                if inner is not None:
                    value[index] = self._exact(inner, item, FUEL)
        elif isinstance(value, dict) and node.objects:
            for name, item in value.items():
                inner = node.objects.properties.get(name, node.objects.additional)
                if not isinstance(inner, bool):
                    value[name] = self._exact(inner, item, FUEL)
        for other in node.all_of:
            value = self._exact(other, value, fuel - 1)
        return value


def load(nodes: Iterable[Any], patterns: Iterable[Sequence[str | None]]) -> Schemas:
    """The schemas of a catalog's `schemas` and `patterns`."""
    read = [Pattern(text or "", source) for text, source in patterns]
    return Schemas([node_of(data, read) for data in nodes])


def _has_float(value: Json) -> bool:
    match value:
        case float():
            return True
        case list():
            return any(map(_has_float, value))
        case dict():
            return any(map(_has_float, value.values()))
    return False
