"""Resources, prompts and logs of the MCP server behind an adapter, passed on to the client.

A prompt is called `{adapter}_{prompt}`; a resource has the address `mcpaql://{adapter}/{address}`, where the server's
own address, or its template, stands as it is.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, TypeAlias

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from .client import Level, Wish
from .suggest import snake_case
from .upstream.errors import Failed, RpcRefused, told
from .upstream.message import STATELESS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.lowlevel import Server

    from .caller import Caller
    from .client import LogWish
    from .jsontext import Json
    from .upstream.server import McpServer

_log = logging.getLogger(__name__)

_PATIENCE = 10.0
"""Seconds that a list waits for the server."""
_SCHEME = "mcpaql://"
_NOT_FOUND = -32002
_LIST_TTL_MS = 60_000
"""How long a client may keep a list before it asks again."""
_COMPLETE = {"resultType": "complete"}
_SET_LEVEL = "logging/setLevel"
_LEVELS = (
    "The params of logging/setLevel need a level: debug, info, notice, warning, error, critical, alert or emergency."
)
_ODD = "The server behind answered in a form that cannot be passed on."

_OFFERS = {
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "prompts/list": "prompts",
    "prompts/get": "prompts",
}
"""The methods of what a server may have besides tools, and the capability that each belongs to."""

HINTS: dict[Any, CacheHint] = {
    "resources/list": CacheHint(ttl_ms=_LIST_TTL_MS, scope="private"),
    "resources/templates/list": CacheHint(ttl_ms=_LIST_TTL_MS, scope="private"),
    "resources/read": CacheHint(ttl_ms=0, scope="private"),
    "prompts/list": CacheHint(ttl_ms=_LIST_TTL_MS, scope="private"),
}
"""How long clients may keep what they are given."""

CallerOf: TypeAlias = "Callable[[ServerRequestContext[Any, Any]], Caller]"
"""Who sent a request."""


class Passing:
    """What the server behind has besides tools.

    Of several to choose from only logs are passed on: no name would lead back to one of them.
    """

    def __init__(self, adapter: str, servers: Sequence[McpServer]) -> None:
        """Of the adapter of that name, with at least one server."""
        self._prefix = snake_case(adapter)
        self._server = servers[0]
        self._is_only = len(servers) == 1
        self._level: Level | None = None

    def hearing(self) -> LogWish:
        """What a client that shook hands wants to hear of logs: all of them, unless it named a level."""
        return Wish.EVERYTHING if self._level is None else self._level

    def join(self, server: Server[Any], caller: CallerOf) -> None:
        """Adds the methods to a server."""

        async def resources(context: ServerRequestContext[Any], _: types.PaginatedRequestParams) -> HandlerResult:
            return {**_COMPLETE, "resources": await self.entries("resources/list", "resources", caller(context))}

        async def templates(context: ServerRequestContext[Any], _: types.PaginatedRequestParams) -> HandlerResult:
            found = await self.entries("resources/templates/list", "resourceTemplates", caller(context))
            return {**_COMPLETE, "resourceTemplates": found}

        async def prompts(context: ServerRequestContext[Any], _: types.PaginatedRequestParams) -> HandlerResult:
            return {**_COMPLETE, "prompts": await self.entries("prompts/list", "prompts", caller(context))}

        async def resource(
            context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
        ) -> HandlerResult:
            try:
                return {**_COMPLETE, **await self.resource(params.uri, caller(context))}
            except MCPError as declined:
                raise _as_known(declined, context) from None

        async def prompt(context: ServerRequestContext[Any], params: types.GetPromptRequestParams) -> HandlerResult:
            return {**_COMPLETE, **await self.prompt(params.name, params.arguments, caller(context))}

        async def set_level(_: ServerRequestContext[Any], params: types.SetLevelRequestParams) -> HandlerResult:
            self._level = Level.of(params.level)
            return {}

        server.add_request_handler("resources/list", types.PaginatedRequestParams, resources)
        server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, templates)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, resource)
        server.add_request_handler("prompts/list", types.PaginatedRequestParams, prompts)
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, prompt)
        server.add_request_handler(_SET_LEVEL, types.SetLevelRequestParams, set_level)
        server.middleware.append(self._serve)

    def _has(self, offer: str) -> bool:
        return self._is_only and self._server.has(offer)

    async def _serve(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Shows what the server has, as far as it has ever said so, and refuses what it has not."""
        offer = _OFFERS.get(ctx.method)
        if offer is not None and not self._has(offer):
            raise MCPError(types.METHOD_NOT_FOUND, ctx.method)
        try:
            result = await call_next(ctx)
        except ValidationError:
            if ctx.method != _SET_LEVEL:
                raise
            raise MCPError(types.INVALID_PARAMS, _LEVELS) from None
        if ctx.method in ("initialize", "server/discover") and isinstance(result, dict):
            kept = {name: able for name, able in result["capabilities"].items() if name not in _OFFERS.values()}
            offered: dict[str, Json] = {name: {} for name in ("resources", "prompts") if self._has(name)}
            # Whether it logs is known only once it has run, a client asks once, and a level for a server without logs
            # hurts nobody.
            result["capabilities"] = {**kept, **offered, "logging": {}}
        return result

    async def entries(self, method: str, key: str, caller: Caller) -> list[Json]:
        """The entries of a list, under their names here. A server that does not answer costs its own entries alone."""
        try:
            async with asyncio.timeout(_PATIENCE):
                entries = await self._server.list(method, key, caller)
        except (Failed, TimeoutError) as error:
            _log.warning("%s: nothing is listed: %s", method, error or "not in time")
            return []
        return [renamed for entry in entries if (renamed := self._renamed(method, entry)) is not None]

    def _renamed(self, method: str, entry: Json) -> Json:
        """An entry under its name here; nothing where the protocol library cannot hold it."""
        kind, name = _KINDS[method]
        try:
            kind.model_validate(entry, by_name=False)
        except ValidationError:
            _log.debug("%s: an entry cannot be passed on", method)
            return None
        fields: dict[str, Json] = entry if isinstance(entry, dict) else {}
        own = str(fields[name])
        return {**fields, name: f"{self._prefix}_{own}" if name == "name" else self._wrapped(own)}

    def _wrapped(self, uri: str) -> str:
        return f"{_SCHEME}{self._prefix}/{uri}"

    async def prompt(self, name: str, arguments: Mapping[str, str] | None, caller: Caller) -> dict[str, Json]:
        """One prompt, by its name here.

        Raises `MCPError`.
        """
        own = name.removeprefix(f"{self._prefix}_")
        if own == name:
            message = f"Unknown prompt '{name}'. List the prompts with prompts/list."
            raise MCPError(types.INVALID_PARAMS, message)
        params: dict[str, Json] = {"name": own}
        if arguments is not None:
            params["arguments"] = {**arguments}
        return await self._one("prompts/get", params, types.GetPromptResult, caller)

    async def resource(self, uri: str, caller: Caller) -> dict[str, Json]:
        """One resource, by its address here or there.

        Raises `MCPError`.
        """
        # A tool's result may name an address of its server as the server knows it.
        own, is_wrapped = uri, False
        if uri.startswith(_SCHEME) and "/" in uri.removeprefix(_SCHEME):
            prefix, _, own = uri.removeprefix(_SCHEME).partition("/")
            is_wrapped = True
            if prefix != self._prefix:
                message = "Unknown resource. List the resources with resources/list."
                raise MCPError(_NOT_FOUND, message, {"uri": uri})
        answer = await self._one("resources/read", {"uri": own}, types.ReadResourceResult, caller)
        contents = answer.get("contents")
        if is_wrapped and isinstance(contents, list):
            named = (one if isinstance(one, dict) else {} for one in contents)
            answer["contents"] = [{**one, "uri": self._wrapped(str(one["uri"]))} for one in named]
        return answer

    async def _one(
        self, method: str, params: dict[str, Json], kind: type[BaseModel], caller: Caller
    ) -> dict[str, Json]:
        try:
            answer = await self._server.request(method, params, caller)
        except Failed as failed:
            raise _declined(failed) from None
        try:
            kind.model_validate(answer, by_name=False)
        except ValidationError:
            _log.debug("%s: an answer cannot be passed on", method)
            raise MCPError(types.INTERNAL_ERROR, _ODD) from None
        return answer if isinstance(answer, dict) else {}


_KINDS: dict[str, tuple[type[BaseModel], str]] = {
    "resources/list": (types.Resource, "uri"),
    "resources/templates/list": (types.ResourceTemplate, "uriTemplate"),
    "prompts/list": (types.Prompt, "name"),
}
"""What the entries of each list are, and what they are named by."""


def _as_known(declined: MCPError, context: ServerRequestContext[Any]) -> MCPError:
    """What is not found is a wrong parameter in the revisions without a handshake."""
    error = declined.error
    is_code_of_old = error.code == _NOT_FOUND and context.protocol_version >= STATELESS
    return MCPError(types.INVALID_PARAMS, error.message, error.data) if is_code_of_old else declined


def _declined(failed: Failed) -> MCPError:
    """Why a client does not get what it asks for."""
    fault = failed.fault
    if isinstance(fault, RpcRefused):
        code = fault.code if -(1 << 31) <= fault.code < 1 << 31 else types.INTERNAL_ERROR
        return MCPError(code, fault.message, fault.data)
    return MCPError(types.INTERNAL_ERROR, told(fault).message)
