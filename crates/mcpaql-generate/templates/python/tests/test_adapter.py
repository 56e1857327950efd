import json
import unittest
from pathlib import Path

import adapter_template
from adapter_template.handlers import HANDLERS
from adapter_template.operations import OPERATIONS
from adapter_template.runtime.catalog import Catalog, load
from adapter_template.runtime.request import prepare


class TheAdapter(unittest.TestCase):
    catalog: Catalog

    @classmethod
    def setUpClass(cls) -> None:
        path = Path(adapter_template.__file__).parent / "catalog.json"
        if not path.exists():
            raise unittest.SkipTest("the catalog is written when a project is generated")
        cls.catalog = load(json.loads(path.read_text(encoding="utf-8")), {})

    def test_every_operation_has_a_handler_and_every_handler_an_operation(self) -> None:
        names = {operation.name for operation in self.catalog.operations} - {"introspect"}
        self.assertEqual(names, set(OPERATIONS))
        self.assertLessEqual(set(HANDLERS), names)

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


if __name__ == "__main__":
    unittest.main()
