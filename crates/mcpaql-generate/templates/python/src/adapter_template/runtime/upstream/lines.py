"""Lines of a byte stream of which no more than a limit is ever held, and the id in one that was too long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .. import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterator

_ID_BYTES = 256
"""The longest id that is looked for, in bytes as written."""
_SPACE = b" \t\n\x0c\r"
_STRING_MARK = re.compile(rb'["\\]')
_MARK = re.compile(rb'["{}\[\],:]')


class IdScan:
    """Finds the `id` among the outermost members of a message, piece by piece and in little memory."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self.number: int | None = None
        """The id where it is a number that counts something, as ours are."""
        self._is_found = False
        self._depth = 0
        self._in_string = False
        self._escaped = False
        # The outermost key or value being read, as written.
        self._token = bytearray()
        self._is_id = False

    def feed(self, piece: bytes) -> None:
        """Reads on."""
        place = 0
        while place < len(piece):
            place = self._string(piece, place) if self._in_string else self._outside(piece, place)

    def _string(self, piece: bytes, place: int) -> int:
        if self._escaped:
            self._escaped = False
            self._keep(piece[place : place + 1])
            return place + 1
        mark = _STRING_MARK.search(piece, place)
        end = len(piece) if mark is None else mark.end()
        self._keep(piece[place:end])
        if mark is not None:
            self._escaped = mark[0] == b"\\"
            self._in_string = self._escaped
        return end

    def _outside(self, piece: bytes, place: int) -> int:
        mark = _MARK.search(piece, place)
        if mark is None:
            self._keep(piece[place:].translate(None, _SPACE))
            return len(piece)
        self._keep(piece[place : mark.start()].translate(None, _SPACE))
        match mark[0]:
            case b'"':
                self._in_string = True
                self._keep(b'"')
            case b"{" | b"[":
                self._keep(mark[0])
                self._depth += 1
            case b"}" | b"]":
                self._end_member()
                self._depth = max(0, self._depth - 1)
            case b",":
                self._end_member()
            case _ if self._depth == 1:
                self._is_id = self._token == b'"id"'
                self._token.clear()
            case _:
                self._keep(b":")
        return mark.end()

    def _keep(self, part: bytes) -> None:
        """A token that is too long to be an id keeps one byte too many, and so is none."""
        if self._depth == 1:
            self._token += part[: max(0, _ID_BYTES + 1 - len(self._token))]

    def _end_member(self) -> None:
        if self._depth != 1:
            return
        if self._is_id and not self._is_found and len(self._token) <= _ID_BYTES:
            self._take(bytes(self._token))
        self._is_id = False
        self._token.clear()

    def _take(self, token: bytes) -> None:
        try:
            value = jsontext.read(token.decode())
        except ValueError:
            return
        self._is_found = isinstance(value, (str, int)) and not isinstance(value, bool)
        if self._is_found and isinstance(value, int) and value >= 0:
            self.number = value


class Lines:
    """Takes a stream apart."""

    def __init__(self, limit: int) -> None:
        """No more than `limit` bytes of a line are held."""
        self._limit = limit
        self._line = bytearray()
        # Set while the rest of a line that is too long is skipped.
        self._skipped: IdScan | None = None

    def feed(self, piece: bytes) -> Iterator[bytes | IdScan]:
        """The lines that end in a piece, without white space around them; of one too long, what was found in it."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._take(part)
            yield self._end()
        if rest:
            self._take(rest)

    def rest(self) -> Iterator[bytes | IdScan]:
        """A last line without an end."""
        if self._line or self._skipped is not None:
            yield self._end()

    def _take(self, part: bytes) -> None:
        if self._skipped is None and len(self._line) + len(part) > self._limit:
            self._skipped = IdScan()
            self._skipped.feed(bytes(self._line))
            self._line.clear()
        if self._skipped is None:
            self._line += part
        else:
            self._skipped.feed(part)

    def _end(self) -> bytes | IdScan:
        if self._skipped is not None:
            found, self._skipped = self._skipped, None
            return found
        line = bytes(self._line)
        self._line.clear()
        return line.removeprefix(b"\xef\xbb\xbf").strip(_SPACE)
