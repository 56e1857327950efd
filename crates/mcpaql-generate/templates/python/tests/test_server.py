"""The server as a client sees it: its tools, introspection and errors, over both transports."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import unittest
from importlib import resources
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from adapter_template.operations import DEFAULTS
from adapter_template.runtime.dispatch import Adapter, Call

CATALOG: dict[str, Any] = json.loads(resources.files("adapter_template").joinpath("catalog.json").read_text("utf-8"))
INTROSPECT = next(row for row in CATALOG["operations"] if row["name"] == "introspect")
HAS_INTROSPECTION = INTROSPECT["tool"] in CATALOG["routes"]


def called(params: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call of `introspect`."""
    return params if CATALOG["mode"] == "discrete" else {"operation": "introspect", "params": params}


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
            await process.wait()


@unittest.skipUnless(HAS_INTROSPECTION, "the tools of this adapter do not introspect")
class Calls(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.adapter = Adapter(CATALOG, {**DEFAULTS})

    async def asyncTearDown(self) -> None:
        await self.adapter.close()

    async def ask(self, params: dict[str, Any]) -> Any:
        text, _ = await self.adapter.call(INTROSPECT["tool"], called(params))
        return json.loads(text)

    async def test_every_operation_and_type_is_described(self) -> None:
        for row in CATALOG["operations"]:
            self.assertEqual((await self.ask({"name": row["name"]}))["data"]["operation"], row["detail"])
        for row in CATALOG["types"]:
            name = row["detail"]["name"]
            self.assertEqual((await self.ask({"query": "types", "name": name}))["data"]["type"], row["detail"])

    async def test_an_operation_is_found_by_its_name(self) -> None:
        for row in CATALOG["operations"][:5]:
            hits = (await self.ask({"search": row["name"].replace("_", " ")}))["data"]["operations"]
            self.assertIn(row["name"], [hit["name"] for hit in hits])

    async def test_errors_have_codes(self) -> None:
        self.assertEqual((await self.ask({"detial": "names"}))["error"]["code"], "VALIDATION_UNKNOWN_PARAM")
        self.assertEqual((await self.ask({"first": "many"}))["error"]["code"], "VALIDATION_INVALID_TYPE")
        self.assertEqual((await self.ask({"detail": "loud"}))["error"]["code"], "VALIDATION_INVALID_VALUE")

    async def test_a_handler_answers_in_place_of_the_default_and_its_secrets_stay_out_of_errors(self) -> None:
        async def failing(_: Any, __: Call) -> object:
            raise RuntimeError("s3cret-token")

        adapter = Adapter(CATALOG, {"introspect": failing})
        with self.assertLogs(level="WARNING") as logs:
            text, is_error = await adapter.call(INTROSPECT["tool"], called({}))
        self.assertTrue(is_error)
        self.assertNotIn("s3cret", text + str(logs.output))
        with self.assertRaises(SystemExit):
            Adapter(CATALOG, {"no_such_operation": failing})


if __name__ == "__main__":
    unittest.main()
