"""The index: every stem with the operations that hold it, and how much it counts there."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .f32 import f32
from .intent import Intent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WHOLE = 65_535
"""The weight of a word that says everything."""
_HEAD = 1
"""The stem is part of the head."""
_ONE = 2
"""A placeholder follows it in the path: the operation is about one such thing, or about what belongs to one."""
_MANY = 4
"""A plural without one: the operation is about all such things."""
_TOPIC = 8
"""It stands last in the path, which says what the operation is about."""
_DEPRECATED, _SINGLE, _LIST = 1, 2, 4


@dataclass(frozen=True, slots=True)
class Posting:
    """One operation that holds a stem."""

    doc: int
    weight: float
    """How much the stem counts there."""
    head: bool
    topic: bool
    many: bool


@dataclass(frozen=True, slots=True)
class Card:
    """What ranking needs to know about an operation."""

    category: Intent
    deprecated: bool
    single: bool
    """Whether its path ends in a placeholder, so that it is about one thing."""
    list: bool
    """Whether it gives several things."""
    needs: int
    """How many placeholders its path has."""
    head: float
    """How much all words of its head weigh."""
    words: int
    """How many these are."""
    rank: int
    """Its place in the order of names."""


class Index:
    """Operations, ready to be searched."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """Reads the catalog's `search`."""
        self.stems: list[str] = data["stems"]
        self._postings: list[list[int]] = data["postings"]
        self._rarity = {int(holders): f32(rarity) for holders, rarity in data["rarity"].items()}
        self.cards = [_card(*card) for card in data["cards"]]

    def position(self, text: str) -> int:
        """The first stem that is not before `text` in the alphabet."""
        return bisect_left(self.stems, text)

    def find(self, stem: str) -> int | None:
        """The number of that stem."""
        at = self.position(stem)
        return at if at < len(self.stems) and self.stems[at] == stem else None

    def postings(self, stem: int) -> Iterator[Posting]:
        """The operations that hold a stem, in order."""
        numbers = self._postings[stem]
        for doc, weight, marks in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
            many = bool(marks & _MANY) and not marks & _ONE
            yield Posting(doc, f32(weight / _WHOLE), bool(marks & _HEAD), bool(marks & _TOPIC), many)

    def rarity(self, stem: int) -> float:
        """How much a stem says: the rarer, the more."""
        return self._rarity[len(self._postings[stem]) // 3]


def _card(category: int, flags: int, needs: int, head: float, words: int, rank: int) -> Card:
    deprecated, single, several = (bool(flags & mark) for mark in (_DEPRECATED, _SINGLE, _LIST))
    return Card(Intent(1 << category), deprecated, single, several, needs, f32(head), words, rank)
