"""Whether a failed attempt is repeated, and after how long.

What always holds: only operations whose repetition does no harm are repeated; a wait never reaches past the deadline of
the call; a wait the upstream asked for is not shortened.
"""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime

_BASE = 0.2
"""Seconds before the first repetition; doubled for every further one."""
_LONGEST = 5.0

_SECONDS = re.compile(r"\+?[0-9]+")
_DATES = ("%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y")


def delay(repetition: int) -> float:
    """The wait before a repetition (counted from 0), where the upstream does not say.

    Between half of the exponential delay and all of it, so that clients that failed together do not return together.
    """
    full = min(_BASE * 2.0 ** min(repetition, 10), _LONGEST)
    return full / 2 + random.random() * full / 2  # noqa: S311


def wait_after(status: int, asked: float | None, backoff: float, left: float) -> float | None:
    """The wait before the next attempt after this answer; nothing where it is final."""
    match status:
        case 429 if asked is not None:
            wait = max(asked, backoff)
        case 502 | 503 | 504:
            wait = max(asked or 0, backoff)
        case _:
            return None
    return wait if wait < left else None


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """The seconds of a `Retry-After`, which are seconds or a date."""
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        seconds = int(text)
        return seconds if seconds < 1 << 64 else None
    for form in _DATES:
        try:
            date = datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return max(0.0, (date - (now or datetime.now(UTC))).total_seconds())
    return None
