"""Programs: their arguments, and how long they may take."""

from __future__ import annotations

import time
import unittest

from adapter_template.runtime import command
from adapter_template.runtime.command import CommandRunner
from adapter_template.runtime.errors import OpError
from adapter_template.runtime.requests import CommandLine, When


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


if __name__ == "__main__":
    unittest.main()
