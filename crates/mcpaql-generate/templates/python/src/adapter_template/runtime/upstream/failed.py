"""A tool that failed → an `OpError` that an agent can act on, with the upstream's own words.

What always holds: the message is one line without secrets, and quotes the upstream only where it says nothing of its
insides; what it said stands capped and masked in `details.upstream`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .. import jsontext, text
from ..errors import Code, OpError
from ..http.failure import SHOWN_BYTES, quotable, upstream_message
from ..http.failure import advice as usual_advice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..jsontext import Json
    from ..secrets import Mask

_WORDS: tuple[tuple[Code, tuple[str, ...]], ...] = (
    (Code.NOT_FOUND_OPERATION, ("unknown tool", "tool not found", "no such tool")),
    (Code.RATE_LIMIT_EXCEEDED, ("rate limit", "too many requests", "quota exceeded")),
    (
        Code.PERMISSION_DENIED,
        (
            "permission denied",
            "access denied",
            "unauthorized",
            "not authorized",
            "forbidden",
            "eacces",
            "authentication",
            "not allowed",
        ),
    ),
    (Code.CONFLICT_EXISTS, ("already exists", "eexist", "conflict")),
    (Code.NOT_FOUND_RESOURCE, ("not found", "no such", "does not exist", "doesn't exist", "enoent")),
    (Code.TRANSPORT_TIMEOUT, ("timed out", "timeout exceeded", "timeout after", "timeout of")),
    (
        Code.INVALID_VALUE,
        (
            "invalid",
            "validation",
            "required",
            "missing",
            "must be",
            "must not",
            "expected",
            "unexpected",
            "not a valid",
            "out of range",
            "too long",
            "too short",
            "unsupported",
            "unknown",
        ),
    ),
)
"""Words by which a tool says what went wrong, in the order they are looked for. A guess, and only about the code."""

_REFUSALS = {
    -32601: Code.NOT_FOUND_OPERATION,
    -32602: Code.INVALID_VALUE,
    -32002: Code.NOT_FOUND_RESOURCE,
    # Somebody has to open an address first; it stands in the data.
    -32042: Code.CONFIRMATION_REQUIRED,
}

_ADVICE = {
    Code.NOT_FOUND_OPERATION: "the server may have changed its tools, so tell the user",
    Code.CONFIRMATION_REQUIRED: "ask the user to do what details.upstream says",
    Code.PERMISSION_DENIED: "ask for what it allows, or tell the user",
}

_INTRODUCED = re.compile(r"MCP error [+-]?[0-9]{1,18}: (.*)", re.DOTALL)


def tool_error(said: Json, mask: Mask) -> OpError:
    """The error for a result with `isError`: what the tool said is text, or JSON where it is that."""
    said = mask.apply_value(said)
    lower = (said if isinstance(said, str) else jsontext.write(said)).lower()
    code = next((code for code, words in _WORDS if any(word in lower for word in words)), Code.INTERNAL)
    return _error("The tool failed", code, said if isinstance(said, str) else upstream_message(said), said)


def refused(number: int, message: str, data: Json, mask: Mask) -> OpError:
    """The error for a call that was answered with an error of JSON-RPC."""
    words = mask.apply(message)
    lower = words.lower()
    code = _REFUSALS.get(number, Code.INTERNAL)
    if number == -32602 and ("unknown tool" in lower or ("tool" in lower and "not found" in lower)):
        code = Code.NOT_FOUND_OPERATION
    said: dict[str, Json] = {"code": number, "message": words}
    if data is not None:
        said["data"] = mask.apply_value(data)
    return _error("The MCP server refused the call", code, words, said)


def passed_on(error: Mapping[str, Json], mask: Mask) -> OpError | None:
    """The error of an upstream that answers with envelopes like ours; nothing where it is none."""
    name, message = error.get("code"), error.get("message")
    if not isinstance(name, str) or not isinstance(message, str):
        return None
    words = mask.apply(message)
    known = name in set(Code)
    code = Code(name) if known else Code.INTERNAL
    if text.size(words) <= SHOWN_BYTES and quotable(words) is not None:
        passed = OpError(code, words)
    else:
        passed = _error("The tool failed", code, None, words)
    details = error.get("details")
    if isinstance(details, dict):
        shown = {mask.apply(key): mask.apply_value(value) for key, value in details.items()}
        if text.size(jsontext.write(shown)) <= SHOWN_BYTES:
            passed.details.update(shown)
    return passed if known else passed.detail("upstream_code", name)


def _error(what: str, code: Code, words: str | None, said: Json) -> OpError:
    quote = None if words is None else quotable(softened(words))
    advice = _ADVICE.get(code) or usual_advice(code)
    if quote is not None:
        message = f"{what}: {quote}; {advice}."
    elif said is None or said == "":
        message = f"{what} and said nothing; {advice}."
    else:
        message = f"{what}, see details.upstream; {advice}."
    failed = OpError(code, message)
    return failed if said is None or said == "" else failed.detail("upstream", _capped(said))


def softened(words: str) -> str:
    """The words without the library's own introduction, and with the place of a wrong value put another way.

    `expected number at limit` is how validators of half the servers speak, and nobody should take it for a line of a
    stack trace.
    """
    words = text.trim(words)
    introduced = _INTRODUCED.fullmatch(words)
    first, *pieces = (introduced[1] if introduced else words).split(" at ")
    return first + "".join((" for " if _is_field(piece) else " at ") + piece for piece in pieces)


def _is_field(piece: str) -> bool:
    """Whether a text begins with the place of a value, and goes on with another sentence or not at all."""
    end = next((at for at, char in enumerate(piece) if not (text.is_alphanumeric(char) or char in "_.[]$")), len(piece))
    return end > 0 and piece[end : end + 1] in ("", ";", ",", "\n")


def _capped(said: Json) -> Json:
    """As it is where it is short, else the beginning of its text; masked already, so no half of a secret stays."""
    written = said if isinstance(said, str) else jsontext.write(said)
    if text.size(written) <= SHOWN_BYTES:
        return said
    return text.cut(written, SHOWN_BYTES - text.size("…")) + "…"
