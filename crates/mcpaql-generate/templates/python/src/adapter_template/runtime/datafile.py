"""SQLite files in the data folder: opening, versions, and what is refused.

A file is never deleted, repaired or converted behind the operator's back: what this program did not write, or a newer
one wrote, is left untouched and reported.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_VERSION = 1
"""The layout of every file."""
_BUSY = 5.0
"""Seconds to wait for another process that writes."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What a file of ours is made of."""

    application: int
    """Marks a SQLite file as one of this kind."""
    tables: str
    """The statements that make them."""


class StoreError(Exception):
    """Why the store cannot be served. For the operator: it may name paths."""


def open_file(path: Path | None, layout: Layout) -> sqlite3.Connection:
    """Opens the file, making it and its tables where there are none; without a path, one that ends with the process.

    Raises `StoreError`.
    """
    try:
        if path is not None:
            _create(path)
    except OSError as error:
        raise StoreError(f"cannot create the store {path}: {error.strerror}") from error
    try:
        file = sqlite3.connect(path or ":memory:", timeout=_BUSY, isolation_level=None, check_same_thread=False)
        file.execute("PRAGMA synchronous = FULL")
        version = _inspect(path, file, layout)
        _enter_wal(file)
        if version < _VERSION:
            _make_tables(path, file, layout)
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            message = (
                f"{path} is not a SQLite file, or is damaged; it was left as it is. Restore a copy or name another file"
            )
            raise StoreError(message) from error
        raise StoreError(f"cannot open the store {path}: {error}") from error
    return file


def _create(path: Path) -> None:
    """Makes the folder and an empty file that only this user can read: SQLite gives its side files the same rights."""
    made = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
    for folder in reversed(made):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
    os.close(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600))


def _inspect(path: Path | None, file: sqlite3.Connection, layout: Layout) -> int:
    """The version of the file's layout.

    Raises `StoreError` where it is not ours to touch.
    """
    (application,) = file.execute("PRAGMA application_id").fetchone()
    (version,) = file.execute("PRAGMA user_version").fetchone()
    (objects,) = file.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application == layout.application:
        if version > _VERSION:
            known = f"layout {version}, known up to {_VERSION}"
            raise StoreError(f"{path} was written by a newer version ({known}); update this program")
        return int(version)
    if application == 0 and version == 0 and objects == 0:
        return 0
    raise StoreError(f"{path} belongs to another program; name another file")


def _enter_wal(file: sqlite3.Connection) -> None:
    """The switch cannot wait for a lock: tries while another process switches."""
    started = time.monotonic()
    while True:
        try:
            file.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() - started > _BUSY:
                raise
            time.sleep(0.01)
        else:
            return


def _make_tables(path: Path | None, file: sqlite3.Connection, layout: Layout) -> None:
    file.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster.
        if _inspect(path, file, layout) < _VERSION:
            for statement in layout.tables.split(";\n"):
                file.execute(statement)
            file.execute(f"PRAGMA application_id = {layout.application}")
            file.execute(f"PRAGMA user_version = {_VERSION}")
    except BaseException:
        file.execute("ROLLBACK")
        raise
    file.execute("COMMIT")
