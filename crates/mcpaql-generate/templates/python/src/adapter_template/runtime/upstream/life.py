"""The life of an upstream: started when it is first needed, one start at a time, and again after it died.

What always holds: a start outlives the call that began it, so that one caller's impatience costs nobody else a start;
while an upstream is left alone after failures, calls fail at once and say for how long.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from .errors import Failed, Late, Unavailable
from .session import Session, all_closed

if TYPE_CHECKING:
    from ..jsontext import Json
    from .errors import Fault
    from .session import Link

_log = logging.getLogger(__name__)

_LONGEST = 30.0
"""The longest, in seconds, that an upstream is left alone."""
_SETTLED = 10.0
"""One that has run so many seconds has not failed to start, however it ends."""
_FIRST_WAIT = 1.0
_LONGEST_WAIT = 60.0
"""Seconds between two tries to start one that shall be there before anybody calls it."""


class Opening(Protocol):
    """What leads to a server."""

    @property
    def name(self) -> str:
        """What to call it before it has said its name."""

    async def open(self, limit: int) -> Link:
        """A link for one conversation.

        Raises `Failed`.
        """


@dataclass(frozen=True, slots=True)
class Plan:
    """What is needed to start it."""

    opening: Opening
    limit: int
    """Of answers, in bytes."""
    start_timeout: float


@dataclass(frozen=True, slots=True)
class _Running:
    session: Session
    since: float


@dataclass(frozen=True, slots=True)
class _Down:
    until: float
    why: Fault


def delay(failures: int) -> float:
    """How many seconds an upstream is left alone after so many failures in a row."""
    return 0.0 if failures < 2 else min(0.5 * 2 ** min(failures - 2, 10), _LONGEST)


class Life:
    """The life of one upstream."""

    def __init__(self, plan: Plan) -> None:
        """Nobody needed it yet."""
        self.greeting: dict[str, Json] | None = None
        """The last answer to a handshake."""
        self._plan = plan
        self._phase: _Running | _Down | asyncio.Task[Session] | None = None
        # In a row.
        self._failures = 0
        self._following: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    def running(self) -> Session | None:
        """The conversation that is under way, if one is."""
        return self._phase.session if isinstance(self._phase, _Running) else None

    async def session(self) -> Session:
        """A conversation: the one that is under way, or a new one.

        Raises `Failed`.
        """
        if isinstance(self._phase, _Running):
            why = self._phase.session.calls.end_reason
            if why is None:
                return self._phase.session
            self._fallen(self._phase, why)
        if isinstance(self._phase, _Down):
            left = self._phase.until - _now()
            if left > 0:
                raise Failed(_resting(self._phase.why, left))
        if not isinstance(self._phase, asyncio.Task):
            self._phase = asyncio.create_task(self._start())
            # Whoever began it may not wait for it any more.
            self._phase.add_done_callback(lambda task: task.cancelled() or task.exception())
        starting = self._phase
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            if not starting.cancelled():
                raise
            raise Failed(Unavailable(self._plan.opening.name, "was closed")) from None

    async def _start(self) -> Session:
        try:
            session = Session(
                await self._plan.opening.open(self._plan.limit), self._plan.opening.name, self._plan.limit
            )
            await session.start(self._plan.start_timeout)
        except Failed as failed:
            _log.warning("the MCP server %s did not start: %s", self._plan.opening.name, failed)
            self._fail(failed.fault)
            raise
        _log.debug("MCP server started: %s", session.about())
        self._phase = _Running(session, _now())
        self.greeting = session.greeting
        self._watching = asyncio.create_task(self._watch(self._phase))
        return session

    async def _watch(self, running: _Running) -> None:
        await running.session.calls.ended.wait()
        why = running.session.calls.end_reason
        # One that was closed, or replaced, is no news.
        if self._phase is running and why is not None:
            self._fallen(running, why)

    def _fallen(self, running: _Running, why: Fault) -> None:
        """The conversation has ended."""
        _log.warning("the MCP server %s went away: %s", self._plan.opening.name, why)
        running.session.leave()
        if _now() - running.since >= _SETTLED:
            self._failures = 0
        self._fail(why)

    def _fail(self, why: Fault) -> None:
        self._failures += 1
        self._phase = _Down(_now() + delay(self._failures), why)

    def follow(self) -> None:
        """Starts it now, and again whenever it went away."""
        self._following = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        wait = _FIRST_WAIT
        while True:
            try:
                session = await self.session()
            except Failed:
                await asyncio.sleep(wait)
                wait = min(wait * 2, _LONGEST_WAIT)
                continue
            wait = _FIRST_WAIT
            await session.calls.ended.wait()

    async def close(self) -> None:
        """Ends what is under way; the next call starts anew."""
        for task in (self._following, self._watching):
            if task is not None:
                task.cancel()
        phase, self._phase, self._failures = self._phase, None, 0
        if isinstance(phase, _Running):
            phase.session.abandon()
        elif isinstance(phase, asyncio.Task):
            phase.cancel()
            await asyncio.wait({phase})
        await all_closed()


def _now() -> float:
    return asyncio.get_running_loop().time()


def _resting(why: Fault, left: float) -> Fault:
    """What a call is told while an upstream is left alone."""
    if isinstance(why, Unavailable):
        return replace(why, retry_after=left)
    if isinstance(why, Late):
        return Unavailable(why.server, f"did not answer the handshake within {why.after_ms} ms", left)
    return why
