"""Who called: news of the work go back to them.

Whoever cannot be reached is not an error: news are dropped.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .session import Session


@dataclass(frozen=True, slots=True)
class News:
    """How far the work has come, as whoever does it says."""

    done: float = 0.0
    """Rises with the work."""
    total: float | None = None
    """What it will have risen to in the end, where that is known."""
    message: str | None = None
    """For people."""


class Caller:
    """Who called; with nothing said of them, nobody who could be told anything."""

    def __init__(self, session: Session | None = None) -> None:
        """`session` is the one they call in, where it will end."""
        self.session = session
        self.started: str | None = None
        """The execution that the call goes on as, where it goes on in the background."""
        self._news = News()
        self._told = asyncio.Event()

    def progress(self, news: News) -> None:
        """Tells how far the work has come; only the latest news reach whoever listens slowly."""
        self._news = news
        self._told.set()

    async def news(self) -> News:
        """Waits for the next news."""
        await self._told.wait()
        self._told.clear()
        return self._news
