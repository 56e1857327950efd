"""What shall be done to the world, as far as a question says so."""

from __future__ import annotations

from enum import Flag, auto

from .f32 import f32


class Intent(Flag):
    """The categories that are meant; none where the question does not say."""

    CREATE = auto()
    READ = auto()
    UPDATE = auto()
    DELETE = auto()
    EXECUTE = auto()


NOTHING = Intent(0)
ACT = Intent.CREATE | Intent.UPDATE | Intent.DELETE | Intent.EXECUTE
"""Something shall be done, whatever it is."""
_CHANGE = Intent.CREATE | Intent.UPDATE | Intent.EXECUTE


def agreement(intent: Intent, category: Intent) -> float:
    """How well an operation's category fits what shall be done."""
    if not intent:
        return 1.0 if category is Intent.READ else f32(0.85)
    if category in intent:
        return 1.0
    if category in _CHANGE and intent & _CHANGE:
        return f32(0.8)
    if category in (Intent.UPDATE, Intent.EXECUTE) and Intent.DELETE in intent:
        return 0.5
    return 0.25
