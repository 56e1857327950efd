"""Checks of parameters, masks for secrets, and styles of values."""

from __future__ import annotations

import json
import time
import unittest
from typing import Any
from unittest import mock

from adapter_template.runtime import styles
from adapter_template.runtime.errors import OpError
from adapter_template.runtime.requests import Param
from adapter_template.runtime.secrets import Mask
from adapter_template.runtime.validation import Checker

LIMITS = {"request_bytes": 1 << 20, "string_bytes": 1 << 20, "array_items": 10_000, "depth": 8}


class Checks(unittest.TestCase):
    def check(self, schema: dict[str, Any], value: Any, **definitions: Any) -> Any:
        operation = {"name": "x", "params": [{"name": "v"}], "schema": {"type": "object", "properties": {"v": schema}}}
        return Checker(operation, {"$defs": definitions, "limits": LIMITS}).check({"v": value})["v"]

    def error(self, schema: dict[str, Any], value: Any, **definitions: Any) -> OpError:
        with self.assertRaises(OpError) as failed:
            self.check(schema, value, **definitions)
        return failed.exception

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
            (variants, {"kind": "line"}, "VALIDATION_INVALID_VALUE"),
            ({}, [[[[[[[[1]]]]]]]], "VALIDATION_PAYLOAD_TOO_LARGE"),
        ):
            self.assertEqual(self.error(schema, value).code, code, schema)
        self.assertIsInstance(self.check({"type": "integer"}, 1.0), int)
        self.assertEqual(repr(self.check({"type": "array", "items": {"type": "integer"}}, [2.0])), "[2]")

    def test_a_request_for_a_dry_run_is_never_ignored(self) -> None:
        checker = Checker({"name": "x", "params": [], "schema": {}}, {"$defs": {}, "limits": LIMITS})
        self.assertEqual(checker.check({"_meta": {}}), {})
        for name in ("dry_run", "_dry_run", "_dryRun", "_Dry-Run"):
            with self.assertRaises(OpError, msg=name) as failed:
                checker.check({name: True})
            self.assertEqual(failed.exception.code, "VALIDATION_UNKNOWN_PARAM")

    def test_numbers_and_equal_values(self) -> None:
        for schema, accepted, rejected in (
            ({"type": "number", "multipleOf": 0.1}, [0.3, 1e308, -1e308], [0.35]),
            ({"enum": [1, {"a": [2]}]}, [1.0, {"a": [2.0]}], [True, "1", {"a": [True]}]),
            (
                {"type": "array", "uniqueItems": True},
                [[1, True, "1", [1], {"a": 1}]],
                [[{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]],
            ),
        ):
            for value in accepted:
                self.assertEqual(self.check(schema, value), value)
            for value in rejected:
                self.assertEqual(self.error(schema, value).code, "VALIDATION_INVALID_VALUE", value)

    def test_a_large_tree_is_accepted(self) -> None:
        node = {"type": "object", "properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/N"}}}}
        tree: Any = {"of": [{}] * 9_000}
        self.assertEqual(self.check({"$ref": "#/$defs/N"}, tree, N=node), tree)

    def test_the_variants_of_a_recursive_type_do_not_hang(self) -> None:
        lists = {"type": "array", "items": {"$ref": "#/$defs/R"}}
        types = {"R": {"anyOf": [lists, {**lists, "minItems": 1}, {"type": "string"}]}}
        self.assertEqual(self.error(types["R"], [[1] * 900] * 100, **types).code, "VALIDATION_INVALID_VALUE")
        with mock.patch.dict(LIMITS, depth=32):
            deep = json.loads("[" * 28 + "1" + "]" * 28)
            self.assertEqual(self.error(types["R"], deep, **types).details["param_name"], "v")
            deep = json.loads("[" * 28 + '"a"' + "]" * 28)
            self.assertEqual(self.check(types["R"], deep, **types), deep)

    def test_errors_name_the_place_but_no_key_of_a_secret(self) -> None:
        fields = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
        self.assertEqual(self.error(fields, {"a": [1, "x"]}).details["param_name"], "v.a[1]")
        secret = {"type": "object", "additionalProperties": {"type": "string", "writeOnly": True}}
        self.assertEqual(self.error(secret, {"s3cret": 1}).details["param_name"], "v")

    def test_too_many_secrets_mask_everything(self) -> None:
        mask = Mask([[f"s{number}" for number in range(5000)]])
        self.assertEqual(mask.apply("anything " * 10_000), "[redacted]")

    def test_masks_and_styles(self) -> None:
        self.assertEqual(Mask(["p w/1"]).apply("p%20w%2F1 and cCB3LzE="), "[redacted] and [redacted]=")
        deep = styles.written(styles.pairs("a", {"b": [1, 2]}, Param("query", style="deepObject")))
        self.assertEqual(deep, "a%5Bb%5D%5B%5D=1&a%5Bb%5D%5B%5D=2")


if __name__ == "__main__":
    unittest.main()
