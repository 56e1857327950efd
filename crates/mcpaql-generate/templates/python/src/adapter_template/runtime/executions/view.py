"""Executions as callers see them; what there is nothing to say about is left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .. import jsontext
from ..errors import Code, OpError
from ..response import Answer, Raw
from ..stamp import now, timestamp
from .outcome import Done, fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..jsontext import Json
    from ..response import Reply
    from .outcome import Outcome
    from .table import Kept, Row

_CURSOR = re.compile(r"x([1-9a-f][0-9a-f]{0,15})")
_LAST = (1 << 63) - 1
_POLL_INTERVAL_MS = 1_000
"""How soon a client may ask again after a task."""


def started(row: Row) -> Answer:
    """What the call that starts one answers."""
    shown = _shown(row)
    del shown["progress"]
    return Answer(shown)


def brief(row: Row) -> Answer:
    """Without what came of it."""
    return Answer(_shown(row))


def whole(kept: Kept) -> Answer:
    """With what came of it."""
    row, outcome = kept.row, kept.outcome
    shown = _shown(row)
    if row.expires_at is not None:
        shown["expires_at"] = timestamp(row.expires_at)
    if isinstance(outcome, OpError):
        shown["error"] = fault(outcome)
    if not isinstance(outcome, Done):
        return Answer(shown)
    warnings = "" if outcome.warnings is None else f',"warnings":{outcome.warnings}'
    text = f'{jsontext.write(shown)[:-1]},"result":{outcome.data}{warnings}}}'
    return Answer(Raw(text), blocks=outcome.blocks)


def listed(rows: list[Row], first: int) -> Answer:
    """A page of them; `rows` has one more where another page follows."""
    shown = rows[:first]
    cursor = f"x{shown[-1].seq:x}" if shown else None
    page: dict[str, Json] = {"hasNextPage": len(rows) > len(shown), "endCursor": cursor}
    return Answer({"executions": [_shown(row) for row in shown], "pageInfo": page})


def place(cursor: str) -> int | None:
    """The place that a cursor names; it has one spelling only."""
    found = _CURSOR.fullmatch(cursor)
    seq = 0 if found is None else int(found[1], 16)
    return seq if 0 < seq <= _LAST else None


def task(kept: Kept, reply: Callable[[Outcome], Reply]) -> dict[str, Any]:
    """As MCP's tasks extension shows it; `reply` writes the outcome as the call would have been answered."""
    row, outcome = kept.row, kept.outcome
    shown: dict[str, Any] = {"taskId": row.id, "status": "working"}
    if row.message is not None:
        shown["statusMessage"] = row.message
    shown["createdAt"] = timestamp(row.started_at)
    shown["lastUpdatedAt"] = timestamp(now() if row.finished_at is None else row.finished_at)
    shown["ttlMs"] = None if row.expires_at is None else (row.expires_at - row.started_at) * 1000
    shown["pollIntervalMs"] = _POLL_INTERVAL_MS
    if row.status == "cancelled":
        shown["status"] = "cancelled"
    elif row.has_ended:
        # What the call would have answered, success or failure.
        unreadable = OpError(Code.INTERNAL, "What came of this execution cannot be read; tell the user.")
        result = reply(unreadable if outcome is None else outcome).result()
        shown |= {"status": "completed", "result": {"resultType": "complete", **result}}
    return shown


def _shown(row: Row) -> dict[str, Json]:
    shown: dict[str, Json] = {
        "execution_id": row.id,
        "operation": row.operation,
        "status": row.status,
        "progress": row.progress,
    }
    if row.message is not None:
        shown["message"] = row.message
    shown["started_at"] = timestamp(row.started_at)
    if row.finished_at is not None:
        shown["finished_at"] = timestamp(row.finished_at)
    return shown
