"""What came of an execution, and how it is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import jsontext, rawjson, text
from ..errors import Code, OpError
from ..response import Answer, Raw, warnings_text

if TYPE_CHECKING:
    from ..jsontext import Json


@dataclass(frozen=True, slots=True)
class Done:
    """An answer as it is kept: texts that pass on as they are written."""

    data: str
    warnings: str | None = None
    blocks: list[dict[str, Json]] = field(default_factory=list)

    @staticmethod
    def of(answer: Answer) -> Done:
        """What is kept of an answer."""
        data = answer.data.text if isinstance(answer.data, Raw) else jsontext.write(answer.data)
        return Done(data, warnings_text(answer.warnings) if answer.warnings else None, answer.blocks)

    def size(self) -> int:
        """The length of its texts in bytes."""
        blocks = (jsontext.write(block) for block in self.blocks)
        return sum(map(text.size, (self.data, self.warnings or "", *blocks)))


Outcome: TypeAlias = Done | OpError
"""What came of an execution."""


def write(outcome: Outcome) -> str:
    """As it is kept."""
    if isinstance(outcome, OpError):
        return jsontext.write(fault(outcome))
    members = [f'"data":{outcome.data}']
    if outcome.warnings is not None:
        members.append(f'"warnings":{outcome.warnings}')
    if outcome.blocks:
        members.append(f'"blocks":{jsontext.write([*outcome.blocks])}')
    return f"{{{','.join(members)}}}"


def read(kept: str, *, completed: bool) -> Outcome | None:
    """What was kept; nothing where it cannot be read."""
    try:
        members = dict(rawjson.members(kept))
        if completed:
            return Done(members["data"], members.get("warnings"), _blocks(members.get("blocks", "[]")))
        fields: Any = jsontext.read(kept)
        code = fields["code"] if fields["code"] in [*Code] else Code.INTERNAL
        return OpError(Code(code), str(fields["message"]), fields.get("details"))
    except (ValueError, KeyError, TypeError):
        return None


def fault(error: OpError) -> dict[str, Json]:
    """A failure as callers see it."""
    shown: dict[str, Json] = {"code": str(error.code), "message": error.message}
    if error.details:
        shown["details"] = error.details
    return shown


def _blocks(kept: str) -> list[dict[str, Json]]:
    blocks = jsontext.read(kept)
    return [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
