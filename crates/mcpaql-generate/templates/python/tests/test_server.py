"""The server over both transports: tools, introspection and errors."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import unittest
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from adapter_template.operations import DEFAULTS
from adapter_template.runtime import server
from adapter_template.runtime.dispatch import Adapter, Call

CATALOG: dict[str, Any] = json.loads(resources.files("adapter_template").joinpath("catalog.json").read_text("utf-8"))
INTROSPECT = next(row for row in CATALOG["operations"] if row["name"] == "introspect")
HAS_INTROSPECTION = INTROSPECT["tool"] in CATALOG["routes"]


def called(params: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a call of `introspect`."""
    return params if CATALOG["mode"] == "discrete" else {"operation": "introspect", "params": params}


async def started() -> tuple[Any, Callable[[str], Awaitable[Any]]]:
    """Starts a server. Returns its process, and a function that sends a line and returns the answer."""
    arguments: Any = ("-m", "adapter_template")
    pipe = asyncio.subprocess.PIPE
    process: Any = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdin=pipe, stdout=pipe)

    async def ask(line: str) -> Any:
        process.stdin.write(f"{line}\n".encode())
        return json.loads(await asyncio.wait_for(process.stdout.readline(), 30))

    return process, ask


class OverTheWire(unittest.IsolatedAsyncioTestCase):
    async def assert_serves(self, server: Any) -> None:
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            generated = [tool["name"] for tool in CATALOG["tools"]]
            self.assertEqual([tool.name for tool in tools][: len(generated)], generated)
            if not HAS_INTROSPECTION:
                return
            answer = await client.call_tool(INTROSPECT["tool"], called({"detail": "names", "first": 200}))
            names = json.loads(answer.content[0].text)["data"]["operations"]  # type: ignore[union-attr]
            self.assertEqual(names, [row["name"] for row in CATALOG["operations"]][:200])

    async def test_standard_streams(self) -> None:
        args, env = ["-m", "adapter_template"], {**os.environ}
        await self.assert_serves(stdio_client(StdioServerParameters(command=sys.executable, args=args, env=env)))

    async def test_invalid_messages_are_answered(self) -> None:
        process, ask = await started()
        deep = "[" * 200 + "]" * 200
        for line, number, code in (
            (f'{{"params":{{"id":1,"a":{deep}}},"id":7,"method":"tools/call","jsonrpc":"2.0"}}', 7, -32700),
            ('{"id":"x","a":"\\ud800"}', "x", -32700),
            ("{", None, -32700),
            ('{"jsonrpc":"2.0","id":8}', 8, -32600),
            (f'{{"jsonrpc":"2.0","id":9,"method":"ping","params":{{"a":1{"0" * 400}}}}}', 9, -32700),
            (f'{{"jsonrpc":"2.0","id":10,"method":"{"x" * 2**24}"}}', 10, -32600),
        ):
            answer = await ask(line)
            self.assertEqual((answer["id"], answer["error"]["code"]), (number, code), line[:80])
        process.stdin.close()
        await process.wait()

    async def test_a_signal_stops_the_server(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            process, ask = await started()
            await ask("{")
            process.send_signal(number)
            self.assertEqual(await asyncio.wait_for(process.wait(), 10), 0)

    async def test_streamable_http(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", "adapter_template", "--http", str(port))
        try:
            for _ in range(200):
                await asyncio.sleep(0.1)
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
            await self.assert_serves(f"http://127.0.0.1:{port}/mcp")
        finally:
            process.terminate()
            self.assertEqual(await asyncio.wait_for(process.wait(), 10), 0)


@unittest.skipUnless(HAS_INTROSPECTION, "this adapter has no tool for introspection")
class Calls(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.adapter = Adapter(CATALOG, {**DEFAULTS})

    async def asyncTearDown(self) -> None:
        await self.adapter.close()

    async def ask(self, params: dict[str, Any]) -> Any:
        text, *_ = await self.adapter.call(INTROSPECT["tool"], called(params))
        return json.loads(text)

    async def test_every_operation_and_type_is_described(self) -> None:
        for row in CATALOG["operations"]:
            self.assertEqual((await self.ask({"name": row["name"]}))["data"]["operation"], row["forms"]["detail"])
        for row in CATALOG["types"]:
            name = row["name"]
            self.assertEqual((await self.ask({"query": "types", "name": name}))["data"]["type"], row["forms"]["detail"])

    async def test_an_operation_is_found_by_its_name(self) -> None:
        for row in CATALOG["operations"][:5]:
            hits = (await self.ask({"search": row["name"].replace("_", " ")}))["data"]["operations"]
            self.assertIn(row["name"], [hit["name"] for hit in hits])

    async def test_errors_have_codes(self) -> None:
        self.assertEqual((await self.ask({"detial": "names"}))["error"]["code"], "VALIDATION_UNKNOWN_PARAM")
        self.assertEqual((await self.ask({"first": "many"}))["error"]["code"], "VALIDATION_INVALID_TYPE")
        self.assertEqual((await self.ask({"detail": "loud"}))["error"]["code"], "VALIDATION_INVALID_VALUE")

    async def test_a_handler_replaces_the_default_and_errors_do_not_show_its_secrets(self) -> None:
        async def failing(_: Any, __: Call) -> object:
            raise RuntimeError("s3cret-token")

        adapter = Adapter(CATALOG, {"introspect": failing})
        with self.assertLogs(level="WARNING") as logs:
            text, is_error, _ = await adapter.call(INTROSPECT["tool"], called({}))
        self.assertTrue(is_error)
        self.assertNotIn("s3cret", text + str(logs.output))
        with self.assertRaises(SystemExit):
            Adapter(CATALOG, {"no_such_operation": failing})

    async def test_answers_do_not_show_exceptions_of_own_tools(self) -> None:
        async def failing(_: Any) -> str:
            raise RuntimeError("s3cret-token")

        tool: Any = {"name": "own_tool", "inputSchema": {"type": "object"}}
        async with Client(server.build(self.adapter, [(tool, failing)])) as client:
            with self.assertLogs(level="WARNING") as logs:
                answer = await client.call_tool("own_tool", {})
        text = answer.content[0].text  # type: ignore[union-attr]
        self.assertEqual((json.loads(text)["error"]["code"], answer.is_error), ("INTERNAL_ERROR", True))
        self.assertNotIn("s3cret", text + str(logs.output))


if __name__ == "__main__":
    unittest.main()
