"""An answer that is no success, or no answer → an `OpError` that an agent can act on.

What always holds: the message is one line without secrets, and quotes the upstream only where it says nothing of its
insides; the upstream's own words stand capped and masked in `details.upstream`.
"""

from __future__ import annotations

import math
import re
import string
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import jsontext, text
from ..errors import Code, OpError
from .reasons import REASONS
from .retry import retry_after

if TYPE_CHECKING:
    from ..jsontext import Json
    from ..secrets import Mask

SHOWN_BYTES = 4096
"""How much of an upstream's error is passed on."""
READ_BYTES = 64 * 1024
"""How much of an upstream's error is read."""
_MESSAGE_CHARS = 240
"""How much of an upstream's message becomes part of ours."""

_VALUE_WORDS = (
    "invalid value",
    "invalid_value",
    "must be one of",
    "is not one of",
    "not included in the list",
    "out of range",
    "must be greater",
    "must be less",
    "too long",
    "too short",
)
"""Words by which an upstream says that a value, not a type, was wrong. A guess that decides between two codes only."""

_TRACE_WORDS = ("traceback", "stack trace", "stacktrace", "panicked", "exception in thread")
"""Words that a dump of the upstream's state begins with."""

_SOURCE_KINDS = frozenset({"php", "py", "rb", "js", "mjs", "ts", "java", "kt", "go", "rs", "cs", "c", "cpp", "pl"})

_MESSAGE_KEYS = ("message", "error_description", "error", "detail", "title", "msg", "errors", "reason")
"""Where APIs put what they have to say, the most telling place first."""

_ADVICE = {
    Code.INVALID_VALUE: "correct the value and call again",
    Code.INVALID_TYPE: "correct the parameters and call again",
    Code.PERMISSION_DENIED: "tell the user that the credentials of this server do not allow it",
    Code.NOT_FOUND_RESOURCE: "check the identifiers, or list or search first",
    Code.CONFLICT_EXISTS: "read the present state before changing it",
    Code.CONFLICT_VERSION: "read it again and repeat the change with the new version",
    Code.PAYLOAD_TOO_LARGE: "send less in one call",
    Code.RATE_LIMIT_EXCEEDED: "wait before calling again",
}

_CONTROL = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
_WORDS = re.compile(f"[{re.escape(text.WHITE + _CONTROL)}]+")
_TRIMMED = "".join(c for c in string.punctuation if c not in "/\\~")
_INSIDE = re.compile(r"[(=\"'`\[<,]")
_TAG = re.compile(r"<[^>]*(>|$)")


@dataclass(frozen=True, slots=True)
class Refusal:
    """The head and the body, as far as it was read, of an answer that is no success."""

    status: int
    content_type: bytes
    retry_after: str | None
    body: bytes
    cut: bool
    """The body goes on."""

    def error(self, mask: Mask) -> OpError:
        """The error for the caller."""
        body = self._shown_body(mask)
        code = _code_of(self.status, body)
        message = upstream_message(body)
        quote = None if message is None else quotable(message)
        if quote is not None:
            said = f"The API answered {self.status}: {quote}"
        else:
            reason = f" ({REASONS[self.status]})" if self.status in REASONS else ""
            see = ", see details.upstream" if message is not None else ""
            said = f"The API answered {self.status}{reason}{see}"
        upstream: dict[str, Json] = {"status": self.status}
        if body is not None:
            upstream["body"] = body
        error = OpError(code, f"{said}; {advice(code)}.")
        wait = retry_after(self.retry_after)
        if wait is not None:
            error.detail("retry_after_seconds", math.ceil(wait))
        return error.detail("upstream", upstream)

    def _shown_body(self, mask: Mask) -> Json:
        """Parsed where it is JSON that fits, else text; masked before it is cut, so that no half of a secret stays."""
        if not self.cut:
            try:
                value = mask.apply_value(jsontext.read(self.body.decode()))
                if text.size(jsontext.write(value)) <= SHOWN_BYTES:
                    return value
            except ValueError:
                pass
        shown = mask.apply(text.trim(self.body.decode(errors="replace")))
        if self.cut:
            shown = text.cut(shown, max(0, text.size(shown) - mask.longest()))
        if not shown:
            return None
        if text.size(shown) > SHOWN_BYTES:
            shown = text.cut(shown, SHOWN_BYTES - text.size("…")) + "…"
        return _strip_tags(shown) if self.content_type.startswith(b"text/html") else shown


def _strip_tags(html: str) -> str:
    """Error pages: what a browser would show is all an agent can use."""
    return " ".join(text.split(_TAG.sub(" ", html)))


def _code_of(status: int, body: Json) -> Code:
    match status:
        case 400 | 422 if _says_value(body):
            return Code.INVALID_VALUE
        case 401 | 402 | 403 | 451:
            return Code.PERMISSION_DENIED
        case 404 | 410:
            return Code.NOT_FOUND_RESOURCE
        case 408:
            return Code.TRANSPORT_TIMEOUT
        case 409 | 423:
            return Code.CONFLICT_EXISTS
        case 412 | 428:
            return Code.CONFLICT_VERSION
        case 413 | 414 | 431:
            return Code.PAYLOAD_TOO_LARGE
        case 429:
            return Code.RATE_LIMIT_EXCEEDED
        # The method is the document's, so the agent cannot repair a 405.
        case _ if 400 <= status <= 499 and status != 405:
            return Code.INVALID_TYPE
        case _:
            return Code.INTERNAL


def advice(code: Code) -> str:
    """What to do about a failure of that code."""
    return _ADVICE.get(code, "try later or tell the user")


def _says_value(body: Json) -> bool:
    said = jsontext.write(body).lower()
    return any(words in said for words in _VALUE_WORDS)


def upstream_message(body: Json) -> str | None:
    """What the upstream itself says, from the places where APIs put it."""
    found: str | None = None
    if isinstance(body, str):
        # A page of text is no message.
        found = body if len(body) <= _MESSAGE_CHARS else None
    elif isinstance(body, dict):
        said = (upstream_message(body[key]) for key in _MESSAGE_KEYS if key in body)
        found = next((message for message in said if message is not None), None)
    elif isinstance(body, list) and body:
        found = upstream_message(body[0])
    return found if found is not None and text.trim(found) else None


def quotable(message: str) -> str | None:
    """The first line, capped and without a final full stop; nothing where it shows the insides of the upstream."""
    if _shows_insides(message):
        return None
    line = next((line for line in map(text.trim, message.split("\n")) if line), "")
    words = [word for word in _WORDS.split(line) if word]
    return text.shorten(" ".join(words).rstrip(".!;,:"), _MESSAGE_CHARS) or None


def _shows_insides(message: str) -> bool:
    """Whether a text names a file of the upstream's machine or reads like a stack trace ("at <word>" is a frame)."""
    lower = message.lower()
    if any(trace in lower for trace in _TRACE_WORDS):
        return True
    after_at = False
    for word in (word.strip(_TRIMMED) for word in _WORDS.split(lower) if word):
        if (after_at and word) or any(map(_is_file_path, _INSIDE.split(word))):
            return True
        after_at = word == "at"
    return False


def _is_file_path(word: str) -> bool:
    """An absolute path of two parts or more, one on a Windows drive or share, a source file with a folder or a line."""
    path = word.removeprefix("file://")
    if "://" in path:
        return False
    rooted = path.removeprefix("~")
    file, _, line = path.partition(":")
    name, dot, kind = file.rpartition(".")
    placed = "/" in name or "\\" in name or line[:1] in tuple(string.digits)
    return (
        (rooted.startswith("/") and "/" in rooted[1:].rstrip("/"))
        or path[1:3] == ":\\"
        or path.startswith("\\\\")
        or bool(dot and placed and kind in _SOURCE_KINDS)
    )
