"""Work in the background: started, waited for, failed, cancelled, left behind and found again."""

import asyncio
import contextlib
import json
import logging
import math
import os
import sqlite3
import tempfile
import unittest
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mcp.shared.exceptions import MCPError

from adapter_template.runtime import tasks
from adapter_template.runtime.caller import Caller, News
from adapter_template.runtime.catalog import Lifecycle
from adapter_template.runtime.datafile import StoreError
from adapter_template.runtime.errors import Code, OpError
from adapter_template.runtime.executions import FILE, LIMITS, Executions, Limits
from adapter_template.runtime.executions.instance import Instance, lives
from adapter_template.runtime.executions.job import percent
from adapter_template.runtime.executions.outcome import Outcome
from adapter_template.runtime.executions.view import place
from adapter_template.runtime.jsontext import Json
from adapter_template.runtime.response import Answer, Notice, Raw, Reply, envelope
from adapter_template.runtime.session import Session

LARGEST = 10_000
USUAL = Lifecycle(survives=False, keep_seconds=60, timeout_ms=None)
SURVIVING = Lifecycle(survives=True, keep_seconds=60, timeout_ms=None)

Work = Callable[[Caller], Awaitable[Answer]]


class Held:
    """Work that the tests hold in their hands."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.has_begun = asyncio.Event()
        self.was_dropped = asyncio.Event()

    async def __call__(self, _: Caller) -> Answer:
        self.has_begun.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.was_dropped.set()
            raise
        return Answer("built")


async def at_once(_: Caller) -> Answer:
    return Answer("done")


class Background(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def open(self, *, kept: bool = False, limits: Limits = LIMITS, adapter: str = "work") -> Executions:
        executions = Executions(self.folder if kept else None, adapter, limits)
        self.addAsyncCleanup(executions.close)
        return executions

    async def start(
        self, executions: Executions, work: Work, lifecycle: Lifecycle = USUAL, session: Session | None = None
    ) -> dict[str, Any]:
        caller = Caller(session)
        answer = await executions.start("build", lifecycle, LARGEST, caller, work)
        started = shown(answer)
        self.assertEqual(caller.started, started["execution_id"])
        return started

    async def ask(self, executions: Executions, action: Any, **args: Json) -> dict[str, Any]:
        return shown(await executions.answer(action, args, Caller()))

    async def get(self, executions: Executions, started: dict[str, Any], wait: float = 0) -> dict[str, Any]:
        return await self.ask(executions, "get", execution_id=started["execution_id"], wait=wait)

    async def ended(self, executions: Executions, work: Work, lifecycle: Lifecycle = USUAL) -> dict[str, Any]:
        return await self.get(executions, await self.start(executions, work, lifecycle), 30)

    def rows(self, sql: str) -> list[Any]:
        with contextlib.closing(sqlite3.connect(self.folder / FILE, isolation_level=None)) as file:
            return file.execute(sql).fetchall()


class Life(Background):
    async def test_a_call_answers_at_once_and_the_work_goes_on(self) -> None:
        executions, work = self.open(), Held()
        started = await self.start(executions, work)
        self.assertEqual([*started], ["execution_id", "operation", "status", "started_at"])
        self.assertEqual((started["operation"], started["status"]), ("build", "running"))
        meanwhile = await self.get(executions, started)
        self.assertEqual((meanwhile["status"], meanwhile["progress"]), ("running", 10))
        self.assertNotIn("result", meanwhile)
        work.go.set()
        end = await self.get(executions, started, 30)
        keys = "execution_id operation status progress started_at finished_at expires_at result".split()
        self.assertEqual([*end], keys)
        self.assertEqual((end["status"], end["progress"], end["result"]), ("completed", 100, "built"))

    async def test_a_failure_is_kept_as_the_call_would_have_failed(self) -> None:
        async def fails(_: Caller) -> Answer:
            raise OpError(Code.NOT_FOUND_RESOURCE, "No such branch.", {"exit_status": 3})

        end = await self.ended(self.open(), fails)
        self.assertEqual((end["status"], end["progress"]), ("failed", 10))
        error = {"code": "NOT_FOUND_RESOURCE", "message": "No such branch.", "details": {"exit_status": 3}}
        self.assertEqual(end["error"], error)

    async def test_an_exception_is_a_failure_and_takes_nothing_along(self) -> None:
        async def breaks(_: Caller) -> Answer:
            raise KeyError("secret detail")

        async def calls_itself_off(_: Caller) -> Answer:
            raise asyncio.CancelledError

        executions = self.open(limits=Limits(running=1, waiting=0))
        logging.disable()
        self.addCleanup(logging.disable, logging.NOTSET)
        for work in (breaks, calls_itself_off):
            end = await self.ended(executions, work)
            self.assertEqual((end["status"], end["error"]["code"]), ("failed", "INTERNAL_ERROR"))
            self.assertNotIn("secret detail", json.dumps(end))
        self.assertEqual((await self.ended(executions, at_once))["status"], "completed")

    async def test_work_that_takes_longer_than_it_may_is_stopped(self) -> None:
        work = Held()
        lifecycle = Lifecycle(survives=False, keep_seconds=60, timeout_ms=1)
        end = await self.ended(self.open(), work, lifecycle)
        self.assertEqual((end["status"], end["error"]["code"]), ("failed", "TRANSPORT_TIMEOUT"))
        self.assertTrue(work.was_dropped.is_set())

    async def test_a_result_that_could_not_be_returned_is_refused(self) -> None:
        async def floods(_: Caller) -> Answer:
            return Answer("x" * LARGEST)

        error = (await self.ended(self.open(), floods))["error"]
        self.assertEqual(error["code"], "VALIDATION_PAYLOAD_TOO_LARGE")
        details = {"limit": "max_response_size", "actual": LARGEST + 2, "maximum": LARGEST - 4096}
        self.assertEqual(error["details"], details)

    async def test_what_stands_beside_an_answer_is_kept_with_it(self) -> None:
        block: dict[str, Json] = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
        text = '{"deep":' + "[" * 500 + "1.10" + "]" * 500 + ',"big":123456789012345678901234567890}'

        async def answers(_: Caller) -> Answer:
            return Answer(Raw(text), [Notice("NOTE", "Look closely.")], [block])

        executions = self.open()
        started = await self.start(executions, answers)
        answer = await executions.answer("get", {"execution_id": started["execution_id"], "wait": 30}, Caller())
        self.assertEqual(answer.blocks, [block])
        assert isinstance(answer.data, Raw)
        end = f'"result":{text},"warnings":[{{"code":"NOTE","message":"Look closely."}}]}}'
        self.assertTrue(answer.data.text.endswith(end))

    async def test_cancelling_drops_the_work_and_what_has_ended_stays_as_it_is(self) -> None:
        executions, work = self.open(), Held()
        started = await self.start(executions, work)
        await work.has_begun.wait()
        about = {"execution_id": started["execution_id"]}
        for _ in range(2):
            # Asking again is no mistake.
            answer = await executions.answer("cancel", about, Caller())
            self.assertEqual((shown(answer)["status"], answer.warnings), ("cancelled", []))
        self.assertTrue(work.was_dropped.is_set())
        self.assertEqual((await self.get(executions, started))["message"], "Cancelled on request.")

    async def test_cancelling_what_has_ended_or_never_was_says_so(self) -> None:
        executions = self.open()
        end = await self.ended(executions, at_once)
        answer = await executions.answer("cancel", {"execution_id": end["execution_id"]}, Caller())
        notice = Notice("ALREADY_ENDED", "Nothing to cancel: it is completed already.")
        self.assertEqual((shown(answer)["status"], answer.warnings), ("completed", [notice]))
        for action in ("get", "cancel"):
            with self.assertRaises(OpError) as refused:
                await self.ask(executions, action, execution_id="a/../ü b")
            self.assertIs(refused.exception.code, Code.NOT_FOUND_RESOURCE)
            self.assertEqual(refused.exception.details, {"resource_type": "execution", "resource_id": "ab"})

    async def test_so_many_run_so_many_wait_and_the_rest_is_refused(self) -> None:
        executions = self.open(limits=Limits(running=1, waiting=1))
        first, second = Held(), Held()
        running = await self.start(executions, first)
        waiting = await self.start(executions, second)
        self.assertEqual(waiting["status"], "pending")
        self.assertEqual((await self.get(executions, waiting))["progress"], 0)
        with self.assertRaises(OpError) as refused:
            await self.start(executions, at_once)
        self.assertEqual(
            (refused.exception.code, refused.exception.details), (Code.RATE_LIMIT_EXCEEDED, {"maximum": 2})
        )
        first.go.set()
        self.assertEqual((await self.get(executions, running, 30))["status"], "completed")
        await second.has_begun.wait()
        self.assertEqual((await self.get(executions, waiting))["status"], "running")
        second.go.set()
        self.assertEqual((await self.get(executions, waiting, 30))["result"], "built")

    async def test_what_waits_can_be_cancelled_and_never_runs(self) -> None:
        executions = self.open(limits=Limits(running=1, waiting=9))
        first, second = Held(), Held()
        running = await self.start(executions, first)
        waiting = await self.start(executions, second)
        await self.ask(executions, "cancel", execution_id=waiting["execution_id"])
        first.go.set()
        self.assertEqual((await self.get(executions, running, 30))["status"], "completed")
        self.assertEqual((await self.get(executions, waiting))["status"], "cancelled")
        self.assertFalse(second.has_begun.is_set())

    async def test_lists_are_the_newest_first_in_pages_and_by_state(self) -> None:
        executions = self.open()
        ended = [(await self.ended(executions, at_once))["execution_id"] for _ in range(3)]
        running = (await self.start(executions, Held()))["execution_id"]

        async def page(**args: Json) -> tuple[list[str], dict[str, Any]]:
            listed = await self.ask(executions, "list", **args)
            self.assertNotIn("result", listed["executions"][0] if listed["executions"] else {})
            return [one["execution_id"] for one in listed["executions"]], listed["pageInfo"]

        ids, info = await page(first=2)
        self.assertEqual((ids, info["hasNextPage"]), ([running, ended[2]], True))
        ids, info = await page(first=2, after=info["endCursor"])
        self.assertEqual((ids, info["hasNextPage"]), ([ended[1], ended[0]], False))
        self.assertEqual(await page(after=info["endCursor"]), ([], {"hasNextPage": False, "endCursor": None}))
        self.assertEqual((await page(status="running"))[0], [running])
        self.assertEqual(len((await page(status="completed"))[0]), 3)
        with self.assertRaises(OpError) as refused:
            await page(after="nowhere")
        self.assertIs(refused.exception.code, Code.INVALID_VALUE)

    async def test_the_end_of_a_session_ends_what_it_started_unless_that_survives(self) -> None:
        executions, session, other = self.open(), Session(), Session()
        bound = await self.start(executions, Held(), session=session)
        free = await self.start(executions, Held(), SURVIVING, session)
        others = await self.start(executions, Held(), session=other)
        await session.end(60)
        # Nobody has to wait for that: the end of the session does.
        found = await self.get(executions, bound)
        self.assertEqual(found["status"], "cancelled")
        self.assertEqual(found["message"], "Cancelled because the session that started it ended.")
        for started in (free, others):
            self.assertEqual((await self.get(executions, started))["status"], "running")

    async def test_what_the_work_says_of_itself_is_seen_and_never_goes_back(self) -> None:
        said: asyncio.Queue[float | None] = asyncio.Queue()

        async def steps(caller: Caller) -> Answer:
            while (done := await said.get()) is not None:
                caller.progress(News(done, 4.0, f"step {done:.0f}"))
            return Answer("done")

        executions = self.open()
        started = await self.start(executions, steps)
        for done, progress in ((2.0, 50), (1.0, 50), (3.0, 70)):
            said.put_nowait(done)
            async with asyncio.timeout(30):
                while (seen := await self.get(executions, started, 0.1)).get("message") != f"step {done:.0f}":
                    pass
            self.assertEqual((seen["progress"], seen["status"]), (progress, "running"))
        said.put_nowait(None)
        end = await self.get(executions, started, 30)
        self.assertEqual((end["progress"], end["result"], end.get("message")), (100, "done", None))

    async def test_whoever_waits_hears_how_far_it_has_come(self) -> None:
        executions, caller = self.open(), Caller()
        started = await self.start(executions, Held())
        waiting = asyncio.create_task(executions.answer("get", {**started, "wait": 30}, caller))
        self.assertEqual(await caller.news(), News(10.0, 100.0, None))
        waiting.cancel()

    async def test_processes_that_share_a_folder_see_wait_for_and_cancel_the_same_work(self) -> None:
        first, second, work = self.open(kept=True), self.open(kept=True), Held()
        started = await self.start(first, work)
        self.assertEqual((await self.get(second, started))["status"], "running")
        waiting = asyncio.create_task(self.get(second, started, 30))
        work.go.set()
        self.assertEqual((await waiting)["result"], "built")
        work = Held()
        started = await self.start(first, work)
        cancelled = await self.ask(second, "cancel", execution_id=started["execution_id"])
        self.assertEqual(cancelled["status"], "cancelled")
        self.assertTrue(work.was_dropped.is_set())

    async def test_what_a_dead_process_left_is_failed_and_what_a_living_one_does_is_not(self) -> None:
        living = self.open(kept=True)
        running = await self.start(living, Held())
        self.rows(
            "INSERT INTO executions (adapter, id, operation, status, progress, started_at, keep, instance) VALUES "
            "('work', 'left1', 'build', 'running', 40, 0, 60, 'dead'), "
            "('work', 'left2', 'build', 'pending', 0, 0, 60, 'dead'), "
            "('elsewhere', 'left3', 'build', 'running', 0, 0, 60, 'dead')"
        )
        second = self.open(kept=True)
        for identity in ("left1", "left2"):
            found = await self.ask(second, "get", execution_id=identity)
            self.assertEqual((found["status"], found["error"]["code"]), ("failed", "INTERNAL_ERROR"))
            self.assertEqual(found["error"]["details"], {"reason": "server_restarted"})
        with self.assertRaises(OpError):
            await self.ask(second, "get", execution_id="left3")
        self.assertEqual((await self.get(second, running))["status"], "running")

    async def test_the_end_of_a_server_drops_its_work_and_the_next_one_says_so(self) -> None:
        first, work = Executions(self.folder, "work"), Held()
        started = await self.start(first, work, SURVIVING)
        await work.has_begun.wait()
        await first.close()
        self.assertTrue(work.was_dropped.is_set())
        self.assertEqual(self.rows("SELECT status FROM executions"), [("running",)])
        found = await self.get(self.open(kept=True), started)
        self.assertEqual(found["error"]["details"], {"reason": "server_restarted"})
        self.assertEqual([*self.folder.glob("*.lock")], [])

    async def test_what_has_been_kept_long_enough_is_gone(self) -> None:
        executions = self.open(kept=True)
        end = await self.ended(executions, at_once)
        self.rows("UPDATE executions SET expires_at = 1")
        with self.assertRaises(OpError):
            await self.get(executions, end)
        self.assertEqual((await self.ask(executions, "list"))["executions"], [])
        self.assertEqual(self.rows("SELECT count(*) FROM executions"), [(0,)])

    async def test_a_table_that_cannot_be_read_is_told_without_a_cause(self) -> None:
        executions = self.open(kept=True)
        self.rows("DROP TABLE executions")
        for asking in (self.ask(executions, "list"), self.start(executions, at_once)):
            with self.assertRaises(OpError) as broken:
                await asking
            self.assertEqual(broken.exception.message, "The server could not keep or find executions; tell the user.")
            self.assertIsNotNone(broken.exception.log_cause)

    async def test_a_file_of_somebody_else_is_left_alone(self) -> None:
        (self.folder / FILE).write_text("no database at all\n" * 100)
        with self.assertRaises(StoreError):
            self.open(kept=True)

    async def test_an_instance_lives_until_its_lock_is_gone(self) -> None:
        one, other = Instance(self.folder), Instance(self.folder)
        self.assertTrue(lives(self.folder, one.id) and lives(self.folder, other.id))
        other.leave()
        self.assertTrue(lives(self.folder, one.id))
        self.assertFalse(lives(self.folder, other.id))
        # A process that was killed leaves its file behind without the lock.
        left = self.folder / "executions-dead.lock"
        left.touch()
        self.assertFalse(lives(self.folder, "dead") or left.exists() or lives(self.folder, f"..{os.sep}elsewhere"))
        one.leave()


class Tasks(Background):
    """The same work, as clients see it that know tasks."""

    async def asked(self, executions: Executions, method: str, identity: str, *, known: bool = True) -> Any:
        async def unknown(_: Any) -> Any:
            raise MCPError(-32601, "unknown")

        def check(_: object) -> bool:
            return known

        context: Any = SimpleNamespace(
            method=method,
            params={"taskId": identity, "inputResponses": {}},
            session=SimpleNamespace(check_client_capability=check),
        )
        return await tasks.serving(executions, replied)(context, unknown)

    async def test_a_task_has_the_id_of_its_execution_and_in_the_end_the_answer_of_the_call(self) -> None:
        executions, work = self.open(), Held()
        identity = (await self.start(executions, work))["execution_id"]
        task = await self.asked(executions, "tasks/get", identity)
        keys = "resultType taskId status createdAt lastUpdatedAt ttlMs pollIntervalMs".split()
        self.assertEqual(([*task], task["taskId"], task["status"], task["ttlMs"]), (keys, identity, "working", None))
        work.go.set()
        await self.ask(executions, "get", execution_id=identity, wait=30)
        done = await self.asked(executions, "tasks/get", identity)
        content = [{"type": "text", "text": '{"success":true,"data":"built"}'}]
        self.assertEqual(done["status"], "completed")
        self.assertEqual(done["result"], {"resultType": "complete", "content": content, "isError": False})

    async def test_a_task_can_be_cancelled(self) -> None:
        executions = self.open()
        identity = (await self.start(executions, Held()))["execution_id"]
        self.assertEqual(await self.asked(executions, "tasks/cancel", identity), {"resultType": "complete"})
        task = await self.asked(executions, "tasks/get", identity)
        self.assertEqual((task["status"], task["statusMessage"]), ("cancelled", "Cancelled on request."))

    async def test_what_there_is_not_and_what_is_not_known_is_refused(self) -> None:
        executions = self.open()
        rows = [("tasks/get", True, -32602), ("tasks/cancel", True, -32602), ("tasks/update", True, -32601)]
        rows += [(method, False, -32021) for method in ("tasks/get", "tasks/cancel", "tasks/update")]
        for method, known, code in [*rows, ("tasks/list", False, -32601)]:
            with self.assertRaises(MCPError) as refused:
                await self.asked(executions, method, "nope", known=known)
            self.assertEqual((method, refused.exception.error.code), (method, code))


class Words(unittest.TestCase):
    def test_progress_stays_within_the_part_that_running_has(self) -> None:
        rows = [
            (0.0, 10.0, 10),
            (5.0, 10.0, 50),
            (10.0, 10.0, 90),
            (99.0, 10.0, 90),
            (-5.0, 10.0, 10),
            (7.0, None, 10),
            (7.0, 0.0, 10),
            (math.nan, 1.0, 10),
        ]
        for done, total, expected in rows:
            self.assertEqual(percent(News(done, total)), expected)

    def test_a_cursor_has_one_spelling(self) -> None:
        self.assertEqual(place("x2f"), 0x2F)
        for text in ("", "x", "x0", "x-1", "x+1", "x02f", "x2F", "2f", "x2f ", "x8000000000000000", "x" + "f" * 18):
            self.assertIsNone(place(text))


def shown(answer: Answer) -> dict[str, Any]:
    """What a caller sees."""
    data: dict[str, Any] = json.loads(envelope(answer, "all").text)["data"]
    return data


def replied(outcome: Outcome) -> Reply:
    return envelope(outcome if isinstance(outcome, OpError) else Answer(Raw(outcome.data)), "all")


if __name__ == "__main__":
    unittest.main()
