"""Pages of a list: `first`, `after` and `pageInfo`.

A cursor holds a place and what was listed, so that one of another list is refused instead of leading anywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..naming import fnv1a
from .ask import invalid

if TYPE_CHECKING:
    from ..jsontext import Json
    from .ask import Ask

WHOLE = 50
"""A list up to this length comes whole."""
SIZE = 20
"""A page of a longer one."""
LARGEST = 200
"""The longest page that somebody may ask for."""
_CURSOR = re.compile(r"\+?([0-9a-fA-F]+)-\+?([0-9a-fA-F]+)")


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: what stands on it, from `start` up to `end`."""

    start: int
    end: int
    total: int
    fingerprint: int

    @staticmethod
    def of(ask: Ask, total: int, size: int, most: int = LARGEST) -> Page:
        """The page that is asked for, of a list so long; `size` where nobody says how long a page is.

        Raises `OpError` for a cursor of another list.
        """
        fingerprint = _fingerprint(ask)
        start = 0 if ask.after is None else _place(ask.after, fingerprint)
        if start is None or start > total:
            says = "is no cursor of this list. Take 'endCursor' of the page before, with the same parameters."
            raise invalid("after", f"Parameter 'after' {says}")
        size = min(max(ask.first if ask.first is not None else size, 1), most)
        return Page(start, min(total, start + size), total, fingerprint)

    def is_part(self) -> bool:
        """Whether the page leaves anything out."""
        return self.end - self.start < self.total

    def info(self) -> dict[str, Json]:
        """`pageInfo`."""
        cursor = f"{self.end:x}-{self.fingerprint:08x}" if self.end > self.start else None
        return {"hasNextPage": self.end < self.total, "endCursor": cursor, "total": self.total}


def _place(cursor: str, fingerprint: int) -> int | None:
    found = _CURSOR.fullmatch(cursor)
    return int(found[1], 16) if found and int(found[2], 16) == fingerprint else None


def _fingerprint(ask: Ask) -> int:
    """What is listed, in a number; how much is said about each does not matter."""
    parts = ["types" if ask.types else "", ask.search, ask.category, ask.endpoint, ask.tag]
    return fnv1a("".join(f"{part or ''}\0" for part in parts).encode())
