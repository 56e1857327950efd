"""Executions: calls that go on in the background, each with an id to ask after it.

What always holds: pending → running → completed, failed or cancelled, and what has ended stays as it is; so many run
together and so many wait; cancelling one cancels its handler, which is how the target's work stops; no parameter of a
call is kept. What a process left behind when it ended is failed, with that reason, by whoever looks next.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..caller import Caller, News
from ..datafile import StoreError
from ..errors import Code, OpError
from ..response import Answer, Notice
from ..stamp import fresh_id, now
from . import view
from .instance import Instance, lives
from .job import LOOK, STARTED, Job
from .table import Kept, New, Row, Table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from pathlib import Path

    from ..catalog import Lifecycle
    from ..jsontext import Json
    from ..response import Reply
    from .outcome import Outcome

FILE = "executions.sqlite"
"""The file of executions in a data folder."""

_STOPPING = 5.0
"""Seconds that a cancellation waits for its effect before it answers with the present state."""
_LONGEST_WAIT = 30.0
"""Seconds that one call waits for an execution at most."""
_PAGE = 20
"""A page where nobody says how long it is."""
_AROUND = 4096
"""Room in an answer for what stands around a result."""
_ID_ATTEMPTS = 8
"""An id is taken only if two share a millisecond and 19 random bits."""
_UNKEPT = "The server could not keep or find executions; tell the user."
_LEFT = (
    "The server was restarted while this execution ran; start it again, and for a write first read whether it took "
    "effect."
)
_LOST = "The server could not keep what came of this execution; for a write first read whether it took effect."

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limits:
    """What the executions of one adapter may use."""

    running: int = 16
    """So many run together; further ones wait."""
    waiting: int = 256
    """So many wait; further ones are refused."""


LIMITS = Limits()
"""The usual ones."""


class Executions:
    """The executions of one adapter."""

    def __init__(self, folder: Path | None, adapter: str, limits: Limits = LIMITS) -> None:
        """Those in that data folder; without one they end with the process.

        What a process that has ended left running is failed. Raises `StoreError`.
        """
        path = None if folder is None else folder / FILE
        self.table = Table(path, adapter)
        self.turns = asyncio.Semaphore(limits.running)
        self._folder = folder
        self._limits = limits
        # Whoever waits for the file waits there, one after the other.
        self._thread = ThreadPoolExecutor(1, "executions")
        self._instance: Instance | None = None
        # What this process works on, by id.
        self._running: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watch: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        try:
            self.table.sweep()
            self._settle_all()
        except sqlite3.Error as error:
            raise StoreError(f"cannot open the store {path}: {error}") from error

    async def start(
        self,
        operation: str,
        lifecycle: Lifecycle,
        largest: int,
        caller: Caller,
        work: Callable[[Caller], Awaitable[Answer]],
    ) -> Answer:
        """Starts work in the background and answers at once. The most that its answer may have is `largest` bytes.

        Raises `OpError` where too many wait already, or it cannot be entered.
        """
        await self._ask(self.table.sweep)
        most = self._limits.running + self._limits.waiting
        if len(self._running) >= most:
            message = "Too many executions wait already; wait for one of list_executions to end, or cancel one."
            raise OpError(Code.RATE_LIMIT_EXCEEDED, message).detail("maximum", most)
        has_turn = not self.turns.locked()
        if has_turn:
            await self.turns.acquire()
        keep = lifecycle.keep_seconds
        new = New(operation, "running", STARTED, keep) if has_turn else New(operation, "pending", 0, keep)
        session = None if lifecycle.survives else caller.session
        job = Job(self, work, lifecycle.limit_ms, max(0, largest - _AROUND), session)
        try:
            row = await self._enter(job, new)
        except BaseException:
            if has_turn:
                self.turns.release()
            raise
        caller.started = row.id
        task = asyncio.create_task(job.run(has_turn=has_turn))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if self._folder is not None and (self._watch is None or self._watch.done()):
            self._watch = asyncio.create_task(self._cancel_what_others_ask())
        return view.started(row)

    async def answer(
        self, action: Literal["get", "list", "cancel"], args: Mapping[str, Json], caller: Caller
    ) -> Answer:
        """Answers what is asked about executions.

        Raises `OpError` where there is no such execution, or the table cannot be read.
        """
        if action == "list":
            return await self._list(args)
        identity = str(args.get("execution_id", ""))
        if action == "get":
            wait = args.get("wait")
            seconds = float(wait) if isinstance(wait, (int, float)) else 0.0
            return view.whole(_found(await self._get(identity, seconds, caller), identity))
        before = _found(await self._get(identity, 0.0, None), identity).row
        if not before.has_ended:
            return view.brief(_found(await self._cancel(identity), identity).row)
        answer = view.brief(before)
        if before.status != "cancelled":
            answer.warnings.append(Notice("ALREADY_ENDED", f"Nothing to cancel: it is {before.status} already."))
        return answer

    async def task(self, identity: str, reply: Callable[[Outcome], Reply]) -> dict[str, Any] | None:
        """One execution as a task; nothing where there is none of that id here."""
        try:
            kept = await self._get(identity, 0.0, None)
        except OpError:
            return None
        return None if kept is None else view.task(kept, reply)

    async def cancel_task(self, identity: str) -> bool:
        """Stops one; says whether there is one of that id here."""
        try:
            return await self._cancel(identity) is not None
        except OpError:
            return False

    async def close(self) -> None:
        """Drops what still runs; whoever looks next finds that the server ended."""
        for task in (*self._tasks, *([] if self._watch is None else [self._watch])):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._thread.shutdown()
        self.table.close()
        if self._instance is not None:
            self._instance.leave()

    async def do(self, work: Callable[[], T]) -> T:
        """Does something with the table, where waiting for the file holds up nobody else."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def begin(self, identity: str) -> None:
        """Says that its turn has come."""
        await self._ask(lambda: self.table.begin(identity, STARTED))
        self._tell()

    async def advance(self, identity: str, progress: int, message: str | None) -> None:
        """Says how far it has come."""
        await self.do(lambda: self.table.advance(identity, progress, message))
        self._tell()

    def forget(self, identity: str) -> None:
        """Says that this process does not work on it any more."""
        self._running.pop(identity, None)
        self._tell()

    async def _enter(self, job: Job, new: New) -> Row:
        """Enters it under an id of its own, here before in the table: whoever finds it there finds it worked on."""
        for _ in range(_ID_ATTEMPTS):
            job.id = fresh_id("execution")
            if job.id in self._running:
                continue
            self._running[job.id] = job
            row: Row | None = None
            try:
                row = await self._ask(lambda: self._insert(job.id, new))
            finally:
                if row is None:
                    self.forget(job.id)
            if row is not None:
                return row
        raise OpError(Code.INTERNAL, _UNKEPT).because("no free id found")

    async def _list(self, args: Mapping[str, Json]) -> Answer:
        status, after, first = args.get("status"), args.get("after"), args.get("first")
        before = view.place(after) if isinstance(after, str) else None
        if isinstance(after, str) and before is None:
            message = "Parameter 'after' is no cursor of this list. Take 'endCursor' of the page before."
            raise OpError(Code.INVALID_VALUE, message).detail("param_name", "after")
        count = first if isinstance(first, int) else _PAGE

        def page() -> list[Row]:
            # States are set right before they are asked for.
            self._settle_all()
            self.table.sweep()
            return self.table.page(status if isinstance(status, str) else None, before, count + 1)

        return view.listed(await self._ask(page), count)

    async def _get(self, identity: str, wait: float, caller: Caller | None) -> Kept | None:
        """One execution, perhaps after waiting for its end; whoever waits hears how far it has come."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + min(wait, _LONGEST_WAIT)
        while True:
            changed = self._changed
            kept = await self._ask(lambda: self._look(identity))
            if kept is None or kept.row.has_ended:
                return kept
            if caller is not None:
                caller.progress(News(float(kept.row.progress), 100.0, kept.row.message))
            left = deadline - clock()
            if left <= 0:
                return kept
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, LOOK)):
                    await changed.wait()

    async def _cancel(self, identity: str) -> Kept | None:
        """Stops one and waits a moment until it has stopped."""
        if identity in self._running:
            self._running[identity].cancel()
        else:
            await self._ask(lambda: self.table.ask_to_cancel(identity))
        return await self._get(identity, _STOPPING, None)

    async def _cancel_what_others_ask(self) -> None:
        """Looks now and then, while anything runs, whether other processes want it stopped."""
        while self._running:
            await asyncio.sleep(LOOK)
            # What cannot be read now is read the next time.
            with contextlib.suppress(sqlite3.Error):
                for identity in await self.do(self._asked):
                    if identity in self._running:
                        self._running[identity].cancel()

    async def _ask(self, work: Callable[[], T]) -> T:
        """The same in the words of an answer."""
        try:
            return await self.do(work)
        except (sqlite3.Error, OSError) as error:
            raise OpError(Code.INTERNAL, _UNKEPT).because(error) from None

    def _tell(self) -> None:
        """Wakes whoever waits for a change."""
        self._changed.set()
        self._changed = asyncio.Event()

    # What follows works on the table, and in its thread.

    def _insert(self, identity: str, new: New) -> Row | None:
        if self._instance is None:
            self._instance = Instance(self._folder)
        return self.table.insert(identity, new, self._instance.id)

    def _asked(self) -> list[str]:
        return [] if self._instance is None else self.table.asked_to_cancel(self._instance.id)

    def _look(self, identity: str) -> Kept | None:
        """One execution as it is now; nothing where there is none any more."""
        kept = self.table.get(identity)
        if kept is not None and not kept.row.has_ended and self._settle(kept.row):
            kept = self.table.get(identity)
        ends = None if kept is None else kept.row.expires_at
        return None if ends is not None and ends <= now() else kept

    def _settle_all(self) -> None:
        for row in self.table.open_ones():
            self._settle(row)

    def _settle(self, row: Row) -> bool:
        """Fails an execution that nobody works on any more; says whether it did."""
        is_own = self._instance is not None and self._instance.id == row.instance
        if row.id in self._running if is_own else lives(self._folder, row.instance):
            return False
        # It may have ended since the row was read; then this changes nothing.
        reason = OpError(Code.INTERNAL, _LOST if is_own else _LEFT).detail("reason", "server_restarted")
        self.table.finish(row.id, "failed", outcome=reason)
        return True


def _found(kept: Kept | None, identity: str) -> Kept:
    if kept is not None:
        return kept
    message = "No execution has this id; it may have expired. Find it with list_executions."
    shown = "".join(char for char in identity if char.isascii() and char.isalnum())[:64]
    raise OpError(Code.NOT_FOUND_RESOURCE, message, {"resource_type": "execution", "resource_id": shown})
