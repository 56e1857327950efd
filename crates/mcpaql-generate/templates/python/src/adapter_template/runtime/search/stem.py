"""The stem of an English word: what its plural, past, participle and noun of action have in common.

What always holds: the stem is a function of the word alone, is never empty for a word that is not, and is only ever
compared with other stems (it need not be a word). Nouns of the one who acts (`reviewer`, `contributor`) keep their
ending, because APIs list reviewers and reviews apart; `relatives` leads from one to the other.
"""

from __future__ import annotations

from ..text import size

_SHORTEST = 4
"""Shorter words have no ending to take off."""


def stem(word: str) -> str:
    """The stem of a lower-case word."""
    if len(word) < _SHORTEST or not word.isascii():
        return word
    word = singular(word)
    bare = _without_inflection(word) or _without_adverb(word)
    if bare == word or bare.endswith("ion"):
        bare = _without_abstraction(bare)
    if len(bare) >= _SHORTEST:
        bare = bare.removesuffix("e")
    if len(bare) >= 7:
        bare = bare.removesuffix("at")
    return bare


def singular(word: str) -> str:
    """The word without a plural's ending."""
    if size(word) < _SHORTEST or not word.endswith("s") or word.endswith(("ss", "us", "is", "ous")):
        return word
    if size(word) > _SHORTEST and word.endswith("ies"):
        return word[:-3] + "y"
    return word[: -2 if word.endswith(("sses", "xes", "ches", "shes", "zzes")) else -1]


def relatives(stem: str) -> list[str]:
    """Stems of words of the same family: who does it, and the doing."""
    if len(stem) < 3 or not stem.isascii():
        return []
    found: list[str] = []
    for ending in ("er", "or", "ee", "ment", "ship", "al"):
        root = stem.removesuffix(ending)
        if root != stem and len(root) >= 4:
            found.append(root)
            if (simple := _undoubled(root)) != root:
                found.append(simple)
    found.extend(stem + ending for ending in ("er", "or", "e", "ment", "ship", "r"))
    found.append(f"{stem}{stem[-1]}er")
    return found


def doers(stem: str) -> list[str]:
    """Stems of words for those who do it."""
    return [*(stem + ending for ending in ("er", "or", "r", "e")), *(f"{stem}{last}er" for last in stem[-1:])]


def _without_inflection(word: str) -> str | None:
    """The word without `-ing` and `-ed`, where there is one."""
    if len(word) > _SHORTEST and word.endswith("ied"):
        return word[:-3] + "y"
    if word.endswith("ing"):
        kept = word[:-3]
    elif word.endswith("ed") and not word.endswith("eed"):
        kept = word[:-2]
    else:
        return None
    pronounceable = any(c in "aeiouy" for c in kept)
    return _undoubled(kept) if len(kept) >= 3 and pronounceable else None


def _undoubled(word: str) -> str:
    """`runn` as `run`, but `call` and `access` as they are."""
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouylsz"
    return word[:-1] if doubled else word


def _without_adverb(word: str) -> str:
    return word.removesuffix("ly") if len(word) > 5 else word


def _without_abstraction(word: str) -> str:
    """The word without `-ion` and `-ity`, where enough is left."""
    acting = len(word) >= 6 and word.endswith(("tion", "sion"))
    return word[:-3] if acting or (len(word) >= 8 and word.endswith("ity")) else word
