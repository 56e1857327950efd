import json
import unittest
from typing import Any

from adapter_template.runtime import rawjson
from adapter_template.runtime.errors import Code, OpError
from adapter_template.runtime.response import Raw
from adapter_template.runtime.secrets import Mask
from adapter_template.runtime.upstream import failed
from adapter_template.runtime.upstream.unwrapped import answer

SECRET = "s3cret-token"  # noqa: S105


def masked() -> Mask:
    mask = Mask()
    mask.add(SECRET)
    return mask


def plain(data: Any) -> Any:
    return json.loads(data.text) if isinstance(data, Raw) else data


def unwrapped(result: Any) -> tuple[Any, list[Any]]:
    found = answer(json.dumps(result), Mask)
    return plain(found.data), found.blocks


def texts(*said: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": one} for one in said]


class Results(unittest.TestCase):
    def failure(self, result: Any) -> OpError:
        with self.assertRaises(OpError) as caught:
            unwrapped(result)
        return caught.exception

    def test_texts_are_what_they_say(self) -> None:
        cases: list[tuple[list[str], Any]] = [
            (["hello"], "hello"),
            (['{\n  "a": [1, 2]\n}\n'], {"a": [1, 2]}),
            (["[1]", "plain", '{"a":1}'], [[1], "plain", {"a": 1}]),
            (['"quoted"'], "quoted"),
            (["true"], True),
            (["42"], 42),
            (["-1.5"], -1.5),
            (["4e12345"], "4e12345"),
            (["12345678901234567890"], "12345678901234567890"),
            (["007"], "007"),
            (["{broken"], "{broken"),
            (["[INFO] started"], "[INFO] started"),
            ([" indented\n"], " indented\n"),
            ([""], ""),
            ([], None),
        ]
        for said, data in cases:
            with self.subTest(said):
                self.assertEqual(unwrapped({"content": texts(*said)}), (data, []))

    def test_json_keeps_its_digits_its_order_and_its_depth(self) -> None:
        text = r'{"z": 1.10, "a": 12345678901234567890.5, "\ud800": "\ud800"}'
        found = answer(json.dumps({"content": texts(text)}), Mask)
        self.assertEqual(found.data, Raw(r'{"z":1.10,"a":12345678901234567890.5,"\ud800":"\ud800"}'))
        deep = "[" * 10_000 + "]" * 10_000
        self.assertEqual(answer(json.dumps({"content": texts(deep)}), Mask).data, Raw(deep))

    def test_structured_content_is_said_once(self) -> None:
        structured = {"b": 1, "a": {"x": [1.0]}}
        twins: list[list[str]] = [['{"b":1,"a":{"x":[1.0]}}'], ['{\n "a": {"x": [1.0]},\n "b": 1\n}'], []]
        for twin in twins:
            found = unwrapped({"content": texts(*twin), "structuredContent": structured})
            self.assertEqual(found, (structured, []), twin)
        found = unwrapped({"content": texts("Found one."), "structuredContent": structured})
        self.assertEqual(found, (structured, texts("Found one.")))
        self.assertEqual(unwrapped({"content": texts("1"), "structuredContent": {"result": 1.0}})[1], texts("1"))

    def test_a_wrapping_that_only_the_protocol_wants_is_seen_through(self) -> None:
        cases: list[tuple[list[str], Any]] = [
            (["one", "two"], ["one", "two"]),
            (["5"], 5),
            (["words"], "words"),
            (['{"id":1}', '{"id":2}'], [{"id": 1}, {"id": 2}]),
        ]
        for twins, result in cases:
            wrapped: dict[str, Any] = {"content": texts(*twins), "structuredContent": {"result": result}}
            self.assertEqual(unwrapped(wrapped), ({"result": result}, []))
            wrapped["_meta"] = {"fastmcp": {"wrap_result": True}}
            self.assertEqual(unwrapped(wrapped), (result, []))

    def test_what_is_no_text_stands_beside_the_data_as_it_came(self) -> None:
        image = {"type": "image", "data": "aGk=", "mimeType": "image/png", "x-odd": {"a": 1}}
        link = {"type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain"}
        odd = {"type": "hologram"}
        found = unwrapped({"content": [image, link, odd]})
        self.assertEqual(found, ({"blocks": ["image/png", "file:///a", "hologram"]}, [image, link, odd]))
        self.assertEqual(unwrapped({"content": [*texts("[1]"), image]}), ([1], [image]))

    def test_an_envelope_is_not_put_into_another(self) -> None:
        inner = {"success": True, "data": {"a": 1}, "warnings": [{"code": "W", "message": "old"}]}
        results = [{"content": texts(json.dumps(inner))}, {"content": [], "structuredContent": inner}]
        for result in results:
            found = answer(json.dumps(result), Mask)
            self.assertEqual((plain(found.data), found.warnings[0].message), ({"a": 1}, "old"))
        refused = {"success": False, "error": {"code": "NOT_FOUND_RESOURCE", "message": "None."}}
        for is_error in (False, True):
            error = self.failure({"content": texts(json.dumps(refused)), "isError": is_error})
            self.assertEqual((error.code, error.message), (Code.NOT_FOUND_RESOURCE, "None."))
        others: list[Any] = [
            {"success": True, "data": 1, "total": 2},
            {"success": False, "error": "text"},
            {"success": "yes", "data": 1},
            {"success": True},
        ]
        for other in others:
            self.assertEqual(unwrapped({"content": texts(json.dumps(other))})[0], other)

    def test_a_failed_tool_is_a_failure_with_its_own_words(self) -> None:
        error = self.failure({"content": texts("Nothing", "matches"), "isError": True})
        self.assertTrue(error.message.startswith("The tool failed: Nothing; "), error.message)
        self.assertEqual(error.details["upstream"], "Nothing\nmatches")
        error = self.failure({"content": [], "structuredContent": {"message": "gone"}, "isError": True})
        self.assertIn("gone", error.message)

    def test_odd_results_are_neither_lost_nor_fatal(self) -> None:
        self.assertEqual(unwrapped({"toolResult": {"a": 1}})[0], {"toolResult": {"a": 1}})
        self.assertIsNone(unwrapped({"content": "text"})[0])
        self.assertEqual(len(unwrapped({"content": [{"type": "text"}, 5]})[1]), 2)
        self.assertIsNone(unwrapped({"content": [], "structuredContent": None})[0])
        self.assertIs(self.failure(5).code, Code.INTERNAL)
        lone = answer(r'{"content":[{"type":"text","text":"\ud800"}]}', Mask)
        self.assertEqual(lone.data, Raw(r'{"type":"text","text":"\ud800"}'))


class Failures(unittest.TestCase):
    def test_the_code_is_guessed_from_the_words_and_the_words_are_kept(self) -> None:
        for text, code in {
            "Invalid arguments for tool x: expected string": Code.INVALID_VALUE,
            "Error: Issue 7 not found": Code.NOT_FOUND_RESOURCE,
            "API rate limit exceeded for user": Code.RATE_LIMIT_EXCEEDED,
            "Access denied - outside allowed directories": Code.PERMISSION_DENIED,
            "Entity already exists": Code.CONFLICT_EXISTS,
            "Navigation timed out": Code.TRANSPORT_TIMEOUT,
            "Unknown tool: nope": Code.NOT_FOUND_OPERATION,
            "boom": Code.INTERNAL,
        }.items():
            error = failed.tool_error(text, Mask())
            self.assertEqual((error.code, error.details["upstream"]), (code, text))
            self.assertTrue(error.message.startswith(f"The tool failed: {text}; "), error.message)

    def test_where_a_value_is_wrong_is_part_of_the_message(self) -> None:
        said = "MCP error -32602: Invalid arguments: expected number, received undefined at a.b[0]; too long at c"
        error = failed.tool_error(said, Mask())
        words = "Invalid arguments: expected number, received undefined for a.b[0]; too long for c"
        self.assertTrue(error.message.startswith(f"The tool failed: {words}; "), error.message)
        self.assertEqual(error.details["upstream"], said)
        for words in ("MCP error is odd: x", "a at run (x.js:1) at  at"):
            self.assertEqual(failed.softened(words), words)

    def test_insides_and_secrets_stay_out_of_the_message(self) -> None:
        error = failed.tool_error(f"ENOENT: open '/var/lib/x' with {SECRET}", masked())
        self.assertIs(error.code, Code.NOT_FOUND_RESOURCE)
        self.assertTrue(error.message.startswith("The tool failed, see details.upstream; "), error.message)
        self.assertEqual(error.details["upstream"], "ENOENT: open '/var/lib/x' with [redacted]")
        self.assertNotIn(" at ", failed.tool_error("crash\n    at Object.run (x.js:1)", masked()).message)
        error = failed.tool_error({"message": "no", "k": SECRET}, masked())
        self.assertTrue(error.message.startswith("The tool failed: no;"), error.message)
        self.assertEqual(error.details["upstream"], {"message": "no", "k": "[redacted]"})
        long = failed.tool_error("x" * 100_000, masked()).details["upstream"]
        self.assertLessEqual(len(str(long).encode()), 4096)
        self.assertEqual(failed.tool_error("", masked()).details, {})

    def test_errors_of_the_protocol_have_codes_of_their_own(self) -> None:
        for number, message, code in [
            (-32602, "Unknown tool: x", Code.NOT_FOUND_OPERATION),
            (-32602, "Tool x not found", Code.NOT_FOUND_OPERATION),
            (-32602, "a must be a number", Code.INVALID_VALUE),
            (-32601, "Method not found", Code.NOT_FOUND_OPERATION),
            (-32002, "Resource not found", Code.NOT_FOUND_RESOURCE),
            (-32042, "Open the address", Code.CONFIRMATION_REQUIRED),
            (-32603, "broken", Code.INTERNAL),
        ]:
            error = failed.refused(number, message, {"why": SECRET}, masked())
            said = {"code": number, "message": message, "data": {"why": "[redacted]"}}
            self.assertEqual((error.code, error.details["upstream"]), (code, said))

    def test_an_envelope_s_error_is_passed_on_as_it_is(self) -> None:
        error: dict[str, Any] = {"code": "CONFLICT_VERSION_MISMATCH", "message": "Read it again.", "details": {"a": 1}}
        passed = failed.passed_on(error, masked())
        assert passed is not None
        self.assertEqual((passed.code, passed.message), (Code.CONFLICT_VERSION, "Read it again."))
        self.assertEqual(passed.details, {"a": 1})
        passed = failed.passed_on({"code": "ODD", "message": "m"}, masked())
        assert passed is not None
        self.assertEqual((passed.code, passed.details), (Code.INTERNAL, {"upstream_code": "ODD"}))
        self.assertIsNone(failed.passed_on({}, masked()))


class Parts(unittest.TestCase):
    def test_members_and_items_are_as_they_are_written(self) -> None:
        deep = "[" * 5000 + "]" * 5000
        self.assertEqual(
            rawjson.members(f' {{"a" : 1.10 ,"\\u0062":[ 1 ],"a":{deep}}} '),
            [("a", "1.10"), ("b", "[ 1 ]"), ("a", deep)],
        )
        self.assertEqual(rawjson.items(f'[{deep} , "x,]" ]'), [deep, '"x,]"'])
        self.assertEqual((rawjson.members("{ }"), rawjson.items("[]")), ([], []))
        for text in ("", "1", "[1", "[1,]", "[1]2", "[NaN]", "[", f"[{deep}"):
            with self.assertRaises(ValueError):
                rawjson.items(text)
        for text in ("", "[]", "{1:2}", '{"a"}', '{"a":}', '{"a":1,}', '{"a":1}x', '{"a":1', '{"a":' + deep):
            with self.assertRaises(ValueError):
                rawjson.members(text)


if __name__ == "__main__":
    unittest.main()
