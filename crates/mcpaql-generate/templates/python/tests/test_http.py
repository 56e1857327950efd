import base64
import unittest
from dataclasses import replace
from typing import Any

from adapter_template.runtime.auth import Reserved
from adapter_template.runtime.bindings import HttpRequest, Param, Style
from adapter_template.runtime.errors import Code, OpError
from adapter_template.runtime.http import style
from adapter_template.runtime.http.failure import Refusal
from adapter_template.runtime.http.files import File
from adapter_template.runtime.http.redirect import Hop, Refused, step
from adapter_template.runtime.http.request import Frame, Outgoing, build
from adapter_template.runtime.http.response import decode
from adapter_template.runtime.http.retry import retry_after, wait_after
from adapter_template.runtime.http.url import parse
from adapter_template.runtime.response import Raw
from adapter_template.runtime.secrets import Mask

COLUMNS: list[Any] = ["", "blue", ["blue", "black", "brown"], {"R": 100, "G": 200, "B": 150}]
RESERVED = ":/?#[]@!$&'()*+,;= %\"\r\n"


def query(value: Any, how: Style) -> str:
    pairs = style.Pairs()
    pairs.append("color", value, how)
    return pairs.text()


def reserved() -> Reserved:
    kept = Reserved()
    kept.headers.add("x-key")
    kept.query.append("api_key")
    kept.cookies.add("session")
    return kept


def built(request: HttpRequest, args: dict[str, Any]) -> Outgoing:
    frame = Frame(parse("https://api.example:8443/v1"), {"cookie": "fixed=1"}, reserved(), lambda: "B")
    return build(frame, request, args)


async def sent(outgoing: Outgoing) -> bytes:
    assert outgoing.body is not None
    content = outgoing.body.content
    whole = content if isinstance(content, bytes) else b"".join([chunk async for chunk in content])
    assert len(whole) == outgoing.body.length
    return whole


class Styles(unittest.TestCase):
    def test_paths_as_in_openapi_s_table(self) -> None:
        rows: list[tuple[Any, bool, list[str]]] = [
            ("matrix", False, [";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"]),
            ("matrix", True, [";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"]),
            ("label", False, [".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"]),
            ("label", True, [".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"]),
            ("simple", False, ["", "blue", "blue,black,brown", "R,100,G,200,B,150"]),
            ("simple", True, ["", "blue", "blue,black,brown", "R=100,G=200,B=150"]),
        ]
        for form, explode, row in rows:
            for value, expected in zip(COLUMNS, row, strict=True):
                self.assertEqual(style.path("color", value, Style(form, explode)), expected)

    def test_queries_as_in_openapi_s_table_and_beyond(self) -> None:
        rows: list[tuple[Any, Any, bool, str]] = [
            (COLUMNS[0], "form", False, "color="),
            (COLUMNS[2], "form", False, "color=blue,black,brown"),
            (COLUMNS[2], "form", True, "color=blue&color=black&color=brown"),
            (COLUMNS[3], "form", True, "R=100&G=200&B=150"),
            (COLUMNS[2], "spaceDelimited", False, "color=blue%20black%20brown"),
            (COLUMNS[3], "pipeDelimited", False, "color=R%7C100%7CG%7C200%7CB%7C150"),
            (COLUMNS[3], "deepObject", True, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"),
            (True, "form", True, "color=true"),
            (-1.5, "form", True, "color=-1.5"),
            ([{"a": 1}], "form", True, "color=%7B%22a%22%3A1%7D"),
            ([{"a": 1}], "deepObject", True, "color%5B0%5D%5Ba%5D=1"),
            ({"a": {"b": [1]}}, "deepObject", True, "color%5Ba%5D%5Bb%5D%5B%5D=1"),
            ("x", "json", False, "color=%22x%22"),
            ("a&b=c#d e+f", "form", True, "color=a%26b%3Dc%23d%20e%2Bf"),
            (None, "form", True, ""),
            ([None], "form", False, ""),
        ]
        for value, form, explode, expected in rows:
            self.assertEqual(query(value, Style(form, explode)), expected)

    def test_reserved_characters_pass_where_they_separate_nothing(self) -> None:
        allowed = Style("form", explode=True, reserved=True)
        self.assertEqual(query(RESERVED, allowed), "color=:/?%23[]@!$%26'()*%2B,;=%20%25%22%0D%0A")
        segment = style.path("color", RESERVED, Style("simple", explode=False, reserved=True))
        self.assertEqual(segment, ":%2F%3F%23%5B%5D@!$%26'()*%2B%2C%3B%3D%20%25%22%0D%0A")
        cookies = style.Pairs(between="; ")
        cookies.append("c", RESERVED, allowed)
        self.assertEqual(cookies.text(), "c=:/?%23[]@!$%26'()*%2B%2C%3B=%20%25%22%0D%0A")


class Files(unittest.TestCase):
    def test_both_alphabets_with_or_without_padding_and_line_breaks(self) -> None:
        for text, content in [
            ("", b""),
            ("aGk=", b"hi"),
            ("aGk", b"hi"),
            ("aG\r\nk=\n", b"hi"),
            ("-_-_", b"\xfb\xff\xbf"),
        ]:
            self.assertEqual(b"".join(File(text).chunks()), content)

    def test_anything_else_is_refused(self) -> None:
        for text in ["a", "aGk=aGk=", "=", "a===", "aGk\0", "a.b", "é", "-/-/", "data:text/plain,aGk=", "aGl="]:
            with self.assertRaises(ValueError, msg=text):
                File(text)

    def test_what_was_encoded_comes_back_whatever_the_chunks(self) -> None:
        for length in (1, 2, 3, 49151, 49152, 49153, 98304):
            content = bytes(n * 31 % 256 for n in range(length))
            file = File(base64.b64encode(content).decode())
            self.assertEqual(b"".join(file.chunks()), content)
            self.assertEqual(file.length, length)


class Addresses(unittest.TestCase):
    def test_odd_spellings_of_this_machine_are_seen_through(self) -> None:
        for text in ["http://127.1/", "http://0x7f000001", "http://2130706433/", "http://LOCALHOST.", "http://[::1]:80/",
                     "http://[::ffff:127.0.0.1]/", "http://a.localhost/x", "http://0177.0.0.1/", "http:\\\\127.0.0.1\\a"]:  # fmt: skip
            self.assertTrue(parse(text).is_loopback(), text)
        for text in ["http://127.0.0.1.example/", "http://localhost.example/", "http://10.0.0.1/"]:
            self.assertFalse(parse(text).is_loopback(), text)

    def test_what_is_no_address_is_refused(self) -> None:
        for text in [
            "",
            "x",
            "http://",
            "https://a b/",
            "http://1.2.3.4.5/",
            "http://256.1.1.1/",
            "ftp://a/",
            "http://a:99999/",
        ]:
            with self.assertRaises(ValueError, msg=text):
                parse(text)

    def test_paths_are_encoded_and_hold_no_dot_segments(self) -> None:
        self.assertEqual(
            str(parse("HTTPS://Example.COM:443/a b/../c/./%2e%2E/d?x='y z'#f")), "https://example.com/d?x=%27y%20z%27"
        )
        self.assertEqual(str(parse("https://a/x/y?q").join("../c?y=2#z")), "https://a/c?y=2")
        self.assertEqual(str(parse("https://a/x").join("//b/f")), "https://b/f")


class Requests(unittest.IsolatedAsyncioTestCase):
    def test_a_path_never_leads_elsewhere(self) -> None:
        request = HttpRequest("GET", "/repos/{owner}/.{x}", (Param("owner", "path"), Param("x", "path")))
        url = built(request, {"owner": "a/b?c#d", "x": "1"}).url
        self.assertEqual(str(url), "https://api.example:8443/v1/repos/a%2Fb%3Fc%23d/.1")
        for args, code in [({"owner": "", "x": "1"}, Code.INVALID_VALUE), ({"owner": "..", "x": "1"}, Code.INVALID_VALUE),
                           ({"owner": "a", "x": "."}, Code.INVALID_VALUE), ({"x": "1"}, Code.MISSING_PARAM)]:  # fmt: skip
            with self.assertRaises(OpError) as caught:
                built(request, args)
            self.assertIs(caught.exception.code, code)

    def test_paths_of_several_segments_stay_below_the_template(self) -> None:
        request = HttpRequest("GET", "/f/{p}", (Param("p", "path", style=Style("segments", explode=False)),))
        for text, path in [("a/b c", "/v1/f/a/b%20c"), ("/a/", "/v1/f/a"), ("/", "/v1/f/")]:
            self.assertEqual(built(request, {"p": text}).url.path, path)
        for text in ["", "a//b", "../x", "a/./b"]:
            with self.assertRaises(OpError):
                built(request, {"p": text})

    def test_parameters_cannot_set_what_belongs_to_the_server(self) -> None:
        for name in ["Authorization", "Host", "Content-Length", "X-Key"]:
            with self.assertRaises(OpError):
                built(HttpRequest("GET", "/", (Param(name, "header"),)), {name: "x"})
        with self.assertRaises(OpError):
            built(HttpRequest("GET", "/", (Param("filter", "query"),)), {"filter": {"api_key": "mine"}})
        cookies = HttpRequest("GET", "/", (Param("theme", "cookie", wire="Theme"), Param("filter", "cookie")))
        self.assertEqual(
            built(cookies, {"theme": "a; session=1"}).headers["cookie"], "fixed=1; Theme=a%3B%20session%3D1"
        )
        with self.assertRaises(OpError):
            built(cookies, {"filter": {"session": "mine"}})
        for value in ["a\r\nX-Evil: 1", "\0", "\x7f", "\x85"]:
            with self.assertRaises(OpError):
                built(HttpRequest("GET", "/", (Param("l", "header"),)), {"l": value})

    async def test_bodies_hold_what_was_given_and_nothing_else(self) -> None:
        post = HttpRequest(
            "POST", "/", (Param("title", "body", wire="Title"), Param("body", "body"), Param("page", "query"))
        )
        self.assertEqual(await sent(built(post, {"title": None, "body": "x", "page": 1})), b'{"Title":null,"body":"x"}')
        self.assertEqual(await sent(built(post, {})), b"{}")
        self.assertIsNone(built(replace(post, method="DELETE"), {}).body)
        form = replace(post, body="form")
        self.assertEqual(
            await sent(built(form, {"title": {"b": 1}, "body": ["x", "y"]})), b"Title%5Bb%5D=1&body=x&body=y"
        )
        text = HttpRequest("POST", "/", (Param("note", "body"),), body="text")
        self.assertEqual(await sent(built(text, {"note": "a\r\n\0é"})), "a\r\n\0é".encode())
        binary = replace(text, body="binary")
        self.assertEqual(await sent(built(binary, {"note": "aGVsbG8="})), b"hello")
        with self.assertRaises(OpError):
            built(binary, {"note": "hello!"})

    async def test_multipart_values_end_no_part(self) -> None:
        params = (Param("f", "body", file=True), Param('n"\r\n', "body"), Param("list", "body"))
        post = HttpRequest("POST", "/", params, body="multipart")
        file = {"data": "aGk=", "filename": '../a\\b".png', "content_type": "image/png"}
        outgoing = built(post, {"f": file, 'n"\r\n': {"a": 1}, "list": ["x", None, 2]})
        self.assertEqual(outgoing.headers["content-type"], "multipart/form-data; boundary=B")
        self.assertEqual(
            await sent(outgoing),
            b'--B\r\nContent-Disposition: form-data; name="f"; filename="b%22.png"\r\nContent-Type: image/png\r\n\r\nhi\r\n'
            b'--B\r\nContent-Disposition: form-data; name="n%22%0D%0A"\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n'
            b'--B\r\nContent-Disposition: form-data; name="list"\r\n\r\nx\r\n'
            b'--B\r\nContent-Disposition: form-data; name="list"\r\n\r\n2\r\n--B--\r\n',
        )
        with self.assertRaises(OpError):
            built(post, {"f": {"data": "aGk=", "content_type": "a\r\nb"}})


class Redirects(unittest.TestCase):
    def go(self, method: str, url: str, status: int, to: str) -> Hop:
        mask = Mask()
        mask.add("s3cret!")
        outgoing = Outgoing(method, parse(url), {"accept": "*/*", "content-type": "x/y"}, None)
        following = step(Hop(outgoing, trusted=True), status, to.encode(), mask, allow_http=False)
        assert following is not None
        return following

    def test_only_the_own_origin_keeps_headers_and_trust(self) -> None:
        self.assertTrue(self.go("GET", "https://api.example/a", 302, "/b").trusted)
        for other in ["https://cdn.example/f", "//cdn.example/f", "https://api.example:8443/f"]:
            hop = self.go("GET", "https://api.example/a", 302, other)
            self.assertFalse(hop.trusted)
            self.assertEqual(list(hop.outgoing.headers), ["accept"])

    def test_hostile_locations_are_refused(self) -> None:
        for to in ["http://api.example/a", "ftp://api.example/a", "file:///etc/passwd", "https://user:word@api.example/",
                   "https://localhost/", "https://127.1/", "https://[::1]/", "https://169.254.169.254/latest",
                   "https://evil.example/?k=s3cret%21", "https://", "https://2130706433/"]:  # fmt: skip
            with self.assertRaises(Refused, msg=to):
                self.go("GET", "https://api.example/a", 302, to)

    def test_writes_are_repeated_only_with_307_and_308_on_the_own_origin(self) -> None:
        for status in (301, 302):
            with self.assertRaises(Refused):
                self.go("POST", "https://api.example/a", status, "/b")
        self.assertEqual(self.go("POST", "https://api.example/a", 307, "/b").outgoing.method, "POST")
        with self.assertRaises(Refused):
            self.go("POST", "https://api.example/a", 308, "https://other.example/b")
        self.assertEqual(self.go("POST", "https://api.example/a", 303, "/b").outgoing.method, "GET")


class Answers(unittest.TestCase):
    def test_json_passes_as_text_without_spaces_and_without_secrets(self) -> None:
        mask = Mask()
        mask.add("s3cret")
        for body, text in [
            ('{ "a" : [1.50, "x y"] }', '{"a":[1.50,"x y"]}'),
            ("\ufeff[]", "[]"),
            ('"s3cret"', '"[redacted]"'),
        ]:
            self.assertEqual(decode("application/json", body.encode(), mask).data, Raw(text))
        deep = "[" * 100_000 + "]" * 100_000
        self.assertEqual(decode("application/json", deep.encode(), mask).data, Raw(deep))
        for body in ["{", "NaN", "1 2", "[" * 100_000, "[" * 5000 + "}" * 5000]:
            answer = decode("application/problem+json", body.encode(), mask)
            self.assertEqual((answer.data, answer.warnings[0].code), (body, "UPSTREAM_NOT_JSON"))

    def test_other_kinds(self) -> None:
        mask = Mask()
        self.assertEqual(decode("text/plain; charset=ISO-8859-1", b"\xe9", mask).data, "é")
        self.assertEqual(decode("text/plain", b"\xe9", mask).warnings[0].code, "TEXT_LOSSY")
        self.assertEqual(decode("application/x-ndjson", b'{"a":1}\n\n2\r\n', mask).data, Raw('[{"a":1},2]'))
        self.assertEqual(decode(None, b"{}", mask).data, Raw("{}"))
        self.assertEqual(
            decode(None, b"\xff", mask).data,
            {"media_type": "application/octet-stream", "encoding": "base64", "data": "/w=="},
        )
        self.assertIsNone(decode("application/json", b"", mask).data)


class Failures(unittest.TestCase):
    def error(self, status: int, body: str, kind: bytes = b"application/json") -> OpError:
        return Refusal(status, kind, None, body.encode(), cut=False).error(Mask())

    def test_the_upstream_s_own_words_become_the_message(self) -> None:
        for body, words in [('{"message":"Not Found"}', "Not Found"), ('{"error":{"message":"No such customer"}}', "No such customer"),
                            ('{"detail":[{"msg":"field required"}]}', "field required"), ("plain words.", "plain words")]:  # fmt: skip
            expected = f"The API answered 404: {words}; check the identifiers, or list or search first."
            self.assertEqual(self.error(404, body).message, expected)
        self.assertEqual(
            self.error(500, "").message, "The API answered 500 (Internal Server Error); try later or tell the user."
        )
        self.assertIs(self.error(422, '{"error":"state must be one of open"}').code, Code.INVALID_VALUE)

    def test_a_message_that_shows_the_insides_of_the_upstream_is_left_to_the_details(self) -> None:
        for text in ["Fatal error in /var/www/app.php line 3", 'cannot open "/etc/app/config"', "no such file: C:\\\\x.aspx",
                     "error in src/handlers/user.rb", "boom app.js:12:3", "Failed AT com.example.Main"]:  # fmt: skip
            self.assertIn(
                "see details.upstream",
                self.error(
                    400, f'{{"message":"{text}"}}'.replace('"/etc', "'/etc").replace('config"', "config'")
                ).message,
            )
        self.assertIn("Unknown route /users", self.error(400, '{"message":"Unknown route /users"}').message)

    def test_an_error_page_is_shown_as_its_text(self) -> None:
        page = "<html><title>502</title><body><h1>Bad Gateway</h1>\n<hr>nginx</body></html>"
        upstream = self.error(502, page, b"text/html").details["upstream"]
        self.assertEqual(upstream, {"status": 502, "body": "502 Bad Gateway nginx"})

    def test_waits(self) -> None:
        self.assertEqual(retry_after("7"), 7)
        self.assertEqual(retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), 0)
        self.assertIsNone(retry_after("soon"))
        self.assertIsNone(wait_after(429, None, 0.2, 60))
        self.assertEqual(wait_after(503, None, 0.2, 60), 0.2)
        self.assertIsNone(wait_after(503, 90, 0.2, 60))
        self.assertIsNone(wait_after(500, 1, 0.2, 60))


if __name__ == "__main__":
    unittest.main()
