"""Requests to an API: parameters, redirects, credentials and responses."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import unittest
from typing import Any, Self
from unittest import mock

import httpx2 as httpx

from adapter_template.runtime import http_messages
from adapter_template.runtime.errors import OpError
from adapter_template.runtime.http_client import HttpClient
from adapter_template.runtime.requests import HttpRequest, Param
from adapter_template.runtime.secrets import Mask


class Api:
    """An HTTP API that sends the given answers and records the requests."""

    def __init__(self, *answers: bytes, silent: bool = False) -> None:
        self.answers, self.asked, self.may_answer = list(answers), list[bytes](), asyncio.Event()
        if not silent:
            self.may_answer.set()

    async def __aenter__(self) -> Self:
        self.server = await asyncio.start_server(self.answer, "127.0.0.1")
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        if not self.may_answer.is_set():
            self.may_answer.set()
            await asyncio.sleep(0.1)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append(await reader.readuntil(b"\r\n\r\n"))
        await self.may_answer.wait()
        writer.write(self.answers[min(len(self.asked), len(self.answers)) - 1])
        await writer.drain()
        writer.close()


def reply(status: str, body: str = "", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Content-Type: application/json"]
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", body]).encode()


def target(url: str, **more: Any) -> dict[str, Any]:
    limits = {"connect_timeout_ms": 1000, "timeout_ms": 5000, "retries": 1, "max_response_bytes": 1000}
    known = {"404": "NOT_FOUND_RESOURCE", "429": "RATE_LIMIT_EXCEEDED"}
    advice = dict.fromkeys([*known.values(), "INTERNAL_ERROR"], "try later")
    failures = {"codes": known, "value_words": [], "words": [["NOT_FOUND_RESOURCE", ["not found"]]], "advice": advice}
    return {"base_url": url, "headers": {}, "auth": None, "allow_http": False, "failures": failures, **limits, **more}


class Http(unittest.IsolatedAsyncioTestCase):
    async def call(self, api: Api, request: HttpRequest[Any], args: dict[str, Any], **more: Any) -> Any:
        client = HttpClient(target(api.url, **more))
        try:
            return (await client.call(request, args)).data
        finally:
            await client.close()

    async def code(self, api: Api, request: HttpRequest[Any], **more: Any) -> str:
        with self.assertRaises(OpError) as failed:
            await self.call(api, request, {}, **more)
        return str(failed.exception.code)

    async def test_parameters_are_in_their_places_and_secrets_are_masked(self) -> None:
        params = {"id": Param("path"), "tags": Param("query", explode=False), "q": Param("query", wire="Q")}
        request: HttpRequest[Any] = HttpRequest("GET", "/things/{id}", params)
        auth = {"type": "bearer", "token_env": "THE_TOKEN", "header": "Authorization", "prefix": "Bearer "}
        async with Api(reply("200", '{"echo": "s3cret-token"}')) as api:
            with mock.patch.dict(os.environ, {"THE_TOKEN": "s3cret-token"}):
                data = await self.call(api, request, {"id": "a/b", "tags": ["x", "y z"], "q": "&"}, auth=auth)
        self.assertEqual(data, {"echo": "[redacted]"})
        self.assertTrue(api.asked[0].startswith(b"GET /things/a%2Fb?tags=x,y%20z&Q=%26 HTTP/1.1"), api.asked[0])
        self.assertIn(b"s3cret-token", api.asked[0])

    async def test_a_template_is_the_body_and_fixed_values_are_always_sent(self) -> None:
        template = {"params": {"id": "{id}", "tags": ["{tag}", "{ tag }", "{tag}"]}}
        params = {"id": Param("body"), "tag": Param("body")}
        fixed: dict[str, dict[str, Any]] = {"query": {"v": 2}, "header": {"X-Mode": "fast"}}
        request: HttpRequest[Any] = HttpRequest(
            "POST", "/rpc", params, body_template=template, fixed=fixed, result=["a", "1"]
        )
        async with Api(reply("200", '{"a": [1, 1.50]}')) as api:
            client = HttpClient(target(api.url))
            answer = await client.call(request, {"id": 7})
            await client.close()
        self.assertEqual((answer.data, answer.text), (1.5, "1.50"))
        self.assertTrue(api.asked[0].startswith(b"POST /rpc?v=2 HTTP/1.1"), api.asked[0])
        self.assertIn(b"x-mode: fast", api.asked[0])
        built = http_messages.build(httpx.URL(api.url), {}, set(), request, {"id": 7})
        self.assertEqual(built.body, b'{"params":{"id":7,"tags":[null,"{ tag }"]}}')

    async def test_a_failure_with_the_status_of_a_success_is_a_failure(self) -> None:
        for rule, body, code in (
            ({"path": ["error"]}, '{"error": {"code": 404}}', "NOT_FOUND_RESOURCE"),
            ({"path": ["errors"]}, '{"errors": [{"message": "User not found"}]}', "NOT_FOUND_RESOURCE"),
            ({"path": ["ok"], "equals": False, "message": ["why"]}, '{"ok": false, "why": "x"}', "INTERNAL_ERROR"),
            ({"path": ["status"], "not": "ok"}, "{}", "INTERNAL_ERROR"),
        ):
            async with Api(reply("200", body)) as api:
                self.assertEqual(await self.code(api, HttpRequest("GET", "/", error=rule)), code, body)
        async with Api(reply("200", '{"error": null}')) as api:
            request: HttpRequest[Any] = HttpRequest("GET", "/", error={"path": ["error"]})
            self.assertEqual(await self.call(api, request, {}), {"error": None})

    async def test_a_page_is_an_error_and_a_file_is_a_block(self) -> None:
        with self.assertRaises(OpError):
            http_messages.decode("application/json", b"<!-- x --> <!DOCTYPE html><html>", Mask())
        answer = http_messages.decode("image/png", b"abc", Mask())
        self.assertEqual((answer.data, answer.file), ({"media_type": "image/png", "bytes": 3}, ("image/png", b"abc")))

    async def test_a_rate_limit_has_details(self) -> None:
        headers = {"X-RateLimit-Limit": "60, 60;w=1", "X-RateLimit-Reset": "1893456000", "Retry-After": "100"}
        async with Api(reply("429", **headers)) as api:
            with self.assertRaises(OpError) as failed:
                await self.call(api, HttpRequest("GET", "/"), {})
        told = {name: failed.exception.details[name] for name in ("limit", "resets_at", "retry_after_seconds")}
        self.assertEqual(told, {"limit": 60, "resets_at": "2030-01-01T00:00:00Z", "retry_after_seconds": 100})

    async def test_a_failed_read_is_retried_as_often_as_the_target_allows(self) -> None:
        async with Api(reply("503")) as api:
            self.assertEqual(await self.code(api, HttpRequest("GET", "/", repeatable=True)), "INTERNAL_ERROR")
        self.assertEqual(len(api.asked), 2)
        async with Api(reply("503")) as api:
            self.assertEqual(await self.code(api, HttpRequest("POST", "/")), "INTERNAL_ERROR")
        self.assertEqual(len(api.asked), 1)

    async def test_an_invalid_redirect_is_an_error_and_not_retried(self) -> None:
        for location in ("http://[", "https://a b/", "ftp://x/", "http://192.0.2.1/"):
            async with Api(reply("302", Location=location)) as api:
                code = await self.code(api, HttpRequest("GET", "/", repeatable=True))
            self.assertEqual((code, len(api.asked)), ("INTERNAL_ERROR", 1), location)

    async def test_a_switch_of_protocols_is_an_error_and_not_retried(self) -> None:
        async with Api(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n") as api:
            code = await self.code(api, HttpRequest("GET", "/", repeatable=True))
        self.assertEqual((code, len(api.asked)), ("INTERNAL_ERROR", 1))

    async def test_headers_may_be_long_but_not_many(self) -> None:
        async with Api(reply("200", "1", **{"X-Long": "x" * 300_000})) as api:
            self.assertEqual(await self.call(api, HttpRequest("GET", "/"), {}), 1)
        for headers in ({"X-Long": "x" * 600_000}, {f"X-{number}": "" for number in range(101)}):
            async with Api(reply("200", "1", **headers)) as api:
                self.assertEqual(await self.code(api, HttpRequest("GET", "/")), "TRANSPORT_CONNECTION_FAILED")

    async def test_json_does_not_change_and_a_truncated_body_is_an_error(self) -> None:
        mask = Mask(["31337007"])
        for kind, body, text in (
            ("application/json", b'{"a": [1.10, 1e400], "n": 31337007}', '{"a":[1.10,1e400],"n":"[redacted]"}'),
            ("application/x-ndjson", b'1.10\r\n\n"\\ud800"\n 1e400', '[1.10,"\\ud800",1e400]'),
        ):
            self.assertEqual(http_messages.decode(kind, body, mask).text, text)
        body = gzip.compress(b'"xxxxxxxx"')[:-4]
        head = b"HTTP/1.1 200 X\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
        async with Api(head + body) as api:
            self.assertEqual(await self.code(api, HttpRequest("GET", "/")), "TRANSPORT_CONNECTION_FAILED")

    async def test_waiting_for_a_token_ends_with_the_timeout_of_the_call(self) -> None:
        names = {"client_id_env": "THE_ID", "client_secret_env": "THE_SECRET", "refresh_token_env": None}
        async with Api(reply("200", "1")) as api, Api(b"", silent=True) as tokens:
            auth: dict[str, Any] = {"type": "oauth2", "token_url": tokens.url, "scopes": [], **names}
            with mock.patch.dict(os.environ, {"THE_ID": "id", "THE_SECRET": "secret"}):
                code = await self.code(api, HttpRequest("GET", "/"), auth=auth, timeout_ms=300)
        self.assertEqual((code, len(api.asked)), ("TRANSPORT_TIMEOUT", 0))

    async def test_a_url_over_the_limit_is_rejected(self) -> None:
        async with Api(reply("200", "1")) as api:
            with self.assertRaises(OpError) as failed:
                await self.call(api, HttpRequest("GET", "/", {"q": Param("query")}), {"q": "x" * 500_000})
        self.assertEqual((failed.exception.details["limit_type"], api.asked), ("request_size", []))

    async def test_an_answer_over_the_limit_is_rejected(self) -> None:
        async with Api(reply("200", json.dumps("x" * 2000))) as api:
            self.assertEqual(await self.code(api, HttpRequest("GET", "/")), "VALIDATION_PAYLOAD_TOO_LARGE")


if __name__ == "__main__":
    unittest.main()
