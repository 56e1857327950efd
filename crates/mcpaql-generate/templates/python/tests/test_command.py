"""Programs: their arguments, timeouts, output and errors."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from adapter_template.runtime import command
from adapter_template.runtime.command import CommandRunner
from adapter_template.runtime.errors import OpError
from adapter_template.runtime.requests import CommandLine, Param, When


class Commands(unittest.IsolatedAsyncioTestCase):
    async def test_values_are_never_options_and_time_is_bounded(self) -> None:
        line = ("ls", When("all", ("-a",)), ("-n", "{count}"), "--", "{paths}")
        self.assertEqual(command.argv(line, {"all": True, "paths": ["-x", "b"]}), ["ls", "-a", "--", "-x", "b"])
        with self.assertRaises(OpError):
            command.argv(("ls", "{path}"), {"path": "-rf"})
        limits = {"timeout_ms": 300, "max_output_bytes": 100}
        runner = CommandRunner({"cwd": None, "env": [], "set_env": {}, **limits})
        self.assertEqual((await runner.call(CommandLine(("echo", "{x}")), {"x": "a b"})).data, "a b")
        started = time.monotonic()
        with self.assertRaises(OpError) as failed:
            await runner.call(CommandLine(("sh", "-c", "sleep 30 & sleep 30")), {})
        self.assertEqual(failed.exception.code, "TRANSPORT_TIMEOUT")
        self.assertLess(time.monotonic() - started, 5)

    async def test_programs_and_their_children_stop_with_the_server(self) -> None:
        runner = CommandRunner({"cwd": None, "env": [], "set_env": {}, "timeout_ms": 30_000, "max_output_bytes": 100})
        script = 'echo $$ > "$1"; sleep 30 & echo $! >> "$1"; wait'
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder, "ids")
            line: CommandLine[Any] = CommandLine(("sh", "-c", script, "sh", "{place}"))
            call = asyncio.ensure_future(runner.call(line, {"place": str(place)}))
            while not place.exists() or len(place.read_text().split()) < 2:
                await asyncio.sleep(0.02)
            await runner.close()
            with self.assertRaises(OpError):
                await call
            ids = place.read_text().split()
            # A killed process may need a moment to exit.
            for _ in range(100):
                if not any(map(is_running, ids)):
                    return
                await asyncio.sleep(0.05)
            self.fail("a program is still running")

    async def test_errors_show_no_sensitive_value_even_if_it_is_short(self) -> None:
        runner = CommandRunner({"cwd": None, "env": [], "set_env": {}, "timeout_ms": 5000, "max_output_bytes": 100})
        line: CommandLine[Any] = CommandLine(
            ("sh", "-c", 'echo "no${1}no" >&2; exit 3', "sh", "{pin}"),
            {"pin": Param(sensitive=True)},
        )
        with self.assertRaises(OpError) as failed:
            await runner.call(line, {"pin": "77"})
        self.assertEqual(failed.exception.details, {"exit_status": 3, "stderr": "no***no"})

    async def test_numbers_in_the_output_of_a_program_do_not_change(self) -> None:
        runner = CommandRunner({"cwd": None, "env": [], "set_env": {}, "timeout_ms": 5000, "max_output_bytes": 100})
        for output, text in (("json", "[1.10,1e400]"), ("jsonlines", "1.10\n\n1e400")):
            answer = await runner.call(CommandLine(("printf", "{text}"), output=output), {"text": text})  # type: ignore[arg-type]
            self.assertEqual(answer.text, "[1.10,1e400]")


def is_running(number: str) -> bool:
    """Whether the process with this id is still running."""
    listed = subprocess.run(["ps", "-o", "stat=", "-p", number], capture_output=True, text=True, check=False)  # noqa: S603, S607
    return listed.stdout.strip() not in ("", "Z", "Z+")


if __name__ == "__main__":
    unittest.main()
