"""Which operations answer a question best."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from .f32 import f32, product, total
from .grammar import Number, Role
from .intent import Intent, agreement

if TYPE_CHECKING:
    from .index import Card, Index
    from .query import Concept, Query

_SHORTLIST = 64
"""How many of the best are looked at more closely."""
_CHOSEN = 20
"""How many hits are chosen from these with an eye on each other; who reads further wants the plain order."""
_ANY_HEAD = f32(0.45)
"""How much of an operation's score does not depend on what its head says beyond the question."""
_ANY_PART = f32(0.35)
"""How much of it does not depend on how much of the question it has something to say about."""
_ANY_OBJECT = f32(0.85)
"""How much of it does not depend on what it says about what shall be dealt with."""
_OBJECT = 0.5
"""Where it says enough about that."""
_UNASKED = f32(0.02)
"""How much less an operation is worth for each word of its head that nobody asked for, be it as common as it may."""
_EFFORT = f32(0.01)
"""How much less an operation is worth for each placeholder of its path: of two that fit, the simpler one is meant."""
_DEPRECATED = f32(0.7)
"""What an operation is worth that its author discourages."""
_SINGLE = f32(0.85)
"""What a read of one thing is worth where several are meant."""
_LIST = f32(0.72)
"""What a list is worth where one thing is meant."""
_ALL_READ = f32(0.8)
"""What a read of all is worth where one is meant, though nothing calls it a list."""
_ALL_CHANGED = f32(0.9)
"""What a change to all is worth where one is meant."""
_ONE_DELETED = f32(0.95)
"""What a deletion of one is worth where several are meant: often there is no other."""
_MISMATCH = f32(0.1)
"""How much less an operation is worth for each further thing of which one is meant where it is about all."""
_OFF_TOPIC = f32(0.9)
"""What a read is worth that is about something of what shall be dealt with."""
_FITS = f32(0.7)
"""A stem that fits so well may say what an operation is about."""
_ANSWERED = f32(0.7)
"""What a word is still worth to the next hit after a hit has answered it."""


@dataclass(slots=True)
class _Tally:
    """What one or all words of a question found of an operation."""

    worth: float = 0.0
    """How much the words are worth."""
    head: float = 0.0
    """How much of its head was asked for."""
    covered: float = 0.0
    """How much of the question it has something to say about."""
    heads: float = 0.0
    """How many words of its head were asked for."""
    object: float = 0.0
    """How much it says about what shall be dealt with."""
    many: bool = False
    """Whether it is about all of what the word names."""
    mismatches: float = 0.0
    """How many words name one thing where it is about all of them."""
    all: bool = False
    """The same for what shall be dealt with."""
    topic: bool = False
    """Whether it is about what shall be dealt with, and not only about something of it."""

    def add(self, one: _Tally, concept: Concept) -> None:
        """Adds what one word found."""
        self.worth = f32(self.worth + one.worth)
        self.head = f32(self.head + one.head)
        self.covered = f32(self.covered + one.covered)
        self.heads = f32(self.heads + one.heads)
        self.object = f32(self.object + one.object)
        self.topic = self.topic or one.topic
        if concept.number is Number.ONE and one.many:
            if concept.role is Role.OBJECT:
                self.all = True
            else:
                self.mismatches += 1.0


@dataclass(frozen=True, slots=True)
class Hit:
    """An operation that was found."""

    position: int
    score: float
    """How well it fits; only to be compared with other hits of the same question."""


class Ranking:
    """What a question is worth to every operation."""

    def __init__(self, index: Index, query: Query) -> None:
        """Weighs every word of the question."""
        self.index = index
        self.query = query
        self.worth: list[dict[int, float]] = []
        """For each concept the operations that hold it, with what it is worth there."""
        self.tally: dict[int, _Tally] = {}
        """What was found of each operation that holds any."""
        self.asked = total([concept.weight for concept in query.concepts])
        self.object = any(concept.role is Role.OBJECT for concept in query.concepts)
        self.agreement = {category.value: agreement(query.intent, category) for category in Intent}
        for concept in query.concepts:
            found = _weighed(index, concept)
            for doc, one in found.items():
                self.tally.setdefault(doc, _Tally()).add(one, concept)
            self.worth.append({doc: one.worth for doc, one in found.items()})

    def score(self, doc: int) -> float:
        """How well the operation at that position fits."""
        card, tally = self.index.cards[doc], self.tally.get(doc)
        if tally is None:
            return 0.0
        head = min(f32(tally.head / card.head), 1.0) if card.head > 0.0 else 1.0
        covered = min(f32(tally.covered / self.asked), 1.0) if self.asked > 0.0 else 0.0
        about = min(f32(tally.object / _OBJECT), 1.0) if self.object else 1.0
        unasked = min(max(f32(card.words - tally.heads), 0.0), 8.0)
        return product(
            tally.worth,
            _part(_ANY_HEAD, head),
            _part(_ANY_PART, covered),
            _part(_ANY_OBJECT, about),
            self.agreement[card.category.value],
            self._fits_number(tally, card),
            _DEPRECATED if card.deprecated else 1.0,
            f32(1.0 - f32(_EFFORT * min(card.needs, 8))),
            f32(1.0 - f32(_UNASKED * unasked)),
        )

    def hits(self, limit: int) -> list[Hit]:
        """At most so many operations, the best first."""
        scored = [(doc, self.score(doc)) for doc in self.tally]
        scored.sort(key=lambda pair: (-pair[1], self.index.cards[pair[0]].rank))
        hits, rest = self._spread(scored[:_SHORTLIST], min(limit, _CHOSEN))
        # Further hits are never better than the last one that was chosen, as a score says how far down it stands.
        least = hits[-1].score if hits else 0.0
        for doc, score in (rest + scored[_SHORTLIST:])[: limit - len(hits)]:
            least = min(least, score)
            hits.append(Hit(doc, least))
        return hits

    def _fits_number(self, tally: _Tally, card: Card) -> float:
        """Whether it is about one thing where one is meant, and about several where several are."""
        others = f32(1.0 - f32(_MISMATCH * min(tally.mismatches, 4.0)))
        number, about = self.query.number, 1.0
        if card.category in Intent.UPDATE | Intent.DELETE and tally.all:
            about = _ALL_CHANGED
        elif card.category is Intent.DELETE and card.single and number is Number.SEVERAL:
            about = _ONE_DELETED
        elif card.category is Intent.READ:
            if number is Number.SEVERAL and card.single:
                about = _SINGLE
            elif number is Number.ONE and card.list:
                about = _LIST
            elif tally.all and not card.list:
                about = _ALL_READ
            if self.object and not tally.topic:
                about = f32(about * _OFF_TOPIC)
        return f32(others * about)

    def _spread(self, scored: list[tuple[int, float]], limit: int) -> tuple[list[Hit], list[tuple[int, float]]]:
        """Takes the best, then the best for what the ones before have not answered yet.

        A question often asks for several things. Gives also those that were not taken.
        """
        left = [1.0] * len(self.worth)
        hits: list[Hit] = []
        while len(hits) < limit and scored:
            best, most = None, 0.0
            for place, (doc, score) in enumerate(scored):
                # Scores only fall, so nothing behind this one can be better.
                if best is not None and score <= most:
                    break
                worth = self.tally[doc].worth
                still = total([f32(held.get(doc, 0.0) * share) for held, share in zip(self.worth, left, strict=True)])
                now = f32(f32(score * still) / worth) if worth > 0.0 else 0.0
                if best is None or now > most:
                    best, most = place, now
            if best is None:
                break
            doc, _ = scored.pop(best)
            left = [
                f32(share * _ANSWERED) if held.get(doc, 0.0) > 0.0 else share
                for held, share in zip(self.worth, left, strict=True)
            ]
            hits.append(Hit(doc, most))
        return hits, scored


def _weighed(index: Index, concept: Concept) -> dict[int, _Tally]:
    """Weighs one word of the question against every operation that holds it or what it may stand for.

    The best of these counts.
    """
    found: dict[int, _Tally] = {}
    about = concept.role is Role.OBJECT
    for stem, fit in concept.stems.items():
        rarity = index.rarity(stem)
        said = f32(f32(concept.weight * fit) * min(rarity, concept.rarity))
        covered = f32(concept.weight * fit)
        head = f32(f32(f32(sqrt(fit)) * min(concept.weight, 1.0)) * rarity)
        for posting in index.postings(stem):
            slot = found.setdefault(posting.doc, _Tally())
            slot.worth = max(slot.worth, f32(said * posting.weight))
            slot.covered = max(slot.covered, f32(covered * f32(sqrt(posting.weight))))
            slot.many = slot.many or posting.many
            if about:
                slot.topic = slot.topic or (posting.topic and fit >= _FITS)
                slot.object = max(slot.object, f32(fit * posting.weight))
            if posting.head:
                slot.heads = max(slot.heads, fit)
                slot.head = max(slot.head, head)
    return found


def _part(least: float, share: float) -> float:
    """A score of which `least` is given in any case."""
    return f32(least + f32(f32(1.0 - least) * share))
