"""Why an upstream gave no answer, and what a caller is told about it. Nothing here shows a secret."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from ..errors import Code, OpError

if TYPE_CHECKING:
    from ..jsontext import Json
    from ..secrets import Mask


@dataclass(frozen=True, slots=True)
class Unavailable:
    """It could not be started or reached, or it went away."""

    server: str
    reason: str
    """What happened, as the rest of a sentence."""
    retry_after: float | None = None
    """Seconds until it will be tried again; nothing means that the next call does."""

    def __str__(self) -> str:
        """A sentence without its end."""
        return f"the MCP server '{self.server}' {self.reason}"


@dataclass(frozen=True, slots=True)
class Late:
    """It did not answer in time."""

    server: str
    after_ms: int

    def __str__(self) -> str:
        """A sentence without its end."""
        return f"the MCP server '{self.server}' did not answer within {self.after_ms} ms"


@dataclass(frozen=True, slots=True)
class TooLarge:
    """The answer was larger than may be."""

    server: str
    limit: int

    def __str__(self) -> str:
        """A sentence without its end."""
        return f"the answer of the MCP server '{self.server}' has more than {self.limit} bytes"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The answer was not one."""

    server: str
    reason: str
    """What is wrong with it, as the rest of a sentence."""

    def __str__(self) -> str:
        """A sentence without its end."""
        return f"the answer of the MCP server '{self.server}' {self.reason}"


@dataclass(frozen=True, slots=True)
class RpcRefused:
    """It answered with an error of the protocol."""

    server: str
    code: int
    message: str
    data: Json = None

    def __str__(self) -> str:
        """A sentence without its end."""
        return f"the MCP server '{self.server}' answered with error {self.code}: {self.message}"


@dataclass(frozen=True, slots=True)
class Shut:
    """Credentials are missing, or the way to it refused the request."""

    error: OpError

    def __str__(self) -> str:
        """What the caller is told."""
        return self.error.message


Fault: TypeAlias = Unavailable | Late | TooLarge | Unreadable | RpcRefused | Shut
"""Why there is no answer."""


class Failed(Exception):
    """A call that failed."""

    def __init__(self, fault: Fault, *, unseen: bool = False) -> None:
        """`unseen` where the server cannot have seen the call."""
        super().__init__(str(fault))
        self.fault = fault
        self.unseen = unseen


class UpstreamSetupError(Exception):
    """Why an upstream cannot be reached as the document wants. Written for the operator."""


def masked(fault: Fault, mask: Mask) -> Fault:
    """The same without secrets in the server's own words."""
    if not isinstance(fault, RpcRefused):
        return fault
    return replace(fault, message=mask.apply(fault.message), data=mask.apply_value(fault.data))


def told(fault: Fault) -> OpError:
    """What the caller is told. What an error of the protocol means, whoever made the request knows better."""
    match fault:
        case Unavailable(retry_after=None):
            return _told(fault, Code.TRANSPORT_CONNECTION, f"try again, and {_READ_FIRST}")
        case Unavailable():
            error = _told(fault, Code.TRANSPORT_CONNECTION, "it is tried again later")
            return error.detail("retry_after_seconds", math.ceil(fault.retry_after or 0))
        case Late():
            return _told(fault, Code.TRANSPORT_TIMEOUT, f"try later or ask for less, and {_READ_FIRST}")
        case TooLarge():
            error = _told(fault, Code.PAYLOAD_TOO_LARGE, "ask for less with a page, a filter or fewer fields")
            return error.detail("limit", "max_response_bytes").detail("max_bytes", fault.limit)
        case Shut():
            return OpError(fault.error.code, fault.error.message, fault.error.details).because(fault.error.log_cause)
        case _:
            return _told(fault, Code.INTERNAL, "tell the user")


_READ_FIRST = "after a write first read whether it took effect"


def _told(fault: Fault, code: Code, advice: str) -> OpError:
    said = str(fault)
    return OpError(code, f"{said[:1].upper()}{said[1:]}; {advice}.")
