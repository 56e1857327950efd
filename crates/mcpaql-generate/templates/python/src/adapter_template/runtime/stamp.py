"""Ids and times of what is kept."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime

_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Digits that no eye confuses, in ascending order."""
_EPOCH_MS = 1_577_836_800_000
"""2020-01-01."""
_RANDOM_BITS = 19


def fresh_id(resource: str) -> str:
    """A new id.

    Ids are short because agents read and repeat them: the first letter of the resource, then 60 bits as 12 characters
    (41 bits of milliseconds since 2020, 19 random bits). They sort by age, and a guessed id hits nothing.
    """
    letter = next((char for char in resource if "a" <= char <= "z"), "r")
    millis = max(0, time.time_ns() // 1_000_000 - _EPOCH_MS)
    bits = millis << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    return letter + "".join(_DIGITS[bits >> 5 * place & 31] for place in range(11, -1, -1))


def now() -> int:
    """Seconds since 1970."""
    return int(time.time())


def timestamp(seconds: int) -> str:
    """RFC 3339 in UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
