"""The adapter as an MCP server, over standard input and output or over Streamable HTTP."""

import argparse
import asyncio
import json
import logging
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from .dispatch import Adapter
from .styles import check_given, read_json

_MAX_RUNNING_CALLS, _LIST_TTL_MS = 256, 60_000
Tool: TypeAlias = tuple[Mapping[str, Any], Callable[[Mapping[str, Any]], Awaitable[str]]]  # as listed, and its answer


def build(adapter: Adapter, tools: Sequence[Tool] = ()) -> Server[Any]:
    catalog = adapter.catalog
    about, words = catalog["adapter"], catalog["instructions"] or None
    own = {definition["name"]: run for definition, run in tools}
    running = asyncio.Semaphore(_MAX_RUNNING_CALLS)
    shown = [*catalog["tools"], *(definition for definition, _ in tools)]

    async def list_tools(_: ServerRequestContext[Any], __: types.PaginatedRequestParams) -> HandlerResult:
        return {"resultType": "complete", "tools": shown}

    async def as_written(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        # The SDK puts the members of tools into an order of its own.
        result: Any = await call_next(ctx)
        return {**result, "tools": shown} if ctx.method == "tools/list" else result

    async def answer(tool: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        if tool not in own:
            return await adapter.call(tool, arguments)
        try:
            return await own[tool](arguments), False
        except Exception as error:  # noqa: BLE001
            return adapter.failure(tool, error)

    async def call_tool(_: ServerRequestContext[Any], params: types.CallToolRequestParams) -> HandlerResult:
        if params.name not in catalog["routes"] and params.name not in own:
            raise MCPError(types.INVALID_PARAMS, "Unknown tool. List the tools with tools/list.")
        async with running:
            text, is_error = await answer(params.name, params.arguments or {})
        return {"resultType": "complete", "content": [{"type": "text", "text": text}], "isError": is_error}

    hints: Any = {"tools/list": CacheHint(ttl_ms=_LIST_TTL_MS, scope="private")}
    told = {"version": about["version"], "title": about["display_name"], "instructions": words}
    server: Server[Any] = Server(about["name"], **told, cache_hints=hints)
    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    server.middleware.append(as_written)
    return server


class _Lines:
    """Standard input. A line that is no message is answered here; the SDK would leave its sender waiting."""

    answers: Any = None  # where answers are sent to

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in anyio.wrap_file(sys.stdin.buffer):
            code, waits = types.PARSE_ERROR, bool(line.strip())
            with suppress(ValueError):
                message = check_given(read_json(line.decode()))
                code, keys = types.INVALID_REQUEST, message if isinstance(message, dict) else {"id": None}
                # Nobody waits for an answer to an answer or to a notification.
                waits = "id" in keys and ("method" in keys or not keys.keys() & {"result", "error"})
                types.jsonrpc_message_adapter.validate_python(message, by_name=False)
                yield line.decode()
                continue
            if waits:
                error = types.ErrorData(code=code, message="This is no JSON-RPC 2.0 message in UTF-8.")
                answer = types.JSONRPCError(jsonrpc="2.0", id=_id(line.decode(errors="replace")), error=error)
                await self.answers.send(SessionMessage(answer))


def _id(text: str) -> int | str | None:
    """The `id` of a message that may not be readable: without it nobody would know that it was answered."""
    depth = 0
    for token in re.finditer(r'"id"\s*:\s*(-?\d{1,18}|"[^"\\]*")\s*[,}]|"(?:[^"\\]|\\.)*"|[][{}]', text):
        if token[1] and depth == 1:
            number: int | str = json.loads(token[1])
            return number
        depth += (token[0] in "[{") - (token[0] in "]}")
    return None


async def _stop(adapter: Adapter) -> None:
    await adapter.close()
    # A thread may be reading standard input, and nothing else ends that.
    os._exit(0)


async def _serve(adapter: Adapter, tools: Sequence[Tool], port: int | None) -> None:
    server, loop = build(adapter, tools), asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        with suppress(AttributeError, NotImplementedError):  # on Windows
            loop.add_signal_handler(getattr(signal, name), lambda: asyncio.ensure_future(_stop(adapter)))
    try:
        if port is None:
            lines: Any = _Lines()
            async with stdio_server(stdin=lines) as (reading, writing):
                lines.answers = writing
                await server.run(reading, writing, server.create_initialization_options())
        else:
            import uvicorn  # noqa: PLC0415

            app = server.streamable_http_app(host="127.0.0.1")
            http: Any = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
            http.capture_signals = nullcontext  # they are handled above
            await http.serve()
    finally:
        await adapter.close()


def main(folder: Path, handlers: Mapping[str, Any], tools: Sequence[Tool] = ()) -> None:
    parser = argparse.ArgumentParser(description="Serves the adapter as an MCP server.")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve Streamable HTTP on this port of 127.0.0.1")
    port = parser.parse_args().http
    logging.basicConfig(stream=sys.stderr, level=os.environ.get("LOG_LEVEL", "WARNING").upper())
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # it logs addresses, and with them perhaps credentials
    logging.getLogger("httpcore2").setLevel(logging.WARNING)
    adapter = Adapter(json.loads((folder / "catalog.json").read_text(encoding="utf-8")), handlers)
    asyncio.run(_serve(adapter, tools, port))
