"""Did-you-mean: the declared name that a misspelt one most likely meant.

What always holds: results depend on the words alone (ties go to the earlier candidate), and a name that is merely of
the same length is never offered. Words are compared as written, as bags of tokens (`issue_create` is `create_issue`)
and without a plural's `s`; verbs that half of all operations start with count less than nouns.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from .text import is_alphanumeric, size

if TYPE_CHECKING:
    from collections.abc import Iterable

_THRESHOLD = 0.6
"""Below this a suggestion would mislead more often than help."""
_SLIP = 0.85
"""From here on two words are the same, misspelt."""
_LONGEST = 96
"""Longer words are not misspelt names."""
_COMMON_VERBS = frozenset(
    "add create delete destroy edit fetch find get list make modify new read remove retrieve search set show update "
    "view".split()
)
"""Verbs that carry little information about which operation was meant."""


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate nearest to a word, if any is near enough to be offered."""
    return next(iter(nearest_many(word, candidates, 1)), None)


def nearest_many(word: str, candidates: Iterable[str], most: int) -> list[str]:
    """Up to so many candidates near a word, the nearest first."""
    if not word or size(word) > _LONGEST:
        return []
    given = _taken_apart(word)
    scored = [(_similarity(given, _taken_apart(name)), name) for name in candidates if size(name) <= _LONGEST]
    near = sorted((pair for pair in scored if pair[0] >= _THRESHOLD), key=lambda pair: -pair[0])
    return [name for _, name in near[:most]]


def is_slip(word: str, candidate: str) -> bool:
    """Whether a word is a declared name but for a slip of the finger, its spelling or the order of its parts."""
    short = max(size(word), size(candidate)) <= _LONGEST
    return short and _similarity(_taken_apart(word), _taken_apart(candidate)) >= _SLIP


def snake_case(text: str) -> str:
    """`userID`, `user-id` and `User ID` as `user_id`; `HTTPServer` as `http_server`."""
    out: list[str] = []
    gap = False
    for index, char in enumerate(text):
        if not is_alphanumeric(char):
            gap = True
            continue
        if index and _is_capital(char) and _starts_word(text[index - 1], text[index + 1 : index + 3]):
            gap = True
        if gap and out:
            out.append("_")
        gap = False
        out.extend(c for c in char.lower() if is_alphanumeric(c))
    return "".join(out)


def edits(one: str, other: str, *, only_neighbours: bool = False) -> int:
    """The Damerau-Levenshtein distance: slips of the finger between two words, a swap of letters being one.

    Letters that are swapped may have others put between them, unless only neighbours may be.
    """
    last_row: dict[str, int] = {}
    rows = [list(range(len(other) + 1))]
    for row, a in enumerate(one, 1):
        before = rows[-1]
        here = [row]
        last_match = 0
        for column, b in enumerate(other, 1):
            cost = min(before[column - 1] + (a != b), before[column] + 1, here[column - 1] + 1)
            swapped = last_row.get(b, 0)
            if swapped and last_match:
                apart = (row - swapped - 1) + 1 + (column - last_match - 1)
                if apart == 1 or not only_neighbours:
                    cost = min(cost, rows[swapped - 1][last_match - 1] + apart)
            here.append(cost)
            if a == b:
                last_match = column
        last_row[a] = row
        rows.append(here)
    return rows[-1][-1]


@dataclass(frozen=True, slots=True)
class _Word:
    """A name, taken apart once for all comparisons."""

    snake: str
    glued: str
    tokens: tuple[str, ...]
    sorted: tuple[str, ...]


@lru_cache(maxsize=4096)
def _taken_apart(text: str) -> _Word:
    snake = snake_case(text)
    tokens = tuple(_singular(token) for token in snake.split("_") if token)
    return _Word(snake, "".join(tokens), tokens, tuple(sorted(tokens)))


def _similarity(one: _Word, other: _Word) -> float:
    if not one.tokens or not other.tokens:
        return 0.0
    if one.snake == other.snake:
        return 1.0
    if one.glued == other.glued:
        return 0.98
    if one.sorted == other.sorted:
        return 0.96
    spelling = 0.0
    if _close(one.glued, other.glued):
        spelling = 1.0 - edits(one.glued, other.glued) / max(len(one.glued), len(other.glued))
    return max(spelling, 0.95 * _overlap(one, other))


def _overlap(one: _Word, other: _Word) -> float:
    """How much of both words' tokens pair up, from 0 to 1."""
    free = list(other.tokens)
    shared = 0.0
    for token in one.tokens:
        best, most = None, 0.0
        for index, candidate in enumerate(free):
            score = _alike(token, candidate) * min(_weight(token), _weight(candidate))
            if score > most:
                best, most = index, score
        if best is not None:
            shared += most
            # The last one takes its place.
            free[best] = free[-1]
            free.pop()
    total = sum(map(_weight, one.tokens + other.tokens))
    return 2.0 * shared / total


def _weight(token: str) -> float:
    return 0.5 if token in _COMMON_VERBS else 1.0


@lru_cache(maxsize=8192)
def _alike(one: str, other: str) -> float:
    """How alike two tokens are: equal, an abbreviation of one another, or a slip of the finger apart."""
    if one == other:
        return 1.0
    if min(size(one), size(other)) < 3:
        return 0.0
    if one.startswith(other) or other.startswith(one):
        return 0.85
    return 0.8 if _close(one, other) else 0.0


def _close(one: str, other: str) -> bool:
    """One slip in a short word, up to three in a long one."""
    length = max(len(one), len(other))
    allowed = min(max(length // 4, 1), 3)
    if length <= 2 or abs(len(one) - len(other)) > allowed or abs(size(one) - size(other)) > allowed * 4:
        return False
    # A slip changes one letter, so that other letters settle most cases without comparing.
    letters = Counter(one)
    letters.subtract(other)
    surplus = [count for count in letters.values() if count > 0]
    return sum(surplus) <= allowed and edits(one, other) <= allowed


def _singular(token: str) -> str:
    return token.removesuffix("s") if size(token) > 3 and not token.endswith("ss") else token


def _starts_word(previous: str, following: str) -> bool:
    """Whether an upper-case letter between these begins a word.

    It does after anything but an upper-case letter, or as the last of a run that goes on in lower case (`HTTPServer`),
    unless what goes on is a plural's `s` (`userIDs`).
    """
    if not _is_capital(previous):
        return is_alphanumeric(previous)
    plural = following.startswith("s") and not following[1:].islower()
    return following[:1].islower() and not plural


def _is_capital(char: str) -> bool:
    """Some symbols are upper case by name but have no lower case; they are ordinary characters of a word."""
    return char.isupper() and char.lower()[0] != char
