"""Every failure a caller can meet, with who can do something about it.

`OpError` is what goes wrong in a call and is written for the model that reads it. What only an operator may see (the
upstream's address, a driver's message) travels in `log_cause` and reaches the log, never the envelope.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from .jsontext import Json


class Remedy(Enum):
    """Who can do something about a failure, which decides MCP's `isError`."""

    AGENT = "agent"
    """The agent can repair its call or choose another one."""
    OPERATOR = "operator"
    """Nobody in the conversation can: the server, the network or the upstream failed."""


class Code(StrEnum):
    """The codes of the protocol that travel in calls."""

    MISSING_PARAM = "VALIDATION_MISSING_PARAM"
    INVALID_TYPE = "VALIDATION_INVALID_TYPE"
    INVALID_VALUE = "VALIDATION_INVALID_VALUE"
    UNKNOWN_PARAM = "VALIDATION_UNKNOWN_PARAM"
    UNKNOWN_FIELD = "VALIDATION_UNKNOWN_FIELD"
    ENDPOINT_MISMATCH = "VALIDATION_ENDPOINT_MISMATCH"
    INVALID_ENCODING = "VALIDATION_INVALID_ENCODING"
    PAYLOAD_TOO_LARGE = "VALIDATION_PAYLOAD_TOO_LARGE"
    NOT_FOUND_OPERATION = "NOT_FOUND_OPERATION"
    NOT_FOUND_RESOURCE = "NOT_FOUND_RESOURCE"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    PERMISSION_TRUST = "PERMISSION_TRUST_LEVEL_INSUFFICIENT"
    PERMISSION_DANGER = "PERMISSION_DANGER_LEVEL_DENIED"
    CONFIRMATION_REQUIRED = "CONFIRMATION_REQUIRED"
    CONFIRMATION_INVALID = "TOKEN_INVALID"
    CONFIRMATION_EXPIRED = "TOKEN_EXPIRED"
    CONFIRMATION_ALREADY_USED = "TOKEN_ALREADY_USED"
    CONFIRMATION_SCOPE_MISMATCH = "TOKEN_SCOPE_MISMATCH"
    RATE_LIMIT_EXCEEDED = "RATE_LIMIT_EXCEEDED"
    QUOTA_WARNING = "RATE_LIMIT_QUOTA_WARNING"
    QUOTA_PAUSE = "RATE_LIMIT_QUOTA_PAUSE"
    QUOTA_EXHAUSTED = "RATE_LIMIT_QUOTA_EXHAUSTED"
    CONFLICT_EXISTS = "CONFLICT_ALREADY_EXISTS"
    CONFLICT_VERSION = "CONFLICT_VERSION_MISMATCH"
    INTERNAL = "INTERNAL_ERROR"
    TRANSPORT_TIMEOUT = "TRANSPORT_TIMEOUT"
    TRANSPORT_CONNECTION = "TRANSPORT_CONNECTION_FAILED"
    TRANSPORT_CANCELLED = "TRANSPORT_CANCELLED"


_OPERATOR = frozenset(
    {Code.INTERNAL, Code.TRANSPORT_TIMEOUT, Code.TRANSPORT_CONNECTION, Code.TRANSPORT_CANCELLED},
)


def remedy(code: Code) -> Remedy:
    """Who can act on a failure of that code."""
    return Remedy.OPERATOR if code in _OPERATOR else Remedy.AGENT


class OpError(Exception):
    """A failed call: a code, one sentence for the model, structured details, and a cause for the log alone."""

    def __init__(self, code: Code, message: str, details: dict[str, Json] | None = None) -> None:
        """`message` says what to do next: no path, no type name, no secret."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.details: dict[str, Json] = {} if details is None else dict(details)
        self.undispatched = False
        """The arguments were no envelope at all, so nothing was dispatched: MCP's `isError`, whatever the code."""
        self.log_cause: str | None = None

    def detail(self, key: str, value: Json) -> Self:
        """Adds what a program can read."""
        self.details[key] = value
        return self

    def before_dispatch(self) -> Self:
        """Marks arguments that are no envelope."""
        self.undispatched = True
        return self

    def because(self, cause: object) -> Self:
        """Adds what only the log may show."""
        self.log_cause = str(cause)
        return self


class HandlerFailed(Exception):
    """A call failed in a way that it should not, and the operator has been told."""
