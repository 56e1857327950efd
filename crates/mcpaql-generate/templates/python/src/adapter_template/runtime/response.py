"""Outcome → envelope: `{"success":true,"data":…}` or `{"success":false,"error":{…}}`, minified, nothing echoed.

Success may carry `warnings`; a failure is bare. A JSON body of an upstream passes through unparsed (`Raw`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from . import jsontext
from .blocks import shown
from .errors import OpError, Remedy, remedy

if TYPE_CHECKING:
    from .catalog import Operation
    from .jsontext import Json

ErrorPolicy: TypeAlias = Literal["unrecoverable", "all"]
"""Which failures carry MCP's `isError`."""


@dataclass(frozen=True, slots=True)
class Raw:
    """JSON text from elsewhere, known to be one valid value; it passes on as it is written."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the agent should know although the call succeeded."""

    code: str
    message: str


@dataclass(slots=True)
class Answer:
    """What a target answered: the operation's own data, and what the agent should know besides."""

    data: Json | Raw
    warnings: list[Notice] = field(default_factory=list)
    blocks: list[dict[str, Json]] = field(default_factory=list)
    """MCP content blocks beside the data: images, sounds, resources."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back to the client: the envelope's text, content blocks behind it, and MCP's flag."""

    text: str
    blocks: list[dict[str, Json]]
    is_error: bool

    def result(self) -> dict[str, Any]:
        """As the result of `tools/call`."""
        content = [{"type": "text", "text": self.text}, *map(shown, self.blocks)]
        return {"content": content, "isError": self.is_error}


def envelope(outcome: Answer | OpError, policy: ErrorPolicy) -> Reply:
    """The envelope of an outcome."""
    if isinstance(outcome, OpError):
        unrepairable = outcome.undispatched or remedy(outcome.code) is not Remedy.AGENT
        return Reply(_failure(outcome), [], policy == "all" or unrepairable)
    return Reply(_success(outcome), outcome.blocks, is_error=False)


def warnings_text(warnings: list[Notice]) -> str:
    """Warnings as JSON."""
    return jsontext.write([{"code": notice.code, "message": notice.message} for notice in warnings])


def signed(error: OpError, operation: Operation) -> OpError:
    """Whatever finds fault with a call's parameters, the caller is shown what they should be."""
    if error.code.startswith("VALIDATION_"):
        if "operation" not in error.details:
            error.details = {"operation": operation.name, **error.details}
        error.details.setdefault("signature", operation.signature)
    return error


def _success(answer: Answer) -> str:
    data = answer.data.text if isinstance(answer.data, Raw) else jsontext.write(answer.data)
    if not answer.warnings:
        return f'{{"success":true,"data":{data}}}'
    return f'{{"success":true,"data":{data},"warnings":{warnings_text(answer.warnings)}}}'


def _failure(failure: OpError) -> str:
    error: dict[str, Json] = {"code": str(failure.code), "message": failure.message}
    if failure.details:
        error["details"] = failure.details
    return jsontext.write({"success": False, "error": error})
