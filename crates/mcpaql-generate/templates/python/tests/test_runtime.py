"""What every adapter relies on: checks, secrets and styles."""

from __future__ import annotations

import time
import unittest
from typing import Any

from adapter_template.runtime import styles
from adapter_template.runtime.errors import OpError
from adapter_template.runtime.requests import Param
from adapter_template.runtime.secrets import Mask
from adapter_template.runtime.validation import Checker

LIMITS = {"request_bytes": 1 << 20, "string_bytes": 1 << 20, "array_items": 100, "depth": 8}


class Checks(unittest.TestCase):
    def check(self, schema: dict[str, Any], value: Any) -> Any:
        operation = {"name": "x", "params": [{"name": "v"}], "schema": {"type": "object", "properties": {"v": schema}}}
        return Checker(operation, {}, LIMITS).check({"v": value})["v"]

    def test_no_pattern_hangs(self) -> None:
        started = time.monotonic()
        with self.assertRaises(OpError):
            self.check({"type": "string", "pattern": "^(a+)+$"}, "a" * 50_000 + "!")
        self.assertLess(time.monotonic() - started, 1)

    def test_codes(self) -> None:
        variants = {"anyOf": [{"type": "integer", "minimum": 3}, {"type": "boolean"}]}
        for schema, value, code in (
            ({"type": "integer"}, "1", "VALIDATION_INVALID_TYPE"),
            ({"type": "integer"}, 2.0**60, "VALIDATION_INVALID_VALUE"),
            ({"type": "object", "required": ["a"]}, {}, "VALIDATION_MISSING_PARAM"),
            ({"type": "object", "additionalProperties": False}, {"a": 1}, "VALIDATION_UNKNOWN_FIELD"),
            (variants, "x", "VALIDATION_INVALID_TYPE"),
            (variants, 1, "VALIDATION_INVALID_VALUE"),
            ({}, [[[[[[[[1]]]]]]]], "VALIDATION_PAYLOAD_TOO_LARGE"),
        ):
            with self.assertRaises(OpError) as failed:
                self.check(schema, value)
            self.assertEqual(failed.exception.code, code, schema)
        self.assertIsInstance(self.check({"type": "integer"}, 1.0), int)

    def test_a_large_tree_is_no_mistake(self) -> None:
        node = {"type": "object", "properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/N"}}}}
        operation = {"name": "x", "params": [{"name": "v"}], "schema": {"properties": {"v": {"$ref": "#/$defs/N"}}}}
        limits = {**LIMITS, "array_items": 10_000}
        tree: Any = {"of": [{}] * 9_000}
        checker = Checker(operation, {"N": {**node, "x-recursive": True}}, limits)
        self.assertEqual(checker.check({"v": tree})["v"], tree)

    def test_many_sensitive_values_let_nothing_pass(self) -> None:
        mask = Mask()
        mask.add_values([[f"s{number}" for number in range(5000)]])
        self.assertEqual(mask.apply("anything " * 10_000), "[redacted]")

    def test_masks_and_styles(self) -> None:
        self.assertEqual(Mask(["p w/1"]).apply("p%20w%2F1 and cCB3LzE="), "[redacted] and [redacted]=")
        deep = styles.written(styles.pairs("a", {"b": [1, 2]}, Param("query", style="deepObject")))
        self.assertEqual(deep, "a%5Bb%5D%5B%5D=1&a%5Bb%5D%5B%5D=2")


if __name__ == "__main__":
    unittest.main()
