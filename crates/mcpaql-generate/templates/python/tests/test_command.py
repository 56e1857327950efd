import asyncio
import os
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from adapter_template.runtime.argv import build
from adapter_template.runtime.bindings import Command, CommandTarget, Group, When
from adapter_template.runtime.command import Runner
from adapter_template.runtime.errors import Code, OpError
from adapter_template.runtime.output import clean, last_line
from adapter_template.runtime.process import all_ended
from adapter_template.runtime.response import Raw


def argv(*template: str | Group | When, **args: Any) -> list[str]:
    return build(("program", *template), args)[1]


class Arguments(unittest.TestCase):
    def test_values_fill_arguments_and_are_never_split(self) -> None:
        self.assertEqual(argv("{a}", "x{a}y", a="b; c $d"), ["b; c $d", "xb; c $dy"])
        self.assertEqual(
            argv("--label={l}", "{p}", l=["a", "b"], p=[1, None, True]), ["--label=a", "--label=b", "1", "true"]
        )
        self.assertEqual(argv("{{{a}}}", a=1), ["{1}"])

    def test_what_is_missing_drops_the_argument_or_its_group(self) -> None:
        self.assertEqual(
            argv("-x", "{a}", Group(("-n", "{b}")), When("f", ("--force",)), a=None, b=[], f=False), ["-x"]
        )
        self.assertEqual(argv(Group(("-n", "{b}")), When("f", ("--force",)), b=2, f=True), ["-n", "2", "--force"])

    def test_no_value_becomes_an_option(self) -> None:
        for value in ("-rf", -1, ["a", "--b"]):
            with self.assertRaises(OpError):
                argv("{a}", a=value)
        self.assertEqual(argv("--", "{a}", "--o={a}", a="-rf"), ["--", "-rf", "--o=-rf"])
        with self.assertRaises(OpError):
            argv("{a}", a="x\0y")


class Words(unittest.TestCase):
    def test_errors_are_clean(self) -> None:
        said = b"\x1b[31mfatal\x1b[0m: secret\x07 \xff\nline two\n"
        self.assertEqual(clean(said, 2048, [("secret", "***")]), "fatal: *** \ufffd\nline two")
        self.assertEqual(last_line("a\nb c\n\n"), "b c")
        for line in ("failed at line", "no /etc/passwd", "('/x')", "C:\\x"):
            self.assertIsNone(last_line(line))


class Programs(unittest.IsolatedAsyncioTestCase):
    async def run_shell(self, script: str, **how: Any) -> Any:
        target = CommandTarget(timeout_ms=how.pop("timeout_ms", 5000), max_output_bytes=how.pop("most", 1000))
        args = how.pop("args", {})
        command = Command(argv=("/bin/sh", "-c", script.replace("{", "{{").replace("}", "}}")), **how)
        return await Runner(target, dict(os.environ)).call(command, args)

    async def test_in_the_background_a_program_has_the_time_of_its_execution(self) -> None:
        runner = Runner(CommandTarget(timeout_ms=60_000), dict(os.environ))
        self.addAsyncCleanup(all_ended)
        for own, limit, told in ((None, 50, 50), (70, 60_000, 70)):
            with self.assertRaises(OpError) as caught:
                await runner.call(Command(argv=("sleep", "50"), timeout_ms=own), {}, limit)
            self.assertIn(f"did not finish within {told} ms", caught.exception.message)

    async def test_output_is_read_as_the_operation_says(self) -> None:
        self.assertEqual((await self.run_shell("echo a; echo b", output="lines")).data, ["a", "b"])
        self.assertEqual((await self.run_shell("printf 'a\\r\\n'", output="text")).data, "a")
        self.assertEqual((await self.run_shell("echo ' {\"a\": 1} '", output="json")).data, Raw('{"a": 1}'))
        self.assertEqual((await self.run_shell("printf '1\\n\\n2'", output="jsonlines")).data, Raw("[1,2]"))
        self.assertIsNone((await self.run_shell("true", output="json")).data)
        self.assertEqual(
            (await self.run_shell("cat", stdin="*", output="json", args={"a": "ü"})).data, Raw('{"a":"ü"}')
        )

    async def failure(self, script: str, **how: Any) -> OpError:
        with self.assertRaises(OpError) as caught:
            await self.run_shell(script, **how)
        return caught.exception

    async def test_failures_say_why(self) -> None:
        error = await self.failure("echo no such thing >&2; exit 3", exit={3: Code.NOT_FOUND_RESOURCE})
        self.assertEqual(
            (error.code, error.message), (Code.NOT_FOUND_RESOURCE, "sh failed with exit status 3: no such thing")
        )
        self.assertEqual(error.details, {"exit_status": 3, "stderr": "no such thing"})
        self.assertEqual((await self.failure("kill -9 $$")).details, {"signal": 9})
        self.assertIs((await self.failure("yes")).code, Code.PAYLOAD_TOO_LARGE)
        self.assertIs((await self.failure("sleep 20", timeout_ms=100)).code, Code.TRANSPORT_TIMEOUT)
        self.assertEqual((await self.run_shell("exit 4", exit={4: "success"})).data, "")

    async def test_a_cancelled_call_takes_its_children_along(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            mark = Path(folder, "pid")
            call = asyncio.create_task(self.run_shell(f"sleep 60 & echo $! > {mark}; wait"))
            while not mark.exists() or not mark.read_text():
                await asyncio.sleep(0.01)
            call.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await call
            child = int(mark.read_text())
            until = time.monotonic() + 20
            while _lives(child) and time.monotonic() < until:
                await asyncio.sleep(0.01)
            self.assertFalse(_lives(child))

    async def test_a_descendant_that_holds_the_output_is_stopped(self) -> None:
        answer = await self.run_shell("sleep 60 & echo done", output="text")
        self.assertEqual((answer.data, answer.warnings[0].code), ("done", "OUTPUT_HELD_OPEN"))


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
