"""The MCP server of the adapter, over stdio or Streamable HTTP."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import Any, TypeAlias

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from .dispatch import Adapter, OwnTool
from .styles import check_given, read_json

_MAX_RUNNING_CALLS, _MAX_LINE_BYTES, _LIST_TTL_MS = 256, 16 * 2**20, 60_000
Tool: TypeAlias = tuple[Mapping[str, Any], OwnTool]  # its entry in `tools/list`, and its function


def build(adapter: Adapter, tools: Sequence[Tool] = ()) -> Server[Any]:
    catalog, about = adapter.catalog, adapter.catalog["adapter"]
    own = {definition["name"]: run for definition, run in tools}
    running = asyncio.Semaphore(_MAX_RUNNING_CALLS)
    shown = [*catalog["tools"], *(definition for definition, _ in tools)]

    async def list_tools(_: ServerRequestContext[Any], __: types.PaginatedRequestParams) -> HandlerResult:
        return {"resultType": "complete", "tools": shown}

    async def as_written(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        # The SDK reorders the members of tools.
        result: Any = await call_next(ctx)
        return {**result, "tools": shown} if ctx.method == "tools/list" else result

    async def call_tool(_: ServerRequestContext[Any], params: types.CallToolRequestParams) -> HandlerResult:
        if params.name not in catalog["routes"] and params.name not in own:
            raise MCPError(types.INVALID_PARAMS, "Unknown tool. List the tools with tools/list.")
        async with running:
            text, is_error, blocks = await adapter.call(params.name, params.arguments or {}, own.get(params.name))
        return {"resultType": "complete", "content": [{"type": "text", "text": text}, *blocks], "isError": is_error}

    hints: Any = {"tools/list": CacheHint(ttl_ms=_LIST_TTL_MS, scope="private")}
    texts = {"title": about["display_name"], "instructions": catalog["instructions"] or None}
    server: Server[Any] = Server(about["name"], version=about["version"], **texts, cache_hints=hints)
    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    server.middleware.append(as_written)
    return server


async def _lines(writing: asyncio.Future[Any]) -> AsyncIterator[str]:
    """Reads standard input. Lines that are not messages are answered here, because the SDK does not answer them."""
    async for line in anyio.wrap_file(sys.stdin.buffer):
        code, waits = types.PARSE_ERROR if len(line) <= _MAX_LINE_BYTES else types.INVALID_REQUEST, bool(line.strip())
        with suppress(ValueError):
            message = check_given(read_json(line.decode() if len(line) <= _MAX_LINE_BYTES else ""))
            code, keys = types.INVALID_REQUEST, message if isinstance(message, dict) else {"id": None}
            waits = "id" in keys and ("method" in keys or not keys.keys() & {"result", "error"})
            types.jsonrpc_message_adapter.validate_python(message, by_name=False)
            yield line.decode()
            continue
        if waits:
            error = types.ErrorData(code=code, message="This is no JSON-RPC 2.0 message in UTF-8.")
            asked = _id(line[:_MAX_LINE_BYTES].decode(errors="replace"))
            await (await writing).send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=asked, error=error)))


def _id(text: str) -> Any:
    """Returns the `id` of a message, even if the message is not valid JSON."""
    depth = 0
    for token in re.finditer(r'"id"\s*:\s*(-?\d{1,18}|"[^"\\]*")\s*[,}]|"(?:[^"\\]|\\.)*"|[][{}]', text):
        if token[1] and depth == 1:
            return json.loads(token[1])
        depth += (token[0] in "[{") - (token[0] in "]}")
    return None


async def serve(adapter: Adapter, tools: Sequence[Tool], port: int | None) -> None:
    server, loop = build(adapter, tools), asyncio.get_running_loop()

    async def stop() -> None:
        await adapter.close()
        os._exit(0)  # a thread that reads standard input cannot be stopped in any other way

    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        with suppress(AttributeError, NotImplementedError):  # on Windows
            loop.add_signal_handler(getattr(signal, name), lambda: asyncio.ensure_future(stop()))
    try:
        if port is None:
            answers = loop.create_future()
            lines: Any = _lines(answers)
            async with stdio_server(stdin=lines) as (reading, writing):
                answers.set_result(writing)
                await server.run(reading, writing, server.create_initialization_options())
        else:
            import uvicorn  # noqa: PLC0415

            app = server.streamable_http_app(host="127.0.0.1")
            http: Any = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
            http.capture_signals = nullcontext  # handled above
            await http.serve()
    finally:
        await adapter.close()
