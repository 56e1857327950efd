import json
import unittest
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import adapter_template
from adapter_template.handlers import HANDLERS
from adapter_template.operations import OPERATIONS
from adapter_template.runtime.catalog import Catalog, load
from adapter_template.runtime.request import prepare
from adapter_template.runtime.server import HandlerProblem, check_names
from adapter_template.runtime.surfaces import MODES, SurfaceProblem, surface


class TheAdapter(unittest.TestCase):
    catalog: Catalog
    data: Mapping[str, Any]
    surfaces: Mapping[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        folder = Path(adapter_template.__file__).parent
        if not (folder / "catalog.json").exists():
            raise unittest.SkipTest("the catalog is written when a project is generated")
        cls.data = json.loads((folder / "catalog.json").read_text(encoding="utf-8"))
        cls.surfaces = json.loads((folder / "surfaces.json").read_text(encoding="utf-8"))
        cls.catalog = load(cls.data, {})

    def test_every_operation_has_a_handler_and_every_handler_an_operation(self) -> None:
        # What is asked about the adapter itself, or about work in the background, the runtime answers.
        handled = (operation for operation in self.catalog.operations if operation.execution is None)
        names = {operation.name for operation in handled} - {"introspect"}
        self.assertEqual(names, set(OPERATIONS))
        self.assertLessEqual(set(HANDLERS), names)

    def test_a_handler_of_no_operation_is_refused_with_the_name_that_was_meant(self) -> None:
        check_names(HANDLERS, OPERATIONS)
        for operations, remedy in [(["list_notes", "get_note"], "rename it to 'get_note'"), ([], "rename")]:
            with self.assertRaises(HandlerProblem) as refused:
                check_names(["get_notte"], operations)
            sentence = f"handlers.py answers 'get_notte', which is no operation of this adapter; {remedy} or remove it"
            self.assertEqual(str(refused.exception), sentence)

    def test_every_example_is_a_call_that_may_run(self) -> None:
        for operation in self.catalog.operations:
            examples = operation.details.get("examples")
            for example in examples if isinstance(examples, list) and operation.tool else []:
                request = example.get("request") if isinstance(example, dict) else None
                if not isinstance(request, dict):
                    continue
                arguments = request if self.catalog.mode != "discrete" else request["params"]
                assert isinstance(arguments, dict)
                call = prepare(self.catalog, operation.tool, arguments)
                params = call.operation.name in OPERATIONS and OPERATIONS[call.operation.name].params.of(call.args)
                self.assertEqual(params.args() if params else call.args, call.args)

    def test_every_mode_of_every_profile_reaches_every_operation_or_says_why_not(self) -> None:
        for profile in self.surfaces:
            for mode in MODES:
                environ = {"MCP_AQL_ENDPOINT_MODE": mode, "MCP_AQL_ENDPOINT_PROFILE": profile}
                try:
                    catalog = load(surface(self.data, environ, lambda: self.surfaces), environ)
                except SurfaceProblem as problem:
                    self.assertEqual(str(problem), self.surfaces[profile][mode])
                    continue
                self.assertEqual((catalog.mode, catalog.protocol["profile"]), (mode, profile))
                tools = {tool["name"] for tool in catalog.tools}
                self.assertLessEqual(tools, set(catalog.routes))
                reached = {operation.name for operation in catalog.operations if operation.tool in tools}
                self.assertLessEqual(set(OPERATIONS), reached)


if __name__ == "__main__":
    unittest.main()
