"""Nodes × value → violations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import jsontext
from ..formats import FORMATS
from ..suggest import nearest
from ..text import ascii_lower, shorten
from .equality import compare, duplicate, is_multiple, same
from .node import FUEL
from .typeset import FRACTION, LARGEST_EXACT, NULL, label, type_name, type_of
from .violation import (
    TOO_COMPLEX,
    TOO_DEEP,
    Field,
    Key,
    Missing,
    NoVariant,
    OtherType,
    OtherValue,
    UnknownField,
    Violation,
)

if TYPE_CHECKING:
    from ..jsontext import Json
    from . import Schemas
    from .node import Arrays, Node, Numbers, Objects, Strings
    from .violation import Kind, Part

_MOST_VIOLATIONS = 10
"""More would not help anybody who repairs a call."""
_DEEPEST = 64
"""Deeper values are refused."""
_MOST_FRAMES = 192
"""Deeper than any value, because variants and references judge the same value again."""
MOST_STEPS = 1_000_000
"""Recursive variants can take exponential time."""
_LISTED = 10
"""Values of an enum that a message lists."""


class Checker:
    """One walk over a value."""

    def __init__(self, schemas: Schemas) -> None:
        """Begins with nothing found."""
        self.nodes = schemas.nodes
        self.schemas = schemas
        self.found: list[Violation] = []
        self.limit = _MOST_VIOLATIONS
        self.failures = 0
        self.probing = False
        """Only whether it fails is asked for."""
        self.steps = 0
        self.frames = 0
        self.too_deep = False
        self.sensitive = False

    def fail(self, path: tuple[Part, ...], kind: Kind | None) -> None:
        """Notes what is wrong there."""
        self.failures += 1
        if kind is not None and not self.probing and len(self.found) < self.limit:
            self.found.append(Violation(path, self.sensitive, kind))

    @property
    def settled(self) -> bool:
        """Whether further findings would change nothing."""
        return self.failures > 0 if self.probing else len(self.found) >= self.limit

    def visit(self, place: int, value: Json, path: tuple[Part, ...]) -> None:
        """Judges a value by the node of that place."""
        if len(path) > _DEEPEST or self.frames >= _MOST_FRAMES:
            self.too_deep = True
            return self.fail(path, TOO_DEEP)
        self.steps += 1
        if self.steps > MOST_STEPS:
            return self.fail(path, TOO_COMPLEX)
        node = self.nodes[place]
        outer = self.sensitive
        self.frames += 1
        self.sensitive = outer or node.sensitive
        self._judge(node, value, path)
        self.sensitive = outer
        self.frames -= 1
        return None

    def _judge(self, node: Node, value: Json, path: tuple[Part, ...]) -> None:
        if value is None and node.nullable:
            return None
        if not node.types & type_of(value):
            expected = label(node.types | (NULL if node.nullable else 0))
            return self.fail(path, OtherType(expected, type_name(value)))
        if isinstance(value, float) and not node.types & FRACTION and abs(value) > LARGEST_EXACT:
            return self.fail(path, _TOO_LARGE)
        if node.literals is not None and not any(same(literal, value) for literal in node.literals):
            return self._fail_literal(node.literals, value, path)
        match value:
            case bool() | None:
                pass
            case int() | float():
                self._number(node.numbers, value, path)
            case str():
                self._string(node.strings, value, path)
            case list():
                self._array(node.arrays, value, path)
            case dict():
                self._object(node.objects, value, path)
        return self._combined(node, value, path)

    def _combined(self, node: Node, value: Json, path: tuple[Part, ...]) -> None:
        for place in node.all_of:
            if self.settled:
                return
            self.visit(place, value, path)
        for variants in node.choices:
            if self.settled:
                return
            for place in variants:
                if self._holds(place, value, path):
                    break
            else:
                self._fail_choice(variants, value, path)
        if node.excluded is not None and self._holds(node.excluded, value, path):
            self.fail(path, OtherValue("has a form that is not allowed", {"not": {}}))

    def _holds(self, place: int, value: Json, path: tuple[Part, ...]) -> bool:
        outer = self.probing, self.failures
        self.probing, self.failures = True, 0
        self.visit(place, value, path)
        holds = self.failures == 0
        self.probing, self.failures = outer
        return holds

    def _fail_literal(self, literals: list[Json], value: Json, path: tuple[Part, ...]) -> None:
        self.fail(path, None if self.probing else _no_literal(literals, value))

    def _fail_choice(self, variants: list[int], value: Json, path: tuple[Part, ...]) -> None:
        """Reports the variant that was meant where that can be told, and every form otherwise."""
        if self.probing:
            return self.fail(path, None)
        given = type_of(value)
        admitted = [self.schemas.types(place) for place in variants]
        if not any(types & given for types in admitted):
            union = 0
            for types in admitted:
                union |= types
            return self.fail(path, OtherType(label(union), type_name(value)))
        meant = [place for place, types in zip(variants, admitted, strict=True) if types & given]
        meant = [place for place in meant if self._marked(place, value, FUEL)] or meant
        if len(meant) == 1:
            return self.visit(meant[0], value, path)
        literals = [self.nodes[place].literals for place in meant]
        if all(listed is not None for listed in literals):
            return self._fail_literal([literal for listed in literals for literal in listed or ()], value, path)
        forms = [form for place in meant[:4] if (form := self._first(place, value))]
        outer = self.sensitive
        self.sensitive = outer or any(form.sensitive for form in forms)
        self.fail(path, NoVariant(forms))
        self.sensitive = outer
        return None

    def _first(self, place: int, value: Json) -> Violation | None:
        """The first violation of a schema, with a path relative to the value."""
        found, limit, failures = self.found, self.limit, self.failures
        self.found, self.limit = [], 1
        self.visit(place, value, ())
        first = self.found[0] if self.found else None
        self.found, self.limit, self.failures = found, limit, failures
        return first

    def _marked(self, place: int, value: Json, fuel: int) -> bool:
        """Whether a field that can have only one value (`kind: {const: circle}`) says that this variant is meant."""
        if not isinstance(value, dict) or fuel == 0:
            return False
        node = self.nodes[place]
        for name, inner in node.objects.properties.items() if node.objects else ():
            literals = self.nodes[inner].literals
            if name in value and literals is not None and len(literals) == 1 and same(literals[0], value[name]):
                return True
        return any(
            self._marked(other, value, (fuel - 1) // 2) for other in node.all_of[: 8 if node.reference is None else 9]
        )

    def _number(self, rules: Numbers | None, number: float, path: tuple[Part, ...]) -> None:
        if rules is None:
            return
        low, high = rules.minimum, rules.maximum
        too_low = low is not None and (compare(number, low[0]) < 0 or (low[1] and compare(number, low[0]) == 0))
        too_high = high is not None and (compare(number, high[0]) > 0 or (high[1] and compare(number, high[0]) == 0))
        if too_low or too_high:
            self.fail(path, _out_of_bounds(rules))
        if rules.multiple_of is not None and not is_multiple(number, rules.multiple_of):
            self.fail(path, OtherValue(rules.multiple_says, {"multipleOf": rules.multiple_of}))

    def _string(self, rules: Strings | None, text: str, path: tuple[Part, ...]) -> None:
        if rules is None:
            return
        low, high, pattern, name = rules.minimum, rules.maximum, rules.pattern, rules.format
        if _out_of(low, high, len(text)):
            self.fail(path, _wrong_count(("minLength", low), ("maxLength", high), "character", len(text)))
        if pattern is not None and not pattern.matches(text):
            says = f"must match the pattern {shorten(pattern.text, 120)}"
            self.fail(path, OtherValue(says, {"pattern": pattern.text}))
        if name is not None:
            accepts, says = FORMATS[name]
            if not accepts(text):
                self.fail(path, OtherValue(says, {"format": name}))

    def _array(self, rules: Arrays | None, items: list[Json], path: tuple[Part, ...]) -> None:
        if rules is None:
            return
        low, high = rules.minimum, rules.maximum
        if _out_of(low, high, len(items)):
            self.fail(path, _wrong_count(("minItems", low), ("maxItems", high), "item", len(items)))
        if rules.unique and (repeated := duplicate(items)) is not None:
            self.fail((*path, repeated), OtherValue("repeats an earlier item of the list", {"uniqueItems": True}))
        for index, item in enumerate(items):
            if self.settled:
                return
            inner = rules.prefix[index] if index < len(rules.prefix) else rules.items
            if inner is not None:
                self.visit(inner, item, (*path, index))

    def _object(self, rules: Objects | None, fields: dict[str, Json], path: tuple[Part, ...]) -> None:
        if rules is None:
            return
        for name in rules.required:
            if name not in fields:
                self.fail(path, Missing(name))
        low, high = rules.minimum, rules.maximum
        if _out_of(low, high, len(fields)):
            self.fail(path, _wrong_count(("minProperties", low), ("maxProperties", high), "field", len(fields)))
        for name, value in fields.items():
            if self.settled:
                return
            declared = rules.properties.get(name)
            if declared is not None:
                self.visit(declared, value, (*path, Field(name)))
            matching = [inner for pattern, inner in rules.patterns if pattern.matches(name)]
            for inner in matching:
                self.visit(inner, value, (*path, Key(name)))
            if declared is not None or matching or rules.additional is True:
                continue
            if rules.additional is not False:
                self.visit(rules.additional, value, (*path, Key(name)))
            elif self.probing:
                self.fail(path, None)
            else:
                valid = list(rules.properties)
                self.fail(path, UnknownField(name, valid, nearest(name, valid)))


_TOO_LARGE = OtherValue(
    "is too large to be kept exactly; send it as a string if the operation allows one",
    {"minimum": -LARGEST_EXACT, "maximum": LARGEST_EXACT},
)


def _no_literal(literals: list[Json], value: Json) -> OtherValue:
    meant = None
    if isinstance(value, str):
        texts = [literal for literal in literals if isinstance(literal, str)]
        letters = ascii_lower(value)
        meant = next((text for text in texts if ascii_lower(text) == letters), None)
        meant = nearest(value, texts) if meant is None else meant
    listed = ", ".join(map(_literal_text, literals[:_LISTED]))
    says = f"must be one of {listed}" if len(literals) > 1 else f"must be {listed}"
    if len(literals) > _LISTED:
        says += f" and {len(literals) - _LISTED} more"
    return OtherValue(says, {"enum": literals[: _LISTED * 5]}, meant)


def _literal_text(value: Json) -> str:
    return f"'{shorten(value, 64)}'" if isinstance(value, str) else shorten(jsontext.write(value), 64)


def _out_of_bounds(rules: Numbers) -> OtherValue:
    allowed: dict[str, Json] = {}
    if rules.minimum is not None:
        bound, exclusive = rules.minimum
        allowed["exclusiveMinimum" if exclusive else "minimum"] = bound
    if rules.maximum is not None:
        bound, exclusive = rules.maximum
        allowed["exclusiveMaximum" if exclusive else "maximum"] = bound
    return OtherValue(rules.says, allowed)


def _out_of(low: int | None, high: int | None, count: int) -> bool:
    return (low is not None and count < low) or (high is not None and count > high)


def _wrong_count(low: tuple[str, int | None], high: tuple[str, int | None], noun: str, actual: int) -> OtherValue:
    def counted(count: int) -> str:
        return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

    match low[1], high[1]:
        case int(least), int(most) if least == most:
            wanted = f"exactly {counted(least)}"
        case int(least), int(most):
            wanted = f"between {least} and {most} {noun}s"
        case int(least), _:
            wanted = f"{counted(least)} or more"
        case _, most:
            wanted = f"no more than {counted(most or 0)}"
    allowed: dict[str, Json] = {key: bound for key, bound in (low, high) if bound is not None}
    return OtherValue(f"must have {wanted}, has {actual}", allowed)
