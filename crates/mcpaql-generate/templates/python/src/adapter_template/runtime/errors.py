"""Errors of calls: `OpError` has a code for programs and a message for the model."""

import re
from enum import StrEnum
from typing import Any


class Code(StrEnum):
    """The error codes of the protocol."""

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


# The model cannot recover from these errors: they set MCP's `isError`.
UNRECOVERABLE = frozenset({Code.INTERNAL, Code.TRANSPORT_TIMEOUT, Code.TRANSPORT_CONNECTION})
# The leak check of the specification. It has no word boundaries, so "that the" counts, too.
INTERNAL = re.compile(r"at\s+\S|typeerror|referenceerror|syntaxerror|/src/|/node_modules/|\.[jt]s:\d", re.IGNORECASE)


class OpError(Exception):
    """A failed call. The message says what to do next and contains no secrets; `cause` is only logged."""

    def __init__(self, code: Code, message: str, cause: object = "", **details: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.cause, self.details = code, message, cause, details


class EnvelopeError(OpError):
    """Arguments that do not name an operation. Sets MCP's `isError` for every code."""


def param_error(code: Code, param: str, problem: str) -> OpError:
    return OpError(code, f"Parameter '{param}' {problem}", param_name=param)


def check_limit(limit: str, actual: int, maximum: int, advice: str = "Send less in one call.", **more: Any) -> None:
    if actual > maximum:
        message = f"The call exceeds {limit}: {actual}, the maximum is {maximum}. {advice}"
        more |= {"limit_type": limit, "limit_value": maximum, "actual_value": actual}
        unit = {"array_elements": "elements", "nesting_depth": "levels"}.get(limit, "bytes")
        raise OpError(Code.PAYLOAD_TOO_LARGE, message, unit=unit, **more)
