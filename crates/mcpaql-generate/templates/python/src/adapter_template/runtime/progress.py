"""What a client hears while a call runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias, TypeVar

from .caller import Caller, News

T = TypeVar("T")

Announce: TypeAlias = Callable[[float, str], Awaitable[None]]
"""Tells the client how far the call is, of 100, and what it does."""


class Scale:
    """One scale for what the work says of itself and for the clock: it rises strictly and stays below 90."""

    def __init__(self) -> None:
        """Where nothing has been announced yet."""
        self._last = 0.0
        self.heard = News()

    def next(self, seconds: int) -> tuple[float, str] | None:
        """What is to be announced after that many seconds; nothing where it could not rise any more."""
        told = 10.0 + 80.0 * seconds / (seconds + 20.0)
        done, total = self.heard.done, self.heard.total
        if total is not None and total > 0.0:
            told = 10.0 + 80.0 * min(max(done / total, 0.0), 0.99)
        # Work that stands still is announced as well, or a client would think that it has died.
        announced = told if told > self._last else self._last + (90.0 - self._last) / 100.0
        if not self._last < announced < 90.0:
            return None
        self._last = announced
        message = self.heard.message
        return announced, f"Running for {seconds} s" if message is None else message


async def with_progress(call: Coroutine[Any, Any, T], caller: Caller, announce: Announce) -> T:
    """Runs the call to its end and announces progress every second, and what the work says of itself when it is said.

    None follows the answer.
    """
    clock = asyncio.get_running_loop().time
    running, hearing = asyncio.ensure_future(call), asyncio.ensure_future(caller.news())
    scale, seconds, tick = Scale(), 0, clock() + 1.0
    try:
        while True:
            waiting = {running, hearing}
            await asyncio.wait(waiting, timeout=max(tick - clock(), 0.0), return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                return running.result()
            if clock() >= tick:
                seconds, tick = seconds + 1, clock() + 1.0
            elif hearing.done():
                scale.heard, hearing = hearing.result(), asyncio.ensure_future(caller.news())
            else:
                continue
            progress = scale.next(seconds)
            if progress is not None:
                await announce(*progress)
    finally:
        # A call that is called off takes its work along.
        running.cancel()
        hearing.cancel()
