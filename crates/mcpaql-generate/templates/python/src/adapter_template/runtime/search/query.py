"""A question as search understands it: what shall be done, and to what."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from ..suggest import edits
from ..text import size
from .f32 import f32
from .grammar import Asked, Number, Role, understand
from .intent import Intent
from .stem import doers, relatives
from .vocabulary import vocabulary

if TYPE_CHECKING:
    from .index import Index

_RELATIVE = f32(0.6)
"""How much a word counts for another of its family."""
_DOER = 1.25
"""How much a deed counts for those who do it, where these are asked for."""
_MISSPELT = f32(0.6)
"""How much a word counts for one that is spelt nearly alike."""
_HALF = f32(0.8)
"""How much a word counts for each of two that were written as one."""
_PART = f32(0.7)
"""How much of a turn of phrase each of its words says."""
_NOUN = 0.5
"""A word of this weight may be what a verb is about."""


@dataclass(slots=True)
class Concept:
    """A word of the question."""

    weight: float
    """How much it matters."""
    role: Role
    number: Number | None
    """Whether one such thing is meant."""
    stems: dict[int, float] = field(default_factory=dict)
    """The stems that fit it, each with how well."""
    rarity: float = inf
    """How rare the word itself is: one that stands for it says no more."""

    def add(self, stem: int | None, weight: float) -> None:
        """Adds a stem that fits so well."""
        if stem is not None:
            self.stems[stem] = max(weight, self.stems.get(stem, weight))

    def fill(self, index: Index, stem: str, before: Asked | None, after: Asked | None) -> None:
        """Adds everything in the index that a word may mean, next to the words around it."""
        if (own := index.find(stem)) is not None:
            self.add(own, 1.0)
            self.rarity = index.rarity(own)
        pairs = [(before.stem, stem)] if before else []
        pairs += [(stem, after.stem)] if after else []
        alike = vocabulary().alike
        for one, other in pairs:
            self.add(index.find(one + other), 1.0)
            for others, much in alike.get(f"{one} {other}", ()):
                self._add_all(index, others, much)
        for others, much in alike.get(stem, ()):
            self._add_all(index, others, much)
        for relative in relatives(stem):
            self.add(index.find(relative), _RELATIVE)
        if not self.stems:
            for guess, much in _guesses(index, stem):
                self.add(guess, much)

    def _add_all(self, index: Index, stems: list[str], weight: float) -> None:
        """Adds a word, or those of a turn of phrase, of which each says only a part."""
        part = f32(weight * _PART) if len(stems) > 1 else weight
        for stem in stems:
            doer = self.role is Role.DEED and stem.endswith(("er", "or"))
            self.add(index.find(stem), _DOER if doer else part)


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked."""

    concepts: list[Concept]
    """The words that matter."""
    intent: Intent
    """What shall be done to the world, where the question says so."""
    number: Number | None
    """Whether one thing is meant, or several, where the question says so."""


def read(index: Index, question: str) -> Query:
    """Reads a question against the words that the index holds."""
    reading = understand(question, vocabulary())
    concepts: list[Concept] = []
    seen: set[str] = set()
    for place, word in enumerate(reading.asked):
        concept = Concept(word.weight, word.role, word.number)
        for hint in word.hints:
            concept.add(index.find(hint), 1.0)
        stem = word.stem
        if stem and stem not in seen and not all("0" <= c <= "9" for c in stem):
            seen.add(stem)
            before = reading.asked[place - 1] if place else None
            after = reading.asked[place + 1] if place + 1 < len(reading.asked) else None
            if word.role is Role.DEED:
                for doer in doers(stem):
                    concept.add(index.find(doer), _DOER)
            concept.fill(index, stem, before, after)
            if Intent.DELETE in reading.intent:
                concept.add(index.find(f"un{stem}"), 1.0)
        if concept.stems:
            concepts.append(concept)
    _calm_verbs(concepts)
    return Query(concepts, reading.intent, reading.number)


def _calm_verbs(concepts: list[Concept]) -> None:
    """However rare a verb is, it says no more than what it is about: there may be no operation of that name."""
    nouns = (concept for concept in concepts if concept.role is not Role.VERB and concept.weight >= _NOUN)
    most = max((noun.rarity for noun in nouns if noun.rarity != inf), default=0.0)
    if most > 0.0:
        for concept in concepts:
            if concept.role is Role.VERB:
                concept.rarity = min(concept.rarity, most)


def _guesses(index: Index, stem: str) -> list[tuple[int, float]]:
    """What a word that the index does not hold may have meant.

    Two words written as one, the start of a longer one, or a slip of the hand.
    """
    for at in range(1, len(stem)):
        if size(stem[:at]) < 3 or size(stem[at:]) < 3:
            continue
        one, other = index.find(stem[:at]), index.find(stem[at:])
        if one is not None and other is not None:
            return [(one, _HALF), (other, _HALF)]
    if size(stem) < 4:
        return []
    start = index.position(stem)
    if start < len(index.stems) and index.stems[start].startswith(stem):
        return [(start, _MISSPELT)]
    near = _nearest(index, stem)
    return [] if near is None else [(near, _MISSPELT)]


def _nearest(index: Index, stem: str) -> int | None:
    """The stem that is one slip away, or two in a long word, and starts with the same letter."""
    length = size(stem)
    if length < 5:
        return None
    slips = 1 if length < 8 else 2
    best, least = None, slips + 1
    at = index.position(stem[0])
    while at < len(index.stems) and index.stems[at].startswith(stem[0]):
        if abs(size(index.stems[at]) - length) <= slips:
            distance = edits(stem, index.stems[at], only_neighbours=True)
            if distance < least:
                best, least = at, distance
        at += 1
    return best
