"""What the catalog of this project says about itself."""

import json
import unittest
from pathlib import Path

import adapter_template
from adapter_template.runtime.catalog import Catalog, load
from adapter_template.runtime.errors import Code, OpError
from adapter_template.runtime.introspect import introspect
from adapter_template.runtime.jsontext import Json
from adapter_template.runtime.request import prepare

CATALOG = Path(adapter_template.__file__).parent / "catalog.json"


@unittest.skipUnless(CATALOG.exists(), "the catalog is written when a project is generated")
class Introspection(unittest.TestCase):
    catalog: Catalog

    @classmethod
    def setUpClass(cls) -> None:
        cls.catalog = load(json.loads(CATALOG.read_text(encoding="utf-8")), {})

    def ask(self, **args: Json) -> dict[str, Json]:
        data = introspect(self.catalog, args).data
        assert isinstance(data, dict)
        return data

    def test_pages_make_up_the_whole_list(self) -> None:
        names: list[Json] = []
        after: dict[str, Json] = {}
        while True:
            page = self.ask(detail="names", first=7, **after)
            shown, info = page["operations"], page["pageInfo"]
            assert isinstance(shown, list)
            assert isinstance(info, dict)
            names.extend(shown)
            if not info["hasNextPage"]:
                break
            after = {"after": info["endCursor"]}
        self.assertEqual(names, [operation.name for operation in self.catalog.operations])

    def test_an_operation_is_among_what_its_own_words_find(self) -> None:
        for operation in self.catalog.operations[:-1][:100]:
            found = self.ask(search=operation.name.replace("_", " "), detail="names", first=200)["operations"]
            assert isinstance(found, list)
            # A name of nothing but `get` and `all` says nothing.
            self.assertTrue(not found or operation.name in found, operation.name)

    def test_an_unknown_name_is_a_success_with_a_warning(self) -> None:
        answer = introspect(self.catalog, {"name": "no_such_operation_zzz"})
        self.assertEqual((answer.data, answer.warnings[0].code), ({"operation": None}, "NOT_FOUND"))

    def test_a_missing_parameter_is_named(self) -> None:
        for operation in self.catalog.operations:
            required = [param.name for param in operation.params if param.required]
            if not required or not operation.tool:
                continue
            arguments: dict[str, Json] = {} if self.catalog.mode == "discrete" else {"operation": operation.name}
            with self.assertRaises(OpError) as caught:
                prepare(self.catalog, operation.tool, arguments)
            self.assertEqual(caught.exception.code, Code.MISSING_PARAM)
            self.assertEqual(caught.exception.details["missing_params"], required)


if __name__ == "__main__":
    unittest.main()
