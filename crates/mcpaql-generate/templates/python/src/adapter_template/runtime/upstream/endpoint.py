"""An MCP server over streamable HTTP: every message of ours is a POST, every answer JSON or a stream of events.

What always holds: credentials go to the origin that the document names alone; no more than the limit of an answer is
held; a request that was refused before it was read (401, an unknown session) may be repeated, nothing else is.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from contextlib import aclosing
from typing import TYPE_CHECKING

import httpx2 as httpx

from .. import jsontext
from ..errors import OpError
from ..http import response
from ..http.door import Broken, Door
from ..http.headers import is_sendable
from ..http.url import parse
from ..secrets import Mask
from .calls import rpc_error
from .errors import Failed, Shut, Unavailable
from .message import STATELESS
from .program import AROUND
from .sse import Events

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..bindings import Auth, McpAddress
    from ..http.door import Opened
    from ..http.headers import Headers
    from .calls import Calls
    from .errors import Fault

_log = logging.getLogger(__name__)

_SESSION = "mcp-session-id"
_ASIDE = 10.0
"""Seconds that a notification, or the end of a session, may take to be delivered."""
_RETRY = 1.0
"""Seconds that a stream that ended is left alone, unless the server says."""
_LONGEST_RETRY = 30.0
_RESUMED = 1000
"""How often a stream is taken up again before its answer has come."""


class Endpoint:
    """Where a server answers."""

    def __init__(self, address: McpAddress, auth: Auth, environ: Mapping[str, str]) -> None:
        """Raises `SetupError`."""
        self._door = Door(address, auth, environ)
        self.name = "remote"
        """What to call it before it has said its name: its host, where the address says it."""
        with contextlib.suppress(ValueError):
            self.name = parse(address.url).host_text

    async def open(self, limit: int) -> Exchange:
        """A new conversation there."""
        return Exchange(self._door, self.name, limit)

    async def close(self) -> None:
        """Ends all connections."""
        await self._door.close()


class Exchange:
    """One conversation over HTTP."""

    def __init__(self, door: Door, name: str, limit: int) -> None:
        """`limit` is that of answers."""
        self._door = door
        self._name = name
        self._limit = limit + AROUND
        self._session: str | None = None
        self._version: str | None = None
        self._greeted = asyncio.Event()
        # What the last request was made with.
        self._mask = Mask()

    def mask(self) -> Mask:
        """What the last request was made with."""
        return self._mask

    def echoed(self) -> Mask:
        """The same."""
        return self._mask

    def speak(self, version: str) -> None:
        """The revision that is spoken from now on."""
        if self._version is None and is_sendable(version):
            self._version = version

    def greeted(self) -> None:
        """The handshake is over."""
        self._greeted.set()

    async def send(self, line: str, number: int, method: str, name: str | None, calls: Calls) -> None:
        """Sends a request and reads until its answer has come.

        Raises `Failed`.
        """
        known = self._session
        about = {"mcp-method": method} if name is None else {"mcp-method": method, "mcp-name": name}
        try:
            opened = await self._post(line, about)
            async with aclosing(opened.response):
                status = opened.response.status_code
                if not 200 <= status <= 299:
                    await self._refused(opened, known, calls)
                if method == "initialize":
                    self._session = response.header(opened.response, _SESSION) or self._session
                if _is_stream(opened.response):
                    await self._follow(opened, number, calls)
                else:
                    await self._read(opened, number, calls)
        except OpError as error:
            raise Failed(Shut(error)) from None
        except Broken as broken:
            raise Failed(self._broken(broken, calls)) from None
        if calls.is_waiting(number):
            raise Failed(Unavailable(calls.server, "ended its answer before it was complete"))

    async def keep(self, calls: Calls) -> None:
        """Sends what is sent aside and listens for what the server says unasked, until this is cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._post_aside(calls))
                tasks.create_task(self._listen_until_end(calls))
        except asyncio.CancelledError:
            pass
        calls.end(Unavailable(calls.server, "was closed"))
        if self._session is not None:
            with contextlib.suppress(TimeoutError, OpError, Broken):
                async with asyncio.timeout(_ASIDE):
                    opened = await self._door.send("DELETE", self._headers("application/json"))
                    await opened.response.aclose()

    @property
    def _is_stateless(self) -> bool:
        return self._version is not None and self._version >= STATELESS

    def _headers(self, accept: str) -> Headers:
        headers = {"accept": accept}
        if self._session is not None:
            headers[_SESSION] = self._session
        if self._version is not None:
            headers["mcp-protocol-version"] = self._version
        return headers

    async def _post(self, line: str, about: Mapping[str, str]) -> Opened:
        headers = self._headers("application/json, text/event-stream")
        headers["content-type"] = "application/json"
        if self._is_stateless:
            headers.update({name: value for name, value in about.items() if is_sendable(value)})
        opened = await self._door.send("POST", headers, line.encode())
        self._mask = opened.mask
        return opened

    async def _refused(self, opened: Opened, known: str | None, calls: Calls) -> None:
        """An answer that is no success may still be a message of the protocol."""
        body, error = await opened.refusal()
        if known is not None and _is_forgotten(opened.response.status_code, body):
            expired = Unavailable(calls.server, "does not know the session any more")
            calls.retire(expired)
            raise Failed(expired, unseen=True)
        try:
            said = jsontext.read(body.decode(errors="replace"))
        except ValueError:
            said = None
        fault = rpc_error(calls.server, said.get("error")) if isinstance(said, dict) else None
        raise Failed(fault if fault is not None and fault.code != 0 else Shut(error))

    async def _read(self, opened: Opened, number: int, calls: Calls) -> None:
        """Reads a JSON answer."""
        body = bytearray()
        try:
            is_whole = await response.read(opened.response, self._limit, body)
        except httpx.HTTPError as error:
            raise Broken(error, opened.mask) from None
        if is_whole:
            calls.incoming(bytes(body), number)
        else:
            calls.too_long(number)

    async def _follow(self, opened: Opened, number: int, calls: Calls) -> None:
        """Reads a stream of events, and goes on where it breaks off, until the answer has come."""
        events = Events(self._limit)
        for _ in range(_RESUMED):
            async with aclosing(opened.response):
                broken = await _drain(opened, events, number, calls)
            if events.last_id is None or not calls.is_waiting(number):
                # A connection that broke after the answer is of no interest.
                if broken is not None and calls.is_waiting(number):
                    raise broken
                return
            await asyncio.sleep(_RETRY if events.retry is None else events.retry)
            opened = await self._listen_from(events.last_id)
            if not 200 <= opened.response.status_code <= 299 or not _is_stream(opened.response):
                await opened.response.aclose()
                return

    async def _listen_from(self, last: str | None) -> Opened:
        headers = self._headers("text/event-stream")
        if last is not None and is_sendable(last):
            headers["last-event-id"] = last
        return await self._door.send("GET", headers)

    async def _post_aside(self, calls: Calls) -> None:
        while True:
            line = await calls.outbox.get()
            # Nobody waits for it; a server that cannot be reached shows that with the next call.
            with contextlib.suppress(TimeoutError, OpError, Broken):
                async with asyncio.timeout(_ASIDE):
                    opened = await self._post(line, {})
                    await opened.response.aclose()

    async def _listen_until_end(self, calls: Calls) -> None:
        await self._greeted.wait()
        if self._is_stateless:
            return
        listening = asyncio.create_task(self._listen(calls))
        ended = asyncio.create_task(calls.ended.wait())
        try:
            await asyncio.wait({listening, ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            listening.cancel()
            ended.cancel()

    async def _listen(self, calls: Calls) -> None:
        """The server's own stream, where it has one."""
        events = Events(self._limit)
        wait = _RETRY
        while True:
            with contextlib.suppress(OpError, Broken):
                opened = await self._listen_from(events.last_id)
                async with aclosing(opened.response):
                    status = opened.response.status_code
                    is_success = 200 <= status <= 299
                    if 400 <= status <= 499 or (is_success and not _is_stream(opened.response)):
                        return
                    if is_success:
                        wait = _RETRY
                        await _drain(opened, events, None, calls)
            await asyncio.sleep(wait if events.retry is None else events.retry)
            wait = min(wait * 2, _LONGEST_RETRY)

    def _broken(self, broken: Broken, calls: Calls) -> Fault:
        _log.debug("the connection to the MCP server %s failed: %s", self._name, broken)
        if not broken.is_unreachable:
            return Unavailable(calls.server, "broke the connection before its answer was complete")
        fault = Unavailable(calls.server, "cannot be reached")
        calls.retire(fault)
        return fault


def _is_forgotten(status: int, body: bytes) -> bool:
    """Whether the server refuses the session: with 404 as the protocol says, or with 400 as many do."""
    return status == 404 or (status == 400 and "session" in body.decode(errors="replace").lower())


def _is_stream(answer: httpx.Response) -> bool:
    return (response.raw_header(answer, "content-type") or b"").startswith(b"text/event-stream")


async def _drain(opened: Opened, events: Events, related: int | None, calls: Calls) -> Broken | None:
    """Reads a stream to its end; how it broke, where it did."""
    try:
        async for piece in response.pieces(opened.response):
            for data in events.feed(piece):
                calls.incoming(data, related)
    except httpx.HTTPError as error:
        return Broken(error, opened.mask)
    return None
