"""Confirmations: which calls run, and what a token is good for."""

from __future__ import annotations

import asyncio
import json
import time
import unittest
from collections.abc import Mapping
from datetime import datetime
from importlib import resources
from typing import Any
from unittest import mock

from adapter_template.runtime.dispatch import Adapter, Call

CATALOG: dict[str, Any] = json.loads(resources.files("adapter_template").joinpath("catalog.json").read_text("utf-8"))
DETAILS = {"danger_level": "destructive", "reasons": ["remove is destructive"], "confirmation_message": "Ask."}
CONFIRM = {"code": "CONFIRMATION_REQUIRED", "message": "Ask.", "details": DETAILS, "seconds": 300}
DENY = {"code": "PERMISSION_DANGER_LEVEL_DENIED", "message": "No.", "details": {"danger_level": "dangerous"}}


class Confirmations(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.serve({})

    def serve(self, own: dict[str, Any]) -> None:
        """Makes a server whose operations return their parameters. `runs` has every run."""
        properties = {"id": {"type": "integer"}, "note": {"type": "object"}, "dry": {"type": "boolean"}}
        params = [{"name": "id", "required": True}, {"name": "note"}, {"name": "dry", "default": False}]
        schema = {"type": "object", "properties": properties}
        shared = {**CATALOG["operations"][-1], "endpoint": "do", "params": params, "spellings": {}, "schema": schema}
        rows = [
            {**shared, "name": "introspect"},
            {**shared, "name": "remove", "gate": CONFIRM, **own},
            {**shared, "name": "replace", "gate": {**CONFIRM, "seconds": 120}},
            {**shared, "name": "wipe", "gate": DENY},
            {**shared, "name": "look", "controls": {}},
        ]
        routes = {"tool": {"whole": True}, "remove": {"operation": "remove"}}
        self.runs = list[Any]()

        async def run(args: Mapping[str, Any], _: Call) -> object:
            self.runs.append(args)
            await asyncio.sleep(0)
            return args

        catalog = {**CATALOG, "operations": rows, "routes": routes, "errors": "unrecoverable"}
        self.adapter = Adapter(catalog, {row["name"]: run for row in rows})

    async def asyncTearDown(self) -> None:
        await self.adapter.close()

    async def send(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        text, is_error, _ = await self.adapter.call(tool, arguments)
        self.assertFalse(is_error, text)
        error: dict[str, Any] = json.loads(text).get("error", {"code": ""})
        return error

    async def call(self, operation: str, params: dict[str, Any]) -> dict[str, Any]:
        return await self.send("tool", {"operation": operation, "params": params})

    async def code(self, operation: str, **params: Any) -> str:
        return str((await self.call(operation, params))["code"])

    async def token(self, operation: str, **params: Any) -> str:
        return str((await self.call(operation, params))["details"]["confirmation_token"])

    async def test_a_call_runs_when_it_comes_again_with_the_token_and_only_once(self) -> None:
        error = await self.call("remove", {"id": 1})
        token, ends = error["details"].pop("confirmation_token"), error["details"].pop("expires_at")
        self.assertEqual(error, {"code": "CONFIRMATION_REQUIRED", "message": "Ask.", "details": DETAILS})
        self.assertRegex(token, r"\Aconf_[\w-]{43}\Z")
        self.assertRegex(ends, r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")
        self.assertAlmostEqual(datetime.fromisoformat(ends).timestamp() - time.time(), 300, delta=5)
        self.assertEqual(self.runs, [])
        self.assertEqual(await self.code("remove", confirmation_token=token, id=1), "")
        self.assertEqual(await self.code("remove", id=1, confirmation_token=token), "TOKEN_ALREADY_USED")
        self.assertEqual(self.runs, [{"id": 1, "dry": False}])

    async def test_a_token_works_in_any_spelling_and_in_every_form_of_a_call(self) -> None:
        one, other = await self.token("remove", id=1), await self.token("remove", id=1, _confirmation=None)
        self.assertNotEqual(one, other)
        self.assertEqual(await self.code("remove", id=1, _confirmation=other), "")
        answer = await self.send("tool", {"operation": "remove", "id": 1, "confirmationToken": one})
        self.assertEqual(answer["code"], "")
        token = (await self.send("remove", {"id": 2}))["details"]["confirmation_token"]
        self.assertEqual((await self.send("remove", {"id": 2, "_confirmation": token}))["code"], "")
        self.assertEqual(await self.code("look", id=3, _confirmation="x", confirmation_token="y"), "")  # noqa: S106
        self.assertEqual(len(self.runs), 4)

    async def test_of_several_calls_with_one_token_at_the_same_time_one_runs(self) -> None:
        token = await self.token("remove", id=1)
        codes = await asyncio.gather(*(self.code("remove", id=1, _confirmation=token) for _ in range(20)))
        self.assertEqual(sorted(codes), ["", *["TOKEN_ALREADY_USED"] * 19])
        self.assertEqual(len(self.runs), 1)

    async def test_a_token_belongs_to_an_operation_and_its_parameters_in_any_order_and_spelling(self) -> None:
        token = await self.token("remove", id=1, note={"a": 1, "b": [2]})
        for given in ({"id": 2, "note": {"a": 1, "b": [2]}}, {"id": 1}, {"id": 1, "note": {"a": 1, "b": [3]}}):
            self.assertEqual(await self.code("remove", **given, _confirmation=token), "TOKEN_SCOPE_MISMATCH")
        same = {"note": {"b": [2], "a": 1}, "Id": 1, "dry": False}
        self.assertEqual(await self.code("replace", **same, _confirmation=token), "TOKEN_SCOPE_MISMATCH")
        self.assertEqual(self.runs, [])
        # A wrong call does not use the token up.
        self.assertEqual(await self.code("remove", **same, _confirmation=token), "")

    async def test_an_unknown_token_is_invalid(self) -> None:
        token = await self.token("remove", id=1)
        for wrong in ("", "x", f"{token}x", token[:-1], "\ud800"):
            self.assertEqual(await self.code("remove", id=1, _confirmation=wrong), "TOKEN_INVALID", wrong)
        for given in (5, False, [token], {"token": token}):
            self.assertEqual(await self.code("remove", id=1, confirmation_token=given), "VALIDATION_INVALID_TYPE")
        self.assertEqual(self.runs, [])

    async def test_a_token_expires_and_a_clock_that_goes_back_does_not_help(self) -> None:
        with mock.patch("time.time", return_value=1_900_000_000.0) as clock:
            token, short = await self.token("remove", id=1), await self.token("replace", id=1)
            clock.return_value += 120
            self.assertEqual(await self.code("replace", id=1, _confirmation=short), "TOKEN_EXPIRED")
            for now in (1_899_999_999.0, 1_900_000_300.0):
                clock.return_value = now
                self.assertEqual(await self.code("remove", id=1, _confirmation=token), "TOKEN_EXPIRED")
            self.assertEqual(self.runs, [])
            clock.return_value = 1_900_000_299.9
            self.assertEqual(await self.code("remove", id=1, _confirmation=token), "")

    async def test_of_too_many_tokens_the_oldest_are_dropped(self) -> None:
        tokens = [await self.token("remove", id=number) for number in range(1001)]
        self.assertEqual(await self.code("remove", id=0, _confirmation=tokens[0]), "TOKEN_INVALID")
        self.assertEqual(await self.code("remove", id=1, _confirmation=tokens[1]), "")
        self.assertEqual(await self.code("remove", id=1000, _confirmation=tokens[1000]), "")
        for number in range(1000):
            await self.token("remove", id=number)
        self.assertEqual(await self.code("remove", id=1, _confirmation=tokens[1]), "TOKEN_ALREADY_USED")

    async def test_an_operation_that_is_not_allowed_never_runs(self) -> None:
        self.assertEqual(await self.call("wipe", {"id": 1}), DENY)
        token = await self.token("remove", id=1)
        self.assertEqual(await self.code("wipe", id=1, _confirmation=token), DENY["code"])
        self.assertEqual(self.runs, [])

    async def test_parameters_are_checked_before_anything_else(self) -> None:
        for operation in ("remove", "wipe"):
            self.assertEqual(await self.code(operation, id="one"), "VALIDATION_INVALID_TYPE")
            self.assertEqual(await self.code(operation), "VALIDATION_MISSING_PARAM")
            self.assertEqual(await self.code(operation, id=1, other=1), "VALIDATION_UNKNOWN_PARAM")

    async def test_an_operation_may_have_a_parameter_of_that_name_and_one_that_reads_may_need_a_token(self) -> None:
        schema = {"type": "object", "properties": {"confirmation_token": {"type": "string"}}}
        await self.adapter.close()
        self.serve({"params": [{"name": "confirmation_token"}], "schema": schema, "controls": {}})
        token = (await self.call("remove", {"confirmation_token": "mine"}))["details"]["confirmation_token"]
        self.assertEqual(await self.code("remove", confirmation_token=token), "CONFIRMATION_REQUIRED")
        self.assertEqual(await self.code("remove", confirmation_token="mine", _confirmation=token), "")  # noqa: S106
        self.assertEqual(self.runs, [{"confirmation_token": "mine"}])


if __name__ == "__main__":
    unittest.main()
