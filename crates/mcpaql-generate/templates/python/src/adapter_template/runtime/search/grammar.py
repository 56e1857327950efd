"""A question word by word: what shall be done, with what, and how much each word counts.

What always holds: every word is looked at once, from the left, and no more of them than `_MOST_WORDS`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from ..text import cut, is_alphabetic, size, split
from .f32 import f32, product
from .intent import ACT, NOTHING, Intent
from .stem import singular, stem
from .words import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .vocabulary import Phrase, Vocabulary

_MOST_BYTES = 4096
"""Longer questions are read up to here."""
_MOST_WORDS = 48
"""Further words are not read."""
_COMMON_VERB = f32(0.3)
"""How much a verb counts that half of all operations start with."""
_PROPER_NAME = f32(0.2)
"""How much a word counts that looks like part of somebody's name or a title."""
_LIGHT = f32(0.3)
"""How much a noun counts that only introduces another: `the title of an issue`."""
_COMMAND = 1.5
"""How much the verb counts that a command starts with, where it is a rare one."""
_HINT = f32(0.22)
"""How much a word counts for what it hints at."""
_CHECK = f32(0.6)
"""How much a question that yes or no answers asks for an operation that checks something."""
_ASIDE = f32(0.9)
"""Once a word of this weight was said, others may be said in addition."""
_CLAUSE = f32(0.8)
"""What is said in addition counts so much less, with each clause."""
_LEAST_ASIDE = 0.5
"""What is said in addition counts no less than this."""
_REACH = 5
"""How far a verb's second word may stand from its first."""
_WISHES = frozenset("can like must need should want wish wonder would".split())
_ASKS = frozenset("can could may shall should".split())
_ABOUT_ME = frozenset("about by for mention mentions of to with".split())


class Role(Enum):
    """What a word does in the question."""

    VERB = "says what shall be done"
    OBJECT = "names what shall be dealt with"
    DEED = "says what the people do who are asked for: `who watches`"
    OTHER = "says something else"


class Number(Enum):
    """One or several."""

    ONE = "`commit abc123`"
    SEVERAL = "`the secrets`"


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it was written."""

    text: str
    stem: str
    proper: bool

    def number(self) -> Number | None:
        """Whether it is a plural, or the number or hash of one thing."""
        if any("0" <= c <= "9" for c in self.text):
            return Number.ONE
        return Number.SEVERAL if not self.proper and singular(self.text) != self.text else None


@dataclass(slots=True)
class Asked:
    """A stem that was asked for."""

    stem: str
    weight: float
    role: Role
    hints: Sequence[str] = ()
    """Only hints at these, and means nothing itself."""
    number: Number | None = None


@dataclass(slots=True)
class _Group:
    """Words that stand together, of which the last says what all are about: `the stale feature branch`."""

    last: Asked | None = None
    """The last of them so far that says something."""
    one: bool = False
    """Whether an article before them says that one is meant."""
    known: bool = False
    """Whether the word before them says that it is known which."""
    done: bool = False
    """Whether an earlier group said already what shall be dealt with."""


@dataclass(slots=True)
class Reading:
    """What was understood of a question."""

    words: list[Word]
    vocabulary: Vocabulary
    asked: list[Asked] = field(default_factory=list)
    intent: Intent = NOTHING
    number: Number | None = None
    _group: _Group = field(default_factory=_Group)
    _verb_next: bool = True
    """Whether a verb may come next."""
    _content: bool = False
    """Whether somebody's words or the name of something follow."""
    _who: bool = False
    """Whether people were asked for whose deed comes next."""
    _aside: float = 1.0
    """How much what follows counts."""

    def take(self, at: int) -> int:
        """Reads what stands there; says how many words that were."""
        vocabulary, word = self.vocabulary, self.words[at]
        if found := _phrase_at(self.words, at, vocabulary):
            length, phrase = found
            self._take_phrase(phrase)
            return length
        if at == 0 and word.text in vocabulary.questions:
            self.intent = Intent.READ
        hints = vocabulary.hints.get("my" if _means_caller(self.words, at) else word.text)
        if hints:
            self.asked.append(Asked("", _HINT, Role.OTHER, hints))
        if word.text in ("who", "whom"):
            self.number = self.number or Number.SEVERAL
            self._who = True
        if word.text in vocabulary.clauses and any(asked.weight >= _ASIDE for asked in self.asked):
            self._aside = f32(self._aside * _CLAUSE)
        following = self.words[at + 1] if at + 1 < len(self.words) else None
        introduced = at > 0 and self.words[at - 1].stem in vocabulary.light
        quotes = word.text in vocabulary.quotes and bool(self.asked) and not introduced
        self._content = self._content or quotes
        of_whom = following is not None and following.text == "who" and word.stem in vocabulary.people
        if quotes or of_whom or word.text in vocabulary.empty:
            self._pass(word)
        elif self._verb_next and not self.intent and _ends_doing(word, following):
            self.intent = Intent.DELETE
            self._verb_next = False
        else:
            self._take_word(word, following, first=at == 0)
        return 1

    def close_group(self) -> None:
        """The words that stood together are all there: the last one may be what shall be dealt with."""
        group = self._group
        word, one, known = group.last, group.one, group.known
        group.last, group.one, group.known = None, False, False
        if word is None:
            return
        if known:
            word.number = word.number or Number.ONE
        if group.done:
            return
        group.done = True
        word.role = Role.OBJECT
        if one:
            self.number = self.number or Number.ONE

    def _take_phrase(self, phrase: Phrase) -> None:
        self.close_group()
        self.intent = self.intent or phrase.intent
        if phrase.stands_for:
            role = Role.VERB if phrase.intent else Role.OTHER
            self.asked.append(Asked(phrase.stands_for, _verb_weight(phrase.stands_for, self.vocabulary), role))
        self._verb_next = False

    def _pass(self, word: Word) -> None:
        """A word that says nothing itself, but something about what follows."""
        self.close_group()
        several = word.text in ("all", "every", "these", "those")
        self._group.one = word.text in ("a", "an", "this", "that")
        self._group.known = word.text in self.vocabulary.determiners and not several
        self._verb_next = self._verb_next or word.text in ("to", "and", "please", "then", "by", "you")

    def _take_word(self, word: Word, following: Word | None, *, first: bool) -> None:
        """A word that says something."""
        weight = _verb_weight(word.stem, self.vocabulary)
        verb = self._verb(word, following, first=first) if self._verb_next else NOTHING
        before_of = following is not None and following.text in ("of", "for", "about", "on")
        light = not word.proper and not self._content and word.stem in self.vocabulary.light and before_of
        role = Role.OTHER
        if verb and not self.intent:
            role = Role.VERB
            if weight >= 1.0:
                weight = _COMMAND
        elif weight >= 1.0 and not light:
            self.number = self.number or word.number()
        self.intent = self.intent or verb
        self._verb_next = False
        if weight >= 1.0:
            if self._who:
                role = Role.DEED
            self._who = False
        if word.proper or self._content:
            weight = f32(weight * _PROPER_NAME)
        elif light:
            weight = f32(weight * _LIGHT)
        asked = Asked(word.stem, weight, role, number=word.number())
        # `users located in Berlin`: what was done to them is not what they are.
        if size(word.text) > 4 and word.text.endswith("ed") and self._group.last is not None:
            self.close_group()
        elif role is Role.OTHER and weight >= _ASIDE:
            self._group.last = asked
        asked.weight = product(weight, max(self._aside, _LEAST_ASIDE))
        self.asked.append(asked)

    def _verb(self, word: Word, following: Word | None, *, first: bool) -> Intent:
        """What a word tells to do where it is a verb.

        A plural is none, and a word before an article is one, whichever it is.
        """
        if word.number() is Number.SEVERAL:
            return NOTHING
        known = self.vocabulary.verbs.get(word.stem, NOTHING)
        told = first and following is not None and following.text in self.vocabulary.determiners
        return known or ACT if told else known


def understand(question: str, vocabulary: Vocabulary) -> Reading:
    """Takes the words of a question in turn."""
    reading = Reading(_split(question), vocabulary)
    if _decides(reading.words, vocabulary):
        reading.asked.append(Asked("check", _CHECK, Role.OTHER))
    at = 0
    while at < len(reading.words):
        at += reading.take(at)
    reading.close_group()
    return reading


def _verb_weight(word: str, vocabulary: Vocabulary) -> float:
    """How much a word counts that may be a verb; `find` asks for an operation that searches."""
    return _COMMON_VERB if word in vocabulary.common and word != "find" else 1.0


def _decides(all_words: list[Word], vocabulary: Vocabulary) -> bool:
    """Whether the answer is yes or no: `is she a member`, but not `can you show me`."""
    texts = [word.text for word in all_words[:3]]
    first, second = [*texts, "", ""][:2]
    polite = second in ("you", "there") or (second in ("i", "we") and first in ("can", "could"))
    return (first in vocabulary.deciding and not polite) or "whether" in texts


def _means_caller(all_words: list[Word], at: int) -> bool:
    """Whether `I` and `me` are those whose things are meant, and not those who ask."""
    text = all_words[at].text
    before = all_words[at - 1].text if at > 0 else ""
    if text == "me":
        return before in _ABOUT_ME
    if text != "i":
        return False
    after = all_words[at + 1].text if at + 1 < len(all_words) else ""
    how = before == "do" and at > 1 and all_words[at - 2].text == "how"
    return after not in _WISHES and before not in _ASKS and not how


def _ends_doing(word: Word, following: Word | None) -> bool:
    """`stop following`: the opposite of following."""
    if word.text not in ("cease", "quit", "stop") or following is None:
        return False
    return following.text.endswith("ing") and size(following.text) > 5


def _split(question: str) -> list[Word]:
    """The words of a question."""
    question = cut(question, _MOST_BYTES)
    shouted = not any(c.islower() for c in question)
    found: list[Word] = []
    quoted, starts = False, True
    for chunk in split(question):
        opens = chunk.startswith(('"', "“", "«"))
        quoted = quoted or opens
        proper = not shouted and (quoted or (not starts and _is_proper(chunk)))
        found.extend(Word(word, stem(word), proper) for word in words(chunk))
        closes = chunk.rstrip(".,?!;:").endswith(('"', "”", "»"))
        if closes and (not opens or len(chunk) > 1):
            quoted = False
        starts = chunk.endswith((".", "?", "!", ":"))
    return found[:_MOST_WORDS]


def _is_proper(chunk: str) -> bool:
    """`Nolan` and `The`, but not `TV`, `pullRequest` or `I`."""
    letters = [c for c in chunk if is_alphabetic(c)]
    return len(letters) > 1 and letters[0].isupper() and not any(c.isupper() for c in letters[1:])


def _phrase_at(all_words: list[Word], at: int, vocabulary: Vocabulary) -> tuple[int, Phrase] | None:
    following = [word.text for word in all_words[at + 1 :]]
    for phrase in vocabulary.phrases.get(all_words[at].text, ()):
        length = len(phrase.rest)
        if following[:length] == phrase.rest:
            return 1 + length, phrase
        # A particle at a distance says nothing by itself and is passed over in its turn.
        if length == 1 and phrase.rest[0] in vocabulary.particles and phrase.rest[0] in following[:_REACH]:
            return 1, phrase
    return None
