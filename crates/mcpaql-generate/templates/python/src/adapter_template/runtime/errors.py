"""Errors of calls: `OpError` has a code for programs and a message for the model."""

import re
from typing import Any

# The model cannot recover from these errors: they set MCP's `isError`.
UNRECOVERABLE = frozenset({"INTERNAL_ERROR", "TRANSPORT_TIMEOUT", "TRANSPORT_CONNECTION_FAILED"})
# The leak check of the specification. It has no word boundaries, so "that the" counts, too.
INTERNAL = re.compile(r"at\s+\S|typeerror|referenceerror|syntaxerror|/src/|/node_modules/|\.[jt]s:\d", re.IGNORECASE)


class OpError(Exception):
    """A failed call. The message says what to do next and contains no secrets; `cause` is only logged."""

    def __init__(self, code: str, message: str, cause: object = "", *, unrouted: bool = False, **details: Any) -> None:
        super().__init__(message)
        self.code, self.message, self.cause, self.details = code, message, cause, details
        self.unrouted = unrouted  # the arguments do not name an operation, which sets MCP's `isError`


def param_error(param: str, problem: str, code: str = "VALIDATION_INVALID_VALUE") -> OpError:
    return OpError(code, f"Parameter '{param}' {problem}", param_name=param)


def check_limit(limit: str, actual: int, maximum: float, advice: str = "Send less in one call.", **more: Any) -> None:
    if actual > maximum:
        unit = {"array_elements": "elements", "nesting_depth": "levels"}.get(limit, "bytes")
        more |= {"limit_type": limit, "limit_value": maximum, "actual_value": actual, "unit": unit}
        raise OpError("VALIDATION_PAYLOAD_TOO_LARGE", f"The call exceeds {limit}. {advice}", **more)
