"""Other MCP servers: whatever they say and however they end, a call costs no more than itself."""

import asyncio
import functools
import json
import sys
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from adapter_template.runtime.bindings import Bearer, McpAddress, McpProgram, McpTarget, ToolCall
from adapter_template.runtime.caller import Caller, News
from adapter_template.runtime.client import Ability, Level, LogWish, Refused, Wish
from adapter_template.runtime.errors import Code, OpError
from adapter_template.runtime.response import Raw
from adapter_template.runtime.upstream import message
from adapter_template.runtime.upstream.errors import Failed, RpcRefused, UpstreamSetupError
from adapter_template.runtime.upstream.life import delay
from adapter_template.runtime.upstream.lines import IdScan, Lines
from adapter_template.runtime.upstream.program import called
from adapter_template.runtime.upstream.server import McpServer
from adapter_template.runtime.upstream.sse import Events

SERVER = str(Path(__file__).with_name("toolserver.py"))
SECRET = "s3cret-token"  # noqa: S105


class Wire(unittest.TestCase):
    def kinds(self, text: str) -> list[str]:
        found = []
        for one in message.read(text):
            match one:
                case message.Answer(error=None):
                    found.append(f"{one.id}={one.result}")
                case message.Answer():
                    found.append(f"{one.id}!{one.error}")
                case message.Request():
                    found.append(f"{one.id}?{one.method}")
                case message.Notification():
                    found.append(one.method)
        return found

    def test_messages_are_told_apart(self) -> None:
        for text, expected in {
            '{"jsonrpc":"2.0","id":1,"result":{"a": 1.10}}': ['1={"a": 1.10}'],
            '{"id":"7","result":null,"jsonrpc":"2.0"}': ["7=null"],
            '{"id":2,"error":{"code":-1}}': ['2!{"code":-1}'],
            '{"id":2,"result":5,"error":null}': ["2=5"],
            '{"id":"x","method":"ping"}': ['"x"?ping'],
            '{"method":"n\\u006ftify","params":[]}': ["notify"],
            '[{"id":1,"result":1},5,{"id":2,"result":2}]': ["1=1", "2=2"],
            '{"level":"info","id":3}': [],
            '{"id":"abc","result":1}': [],
            '{"id":null,"error":{}}': [],
        }.items():
            self.assertEqual(self.kinds(text), expected, text)
        for text in ("", "hello", "{", '{"id":1,"result":}', "[1,", '{"id":1,"id":1,"result":1}', '{"method":5}'):
            with self.assertRaises(ValueError):
                message.read(text)
        deep = f'{{"id":1,"result":{"[" * 5000}"\\ud800"{"]" * 5000}}}'
        self.assertEqual(len(message.read(deep)), 1)

    def test_a_request_is_one_line_with_its_meta_joined(self) -> None:
        line = message.request(7, "m", {"_meta": {"a": 1}, "name": "x\ny"}, {"b": 2})
        expected = r'{"jsonrpc":"2.0","id":7,"method":"m","params":{"name":"x\ny","_meta":{"a":1,"b":2}}}'
        self.assertEqual(line, expected + "\n")
        self.assertTrue(message.request(1, "m", {}, {}).endswith('"params":{}}\n'))

    def test_the_id_of_what_cannot_be_held_is_found_piece_by_piece(self) -> None:
        for text, expected in {
            b'{"params":{"id":8,"a":"\xff"},"id" : 7}': 7,
            b'{"a":"\\\\","b":"}","id":12,"id":13}': 12,
            b'{"id":"x"}': None,
            b'{"id":-1}': None,
            b'[{"id":4}]': None,
            b'{"a":"id","b":5}': None,
        }.items():
            whole, bytewise = IdScan(), IdScan()
            whole.feed(text)
            for byte in text:
                bytewise.feed(bytes([byte]))
            self.assertEqual((whole.number, bytewise.number), (expected, expected), text)

    def test_lines_are_read_however_they_are_cut_and_never_held_whole(self) -> None:
        stream = b"\xef\xbb\xbf one \r\n\n" + b'{"result":"' + b"x" * 100 + b'","id":42}\ntwo\nlast'
        for size in (1, 7, 1000):
            lines, found = Lines(20), list[bytes | IdScan]()
            for start in range(0, len(stream), size):
                found += lines.feed(stream[start : start + size])
            found += lines.rest()
            numbers = [one.number if isinstance(one, IdScan) else one for one in found]
            self.assertEqual(numbers, [b"one", b"", 42, b"two", b"last"])

    def test_events_are_read_however_they_are_cut(self) -> None:
        stream = (
            b': hello\r\nid: 7\r\nretry: 15\r\ndata: {"a":\r\ndata:1}\r\n\r\nevent: message\ndata: 2\n\n'
            b'data:\n\nid\rdata:  3\r\rdata: {"x":"' + b"y" * 99 + b'","id":5}\n\ndata: cut'
        )
        for size in (1, 5, 1000):
            events, found = Events(32), list[bytes | IdScan]()
            for start in range(0, len(stream), size):
                found += events.feed(stream[start : start + size])
            said = [one.number if isinstance(one, IdScan) else one for one in found]
            self.assertEqual(said, [b'{"a":\n1}', b"2", b" 3", 5])
            self.assertEqual((events.retry, events.last_id), (0.015, None))

    def test_one_that_keeps_failing_is_left_alone_longer_but_not_for_ever(self) -> None:
        self.assertEqual([delay(failures) for failures in range(1, 10)], [0, 0.5, 1, 2, 4, 8, 16, 30, 30])

    def test_a_program_is_called_what_people_call_it(self) -> None:
        for command, expected in [
            (("npx", "-y", "@scope/server-everything"), "@scope/server-everything"),
            (("/usr/bin/uvx", "mcp-server-git", "--repository", "."), "mcp-server-git"),
            (("/opt/bin/server", "--token", "x"), "server"),
            (("npx", "${env:PACKAGE}"), "npx"),
            (("npx",), "npx"),
        ]:
            self.assertEqual(called(command), expected)


class Listener:
    """A client that answers questions and remembers what it was told."""

    abilities = frozenset(Ability)

    def __init__(self, answer: Any) -> None:
        self.heard: list[Any] = []
        self._answer = answer

    async def ask(self, ability: Ability, params: Any) -> Any:
        self.heard.append((str(ability), params))
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        self.heard.append((method, params))


class Programs(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.servers: list[McpServer] = []

    async def asyncTearDown(self) -> None:
        for server in self.servers:
            await server.close()

    def server(self, *faults: str, **target: Any) -> McpServer:
        command = target.pop("command", (sys.executable, SERVER, *faults))
        link = McpProgram(command, env=("TOKEN",), set_env={"FIXED": "a ${env:TOKEN}"})
        environ = {"PATH": "/usr/bin:/bin", "TOKEN": SECRET, "OTHER": "hidden"}
        server = McpServer(McpTarget(link, timeout_ms=target.pop("timeout_ms", 5000), **target), environ)
        self.servers.append(server)
        return server

    async def failure(self, server: McpServer, tool: str, **args: Any) -> OpError:
        with self.assertRaises(OpError) as caught:
            await server.call(ToolCall(tool), args, Caller())
        return caught.exception

    async def said(self, server: McpServer, tool: str, caller: Caller | None = None, **args: Any) -> Any:
        data = (await server.call(ToolCall(tool), args, caller or Caller())).data
        return json.loads(data.text) if isinstance(data, Raw) else data

    async def test_arguments_travel_under_the_names_that_the_tool_knows(self) -> None:
        tool = ToolCall("echo", names={"label_name": "label-name"}, fixed={"action": "add"})
        answer = await self.server().call(tool, {"label_name": "x", "n": 12345678901234567}, Caller())
        self.assertEqual(answer.data, Raw('{"label-name":"x","n":12345678901234567,"action":"add"}'))

    async def test_calls_run_side_by_side_and_a_start_is_shared(self) -> None:
        server = self.server()
        calls = [self.said(server, "gather", count=5) for _ in range(5)]
        self.assertEqual(await asyncio.gather(*calls), [0, 1, 2, 3, 4])

    async def test_it_gets_the_variables_that_are_named_and_leaves_nothing_behind(self) -> None:
        server = self.server()
        found = await self.said(server, "environment")
        self.assertEqual([name for name in found["names"] if name != "LC_CTYPE"], ["FIXED", "PATH", "TOKEN"])
        self.assertTrue(all(map(_lives, found["pids"])))
        await server.close()
        until = time.monotonic() + 20
        while any(map(_lives, found["pids"])) and time.monotonic() < until:
            await asyncio.sleep(0.01)
        self.assertFalse(any(map(_lives, found["pids"])))

    async def test_a_call_that_takes_too_long_or_is_called_off_is_cancelled_there(self) -> None:
        server = self.server(timeout_ms=300)
        error = await self.failure(server, "hold")
        said = (
            "The MCP server 'fixture' did not answer within 300 ms; try later or ask for less, and after a write first"
        )
        self.assertEqual(error.code, Code.TRANSPORT_TIMEOUT)
        self.assertTrue(error.message.startswith(said), error.message)
        client = Listener(None)
        call = asyncio.create_task(self.said(server, "hold", Caller(None, client, lambda: Wish.EVERYTHING)))
        while not client.heard:
            await asyncio.sleep(0.01)
        call.cancel()
        await asyncio.wait({call})
        seen = await self.said(server, "seen")
        self.assertEqual(seen["cancelled"], ["the caller does not wait any more"] * 2)

    async def test_news_keep_a_call_alive_and_reach_its_caller(self) -> None:
        caller = Caller()
        self.assertEqual(await self.said(self.server(timeout_ms=400), "progress", caller), "done")
        self.assertEqual(await caller.news(), News(4.0, None, "step 4"))

    async def test_garbage_costs_nothing_and_what_is_too_large_or_broken_one_call(self) -> None:
        server = self.server(max_response_bytes=100_000)
        self.assertEqual(await self.said(server, "flood"), "still here")
        error = await self.failure(server, "big")
        details = {"limit": "max_response_bytes", "max_bytes": 100_000}
        self.assertEqual((error.code, error.details), (Code.PAYLOAD_TOO_LARGE, details))
        error = await self.failure(server, "broken")
        said = "The answer of the MCP server 'fixture' cannot be read; tell the user."
        self.assertEqual((error.code, error.message), (Code.INTERNAL, said))
        error = await self.failure(server, "nope")
        self.assertEqual(error.code, Code.NOT_FOUND_OPERATION)

    async def test_one_that_dies_says_why_and_is_started_again(self) -> None:
        server = self.server()
        error = await self.failure(server, "die")
        said = "The MCP server 'fixture' ended with exit status 7: out of cheese; try again, and after a write first"
        self.assertTrue(error.message.startswith(said), error.message)
        self.assertEqual(await self.said(server, "echo"), {})

    async def test_one_that_cannot_start_is_left_alone_after_the_second_time(self) -> None:
        server = self.server("dies")
        said = "The MCP server 'python' ended with exit status 3: the database refuses [redacted]; "
        for _ in range(2):
            error = await self.failure(server, "echo")
            self.assertEqual(error.code, Code.TRANSPORT_CONNECTION)
            self.assertTrue(error.message.replace("python3", "python").startswith(said), error.message)
            self.assertNotIn("retry_after_seconds", error.details)
        error = await self.failure(server, "echo")
        self.assertTrue(error.message.endswith("; it is tried again later."), error.message)
        self.assertEqual(error.details, {"retry_after_seconds": 1})

    async def test_what_is_wrong_with_a_program_is_told(self) -> None:
        for command, said in {
            ("no-such-program",): "'no-such-program' cannot be started: the program 'no-such-program' is not installed",
            ("${env:NONE}",): "'${env:NONE}' needs the environment variable NONE, which is not set",
            ("/etc/passwd",): "'passwd' cannot be started: the program 'passwd' may not be run by this user",
        }.items():
            error = await self.failure(self.server(command=command), "echo")
            self.assertTrue(error.message.startswith(f"The MCP server {said}; "), error.message)
        with self.assertRaises(UpstreamSetupError):
            self.server(command=("${HOME}",))

    async def test_a_silent_one_is_given_up(self) -> None:
        server = self.server("silent", start_timeout_ms=300)
        error = await self.failure(server, "echo")
        self.assertIn("did not answer within 300 ms; try later", error.message)

    async def test_questions_go_to_the_caller_and_answers_back(self) -> None:
        server, question = self.server(), {"message": "Which?"}
        client = Listener({"action": "accept", "x-odd": 1})
        said = await self.said(server, "elicitation/create", Caller(client=client), **question)
        self.assertEqual(said, {"result": {"action": "accept", "x-odd": 1}, "error": None})
        self.assertEqual(client.heard, [("elicitation/create", question)])
        refused: dict[str, Any] = {"code": 7, "message": "no", "data": [1]}
        said = await self.said(server, "sampling/createMessage", Caller(client=Listener(Refused({**refused}))))
        self.assertEqual(said["error"], refused)
        self.assertEqual((await self.said(server, "elicitation/create"))["result"], {"action": "cancel"})
        self.assertEqual((await self.said(server, "sampling/createMessage"))["error"]["code"], -32000)
        self.assertEqual((await self.said(server, "ping"))["result"], {})

    async def test_logs_reach_whoever_wants_them_and_the_level_is_set_where_it_changes(self) -> None:
        server = self.server()
        wishes: list[tuple[LogWish, list[str]]] = [
            (Wish.EVERYTHING, ["debug", "warning"]),
            (Wish.NOTHING, []),
            (Level.WARNING, ["warning"]),
            (Level.WARNING, ["warning"]),
            (Level.DEBUG, ["debug", "warning"]),
        ]
        for wish, expected in wishes:
            client = Listener(None)
            await self.said(server, "log", Caller(None, client, functools.partial(_wish, wish)))
            self.assertEqual([params["data"] for _, params in client.heard], expected)
        self.assertEqual((await self.said(server, "seen"))["levels"], ["warning", "debug"])

    async def test_what_a_server_was_told_in_confidence_is_in_no_log_and_no_news(self) -> None:
        client = Listener(None)
        caller = Caller(None, client, functools.partial(_wish, Wish.EVERYTHING))
        await self.said(self.server(), "confide", caller)
        logged = {"level": "info", "logger": "[redacted]", "data": {"inside": ["Bearer [redacted]"]}}
        self.assertEqual([params for _, params in client.heard], [logged])
        self.assertEqual((await caller.news()).message, "with [redacted]")

    async def test_without_a_handshake_a_server_asks_by_its_answer(self) -> None:
        server = self.server("stateless")
        client = Listener({"action": "accept"})
        said = await self.said(server, "asks", Caller(client=client), message="Which?")
        self.assertEqual(
            (said, client.heard), ({"a": {"action": "accept"}}, [("elicitation/create", {"message": "Which?"})])
        )
        self.assertEqual(await self.said(server, "asks"), {"a": {"action": "cancel"}})

    async def test_headers_of_callers_do_not_come_over_standard_streams(self) -> None:
        error = await self.failure(self.server(caller_headers=("X-Key",)), "echo")
        self.assertEqual((error.code, error.details), (Code.PERMISSION_DENIED, {"header": "X-Key"}))


class Site(BaseHTTPRequestHandler):
    """An MCP server over HTTP."""

    sessions: ClassVar[list[str]] = []
    seen: ClassVar[list[str]] = []

    def respond(self, status: int, body: Any = None, **headers: str) -> None:
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content_type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.respond(405)

    def do_DELETE(self) -> None:
        is_known = self.headers["mcp-session-id"] in self.sessions
        if is_known:
            self.sessions.remove(self.headers["mcp-session-id"])
        self.respond(200 if is_known else 404)

    def do_POST(self) -> None:
        said = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = {"jsonrpc": "2.0", "id": said.get("id")}
        self.seen.append(said["method"])
        if self.headers["authorization"] != f"Bearer {SECRET}":
            return self.respond(401, {"message": "Who are you?"})
        if said["method"] == "initialize":
            name = f"session-{len(self.seen)}"
            self.sessions.append(name)
            greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "site"}}
            return self.respond(200, {**answer, "result": greeting}, mcp_session_id=name)
        if self.headers["mcp-session-id"] not in self.sessions:
            return self.respond(404)
        if "id" not in said:
            return self.respond(202)
        return self.tool(said["params"], answer)

    def tool(self, params: dict[str, Any], answer: dict[str, Any]) -> None:
        fine = {**answer, "result": {"content": [{"type": "text", "text": f"hello {SECRET}"}]}}
        match params["name"]:
            case "json":
                self.respond(200, fine)
            case "stream":
                events = f": hi\n\nid: 1\ndata: {json.dumps(fine)}\n\n".encode()
                self.respond(200, events, content_type="text/event-stream")
            case "cut":
                self.respond(200, b"data: nothing\n\n", content_type="text/event-stream")
            case "forget":
                self.sessions.clear()
                self.respond(200, fine)
            case "refuse":
                self.respond(400, {**answer, "error": {"code": -32602, "message": f"{SECRET} must be"}})
            case "away":
                self.respond(307, location="https://elsewhere.example/mcp")
            case _:
                self.respond(500, {"message": "broken"})

    def log_message(self, *_: object) -> None:
        pass


class Addresses(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        Site.sessions.clear()
        Site.seen.clear()
        site = ThreadingHTTPServer(("127.0.0.1", 0), Site)
        threading.Thread(target=site.serve_forever, daemon=True).start()
        self.addCleanup(site.server_close)
        self.addCleanup(site.shutdown)
        self.url = f"http://127.0.0.1:{site.server_port}/mcp?x=1"
        self.server = self.reaching(self.url)

    def reaching(self, url: str, token: str = SECRET) -> McpServer:
        target = McpTarget(McpAddress(url), Bearer("TOKEN"), timeout_ms=5000)
        server = McpServer(target, {"TOKEN": token})
        self.addAsyncCleanup(server.close)
        return server

    async def said(self, tool: str) -> Any:
        return (await self.server.call(ToolCall(tool), {}, Caller())).data

    async def failure(self, server: McpServer, tool: str) -> OpError:
        with self.assertRaises(OpError) as caught:
            await server.call(ToolCall(tool), {}, Caller())
        return caught.exception

    async def test_answers_are_json_or_events_and_show_no_credentials(self) -> None:
        self.assertEqual([await self.said("json"), await self.said("stream")], ["hello [redacted]"] * 2)
        with self.assertRaises(Failed) as caught:
            await self.server.ask("tools/call", {"name": "refuse"}, Caller())
        self.assertEqual(caught.exception.fault, RpcRefused("site", -32602, "[redacted] must be"))

    async def test_a_session_that_is_forgotten_is_begun_again_and_left_in_the_end(self) -> None:
        await self.said("forget")
        self.assertEqual(await self.said("json"), "hello [redacted]")
        self.assertEqual(Site.seen.count("initialize"), 2)
        await self.server.close()
        self.assertEqual(Site.sessions, [])

    async def test_what_goes_wrong_on_the_way_is_told(self) -> None:
        for tool, code, said in [
            ("cut", Code.TRANSPORT_CONNECTION, "The MCP server 'site' ended its answer before it was complete; "),
            ("broken", Code.INTERNAL, "The API answered 500: broken; "),
            ("away", Code.INTERNAL, "The API answered 307 with a redirect that is not safe to follow; "),
        ]:
            error = await self.failure(self.server, tool)
            self.assertIs(error.code, code)
            self.assertTrue(error.message.startswith(said), error.message)
        error = await self.failure(self.reaching(self.url, "another"), "json")
        self.assertEqual(
            (error.code, error.details["upstream"]),
            (Code.PERMISSION_DENIED, {"status": 401, "body": {"message": "Who are you?"}}),
        )
        error = await self.failure(self.reaching("http://127.0.0.1:1/mcp"), "json")
        said = "The MCP server '127.0.0.1' cannot be reached; try again, and after a write first read whether it took"
        self.assertTrue(error.message.startswith(said), error.message)


def _wish(wish: LogWish) -> LogWish:
    return wish


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split(")")[1].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
