"""A catalog of one operation, made by hand, with a parameter of every kind."""

import os
import unittest
from dataclasses import dataclass
from typing import Any
from unittest import mock

from adapter_template.runtime.bindings import Bearer, CommandTarget, HttpRequest
from adapter_template.runtime.caller import Caller
from adapter_template.runtime.catalog import Catalog, load
from adapter_template.runtime.command import Runner
from adapter_template.runtime.errors import Code, HandlerFailed, OpError
from adapter_template.runtime.jsontext import Json
from adapter_template.runtime.naming import NameProblem
from adapter_template.runtime.params import Params
from adapter_template.runtime.pipeline import Adapter, Call, Operation
from adapter_template.runtime.request import prepare
from adapter_template.runtime.response import Answer, Raw, envelope
from adapter_template.runtime.surfaces import SurfaceProblem, surface

TOOL = "demo_mcpaql_update"
LIMITS = {"request_bytes": 4096, "response_bytes": 4096, "string_bytes": 1024, "array_items": 50, "depth": 32}
NODES: list[Any] = [
    {"types": 16, "string": {"min": 1, "max": 3}},
    {"types": 4, "number": {"minimum": [1, False], "maximum": [9, False], "says": "must be between 1 and 9"}},
    {"types": 32, "array": {"unique": True}},
    {"types": 127, "enum": [1, "open", "closed"]},
    {"types": 64, "sensitive": True, "object": {"additional": 1}},
    {"types": 64, "object": {"properties": [["name", 0], ["inner", 5]], "required": ["name"], "additional": False}},
    {"types": 16, "string": {"pattern": 0}},
]
PARAMS: list[tuple[str, int, dict[str, Any]]] = [
    ("id", 0, {"required": True, "identifier": True, "text": "no_nul"}),
    ("per_page", 1, {"default": 3}),
    ("tags", 2, {}),
    ("state", 3, {}),
    ("token", 4, {"sensitive": True}),
    ("tree", 5, {}),
    ("digits", 6, {}),
]

SECRETS = {"DESK_KEY": "key-of-the-desk", "DESK_TEAM": "team-of-the-desk", "DESK_OWN": "own-of-the-desk\n"}
TARGET = {"protocol": "command", "env": ["DESK_KEY"], "set_env": {"TEAM": "${env:DESK_TEAM}"}}
ARGUMENTS: dict[str, Json] = {"operation": "edit", "params": {"id": "7", "token": {"t": 5}}}


def data() -> dict[str, Any]:
    params = [
        {"name": name, "check": check, "expected": "text", "view": {"name": name, "required": False}, **more}
        for name, check, more in PARAMS
    ]
    operation = {
        "name": "edit", "aliases": ["change"], "category": "UPDATE", "endpoint": "update", "tool": TOOL,
        "group": "edit", "summary": "Edits.", "brief": ["edit(id: string)"], "signature": "edit(id: string)",
        "details": {"description": "Edits.", "permissions": {}, "signature": "edit(id: string)"},
        "params": list(range(len(params))), "takes_input": True, "wire": {"perPage": 1},
    }  # fmt: skip
    return {
        "format": 1, "adapter": {"name": "demo"}, "instructions": f"See {TOOL} on {TOOL}.", "mode": "semantic",
        "profile": "crude", "errors": "unrecoverable", "limits": LIMITS, "protocol": {},
        "tools": [{"name": TOOL, "description": f"{TOOL}: introspect through {TOOL}."}],
        "routes": {TOOL: {"endpoint": "update"}},
        "names": {TOOL: "{prefix}mcpaql_update"}, "target": {}, "brief_sizes": [80], "operations": [operation],
        "params": params, "schemas": NODES, "patterns": [["^\\d+$", "^[0-9]+(?![\\s\\S])"]],
        "types": {"listed": 0, "all": []},
        "search": {"stems": [], "postings": [], "rarity": {}, "cards": []}, "links": {"sources": [], "wanted": []},
    }  # fmt: skip


class Checks(unittest.TestCase):
    catalog: Catalog

    def setUp(self) -> None:
        self.catalog = load(data(), {})

    def call(self, **params: Json) -> dict[str, Json]:
        return prepare(self.catalog, TOOL, {"operation": "edit", "params": {"id": "x", **params}}).args

    def error(self, **params: Json) -> OpError:
        with self.assertRaises(OpError) as caught:
            self.call(**params)
        self.assertEqual(caught.exception.details["signature"], "edit(id: string)")
        return caught.exception

    def test_a_right_call_comes_back_with_defaults_under_declared_names(self) -> None:
        self.assertEqual(self.call(), {"id": "x", "per_page": 3})
        args = self.call(perPage=5.0, _meta=1)
        self.assertEqual((args, type(args["per_page"])), ({"id": "x", "per_page": 5}, int))

    def test_a_bool_is_no_number_and_a_whole_float_is_the_integer(self) -> None:
        self.assertEqual(self.error(per_page=True).details["actual_type"], "boolean")
        self.assertEqual(self.error(state=True).code, Code.INVALID_VALUE)
        self.assertEqual(self.call(state=1.0)["state"], 1.0)
        self.assertEqual(self.call(tags=[1, True, "1", None])["tags"], [1, True, "1", None])
        self.assertEqual(self.error(tags=[[1], {"a": 2}, {"a": 2.0}]).details["param_name"], "tags[2]")

    def test_the_message_says_what_to_send(self) -> None:
        for params, said in (
            ({"per_page": "5"}, "Parameter 'per_page' expected 'integer', got 'string'. Send it unquoted: 5"),
            ({"per_page": 10}, "Parameter 'per_page' must be between 1 and 9"),
            ({"state": "opne"}, "Parameter 'state' must be one of 1, 'open', 'closed'. Did you mean 'open'?"),
            ({"tree": {"nam": "x"}}, "Unknown field in 'tree': nam. Did you mean 'name'?"),
            ({"id": "xxxx"}, "Parameter 'id' must have between 1 and 3 characters, has 4"),
            ({"digits": "12\n"}, "Parameter 'digits' must match the pattern ^\\d+$"),
            ({"pages": 1}, "Unknown parameter(s) for operation 'edit': pages. Did you mean 'per_page'?"),
            ({"id": "a\0"}, "Parameter 'id' holds the character U+0000. Send it without"),
        ):
            self.assertEqual(self.error(**params).message, said)

    def test_a_secret_is_not_repeated(self) -> None:
        error = self.error(token={"hunter2": "hunter2"})
        self.assertNotIn("hunter2", envelope(error, "all").text)

    def test_fields_of_an_update_may_stand_in_input(self) -> None:
        self.assertEqual(self.call(input={"state": "open"})["state"], "open")
        self.assertEqual(self.error(input={"id": "y"}).code, Code.UNKNOWN_FIELD)
        self.assertEqual(self.error(state=1, input={"state": 1.0}).code, Code.INVALID_VALUE)

    def test_nothing_is_too_deep_or_too_large_to_be_refused(self) -> None:
        deep: Json = "x"
        for _ in range(100_000):
            deep = [deep]
        with self.assertRaises(OpError):
            prepare(self.catalog, TOOL, {"operation": "edit", "params": {"id": deep}})
        nested: Json = {"name": "x"}
        for _ in range(40):
            nested = {"name": "x", "inner": nested}
        self.assertEqual(self.error(tree=nested).details["limit"], "max_nesting_depth")
        self.assertEqual(self.error(tags=[1] * 51).details["limit"], "max_array_elements")
        self.assertEqual(self.error(digits="1" * 1025).details["limit"], "max_string_length")
        self.assertEqual(self.error(tags=["x" * 1000] * 5).details["limit"], "max_request_size")
        for number in (10**400, float("nan")):
            with self.assertRaises(OpError):
                self.call(per_page=number)

    def test_what_is_no_envelope_is_undispatched(self) -> None:
        for arguments in ({}, {"operation": 5}, {"operation": "edit", "params": "[]"}):
            with self.assertRaises(OpError) as caught:
                prepare(self.catalog, TOOL, arguments)
            self.assertTrue(envelope(caught.exception, "unrecoverable").is_error)

    def test_an_alias_is_accepted_with_a_warning(self) -> None:
        call = prepare(self.catalog, TOOL, {"operation": "change", "params": '{"id": "x"}'})
        self.assertEqual([warning.code for warning in call.warnings], ["DEPRECATED_OPERATION"])

    def test_a_prefix_renames_tools_and_no_word_of_an_author(self) -> None:
        catalog = load(data(), {"MCP_AQL_TOOL_PREFIX": "my_"})
        self.assertEqual(catalog.tools[0]["description"], f"{TOOL}: introspect through my_mcpaql_update.")
        self.assertEqual(list(catalog.routes), ["my_mcpaql_update"])
        self.assertEqual(catalog.instructions, f"See {TOOL} on my_mcpaql_update.")
        with self.assertRaises(NameProblem):
            load(data(), {"MCP_AQL_TOOL_PREFIX": "My"})

    def test_another_mode_takes_the_place_of_what_it_says_otherwise_and_then_has_a_prefix(self) -> None:
        other: dict[str, Any] = {
            "mode": "single", "tools": [{"name": "demo_mcpaql"}], "routes": {"demo_mcpaql": {"whole": True}},
            "names": {"demo_mcpaql": "{prefix}mcpaql"}, "operations": {"0": {"tool": "demo_mcpaql", "wire": None}},
        }  # fmt: skip
        surfaces = {"crude": {"semantic": {}, "single": other, "discrete": "Too many."}}
        environ = {"MCP_AQL_ENDPOINT_MODE": "single", "MCP_AQL_TOOL_PREFIX": "my_"}
        catalog = load(surface(data(), environ, lambda: surfaces), environ)
        self.assertEqual((catalog.mode, catalog.tools), ("single", [{"name": "my_mcpaql"}]))
        edit = catalog.operations[0]
        self.assertEqual((edit.tool, edit.wire, edit.name), ("my_mcpaql", {}, "edit"))
        for variable, value, said in (
            ("MODE", "discrete", "Too many."),
            ("MODE", "odd", "MCP_AQL_ENDPOINT_MODE is 'odd', but must be one of semantic, single, all, discrete"),
            ("PROFILE", "odd", "The adapter 'demo' has no endpoint profile 'odd' (it has crude)"),
        ):
            with self.assertRaises(SurfaceProblem) as caught:
                surface(data(), {f"MCP_AQL_ENDPOINT_{variable}": value}, lambda: surfaces)
            self.assertEqual(str(caught.exception), said)

    def test_other_surfaces_are_only_read_where_one_is_asked_for(self) -> None:
        for mode in ("", "semantic"):
            own = surface(data(), {"MCP_AQL_ENDPOINT_MODE": mode}, lambda: self.fail("read"))
            self.assertEqual(own, data())

    def test_text_of_an_upstream_passes_as_it_is_written(self) -> None:
        self.assertEqual(envelope(Answer(Raw('{"n":1.10}')), "all").text, '{"success":true,"data":{"n":1.10}}')


@dataclass(frozen=True)
class NoParams(Params):
    """None that the handler looks at."""


class Log(unittest.IsolatedAsyncioTestCase):
    async def logged(self, error: Exception) -> str:
        async def edit(_: Params, call: Call) -> Any:
            with self.assertRaises(OpError):
                await call.http(HttpRequest("GET", "/", auth=Bearer("DESK_OWN")), {})
            raise error

        catalog = load(data() | {"target": TARGET}, {})
        adapter = Adapter(catalog, {None: Runner(CommandTarget(), {})}, {"edit": Operation(NoParams, edit)}, {})
        with mock.patch.dict(os.environ, SECRETS), self.assertLogs() as logs:
            try:
                await adapter.call(TOOL, ARGUMENTS, Caller())
            except HandlerFailed as failed:
                self.assertIsNone(failed.__cause__)
        return "\n".join(logs.output)

    async def test_what_a_handler_raises_is_logged_without_a_secret(self) -> None:
        said = "key-of-the-desk, team-of-the-desk, own-of-the-desk, 5"
        hidden = "[redacted], [redacted], [redacted], [redacted]"
        told = await self.logged(ValueError(f"no {said}"))
        self.assertIn("Traceback", told)
        self.assertIn(f"ValueError: no {hidden}", told)
        self.assertNotIn("of-the-desk", told)
        told = await self.logged(OpError(Code.INTERNAL, "Tell the user.").because(said))
        self.assertIn(f"failed with INTERNAL_ERROR: {hidden}", told)


if __name__ == "__main__":
    unittest.main()
