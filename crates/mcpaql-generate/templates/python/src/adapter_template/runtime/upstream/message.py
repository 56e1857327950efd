"""JSON-RPC on the wire: what came in, told apart without building values of it, and what goes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from .. import jsontext, rawjson

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..jsontext import Json

REVISION = "2025-11-25"
"""The revision that is asked for first; whatever the server answers is accepted."""
STATELESS = "2026-07-28"
"""The first revision without a handshake."""
METHOD_NOT_FOUND = -32601
UNSUPPORTED_REVISION = -32022
"""MCP's code for a revision that a server does not speak."""

CLIENT_INFO: Mapping[str, Json] = {"name": "mcpaql", "title": "MCP-AQL", "version": "__GENERATOR_VERSION__"}
CAPABILITIES: Mapping[str, Json] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}}
"""What we can be asked for: questions go on to whoever called."""
STATELESS_META: Mapping[str, Json] = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientInfo": dict(CLIENT_INFO),
    "io.modelcontextprotocol/clientCapabilities": dict(CAPABILITIES),
}
"""What each request of the revisions without a handshake carries."""

_KNOWN = frozenset({"id", "method", "params", "result", "error"})


@dataclass(frozen=True, slots=True)
class Answer:
    """To a request of ours; the result or the error is the text it came as."""

    id: int
    result: str | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the server's own."""

    id: str
    """As it was written."""
    method: str
    params: str | None


@dataclass(frozen=True, slots=True)
class Notification:
    """News."""

    method: str
    params: str | None


Message: TypeAlias = Answer | Request | Notification
"""What a server sent."""


def read(text: str) -> list[Message]:
    """The messages in a text: one, or those of a batch. What is none is left out.

    Raises `ValueError` where the text is no JSON.
    """
    if not text.startswith("["):
        one = _message(text)
        return [] if one is None else [one]
    found: list[Message] = []
    for item in rawjson.items(text):
        try:
            one = _message(item)
        except ValueError:
            continue
        if one is not None:
            found.append(one)
    return found


def _message(text: str) -> Message | None:
    parts: dict[str, str] = {}
    for name, value in rawjson.members(text):
        if name in parts and name in _KNOWN:
            raise ValueError("a member is there twice")
        parts[name] = value
    number, error = _unless_null(parts.get("id")), _unless_null(parts.get("error"))
    params, method = parts.get("params"), jsontext.read(parts.get("method", "null"))
    if isinstance(method, str):
        return Notification(method, params) if number is None else Request(number, method, params)
    if method is not None:
        raise ValueError("the method is no text")
    # Some servers answer with the number as a text.
    digits = "" if number is None else number.strip('"')
    if not digits.isascii() or not digits.isdigit() or (error is None and "result" not in parts):
        # A line of a log that happens to be JSON.
        return None
    return Answer(int(digits), None if error else parts["result"], error)


def _unless_null(text: str | None) -> str | None:
    return None if text == "null" else text


def request(number: int, method: str, params: Mapping[str, Json], meta: Mapping[str, Json]) -> str:
    """A request of ours; a line of it. `meta` is joined with what the parameters have there."""
    own = params.get("_meta")
    joined: dict[str, Json] = {**(own if isinstance(own, dict) else {}), **meta}
    given = {name: value for name, value in params.items() if name != "_meta"}
    if joined:
        given["_meta"] = joined
    return _line({"jsonrpc": "2.0", "id": number, "method": method, "params": given})


def notification(method: str, params: dict[str, Json] | None = None) -> str:
    """A notification of ours."""
    about: dict[str, Json] = {} if params is None else {"params": params}
    return _line({"jsonrpc": "2.0", "method": method, **about})


def answer(number: str, result: Json) -> str:
    """The answer to a request of the server."""
    return f'{{"jsonrpc":"2.0","id":{number},"result":{jsontext.write(result)}}}\n'


def refusal(number: str, error: dict[str, Json]) -> str:
    """The answer to a request of the server that cannot be followed."""
    return f'{{"jsonrpc":"2.0","id":{number},"error":{jsontext.write(error)}}}\n'


def _line(message: dict[str, Json]) -> str:
    return jsontext.write(message) + "\n"
