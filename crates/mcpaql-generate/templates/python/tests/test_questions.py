"""What an upstream asks reaches the client in every revision, and no answer reaches another question."""

import asyncio
import unittest
from collections.abc import Coroutine
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from adapter_template.runtime.caller import Caller
from adapter_template.runtime.client import Ability, Refused
from adapter_template.runtime.parked import Mail, Parked, ParkedCall
from adapter_template.runtime.passing import Passing
from adapter_template.runtime.peer import Peer
from adapter_template.runtime.response import Reply
from adapter_template.runtime.upstream.errors import Failed, RpcRefused, Unavailable

QUESTION = {"message": "Which?", "requestedSchema": {"type": "object", "properties": {}}}
ANSWER = {"action": "accept", "content": {}}


async def quietly(work: Coroutine[Any, Any, Any]) -> Any:
    return await work


class Line:
    """What goes to a client."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.peer = Peer(self.send)

    async def send(self, item: SessionMessage) -> None:
        self.sent.append(item.message)

    async def asked(self, count: int) -> Any:
        while len(self.sent) < count:
            await asyncio.sleep(0)
        return self.sent[count - 1]


class Connections(unittest.IsolatedAsyncioTestCase):
    async def test_an_answer_goes_to_its_question_as_it_is(self) -> None:
        line = Line()
        first, second = (asyncio.create_task(line.peer.ask("m", {"n": n})) for n in (1, 2))
        await line.asked(2)
        one, two = line.sent
        self.assertEqual((one.params, two.params), ({"n": 1}, {"n": 2}))
        self.assertFalse(line.peer.heard(types.JSONRPCResponse(jsonrpc="2.0", id=1, result={})))
        self.assertTrue(line.peer.heard(types.JSONRPCResponse(jsonrpc="2.0", id=two.id, result={"x-odd": 2})))
        error = types.ErrorData(code=7, message="no", data=[1])
        self.assertTrue(line.peer.heard(types.JSONRPCError(jsonrpc="2.0", id=one.id, error=error)))
        self.assertEqual(await second, {"x-odd": 2})
        with self.assertRaises(Refused) as caught:
            await first
        self.assertEqual(caught.exception.error, {"code": 7, "message": "no", "data": [1]})
        self.assertFalse(line.peer.heard(types.JSONRPCResponse(jsonrpc="2.0", id=two.id, result={})))

    async def test_nobody_waits_for_a_client_that_says_nothing_more(self) -> None:
        line = Line()
        asking = asyncio.create_task(line.peer.ask("m", {}))
        await line.asked(1)
        line.peer.end()
        for waiting in (asking, line.peer.ask("m", {})):
            with self.assertRaises(Refused):
                await waiting


class Rounds(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.parked = Parked()
        self.heard: list[Any] = []

    def begun(self, params: Any = QUESTION) -> ParkedCall:
        mail = Mail(Line().peer, frozenset(Ability))
        caller = Caller(client=mail)

        async def work() -> Reply:
            try:
                self.heard.append(await caller.ask(Ability.ELICITATION, params))
            except Refused as refused:
                self.heard.append(refused.error)
            return Reply("done", [], is_error=False)

        return ParkedCall("tool", work(), caller, mail)

    async def state(self) -> str:
        result = await self.parked.go_on(self.begun(), quietly)
        assert isinstance(result, dict)
        request = {"method": "elicitation/create", "params": QUESTION}
        self.assertEqual((result["resultType"], result["inputRequests"]), ("input_required", {"question": request}))
        return str(result["requestState"])

    async def test_a_call_that_was_put_aside_goes_on_once_and_for_its_tool_alone(self) -> None:
        state = await self.state()
        answer: dict[str, Any] = {"question": ANSWER}
        self.assertIsNone(self.parked.resume("guessed", "tool", answer))
        self.assertIsNone(self.parked.resume(state, "another", answer))
        call = self.parked.resume(state, "tool", answer)
        assert call is not None
        self.assertEqual(await self.parked.go_on(call, quietly), Reply("done", [], is_error=False))
        self.assertEqual(self.heard, [ANSWER])
        self.assertIsNone(self.parked.resume(state, "tool", answer))

    async def test_without_an_answer_the_question_is_given_up(self) -> None:
        call = self.parked.resume(await self.state(), "tool", {"other": 1})
        assert call is not None
        await self.parked.go_on(call, quietly)
        self.assertEqual(self.heard, [None])

    async def test_what_cannot_be_asked_this_way_is_not_asked(self) -> None:
        await self.parked.go_on(self.begun(5), quietly)
        self.assertEqual(self.heard, [None])


class Behind:
    """An MCP server with one of everything."""

    def __init__(self, fault: Any = None) -> None:
        self.asked: list[Any] = []
        self._fault = fault

    async def list(self, method: str, key: str, caller: Caller) -> list[Any]:
        _ = key, caller
        lists: dict[str, list[Any]] = {
            "resources/list": [{"uri": "file:///a b?x=1#y", "name": "a"}, {"uri": 5}, "odd"],
            "prompts/list": [{"name": "greet"}, {}],
        }
        return lists[method]

    async def request(self, method: str, params: Any, caller: Caller) -> Any:
        _ = caller
        self.asked.append((method, params))
        if self._fault is not None:
            raise Failed(self._fault)
        if method == "prompts/get":
            return {"messages": []}
        return {"contents": [{"uri": params["uri"], "text": "read"}]}


class PassedOn(unittest.IsolatedAsyncioTestCase):
    async def test_names_lead_back_to_the_server(self) -> None:
        server: Any = Behind()
        passing = Passing("far-away", [server])
        resources = await passing.entries("resources/list", "resources", Caller())
        self.assertEqual(resources, [{"uri": "mcpaql://far_away/file:///a b?x=1#y", "name": "a"}])
        prompts = await passing.entries("prompts/list", "prompts", Caller())
        self.assertEqual(prompts, [{"name": "far_away_greet"}])
        await passing.prompt("far_away_greet", {"who": "ann"}, Caller())
        for uri, own in {"mcpaql://far_away/file:///a": "file:///a", "file:///b": "file:///b"}.items():
            self.assertEqual((await passing.resource(uri, Caller()))["contents"], [{"uri": uri, "text": "read"}])
            self.assertEqual(server.asked[-1], ("resources/read", {"uri": own}))
        self.assertEqual(server.asked[0], ("prompts/get", {"name": "greet", "arguments": {"who": "ann"}}))

    async def test_what_nobody_has_and_what_is_refused_is_told(self) -> None:
        cases: list[tuple[Any, str, int]] = [
            (None, "mcpaql://nobody/x", -32002),
            (RpcRefused("far", -32002, "gone", {"a": 1}), "x", -32002),
            (RpcRefused("far", 1 << 40, "gone"), "x", -32603),
            (Unavailable("far", "was closed"), "x", -32603),
        ]
        for fault, uri, code in cases:
            server: Any = Behind(fault)
            with self.assertRaises(MCPError) as caught:
                await Passing("far", [server]).resource(uri, Caller())
            self.assertEqual(caught.exception.error.code, code)
        unknown: Any = Behind()
        with self.assertRaises(MCPError):
            await Passing("far", [unknown]).prompt("greet", None, Caller())


if __name__ == "__main__":
    unittest.main()
