"""One walk over a value that ends as soon as a limit is passed, before anything more expensive looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from .text import size

if TYPE_CHECKING:
    from .catalog import Limits
    from .jsontext import Json

TextRule: TypeAlias = Literal["any", "no_nul", "no_control"]
"""Which characters texts may hold; `no_control` allows the tab."""

What: TypeAlias = Literal["request", "string", "items", "depth", "nul", "control"]

_CONTROL = frozenset(map(chr, (*range(0x20), 0x7F))) - {"\t"}


class Excess(Exception):
    """What went beyond, and by how much."""

    def __init__(self, what: What, limits: Limits, actual: int = 0) -> None:
        """`actual` is the size of what is too large."""
        super().__init__(what)
        self.what = what
        self.limits = limits
        self.actual = actual


class Measure:
    """The parameters of one call."""

    def __init__(self, limits: Limits) -> None:
        """Begins with nothing."""
        self._limits = limits
        self._bytes = 1
        """Never more than the size as JSON: escapes and most digits are not counted."""

    def param(self, name: str, value: Json, rule: TextRule) -> None:
        """Adds a parameter; raises `Excess`."""
        self._add(size(name) + 4)
        self._walk(value, rule, 2)

    def _add(self, amount: int) -> None:
        self._bytes += amount
        if self._bytes > self._limits.request_bytes:
            raise Excess("request", self._limits)

    def _walk(self, value: Json, rule: TextRule, depth: int) -> None:
        match value:
            case str():
                self._text(value, rule)
            case bool() | None:
                self._add(4)
            case int() | float():
                self._add(1)
            case list():
                self._container(len(value), depth)
                for item in value:
                    self._add(1)
                    self._walk(item, rule, depth + 1)
            case dict():
                self._container(len(value), depth)
                for key, item in value.items():
                    self._add(2)
                    self._text(key, rule)
                    self._walk(item, rule, depth + 1)

    def _container(self, length: int, depth: int) -> None:
        if depth > self._limits.depth:
            raise Excess("depth", self._limits)
        if length > self._limits.array_items:
            raise Excess("items", self._limits, length)
        self._add(1)

    def _text(self, text: str, rule: TextRule) -> None:
        length = size(text)
        if length > self._limits.string_bytes:
            raise Excess("string", self._limits, length)
        self._add(length + 2)
        if rule == "no_nul" and "\0" in text:
            raise Excess("nul", self._limits)
        if rule == "no_control" and not _CONTROL.isdisjoint(text):
            raise Excess("control", self._limits)
