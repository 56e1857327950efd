"""An estimate of what text costs in a model's context, without carrying a vocabulary of megabytes.

The estimate leans high, so what keeps an estimated budget keeps the real one.
"""

from __future__ import annotations

from .text import WHITE, is_alphanumeric


def estimate(text: str) -> int:
    """Estimated tokens of a text.

    A word, underscores included, costs one for every seven letters, punctuation one for every three marks in a row;
    other scripts and pictograms cost more.
    """
    tokens = word = marks = 0
    for char in text:
        if char == "_" or is_alphanumeric(char):
            tokens += -(-marks // 3)
            marks = 0
            word += _letter_weight(char)
        else:
            tokens += -(-word // 7)
            word = 0
            marks += 0 if char in WHITE else _mark_weight(char)
    return tokens - (-word // 7) - (-marks // 3)


def _letter_weight(char: str) -> int:
    """Letters of a token: scripts without spaces have about one for each."""
    if char.isascii():
        return 1
    return 7 if char >= "\u2e80" else 3


def _mark_weight(char: str) -> int:
    """Marks of a token: a pictogram is several."""
    if char.isascii():
        return 1
    if "\u200b" <= char <= "\u200f" or "\ufe00" <= char <= "\ufe0f":
        return 6
    return 12 if char >= "\U0001f000" else 3
