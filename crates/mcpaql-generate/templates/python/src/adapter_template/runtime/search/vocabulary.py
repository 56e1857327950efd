"""The lexicon as questions are looked up in it: general English and the nouns that APIs of all kinds share."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

from .f32 import f32
from .intent import Intent


@dataclass(frozen=True, slots=True)
class Phrase:
    """A turn of phrase."""

    rest: list[str]
    """Its words after the first, unstemmed."""
    intent: Intent
    """What it means to do."""
    stands_for: str
    """The stem that stands for it; empty where none does."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What words mean to somebody who looks for an operation."""

    empty: frozenset[str]
    """Unstemmed words that say nothing."""
    common: frozenset[str]
    """Stems of verbs that half of all operations start with."""
    light: frozenset[str]
    """Stems of nouns that say little before `of`."""
    people: frozenset[str]
    """Stems of words for people."""
    determiners: frozenset[str]
    """Unstemmed words that stand before a noun."""
    deciding: frozenset[str]
    """Unstemmed words that start a question which is answered by yes or no."""
    questions: frozenset[str]
    """Unstemmed words that start a question."""
    quotes: frozenset[str]
    """Unstemmed words after which something's name or content follows."""
    clauses: frozenset[str]
    """Unstemmed words after which something is said in addition."""
    particles: frozenset[str]
    """Unstemmed words that may end a verb at a distance."""
    verbs: dict[str, Intent]
    """What the verb of a stem does to the world."""
    hints: dict[str, list[str]]
    """Stems that an unstemmed word hints at."""
    phrases: dict[str, list[Phrase]]
    """Turns of phrase by their first unstemmed word, the longest first."""
    alike: dict[str, list[tuple[list[str], float]]]
    """What else a stem may stand for, as stems of one or more words, with how much it weighs."""


@cache
def vocabulary() -> Vocabulary:
    """The one there is."""
    data = json.loads(resources.files(__package__).joinpath("lexicon.json").read_text(encoding="utf-8"))
    sets = "empty common light people determiners deciding questions quotes clauses particles".split()
    return Vocabulary(
        **{name: frozenset(data[name]) for name in sets},
        verbs={stem: Intent(bits) for stem, bits in data["verbs"].items()},
        hints=data["hints"],
        phrases={
            first: [Phrase(rest, Intent(bits), stands_for) for rest, bits, stands_for in several]
            for first, several in data["phrases"].items()
        },
        alike={stem: [(stems, f32(weight)) for stems, weight in others] for stem, others in data["alike"].items()},
    )
