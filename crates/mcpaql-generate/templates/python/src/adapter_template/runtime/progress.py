"""What a client hears while a call runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Announce: TypeAlias = Callable[[float, str], Awaitable[None]]
"""Tells the client how far the call is, of 100, and what it does."""


async def with_progress(call: Coroutine[Any, Any, T], announce: Announce) -> T:
    """Runs the call to its end and announces progress every second.

    What is announced rises for ever and never reaches 90, the start of finishing. None follows the answer.
    """
    running = asyncio.ensure_future(call)
    seconds = 0
    try:
        while True:
            done, _ = await asyncio.wait({running}, timeout=1.0)
            if done:
                return running.result()
            seconds += 1
            await announce(10.0 + 80.0 * seconds / (seconds + 20.0), f"Running for {seconds} s")
    finally:
        # A call that is called off takes its work along.
        running.cancel()
