"""Query controls: what they answer is checked by the test vectors of `mcpaql`. This is about calls, and hostile input."""

from __future__ import annotations

import json
import random
import time
import unittest
from typing import Any

from adapter_template.runtime import controls
from adapter_template.runtime.errors import OpError
from adapter_template.runtime.requests import Answer
from adapter_template.runtime.styles import read_json

ITEMS = '[{"id":1,"s":"b","big":12345678901234567890},{"id":2,"s":"a","n":1.50}]'
OWN = ("filter", "owner")


def call(written: str, params: dict[str, Any]) -> tuple[Any, list[str]]:
    """Shapes the answer of an operation with the parameters `filter` and `owner` of its own. Returns it and its warnings."""
    row, params = {"name": "list_it", "controls": {}}, dict(params)
    taken = controls.take(row, params, OWN.__contains__, {}, [])
    answer, notes = controls.shape(Answer(read_json(written), written), row, params, taken, OWN.__contains__)
    return answer, [note[0] for note in notes]


class Controls(unittest.TestCase):
    def data(self, written: str, **params: Any) -> Any:
        return call(written, params)[0].data

    def code(self, written: str, params: dict[str, Any]) -> str:
        with self.assertRaises(OpError) as failed:
            call(written, params)
        return failed.exception.code

    def test_an_answer_that_no_control_changes_stays_as_it_was_written(self) -> None:
        self.assertEqual(call(ITEMS, {})[0].text, ITEMS)
        self.assertEqual(call(ITEMS, {"fields": "full"})[0].text, ITEMS)

    def test_controls_select_and_own_parameters_keep_their_names(self) -> None:
        params = {"filter": "mine", "_filter": {"s": ["a", "b"]}, "sort": {"field": "s"}, "fields": ["id", "big"]}
        self.assertEqual(self.data(ITEMS, **params), [{"id": 2}, {"id": 1, "big": 12345678901234567890}])
        page = self.data(ITEMS, first=1)
        after = page["pageInfo"]["endCursor"]
        self.assertEqual(self.data(ITEMS, first=1, after=after)["items"][0]["id"], 2)
        self.assertEqual(self.code(ITEMS, {"first": 1, "after": after, "owner": "x"}), "VALIDATION_INVALID_VALUE")

    def test_a_control_that_is_not_supported_is_an_error(self) -> None:
        for name in ("aggregate", "_aggregate", "include_items", "part", "_part", "_fitler"):
            self.assertEqual(self.code(ITEMS, {name: {}}), "VALIDATION_UNKNOWN_PARAM", name)

    def test_a_long_answer_is_reduced(self) -> None:
        items = json.dumps([{"id": number, "text": "some words of a text"} for number in range(2000)])
        answer, warnings = call(items, {})
        self.assertEqual(warnings, ["ANSWER_REDUCED"])
        self.assertLess(len(answer.text), 40_000)
        self.assertEqual(call(items, {"answer_budget": 1_000_000})[1], [])

    def test_no_data_and_no_control_fails_without_a_code_or_hangs(self) -> None:
        deep, nested = f"{'[' * 900}1{']' * 900}", '{"a":' * 900 + "1" + "}" * 900
        wide = json.dumps([{"id": number, "text": f"x{number}"} for number in range(20_000)])
        numbers = '[{"n":1e400},{"n":-1e400},{"n":-0.0},{"n":123456789012345678901234567890}]'
        answers = [
            wide,
            numbers,
            '{"__proto__":{"x":1},"items":[{"__class__":null}]}',
            '"text"',
            "null",
            "[]",
            '"\\ud800"',
        ]
        answers += [f'"{"x" * 1_000_000}"', *(one for one in (deep, nested) if self.is_read(one))]
        many, path = [f"v{number}" for number in range(50_000)], ".".join("a" * 32)
        value: Any = 1
        for _ in range(900):
            value = [value]
        filters: list[Any] = [{"id": many}, {"a": {"not": {"in": many}}}, {path: {"exists": False}}, {"a": value}]
        filters += [{"text": {"contains": "x"}}, {name: {"contains": name} for name in many[:20]}, {"n": {"gt": 1e308}}]
        queries: list[dict[str, Any]] = [{"_filter": one} for one in filters]
        queries += [
            {"sort": [{"field": path}] * 16},
            {"fields": many[:200]},
            {"fields": [path] * 200},
            {"fields": "minimal"},
        ]
        queries += [{"fields": "standard", "answer_budget": 100}, {"sort": {"field": "n"}, "first": 2}, {"page": 2**63}]
        queries += [{"first": 1e308}, {"answer_budget": 2**70}, {"_filter": deep}, {"fields": deep}]
        queries += [{"after": "0" * 1_000_000, "first": 1}, {"limit": "9" * 30}]
        started = time.monotonic()
        for written in answers:
            for query in queries:
                try:
                    answer, _ = call(written, query)
                except OpError as error:
                    self.assertNotEqual(error.code, "INTERNAL_ERROR")
                else:
                    json.loads((answer.text or "").encode())
        self.assertLess(time.monotonic() - started, 60)

    def is_read(self, written: str) -> bool:
        try:
            read_json(written)
        except ValueError:
            return False
        return True

    def is_part(self, part: Any, whole: Any) -> bool:
        if isinstance(part, list) and isinstance(whole, list):
            rest = iter(whole)
            return all(any(self.is_part(one, other) for other in rest) for one in part)
        if isinstance(part, dict) and isinstance(whole, dict):
            return all(name in whole and self.is_part(one, whole[name]) for name, one in part.items())
        return bool(part == whole) and type(part) is type(whole)

    def test_the_result_of_random_queries_is_part_of_the_answer(self) -> None:
        pick = random.Random(18).choice  # noqa: S311
        scalars = (None, True, 1, 2.5, "a", "B", "")
        for _ in range(300):
            items = [
                {pick("ab"): pick(scalars), pick("bc"): [pick(scalars)], "d": {"e": pick(scalars)}}
                for _ in range(pick(range(6)))
            ]
            fields = pick(("minimal", "standard", ["a"], ["d.e", "b"]))
            test = pick((pick(scalars), {"not": pick(scalars)}, {"contains": "a"}, {"exists": True}))
            data = self.data(json.dumps(items), fields=fields, _filter={pick(("a", "b", "d.e")): test})
            self.assertTrue(self.is_part(data, items), (data, items, fields, test))


if __name__ == "__main__":
    unittest.main()
