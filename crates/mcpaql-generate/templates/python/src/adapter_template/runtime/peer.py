"""The client of this process, for whoever has to ask or to tell it something besides answers.

What always holds: what is asked and answered travels as it is; once the client says nothing more, nobody waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from .client import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .jsontext import Json


class Peer:
    """The client at the other end of standard input and output."""

    def __init__(self, send: Callable[[SessionMessage], Awaitable[None]]) -> None:
        """`send` brings a message on its way."""
        self._send = send
        self._asked: dict[str, asyncio.Future[Json]] = {}
        self._count = 0
        self._has_ended = False

    async def ask(self, method: str, params: Json) -> Json:
        """Sends a request and waits for the answer.

        Raises `Refused`.
        """
        if self._has_ended:
            raise Refused
        self._count += 1
        # The SDK counts with numbers, so that nobody takes one for the other.
        number = f"mcpaql-{self._count}"
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        about: dict[str, Any] = {"params": params} if isinstance(params, dict) else {}
        try:
            await self._told(types.JSONRPCRequest(jsonrpc="2.0", id=number, method=method, **about))
            return await answer
        finally:
            self._asked.pop(number, None)

    async def notify(self, method: str, params: dict[str, Json]) -> None:
        """Sends a notification. A client that has gone away needs no news."""
        with contextlib.suppress(Refused):
            await self._told(types.JSONRPCNotification(jsonrpc="2.0", method=method, params=params))

    def heard(self, message: Any) -> bool:
        """Takes what the client says where it answers one of these questions."""
        if not isinstance(message, (types.JSONRPCResponse, types.JSONRPCError)):
            return False
        answer = self._asked.get(message.id) if isinstance(message.id, str) else None
        if answer is None or answer.done():
            return False
        if isinstance(message, types.JSONRPCResponse):
            answer.set_result(message.result)
        else:
            answer.set_exception(Refused(message.error.model_dump(by_alias=True, exclude_unset=True)))
        return True

    def end(self) -> None:
        """The client says nothing more."""
        self._has_ended = True
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(Refused())

    async def _told(self, message: types.JSONRPCRequest | types.JSONRPCNotification) -> None:
        try:
            await self._send(SessionMessage(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise Refused from None
