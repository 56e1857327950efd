"""Splits texts into words and pieces of words, as `mcpaql-lexicon`'s `words` and `vectors` do."""

import re
from functools import lru_cache

WORD = re.compile(r"[A-Z]+(?![a-z])s?(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+")
CONTRACTION = re.compile(r"(?<=\w)['’](s|t|d|m|ll|re|ve)\b", re.I)
LETTERS = re.compile(r"[a-z]+")
MAX_WORD = 24


def words(text):
    """The words of a text or an identifier, in lower case."""
    return [word.lower() for word in WORD.findall(CONTRACTION.sub(" ", text))]


class Vocabulary:
    """Pieces of words. A piece that continues a word starts with `##`."""

    def __init__(self, pieces):
        self.pieces = list(pieces)
        self.numbers = {piece: at for at, piece in enumerate(self.pieces)}
        self.split = lru_cache(None)(self._split)

    def _split(self, word):
        """The longest pieces of a word, from left to right; nothing if the word cannot be split."""
        found, start = [], 0
        if len(word) > MAX_WORD:
            return ()
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self.numbers.get(("##" if start else "") + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return ()
        return tuple(found)

    def tokens(self, text):
        return [number for word in words(text) for letters in LETTERS.findall(word) for number in self.split(letters)]
