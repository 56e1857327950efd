"""Lines that are no messages are answered like any other, and the conversation goes on behind them."""

import json
import signal
import subprocess
import sys
import unittest
from typing import Any

# Answers every request with an empty result.
SERVER = """
import asyncio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse
from adapter_template.runtime.stdio import converse

async def serve(reading, writing, peer):
    async for item in reading:
        if isinstance(item.message, JSONRPCRequest):
            await writing.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=item.message.id, result={})))

asyncio.run(converse(serve))
"""
PING = b'{"jsonrpc":"2.0","id":9,"method":"ping"}'
NO_IDS = [b"null", b"1.5", b"true", b"[]", b"{}"]
PONG = {"jsonrpc": "2.0", "id": 9, "result": {}}


class Conversation(unittest.TestCase):
    def answers(self, *lines: bytes) -> list[dict[str, Any]]:
        given = b"".join(line + b"\n" for line in lines)
        done = subprocess.run([sys.executable, "-c", SERVER], input=given, capture_output=True, timeout=60, check=False)  # noqa: S603
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_lines_that_are_no_messages_are_answered_and_what_stands_behind_them_too(self) -> None:
        lines = {
            b"garbage": (None, -32700),
            b"\xff\xfe": (None, -32700),
            b"[]": (None, -32600),
            b"[" + PING + b"]": (None, -32600),
            b'{"jsonrpc":"2.0"}': (None, -32600),
            b'{"jsonrpc":"2.0","id":7,"method":': (7, -32700),
            b'{"jsonrpc":"2.0","id":8,"method":1}': (8, -32600),
            **{b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % number: (None, -32600) for number in NO_IDS},
        }
        *refusals, pong = self.answers(*lines, PING)
        self.assertEqual([(answer.get("id"), answer["error"]["code"]) for answer in refusals], list(lines.values()))
        self.assertEqual(pong, PONG)

    def test_what_asks_for_nothing_gets_nothing(self) -> None:
        lines = [b"", b"  ", b'{"jsonrpc":"2.0","id":3,"result":{}}', b'{"jsonrpc":"2.0","method":"notifications/x"}']
        self.assertEqual(self.answers(*lines, PING), [PONG])

    @unittest.skipIf(sys.platform == "win32", "no such signals")
    def test_whoever_tells_it_to_stop_it_ends_in_order(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            pipe = subprocess.PIPE
            with subprocess.Popen([sys.executable, "-c", SERVER], stdin=pipe, stdout=pipe) as server:  # noqa: S603
                assert server.stdin is not None
                assert server.stdout is not None
                server.stdin.write(PING + b"\n")
                server.stdin.flush()
                self.assertEqual(json.loads(server.stdout.readline()), PONG)
                server.send_signal(number)
                self.assertEqual(server.wait(60), 0, number)


if __name__ == "__main__":
    unittest.main()
