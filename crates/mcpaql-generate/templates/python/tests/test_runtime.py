"""Checks of parameters, masks for secrets, and styles of values."""

from __future__ import annotations

import time
import unittest
from typing import Any

from adapter_template.runtime import styles
from adapter_template.runtime.errors import OpError
from adapter_template.runtime.requests import Param
from adapter_template.runtime.secrets import Mask
from adapter_template.runtime.validation import Checker

LIMITS = {"request_bytes": 1 << 20, "string_bytes": 1 << 20, "array_items": 10_000, "depth": 8}


class Checks(unittest.TestCase):
    def check(self, schema: dict[str, Any], value: Any) -> Any:
        operation = {"name": "x", "params": [{"name": "v"}], "schema": {"type": "object", "properties": {"v": schema}}}
        return Checker(operation, {"$defs": {}, "limits": LIMITS}).check({"v": value})["v"]

    def test_no_pattern_hangs(self) -> None:
        started = time.monotonic()
        with self.assertRaises(OpError):
            self.check({"type": "string", "pattern": "^(a+)+$"}, "a" * 50_000 + "!")
        self.assertLess(time.monotonic() - started, 1)

    def test_codes(self) -> None:
        shapes = ({"properties": {"kind": {"enum": [kind]}}, "required": [kind]} for kind in ("circle", "square"))
        variants = {"anyOf": [*shapes, {"maxProperties": 0}]}
        for schema, value, code in (
            ({"type": "integer"}, "1", "VALIDATION_INVALID_TYPE"),
            ({"type": "integer"}, 2.0**60, "VALIDATION_INVALID_VALUE"),
            ({"type": "object", "required": ["a"]}, {}, "VALIDATION_MISSING_PARAM"),
            ({"type": "object", "additionalProperties": False}, {"a": 1}, "VALIDATION_UNKNOWN_FIELD"),
            (variants, {"kind": "circle"}, "VALIDATION_MISSING_PARAM"),
            (variants, {"kind": "line"}, "VALIDATION_INVALID_VALUE"),
            ({}, [[[[[[[[1]]]]]]]], "VALIDATION_PAYLOAD_TOO_LARGE"),
        ):
            with self.assertRaises(OpError) as failed:
                self.check(schema, value)
            self.assertEqual(failed.exception.code, code, schema)
        self.assertIsInstance(self.check({"type": "integer"}, 1.0), int)

    def test_a_large_tree_is_accepted(self) -> None:
        node = {"type": "object", "properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/N"}}}}
        operation = {"name": "x", "params": [{"name": "v"}], "schema": {"properties": {"v": {"$ref": "#/$defs/N"}}}}
        tree: Any = {"of": [{}] * 9_000}
        checker = Checker(operation, {"$defs": {"N": {**node, "x-recursive": True}}, "limits": LIMITS})
        self.assertEqual(checker.check({"v": tree})["v"], tree)

    def test_too_many_secrets_mask_everything(self) -> None:
        mask = Mask([[f"s{number}" for number in range(5000)]])
        self.assertEqual(mask.apply("anything " * 10_000), "[redacted]")

    def test_masks_and_styles(self) -> None:
        self.assertEqual(Mask(["p w/1"]).apply("p%20w%2F1 and cCB3LzE="), "[redacted] and [redacted]=")
        deep = styles.written(styles.pairs("a", {"b": [1, 2]}, Param("query", style="deepObject")))
        self.assertEqual(deep, "a%5Bb%5D%5B%5D=1&a%5Bb%5D%5B%5D=2")


if __name__ == "__main__":
    unittest.main()
