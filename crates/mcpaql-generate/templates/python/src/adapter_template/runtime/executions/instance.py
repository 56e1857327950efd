"""Which of the processes that share a data folder does some work, and whether it still lives.

An instance holds a lock on a file of its own for as long as it lives, and the system takes the lock away when the
process ends, however it ends. So nobody has to send signs of life, and none is mistaken for another.
"""

from __future__ import annotations

import contextlib
import os
import sys
import uuid
from typing import TYPE_CHECKING

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from pathlib import Path


class Instance:
    """The present program, as far as it works for one adapter."""

    def __init__(self, folder: Path | None) -> None:
        """One among those of a folder, which is there; with a lock, so that the others know that it lives.

        Raises `OSError`.
        """
        self.id = uuid.uuid4().hex
        self._path = None if folder is None else _path(folder, self.id)
        self._file = -1
        if self._path is not None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            _lock(self._file, alone=True)

    def leave(self) -> None:
        """Lets go of the lock."""
        if self._path is not None and self._file >= 0:
            os.close(self._file)
            self._file = -1
            with contextlib.suppress(OSError):
                self._path.unlink()


def lives(folder: Path | None, identity: str) -> bool:
    """Whether another instance of that folder lives. In doubt it does: its work is not taken from it."""
    if folder is None or not (identity.isascii() and identity.isalnum()):
        return False
    path = _path(folder, identity)
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        # Shared, so that two that look do not take each other for the one they look for.
        _lock(file, alone=False)
    except OSError:
        return True
    finally:
        os.close(file)
    with contextlib.suppress(OSError):
        path.unlink()
    return False


def _path(folder: Path, identity: str) -> Path:
    return folder / f"executions-{identity}.lock"


def _lock(file: int, *, alone: bool) -> None:
    """Raises `OSError` where somebody else holds it."""
    if sys.platform == "win32":
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
