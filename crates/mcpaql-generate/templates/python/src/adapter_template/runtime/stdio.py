"""Messages on standard input and output, one on each line.

Every line that asks for an answer gets one: what cannot be read is answered here, and the conversation goes on with the
next line. The end of input, or an order to stop, reaches the server only after every request that was read has been
answered, unless nobody is there any more to hear the answers.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import select
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from . import jsontext
from .peer import Peer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from .jsontext import Json

_log = logging.getLogger(__name__)

_STDIN, _STDOUT = 0, 1
_MAX_LINE = 16 * 1024 * 1024
"""The longest line that is read."""
GRACE = 10.0
"""Seconds for running calls after the server was told to stop."""
_CHUNK = 64 * 1024

_STOPPING = [number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]
"""What tells the server to stop, as far as the system has it."""

_UNREADABLE = (
    "The message cannot be read as JSON: send one JSON-RPC 2.0 object in UTF-8, without lone surrogates, with numbers "
    "in range and nested no deeper than 127 levels."
)
_NO_REQUEST = "The message is no JSON-RPC 2.0 request: send an object with jsonrpc, id, method and, if any, params."
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,254}"|-?[0-9]{1,20})')

Serve: TypeAlias = "Callable[[MemoryObjectReceiveStream[Any], MemoryObjectSendStream[Any], Peer], Awaitable[None]]"
"""Serves the messages of one stream and answers into the other until the first one ends; the client can be asked."""


async def converse(serve: Serve) -> None:
    """Lets a server speak with the client on standard input and output, until either ends it."""
    await _Conversation(asyncio.get_running_loop()).run(serve)


class _Conversation:
    """One client."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue(16)
        # Requests that were read and not yet answered.
        self._pending: set[str | int] = set()
        self._answered = asyncio.Event()
        self._stop = asyncio.Event()
        # Set when the client cannot be answered any more.
        self._lost = asyncio.Event()
        self._to_server, self._from_client = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        self._to_client, self._from_server = anyio.create_memory_object_stream[SessionMessage](0)
        self._peer = Peer(self._to_client.send)

    async def run(self, serve: Serve) -> None:
        for number in _STOPPING:
            try:
                self._loop.add_signal_handler(number, self._stop.set)
            except NotImplementedError:
                signal.signal(number, lambda *_: self._loop.call_soon_threadsafe(self._stop.set))
        # Threads that never end by themselves: reading from a client cannot be called off.
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._watch, daemon=True).start()
        writing = asyncio.create_task(self._write())
        receiving = asyncio.create_task(self._receive())
        try:
            await serve(self._from_client, self._to_client, self._peer)
        finally:
            receiving.cancel()
            await self._to_client.aclose()
            await writing

    def _read(self) -> None:
        """Puts every line into the queue; nothing where the input has ended."""
        kept = bytearray()
        is_long = False
        while chunk := _read_chunk():
            *whole, rest = chunk.split(b"\n")
            for piece in whole:
                self._hand_over(b"" if is_long else bytes(kept + piece))
                kept.clear()
                is_long = False
            if not is_long:
                kept += rest
            if len(kept) > _MAX_LINE:
                self._refuse_long(bytes(kept))
                kept.clear()
                is_long = True
        if kept:
            self._hand_over(bytes(kept))
        self._hand_over(None)

    def _hand_over(self, line: bytes | None) -> None:
        asyncio.run_coroutine_threadsafe(self._lines.put(line), self._loop).result()

    def _refuse_long(self, line: bytes) -> None:
        message = f"The message has more than {_MAX_LINE} bytes, the most that are read; send less."
        refusal = _refusal(types.INVALID_REQUEST, message, _id_in(line))
        asyncio.run_coroutine_threadsafe(self._to_client.send(refusal), self._loop).result()

    def _watch(self) -> None:
        """Notices when nobody reads standard output any more."""
        if sys.platform == "win32":
            return
        watch = select.poll()
        watch.register(_STDOUT, 0)
        watch.poll()
        self._loop.call_soon_threadsafe(self._lost.set)

    async def _receive(self) -> None:
        """Passes on what the client says; ends the stream when it has ended and everything is answered."""
        stopping = asyncio.create_task(self._stop.wait())
        losing = asyncio.create_task(self._lost.wait())
        try:
            while True:
                reading = asyncio.create_task(self._lines.get())
                await asyncio.wait({reading, stopping, losing}, return_when=asyncio.FIRST_COMPLETED)
                if not reading.done():
                    reading.cancel()
                    break
                line = reading.result()
                if line is None:
                    break
                await self._take(line.removeprefix(b"\xef\xbb\xbf").strip())
            self._peer.end()
            await self._drained(stopping, losing)
        finally:
            stopping.cancel()
            losing.cancel()
            await self._to_server.aclose()

    async def _drained(self, stopping: asyncio.Task[bool], losing: asyncio.Task[bool]) -> None:
        """Waits for the answers that are due, unless nobody waits for them; after an order to stop, not for long."""
        while self._pending and not losing.done():
            self._answered.clear()
            answered = asyncio.create_task(self._answered.wait())
            timeout = GRACE if stopping.done() else None
            waiting = {answered, losing} if stopping.done() else {answered, losing, stopping}
            done, _ = await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            answered.cancel()
            if not done:
                return

    async def _take(self, line: bytes) -> None:
        if not line:
            return
        try:
            value = jsontext.read(line.decode())
        except ValueError:
            await self._to_client.send(_refusal(types.PARSE_ERROR, _UNREADABLE, _id_in(line)))
            return
        try:
            message = types.jsonrpc_message_adapter.validate_python(value)
        except ValidationError:
            message = None
        # The library takes a request whose id is none for a notification.
        if message is None or (isinstance(message, types.JSONRPCNotification) and _has_id(value)):
            refusal = _no_message(value)
            if refusal is not None:
                await self._to_client.send(refusal)
            return
        if isinstance(message, types.JSONRPCRequest):
            self._pending.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            # A cancelled request is never answered.
            self._settle((message.params or {}).get("requestId"))
        if not self._peer.heard(message):
            await self._to_server.send(SessionMessage(message))

    async def _write(self) -> None:
        async for item in self._from_server:
            line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            try:
                await asyncio.to_thread(_write_all, line)
            except OSError:
                self._lost.set()
            if isinstance(item.message, (types.JSONRPCResponse, types.JSONRPCError)):
                # What answers a line that cannot be read has no id.
                self._settle(getattr(item.message, "id", None))

    def _settle(self, number: Any) -> None:
        if isinstance(number, (str, int)):
            self._pending.discard(number)
        self._answered.set()


def _read_chunk() -> bytes:
    try:
        return os.read(_STDIN, _CHUNK)
    except OSError:
        # The end of a stream that fails is its end.
        return b""


def _write_all(line: bytes) -> None:
    left = memoryview(line)
    while left:
        left = left[os.write(_STDOUT, left) :]


def _id_in(line: bytes) -> str | int | None:
    """The id in a message that is broken elsewhere."""
    found = _ID.search(line)
    try:
        value = None if found is None else jsontext.read(found[1].decode())
    except ValueError:
        return None
    return value if isinstance(value, (str, int)) else None


def _has_id(value: Json) -> bool:
    return isinstance(value, dict) and "id" in value


def _no_message(value: Json) -> SessionMessage | None:
    """The answer to JSON that is no message; nothing for what is never answered: a notification or an answer."""
    fields = value if isinstance(value, dict) else {}
    is_answer = "method" not in fields and ("result" in fields or "error" in fields)
    if is_answer or ("id" not in fields and isinstance(fields.get("method"), str)):
        return None
    number = fields.get("id")
    is_id = isinstance(number, (str, int)) and not isinstance(number, bool)
    return _refusal(types.INVALID_REQUEST, _NO_REQUEST, number if is_id else None)


def _refusal(code: int, message: str, number: Any) -> SessionMessage:
    error = types.ErrorData(code=code, message=message)
    about = {} if number is None else {"id": number}
    # What answers nothing that can be told has no id at all.
    return SessionMessage(types.JSONRPCError.model_construct(jsonrpc="2.0", **about, error=error))
