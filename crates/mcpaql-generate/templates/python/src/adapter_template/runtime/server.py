"""The adapter as an MCP server, in every revision of the protocol that the SDK speaks.

What always holds: `tools/list` shows the catalog's tools as they are; every `tools/call` is answered with the
envelope's text and what stands beside it, or a JSON-RPC error; a cancelled call cancels its handler, and no more than a
few hundred run together. Nothing but the protocol is written to standard output, and no value of a call to the log.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from . import tasks
from .catalog import load
from .client import Wish
from .clients import Clients
from .environment import Variables
from .errors import Code, HandlerFailed, OpError
from .naming import NameProblem
from .parked import Parked, ParkedCall
from .passing import HINTS, Passing
from .pipeline import Adapter, Operation
from .progress import with_progress
from .records import checks
from .response import Reply, envelope
from .session import Session
from .stdio import GRACE, converse
from .suggest import nearest
from .surfaces import SurfaceProblem, surface
from .targets import OpenError, default_data, open_executions, open_targets

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Mapping

    from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

    from .caller import Caller
    from .peer import Peer

_log = logging.getLogger(__name__)

T = TypeVar("T")

_RUNNING_CALLS = 256
"""Calls that run together; further ones wait."""
_LIST_TTL_MS = 60_000
"""How long a client may keep a list of tools before it asks again."""

_COMPLETE = {"resultType": "complete"}
"""What the newest revision wants to hear; the SDK takes it out for others."""

_OF_THE_SDK = frozenset({"initialize", "subscriptions/listen"})
"""Methods that are known although nobody here answers them."""
_FORGOTTEN = "The call that requestState belongs to has ended; call the tool again without it."
_FAILED = "The server failed during this call; tell the user, and for a write first read whether it took effect."


class HandlerProblem(Exception):
    """A handler of the author's that nobody could ever reach."""


def main(package: Path, operations: Mapping[str, Operation[Any]], handlers: Mapping[str, Any]) -> int:
    """Serves the adapter whose `catalog.json` lies in that folder; the exit status."""
    parser = argparse.ArgumentParser(description="Serves the adapter over standard input and output.")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of stores and executions")
    given = parser.parse_args()
    logging.basicConfig(stream=sys.stderr, level=os.environ.get("LOG_LEVEL", "WARNING").upper())
    # These two write addresses, and with them perhaps credentials.
    for name in ("httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    environ = Variables()
    try:
        check_names(handlers, operations)
        data = surface(_read(package / "catalog.json"), environ, lambda: _read(package / "surfaces.json"))
        catalog = load(data, environ)
        folder = given.data or default_data(environ)
        targets = open_targets(catalog, environ, folder, checks(catalog))
        executions = open_executions(catalog, folder)
    except (HandlerProblem, OpenError, NameProblem, SurfaceProblem) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    asyncio.run(serve(Adapter(catalog, targets, operations, handlers, executions)))
    return 0


def check_names(handlers: Iterable[str], operations: Iterable[str]) -> None:
    """Refuses handlers of what the adapter cannot do: an operation was renamed, or its handler misspelt."""
    known = list(operations)
    for name in handlers:
        if name not in known:
            meant = nearest(name, known)
            rename = "rename" if meant is None else f"rename it to '{meant}'"
            message = f"handlers.py answers '{name}', which is no operation of this adapter; {rename} or remove it"
            raise HandlerProblem(message)


def _read(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


async def serve(adapter: Adapter) -> None:
    """Serves one client over standard input and output until either ends."""
    session = Session()

    async def run(reading: Any, writing: Any, peer: Peer) -> None:
        server = _server(adapter, session, peer)
        await server.run(reading, writing, server.create_initialization_options())

    adapter.start()
    try:
        # What a handler prints is talk, and talk does not belong between messages.
        with contextlib.redirect_stdout(sys.stderr):
            await converse(run)
    finally:
        # What was started for this client and does not outlive it is stopped, and says so, before the process ends.
        await session.end(GRACE)
        await adapter.close()


def _server(adapter: Adapter, session: Session, peer: Peer) -> Server[Any]:
    about = adapter.catalog.adapter
    server: Server[Any] = Server(
        about["name"],
        version=about["version"],
        title=about["display_name"],
        instructions=adapter.catalog.instructions or None,
        cache_hints={"tools/list": CacheHint(ttl_ms=_LIST_TTL_MS, scope="private"), **HINTS},
    )
    running = asyncio.Semaphore(_RUNNING_CALLS)
    parked = Parked()
    passing = Passing(about["name"], adapter.servers) if adapter.servers else None
    clients = Clients(session, peer, (lambda: Wish.EVERYTHING) if passing is None else passing.hearing)

    async def list_tools(_: ServerRequestContext[Any], __: types.PaginatedRequestParams) -> HandlerResult:
        return {**_COMPLETE, "tools": adapter.catalog.tools}

    async def call_tool(context: ServerRequestContext[Any], params: types.CallToolRequestParams) -> HandlerResult:
        async with running:
            call = _begun(adapter, clients, parked, context, params)
            is_asked = bool(context.meta and context.meta.get("progress_token") is not None)

            async def announce(done: float, message: str) -> None:
                await context.session.report_progress(done, 100.0, message)

            async def announced(work: Coroutine[Any, Any, T]) -> T:
                return await (with_progress(work, call.caller, announce) if is_asked else work)

            came = await parked.go_on(call, announced)
        if not isinstance(came, Reply):
            return came
        started = call.caller.started
        if adapter.executions is not None and started is not None and tasks.are_known(context):
            task = await adapter.executions.task(started, adapter.concluded)
            if task is not None:
                raise tasks.GoesOn(task)
        return {**_COMPLETE, **came.result()}

    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    server.middleware.append(_in_our_words(server))
    if passing is not None:
        passing.join(server, clients.caller)
    if adapter.executions is not None:
        server.extensions[tasks.EXTENSION] = {}
        server.middleware.append(tasks.serving(adapter.executions, adapter.concluded))
    return server


def _begun(
    adapter: Adapter,
    clients: Clients,
    parked: Parked,
    context: ServerRequestContext[Any, Any],
    params: types.CallToolRequestParams,
) -> ParkedCall:
    """The call that a request begins, or that it comes back to."""
    if params.request_state is not None:
        responses = (context.params or {}).get("inputResponses")
        call = parked.resume(params.request_state, params.name, responses if isinstance(responses, dict) else {})
        if call is None:
            raise MCPError(types.INVALID_PARAMS, _FORGOTTEN)
        return call
    if params.name not in adapter.catalog.routes:
        message = f"Unknown tool '{params.name}'. List the tools with tools/list."
        raise MCPError(types.INVALID_PARAMS, message)
    by_mail = clients.by_mail(context)
    caller, mail = (clients.caller(context), None) if by_mail is None else by_mail
    return ParkedCall(
        params.name, _without_exception(adapter, params.name, params.arguments or {}, caller), caller, mail
    )


async def _without_exception(adapter: Adapter, tool: str, arguments: Mapping[str, Any], caller: Caller) -> Reply:
    """An answer even where a handler fails in a way that it should not."""
    try:
        return await adapter.call(tool, arguments, caller)
    except HandlerFailed:
        pass
    except Exception:  # noqa: BLE001
        _log.exception("a call failed")
    return envelope(OpError(Code.INTERNAL, _FAILED), "unrecoverable")


def _in_our_words(server: Server[Any]) -> ServerMiddleware[Any]:
    """Says what is wrong with a request as `mcpaql serve` says it."""

    async def serve(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        try:
            return await call_next(ctx)
        except ValidationError:
            is_known = ctx.method in _OF_THE_SDK or server.get_request_handler(ctx.method) is not None
            message = f"The params of {ctx.method} do not have the shape the protocol defines."
            if is_known:
                raise MCPError(types.INVALID_PARAMS, message) from None
            raise MCPError(types.METHOD_NOT_FOUND, ctx.method) from None
        except MCPError as error:
            if error.error.code == types.METHOD_NOT_FOUND:
                raise MCPError(types.METHOD_NOT_FOUND, ctx.method) from None
            raise

    return serve
