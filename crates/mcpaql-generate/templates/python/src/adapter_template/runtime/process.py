"""One process with its children: started in a group of its own, fed, read within bounds, and never left behind.

Whoever gives up a running process (a cancelled call, a timeout, too much output) ends the whole group: a polite signal
first, so that programs can remove their lock files, the final one as soon as the leader is gone or the grace is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

GRACE = 0.5
"""Seconds for a program to end after the polite signal, and for its descendants to let go of its output."""
TAIL = 2048
"""How much of standard error is kept: its end."""
_CHUNK = 64 * 1024
_LOOK = 0.05
"""Seconds between two looks at whether a process is gone whose output is still open."""

_FINAL = getattr(signal, "SIGKILL", signal.SIGTERM)
"""The signal that nobody can ignore, on systems that have one."""

Ending: TypeAlias = Literal["exited", "held", "too_large", "timed_out"]

_ending: set[asyncio.Task[None]] = set()
"""Processes that have been asked to end."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to run."""

    program: str
    args: list[str]
    env: Mapping[str, str]
    cwd: str | None
    stdin: bytes | None
    """Nothing means closed."""
    max_output: int
    timeout: float


@dataclass(slots=True)
class Finished:
    """What came of it."""

    ending: Ending
    """`held`: by itself, but a descendant kept the output open and was stopped."""
    status: int = 0
    """The exit status; negative where a signal ended it."""
    stdout: bytes = b""
    stderr: bytes = b""


class _TooLarge(Exception):
    """More output than is read."""


async def run(job: Job) -> Finished:
    """Runs the job to its end.

    Raises `OSError` where it cannot be started.
    """
    running = await start([job.program, *job.args], job.env, job.cwd, is_fed=job.stdin is not None)
    try:
        async with asyncio.timeout(job.timeout):
            return await running.follow(job)
    except TimeoutError:
        return Finished("timed_out")
    except _TooLarge:
        return Finished("too_large")
    finally:
        running.give_up()


async def start(argv: list[str], env: Mapping[str, str], cwd: str | None, *, is_fed: bool) -> Process:
    """Starts a program with these variables alone; its standard input is closed unless it is fed.

    Raises `OSError` where it cannot be started.
    """
    starting = asyncio.create_task(_started(argv, env, cwd, is_fed=is_fed))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        # It may be there already, with children of its own, although nobody was told so yet.
        starting.add_done_callback(_forsake)
        raise


async def _started(argv: list[str], env: Mapping[str, str], cwd: str | None, *, is_fed: bool) -> Process:
    pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    options: dict[str, Any] = {} if sys.platform == "win32" else {"process_group": 0}
    process = await asyncio.create_subprocess_exec(
        *argv, env=dict(env), cwd=cwd, stdin=pipe if is_fed else null, stdout=pipe, stderr=pipe, **options
    )
    return Process(process)


def _forsake(starting: asyncio.Task[Process]) -> None:
    if not starting.cancelled() and starting.exception() is None:
        starting.result().give_up()


@dataclass(slots=True)
class Process:
    """A running process and its group."""

    process: asyncio.subprocess.Process
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    is_done: bool = False

    async def follow(self, job: Job) -> Finished:
        """Feeds and reads until the process has ended and its output is closed, whichever way that comes about."""
        feeding = asyncio.create_task(self._feed(job.stdin))
        reading = asyncio.create_task(self._read(job.max_output))
        try:
            # A descendant may hold the output although the process is gone.
            while not reading.done() and self.process.returncode is None:
                await asyncio.wait({reading}, timeout=_LOOK)
            ending: Ending = "exited"
            if not reading.done():
                await asyncio.wait({reading}, timeout=GRACE)
            if reading.done():
                reading.result()
                await self.process.wait()
            else:
                self._signal(_FINAL)
                ending = "held"
            self.is_done = True
            return Finished(ending, self.process.returncode or 0, bytes(self.stdout), bytes(self.stderr))
        finally:
            feeding.cancel()
            reading.cancel()

    async def end(self, patience: float) -> int:
        """Lets the leader end by itself for so many seconds, then ends it; its descendants go with it.

        The exit status; negative where a signal ended it.
        """
        if not await self._is_gone(patience):
            self._signal(signal.SIGTERM)
            await self._is_gone(GRACE)
        self._signal(_FINAL)
        self.is_done = True
        await self._is_gone(GRACE)
        return self.process.returncode or 0

    async def _is_gone(self, patience: float) -> bool:
        """Waits for the leader alone: a descendant may hold its output open."""
        clock = asyncio.get_running_loop().time
        until = clock() + patience
        while self.process.returncode is None and clock() < until:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK / 5)
        return self.process.returncode is not None

    def give_up(self) -> None:
        """Ends the group unless the process has ended by itself."""
        if self.is_done:
            return
        self._signal(signal.SIGTERM)
        task = asyncio.create_task(self._end())
        _ending.add(task)
        task.add_done_callback(_ending.discard)

    async def _end(self) -> None:
        try:
            async with asyncio.timeout(GRACE):
                await self.process.wait()
        except TimeoutError:
            pass
        finally:
            self._signal(_FINAL)

    def _signal(self, number: int) -> None:
        # A group that is already gone is what we want.
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                self.process.kill()
            else:
                os.killpg(self.process.pid, number)

    async def _feed(self, given: bytes | None) -> None:
        """Writes and closes. A program that does not read what it is given is within its rights."""
        pipe = self.process.stdin
        if pipe is None or given is None:
            return
        with contextlib.suppress(OSError):
            pipe.write(given)
            await pipe.drain()
            pipe.close()

    async def _read(self, max_output: int) -> None:
        tail = asyncio.create_task(self._read_tail())
        try:
            await self._read_capped(max_output)
            await tail
        finally:
            tail.cancel()

    async def _read_capped(self, most: int) -> None:
        pipe = self.process.stdout
        while pipe is not None and (chunk := await pipe.read(_CHUNK)):
            self.stdout += chunk
            if len(self.stdout) > most:
                raise _TooLarge

    async def _read_tail(self) -> None:
        pipe = self.process.stderr
        while pipe is not None and (chunk := await pipe.read(_CHUNK)):
            self.stderr += chunk
            # Cut now and then, not with every read.
            if len(self.stderr) > 8 * TAIL:
                del self.stderr[:-TAIL]


async def all_ended() -> None:
    """Waits until every process that was given up has ended."""
    if _ending:
        await asyncio.wait(_ending)
