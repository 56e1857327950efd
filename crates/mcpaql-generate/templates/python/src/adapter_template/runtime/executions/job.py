"""One execution while it is worked on: its turn, its news, and the ways in which it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sqlite3
from functools import partial
from typing import TYPE_CHECKING, Any

from ..caller import Caller, News
from ..errors import Code, HandlerFailed, OpError
from .outcome import Done

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..jsontext import Json
    from ..response import Answer
    from ..session import Session
    from . import Executions
    from .outcome import Outcome

_log = logging.getLogger(__name__)

LOOK = 1.0
"""Seconds between two looks at what another process did, and between two notes of how far the work has come."""
STARTED = 10
"""Where running begins."""
_FINISHING = 90
"""Where finishing begins."""
_COURTESY = 1.0
"""Seconds: the target's own limit has the better words, so it gets to speak first."""
_STOPPING = 1.0
"""Seconds for work that is called off to let go of what it holds."""

_BROKEN = "The server failed during this execution; tell the user, and for a write first read whether it took effect."
_TOO_LONG = "The execution took longer than it may; ask for less, and for a write first read whether it took effect."
_ASKED = "Cancelled on request."
_SESSION_ENDED = "Cancelled because the session that started it ended."


class Job:
    """One execution while it is worked on."""

    def __init__(
        self,
        executions: Executions,
        work: Callable[[Caller], Awaitable[Answer]],
        limit_ms: int,
        largest: int,
        session: Session | None,
    ) -> None:
        """`limit_ms` is how long the target may take, `largest` the longest result, `session` what it ends with."""
        self.id = ""
        """Known as soon as it is entered."""
        self._executions = executions
        self._work = work
        self._limit = limit_ms / 1000
        self._largest = largest
        self._session = session
        self._asked = asyncio.Event()
        self._listener = Caller()

    def cancel(self) -> None:
        """Asks it to stop."""
        self._asked.set()

    async def run(self, *, has_turn: bool) -> None:
        """Works to the end, whichever it is, and writes it down. Where the server ends first, nobody does."""
        with contextlib.nullcontext() if self._session is None else self._session.work():
            try:
                finish = await self._ended(has_turn=has_turn)
                await self._executions.do(finish)
            except (sqlite3.Error, ValueError):
                _log.exception("what came of the execution %s could not be kept", self.id)
            finally:
                self._executions.forget(self.id)

    async def _ended(self, *, has_turn: bool) -> Callable[[], None]:
        """Waits for the end; how it is written down."""
        finish = self._executions.table.finish
        working, recording = asyncio.create_task(self._worked(has_turn=has_turn)), asyncio.create_task(self._record())
        stops: dict[asyncio.Task[Any], str] = {asyncio.create_task(self._asked.wait()): _ASKED}
        if self._session is not None:
            stops[asyncio.create_task(self._session.ended())] = _SESSION_ENDED
        try:
            await asyncio.wait({working, *stops}, return_when=asyncio.FIRST_COMPLETED)
            why = next((why for stop, why in stops.items() if stop.done()), None)
            if why is not None:
                return partial(finish, self.id, "cancelled", why)
            # Work that calls itself off has failed: nobody asked it to.
            outcome = OpError(Code.INTERNAL, _BROKEN) if working.cancelled() else working.result()
            return partial(finish, self.id, "failed" if isinstance(outcome, OpError) else "completed", outcome=outcome)
        finally:
            for task in (working, recording, *stops):
                task.cancel()
            # What the work holds, a process or a request, is let go of before anybody hears of the end.
            await asyncio.wait({working}, timeout=_STOPPING)

    async def _worked(self, *, has_turn: bool) -> Outcome:
        """Waits for its turn and works, for no longer than it may and without an exception that nobody hears of."""
        turns = self._executions.turns
        if not has_turn:
            await turns.acquire()
        try:
            if not has_turn:
                await self._executions.begin(self.id)
            return self._kept(await self._in_time())
        except OpError as error:
            return error
        except HandlerFailed:
            return OpError(Code.INTERNAL, _BROKEN)
        except Exception:  # noqa: BLE001
            _log.exception("an execution failed")
            return OpError(Code.INTERNAL, _BROKEN)
        finally:
            turns.release()

    async def _in_time(self) -> Answer:
        patience = asyncio.timeout(self._limit + _COURTESY)
        try:
            async with patience:
                return await self._work(self._listener)
        except TimeoutError:
            if not patience.expired():
                raise
            raise OpError(Code.TRANSPORT_TIMEOUT, _TOO_LONG) from None

    def _kept(self, answer: Answer) -> Outcome:
        """What is kept of an answer: one that could never be returned is refused like any other."""
        done = Done.of(answer)
        size = done.size()
        if size <= self._largest:
            return done
        message = f"The result has {size} bytes, more than the {self._largest} that are kept; ask for less."
        details: dict[str, Json] = {"limit": "max_response_size", "actual": size, "maximum": self._largest}
        return OpError(Code.PAYLOAD_TOO_LARGE, message, details)

    async def _record(self) -> None:
        """Writes down how far the work has come, not more often than anybody looks; never ends."""
        while True:
            news = await self._listener.news()
            try:
                await self._executions.advance(self.id, percent(news), news.message)
            except sqlite3.Error:
                _log.debug("progress of the execution %s could not be kept", self.id, exc_info=True)
            await asyncio.sleep(LOOK)


def percent(news: News) -> int:
    """What the work says of itself, within the part of the scale that is running's own."""
    share = news.done / news.total if news.total is not None and news.total > 0 else 0.0
    # A NaN is neither more nor less, and becomes the beginning.
    within = min(share, 1.0) if share > 0 else 0.0
    return STARTED + int(within * (_FINISHING - STARTED))
