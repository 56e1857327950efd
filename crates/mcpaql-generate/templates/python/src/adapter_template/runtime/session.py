"""A connection that will end. What was started in it hears of the end and has a little time to stop."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Session:
    """A connection that will end, for whoever calls in it."""

    def __init__(self) -> None:
        """One that has just begun."""
        self._ended = asyncio.Event()
        self._works = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @contextlib.contextmanager
    def work(self) -> Iterator[None]:
        """Work that does not outlive the session: while it goes on, the end waits for it."""
        self._works += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._works -= 1
            if not self._works:
                self._idle.set()

    async def ended(self) -> None:
        """Waits for the end."""
        await self._ended.wait()

    async def end(self, grace: float) -> None:
        """Ends it and waits until nothing works in it any more, but no longer than `grace` seconds."""
        self._ended.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), grace)
