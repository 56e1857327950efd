"""The failures of calls: `OpError` with a code that programs read and a sentence that the model reads."""

from enum import StrEnum
from typing import Any


class Code(StrEnum):
    """The error codes of the protocol that a call can end with."""

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
    RATE_LIMIT_EXCEEDED = "RATE_LIMIT_EXCEEDED"
    CONFLICT_EXISTS = "CONFLICT_ALREADY_EXISTS"
    CONFLICT_VERSION = "CONFLICT_VERSION_MISMATCH"
    INTERNAL = "INTERNAL_ERROR"
    TRANSPORT_TIMEOUT = "TRANSPORT_TIMEOUT"
    TRANSPORT_CONNECTION = "TRANSPORT_CONNECTION_FAILED"


# Codes that nothing in the conversation can repair: they set MCP's `isError`.
UNRECOVERABLE = frozenset({Code.INTERNAL, Code.TRANSPORT_TIMEOUT, Code.TRANSPORT_CONNECTION})


class OpError(Exception):
    """A failed call. The message says what to do next and holds no secret; `cause` goes to the log alone."""

    def __init__(self, code: Code, message: str, cause: object = "", **details: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.cause, self.details = code, message, cause, details


class EnvelopeError(OpError):
    """Arguments that name no operation at all, which sets MCP's `isError` whatever the code is."""
