"""The table of executions, which `mcpaql serve` may share.

What always holds: a state that ends is never left, whoever writes; no parameter of a call stands in the table. Nothing
here waits for anything but the file: whoever must not wait asks from another thread.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from ..datafile import Layout, open_file
from ..stamp import now
from . import outcome as outcomes

if TYPE_CHECKING:
    from pathlib import Path

    from .outcome import Outcome

_LAYOUT = Layout(
    0x6D617165,  # "maqe"
    """
    CREATE TABLE executions (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        adapter TEXT NOT NULL,
        id TEXT NOT NULL UNIQUE,
        operation TEXT NOT NULL,
        status TEXT NOT NULL,
        progress INTEGER NOT NULL,
        message TEXT,
        started_at INTEGER NOT NULL,
        finished_at INTEGER,
        expires_at INTEGER,
        keep INTEGER NOT NULL,
        instance TEXT NOT NULL,
        cancel INTEGER NOT NULL DEFAULT 0,
        outcome TEXT
    ) STRICT;
    CREATE INDEX executions_newest ON executions (adapter, seq);
    CREATE INDEX executions_expiry ON executions (expires_at) WHERE expires_at IS NOT NULL;
    """,
)

Status: TypeAlias = Literal["pending", "running", "completed", "failed", "cancelled"]
"""Where an execution stands: waits for its turn, is being worked on, has a result, has an error, was stopped."""

_STATES = ("pending", "running", "completed", "failed", "cancelled")
_LAST = (1 << 63) - 1
_COLUMNS = "seq, id, operation, status, progress, message, started_at, finished_at, expires_at, instance"


@dataclass(frozen=True, slots=True)
class Row:
    """One execution without what came of it."""

    seq: int
    id: str
    operation: str
    word: str
    progress: int
    message: str | None
    started_at: int
    finished_at: int | None
    expires_at: int | None
    instance: str

    @property
    def status(self) -> Status:
        """Where it stands. A word that nobody writes is no state to wait in."""
        return cast("Status", self.word) if self.word in _STATES else "failed"

    @property
    def has_ended(self) -> bool:
        """Whether nothing follows."""
        return self.status not in ("pending", "running")


@dataclass(frozen=True, slots=True)
class New:
    """An execution to be entered."""

    operation: str
    status: Status
    progress: int
    keep: int


@dataclass(frozen=True, slots=True)
class Kept:
    """One execution with what came of it."""

    row: Row
    outcome: Outcome | None = None


class Table:
    """The executions of one adapter."""

    def __init__(self, path: Path | None, adapter: str) -> None:
        """The table in that file, made where there is none; without a path, one that ends with the process.

        Raises `StoreError`.
        """
        self._adapter = adapter
        self._file = open_file(path, _LAYOUT)

    def close(self) -> None:
        """Lets go of the file."""
        self._file.close()

    def insert(self, identity: str, new: New, instance: str) -> Row | None:
        """Enters a new execution; nothing where its id is taken."""
        try:
            self._file.execute(
                "INSERT INTO executions (adapter, id, operation, status, progress, started_at, keep, instance) "
                "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                (self._adapter, identity, new.operation, new.status, new.progress, now(), new.keep, instance),
            )
        except sqlite3.IntegrityError:
            return None
        return next(iter(self._rows("id = ?2", identity)))

    def begin(self, identity: str, progress: int) -> None:
        """Says that its turn has come."""
        self._file.execute(
            "UPDATE executions SET status = 'running', progress = ?3 "
            "WHERE adapter = ?1 AND id = ?2 AND status = 'pending'",
            (self._adapter, identity, progress),
        )

    def advance(self, identity: str, progress: int, message: str | None) -> None:
        """Says how far it has come; never back."""
        self._file.execute(
            "UPDATE executions SET progress = max(progress, ?3), message = coalesce(?4, message) "
            "WHERE adapter = ?1 AND id = ?2 AND status = 'running'",
            (self._adapter, identity, progress, message),
        )

    def finish(self, identity: str, status: Status, message: str | None = None, outcome: Outcome | None = None) -> None:
        """Says how it ended, unless it has ended already."""
        self._file.execute(
            "UPDATE executions SET status = ?3, message = ?4, outcome = ?5, finished_at = ?6, expires_at = ?6 + keep, "
            "progress = CASE WHEN ?3 = 'completed' THEN 100 ELSE progress END "
            "WHERE adapter = ?1 AND id = ?2 AND status IN ('pending', 'running')",
            (self._adapter, identity, status, message, None if outcome is None else outcomes.write(outcome), now()),
        )

    def get(self, identity: str) -> Kept | None:
        """One execution."""
        rows = self._rows("id = ?2", identity)
        if not rows or not rows[0].has_ended:
            return Kept(rows[0]) if rows else None
        (text,) = self._file.execute("SELECT outcome FROM executions WHERE id = ?1", (identity,)).fetchone()
        completed = rows[0].status == "completed"
        return Kept(rows[0], None if text is None else outcomes.read(text, completed=completed))

    def page(self, status: str | None, before: int | None, count: int) -> list[Row]:
        """The newest first, behind that place."""
        place = _LAST if before is None else before
        return self._rows("(?2 IS NULL OR status = ?2) AND seq < ?3 ORDER BY seq DESC LIMIT ?4", status, place, count)

    def open_ones(self) -> list[Row]:
        """What has not ended, as far as the table knows."""
        return self._rows("status IN ('pending', 'running')")

    def ask_to_cancel(self, identity: str) -> None:
        """Asks whichever process works on it to stop."""
        sql = "UPDATE executions SET cancel = 1 WHERE adapter = ?1 AND id = ?2"
        self._file.execute(sql, (self._adapter, identity))

    def asked_to_cancel(self, instance: str) -> list[str]:
        """Those of an instance that somebody asked to stop."""
        sql = "SELECT id FROM executions WHERE adapter = ?1 AND instance = ?2 AND cancel = 1 AND finished_at IS NULL"
        return [identity for (identity,) in self._file.execute(sql, (self._adapter, instance))]

    def sweep(self) -> None:
        """Removes what has been kept long enough, of every adapter."""
        self._file.execute("DELETE FROM executions WHERE expires_at <= ?1", (now(),))

    def _rows(self, condition: str, *values: str | int | None) -> list[Row]:
        # Only constants of this module go in; values are bound.
        sql = f"SELECT {_COLUMNS} FROM executions WHERE adapter = ?1 AND {condition}"  # noqa: S608
        return [Row(*row) for row in self._file.execute(sql, (self._adapter, *values))]
