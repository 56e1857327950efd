"""Text as words: what is compared when operations are searched.

What always holds: words are lower case, hold letters and digits only, and are the same for `pullRequest`,
`pull-request`, `pull_request` and `Pull Request`; a word longer than `_LONGEST` bytes is not a word.
"""

from __future__ import annotations

from ..text import is_alphabetic, is_alphanumeric, size

_LONGEST = 48
"""Longer runs of letters are data, not words."""


def words(text: str) -> list[str]:
    """Every word of the text in lower case, unstemmed."""
    found: list[str] = []
    start, at = 0, 0
    while at < len(text):
        char = text[at]
        if not is_alphanumeric(char):
            _keep(text[start:at], found)
            # The apostrophe of `today's` and `don't` belongs to the word, with what follows it.
            inside = char in "'’" and start < at
            at += 1
            while inside and at < len(text) and is_alphabetic(text[at]):
                at += 1
            start = at
            continue
        if start < at and _splits(text[at - 1], char, text[at + 1 : at + 2]):
            _keep(text[start:at], found)
            start = at
        at += 1
    _keep(text[start:], found)
    return found


def _keep(run: str, found: list[str]) -> None:
    # Letter by letter: what a letter becomes does not depend on its neighbours.
    word = run.lower() if run.isascii() else "".join(c for char in run for c in char.lower() if is_alphanumeric(c))
    if word and size(word) <= _LONGEST:
        found.append(word)


def _splits(before: str, char: str, after: str) -> bool:
    """Whether a word begins between these: `pullRequest`, `HTTPServer` (but `userIDs` ends in a plural)."""
    if not char.isupper():
        return False
    return before.islower() or (before.isupper() and after.islower() and after != "s")
