"""Compiled schemas × value → violations.

What always holds: a check reads no JSON Schema, only the nodes that the catalog holds, and always ends (depth and steps
are bounded); a violation tells what the schema wants, never the value that was given; a bool is no number, and `1` and
`1.0` are the same one.

Two deliberate leniencies: `oneOf` is satisfied by *at least* one variant, because variants of real documents overlap
and the target has the last word; and a nullable node admits `null` whatever else it says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from . import jsontext
from .formats import FORMATS
from .suggest import nearest
from .text import ascii_lower, escaped, is_alphanumeric, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .jsontext import Json

_MOST_VIOLATIONS = 10
"""More would not help anybody who repairs a call."""
_DEEPEST = 64
"""Deeper values are refused."""
_MOST_FRAMES = 192
"""Deeper than any value, because variants and references judge the same value again."""
_MOST_STEPS = 1_000_000
"""Recursive variants can take exponential time."""
_LARGEST_EXACT = (1 << 53) - 1
"""The largest integer up to which a float holds every one."""
_LISTED = 10
"""Values of an enum that a message lists."""
_FUEL = 16
"""References that are followed from one value."""

_NULL, _BOOLEAN, _INTEGER, _FRACTION, _STRING, _ARRAY, _OBJECT = (1 << bit for bit in range(7))
_ANY = 127
_NAMES = {
    _STRING: "string",
    _INTEGER: "integer",
    _BOOLEAN: "boolean",
    _ARRAY: "array",
    _OBJECT: "object",
    _NULL: "null",
}
"""Types in the order in which messages name them; a number is both `_INTEGER` and `_FRACTION`."""


def type_name(value: Json) -> str:
    """The JSON type of a value, as schemas call it."""
    return _NAMES.get(_type(value), "number")


def _type(value: Json) -> int:
    match value:
        case str():
            return _STRING
        case None:
            return _NULL
        case bool():
            return _BOOLEAN
        case int():
            return _INTEGER
        case float():
            return _INTEGER if value.is_integer() else _FRACTION
        case list():
            return _ARRAY
        case dict():
            return _OBJECT


def _label(types: int) -> str:
    numeric = "number" if types & _FRACTION else "integer"
    wanted = types | _INTEGER if types & _FRACTION else types
    names = [numeric if bit == _INTEGER else name for bit, name in _NAMES.items() if wanted & bit]
    return " | ".join(names) or "nothing"


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


_TOO_DEEP = TooMuch("is nested too deeply")
_TOO_COMPLEX = TooMuch("is too large to be checked against its schema")

Kind: TypeAlias = OtherType | Missing | UnknownField | OtherValue | NoVariant | TooMuch


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a value breaks its schema."""

    path: tuple[Part, ...]
    sensitive: bool
    """The schema calls this place a secret."""
    kind: Kind


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
class _Numbers:
    minimum: tuple[float, bool] | None
    """Bound, and whether it is excluded itself."""
    maximum: tuple[float, bool] | None
    says: str
    multiple_of: float | None
    multiple_says: str


@dataclass(slots=True)
class _Strings:
    minimum: int | None
    maximum: int | None
    pattern: Pattern | None
    format: str | None


@dataclass(slots=True)
class _Arrays:
    prefix: list[int]
    items: int | None
    minimum: int | None
    maximum: int | None
    unique: bool


@dataclass(slots=True)
class _Objects:
    properties: dict[str, int]
    required: list[str]
    patterns: list[tuple[Pattern, int]]
    additional: int | bool
    """The schema of what is not declared; `True` allows anything, `False` nothing."""
    minimum: int | None
    maximum: int | None


@dataclass(slots=True)
class _Node:
    """A compiled schema; numbers of other nodes are places in the arena."""

    types: int
    nullable: bool = False
    sensitive: bool = False
    literals: list[Json] | None = None
    numbers: _Numbers | None = None
    strings: _Strings | None = None
    arrays: _Arrays | None = None
    objects: _Objects | None = None
    reference: int | None = None
    all_of: list[int] = field(default_factory=list)
    """The reference, then `allOf`."""
    choices: list[list[int]] = field(default_factory=list)
    """`anyOf` and `oneOf`, each with its variants."""
    excluded: int | None = None


@dataclass(slots=True)
class Schemas:
    """All compiled schemas of an adapter."""

    nodes: list[_Node]

    def check(self, place: int, value: Json) -> list[Violation]:
        """What is wrong with a value: nothing if it is valid, at most ten violations otherwise."""
        checker = _Checker(self)
        checker.visit(place, value, ())
        # A probe that gave up decided nothing, so neither did what was built on it.
        if checker.steps > _MOST_STEPS:
            return [Violation((), sensitive=False, kind=_TOO_COMPLEX)]
        return [Violation((), sensitive=False, kind=_TOO_DEEP)] if checker.too_deep else checker.found

    def add_object(self, properties: Mapping[str, int], required: Sequence[str]) -> int:
        """Adds the schema of an object with those properties, of known schemas; its place."""
        rules = {"properties": [*properties.items()], "required": required}
        self.nodes.append(_node({"types": _OBJECT, "object": rules}, []))
        return len(self.nodes) - 1

    def integers(self, place: int, value: Json) -> Json:
        """The value with whole floats (`1.0`, `1e3`) as integers wherever the schema asks for an integer."""
        return self._exact(place, value, _FUEL) if _has_float(value) else value

    def types(self, place: int, fuel: int = _FUEL) -> int:
        """The JSON types that a schema admits, references and variants followed a little."""
        if fuel == 0:
            return _ANY
        node = self.nodes[place]
        admitted = node.types
        for other in node.all_of:
            admitted &= self.types(other, fuel - 1)
        for variants in node.choices:
            any_of = 0
            for variant in variants[:16]:
                any_of |= self.types(variant, (fuel - 1) // 2)
            admitted &= any_of
        return admitted | _NULL if node.nullable else admitted

    def _exact(self, place: int, value: Json, fuel: int) -> Json:
        if fuel == 0:
            return value
        node = self.nodes[place]
        if isinstance(value, float):
            whole = value.is_integer() and abs(value) <= _LARGEST_EXACT
            return int(value) if whole and not self.types(place) & _FRACTION else value
        if isinstance(value, list) and node.arrays:
            rules = node.arrays
            for index, item in enumerate(value):
                inner = rules.prefix[index] if index < len(rules.prefix) else rules.items
                if inner is not None:
                    value[index] = self._exact(inner, item, _FUEL)
        elif isinstance(value, dict) and node.objects:
            for name, item in value.items():
                inner = node.objects.properties.get(name, node.objects.additional)
                if not isinstance(inner, bool):
                    value[name] = self._exact(inner, item, _FUEL)
        for other in node.all_of:
            value = self._exact(other, value, fuel - 1)
        return value


class _Checker:
    """One walk over a value."""

    def __init__(self, schemas: Schemas) -> None:
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
        self.failures += 1
        if kind is not None and not self.probing and len(self.found) < self.limit:
            self.found.append(Violation(path, self.sensitive, kind))

    @property
    def settled(self) -> bool:
        """Whether further findings would change nothing."""
        return self.failures > 0 if self.probing else len(self.found) >= self.limit

    def visit(self, place: int, value: Json, path: tuple[Part, ...]) -> None:
        if len(path) > _DEEPEST or self.frames >= _MOST_FRAMES:
            self.too_deep = True
            return self.fail(path, _TOO_DEEP)
        self.steps += 1
        if self.steps > _MOST_STEPS:
            return self.fail(path, _TOO_COMPLEX)
        node = self.nodes[place]
        outer = self.sensitive
        self.frames += 1
        self.sensitive = outer or node.sensitive
        self._judge(node, value, path)
        self.sensitive = outer
        self.frames -= 1
        return None

    def _judge(self, node: _Node, value: Json, path: tuple[Part, ...]) -> None:
        if value is None and node.nullable:
            return None
        if not node.types & _type(value):
            expected = _label(node.types | (_NULL if node.nullable else 0))
            return self.fail(path, OtherType(expected, type_name(value)))
        if isinstance(value, float) and not node.types & _FRACTION and abs(value) > _LARGEST_EXACT:
            return self.fail(path, _TOO_LARGE)
        if node.literals is not None and not any(_same(literal, value) for literal in node.literals):
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

    def _combined(self, node: _Node, value: Json, path: tuple[Part, ...]) -> None:
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
        given = _type(value)
        admitted = [self.schemas.types(place) for place in variants]
        if not any(types & given for types in admitted):
            union = 0
            for types in admitted:
                union |= types
            return self.fail(path, OtherType(_label(union), type_name(value)))
        meant = [place for place, types in zip(variants, admitted, strict=True) if types & given]
        meant = [place for place in meant if self._marked(place, value, _FUEL)] or meant
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
            if name in value and literals is not None and len(literals) == 1 and _same(literals[0], value[name]):
                return True
        return any(
            self._marked(other, value, (fuel - 1) // 2) for other in node.all_of[: 8 if node.reference is None else 9]
        )

    def _number(self, rules: _Numbers | None, number: float, path: tuple[Part, ...]) -> None:
        if rules is None:
            return
        low, high = rules.minimum, rules.maximum
        too_low = low is not None and (_compare(number, low[0]) < 0 or (low[1] and _compare(number, low[0]) == 0))
        too_high = high is not None and (_compare(number, high[0]) > 0 or (high[1] and _compare(number, high[0]) == 0))
        if too_low or too_high:
            self.fail(path, _out_of_bounds(rules))
        if rules.multiple_of is not None and not _is_multiple(number, rules.multiple_of):
            self.fail(path, OtherValue(rules.multiple_says, {"multipleOf": rules.multiple_of}))

    def _string(self, rules: _Strings | None, text: str, path: tuple[Part, ...]) -> None:
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

    def _array(self, rules: _Arrays | None, items: list[Json], path: tuple[Part, ...]) -> None:
        if rules is None:
            return
        low, high = rules.minimum, rules.maximum
        if _out_of(low, high, len(items)):
            self.fail(path, _wrong_count(("minItems", low), ("maxItems", high), "item", len(items)))
        if rules.unique and (repeated := _duplicate(items)) is not None:
            self.fail((*path, repeated), OtherValue("repeats an earlier item of the list", {"uniqueItems": True}))
        for index, item in enumerate(items):
            if self.settled:
                return
            inner = rules.prefix[index] if index < len(rules.prefix) else rules.items
            if inner is not None:
                self.visit(inner, item, (*path, index))

    def _object(self, rules: _Objects | None, fields: dict[str, Json], path: tuple[Part, ...]) -> None:
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
    {"minimum": -_LARGEST_EXACT, "maximum": _LARGEST_EXACT},
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


def _out_of_bounds(rules: _Numbers) -> OtherValue:
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


def _compare(one: float, other: float) -> int:
    """Exact for integers; a number that is neither is compared as a float."""
    if not (isinstance(one, int) and isinstance(other, int)):
        one, other = float(one), float(other)
    return (one > other) - (one < other)


def _is_multiple(number: float, step: float) -> bool:
    if isinstance(number, int) and isinstance(step, int):
        return number % step == 0
    quotient = float(number) / float(step)
    if quotient in (float("inf"), float("-inf")):
        return True
    # Halves are rounded away from zero.
    nearest_whole = float(int(quotient + (0.5 if quotient >= 0 else -0.5)))
    return abs(quotient - nearest_whole) <= 1e-9 * max(abs(quotient), 1.0)


def _same(one: Json, other: Json) -> bool:
    """JSON equality: `1` and `1.0` are the same number, the order of fields means nothing."""
    kind = _type(one)
    if kind != _type(other):
        return False
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(key in other and _same(own, other[key]) for key, own in one.items())
    if isinstance(one, (int, float)) and isinstance(other, (int, float)) and kind & (_INTEGER | _FRACTION):
        return _compare(one, other) == 0
    return one == other


def _duplicate(items: list[Json]) -> int | None:
    """The first item that equals an earlier one."""
    seen: dict[Any, list[Json]] = {}
    for index, item in enumerate(items):
        alike = seen.setdefault(_fingerprint(item), [])
        if any(_same(earlier, item) for earlier in alike):
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


def _has_float(value: Json) -> bool:
    match value:
        case float():
            return True
        case list():
            return any(map(_has_float, value))
        case dict():
            return any(map(_has_float, value.values()))
    return False


def load(nodes: Iterable[Any], patterns: Iterable[Sequence[str | None]]) -> Schemas:
    """The schemas of a catalog's `schemas` and `patterns`."""
    read = [Pattern(text or "", source) for text, source in patterns]
    return Schemas([_node(data, read) for data in nodes])


def _node(data: int | Mapping[str, Any], patterns: list[Pattern]) -> _Node:
    if isinstance(data, int):
        return _Node(data)
    numbers, strings, arrays, objects = (data.get(key) for key in ("number", "string", "array", "object"))
    node = _Node(
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
        node.numbers = _Numbers(*pairs, numbers.get("says", ""), step, numbers.get("multiple_says", ""))
    if strings:
        pattern = patterns[strings["pattern"]] if "pattern" in strings else None
        node.strings = _Strings(strings.get("min"), strings.get("max"), pattern, strings.get("format"))
    if arrays:
        prefix, unique = arrays.get("prefix", []), arrays.get("unique", False)
        node.arrays = _Arrays(prefix, arrays.get("items"), arrays.get("min"), arrays.get("max"), unique)
    if objects:
        node.objects = _Objects(
            dict(objects.get("properties", ())),
            objects.get("required", []),
            [(patterns[pattern], inner) for pattern, inner in objects.get("patterns", ())],
            objects.get("additional", True),
            objects.get("min"),
            objects.get("max"),
        )
    return node
