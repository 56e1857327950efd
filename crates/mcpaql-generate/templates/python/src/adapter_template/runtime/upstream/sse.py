"""Server-sent events, piece by piece, of which no more than a limit is ever held."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .lines import IdScan

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_RETRY = 60.0
"""The longest wait, in seconds, that a server may ask for before it is asked again."""
_FIELD = 4096
"""The longest line that is no data."""
_LINE_END = re.compile(rb"[\r\n]")


class Events:
    """Takes a stream apart."""

    def __init__(self, limit: int) -> None:
        """No more than `limit` bytes of an event's data are held."""
        self.last_id: str | None = None
        """Of the last event that had one, to go on from there."""
        self.retry: float | None = None
        """How many seconds the server wants to be left alone before it is asked again."""
        self._limit = limit
        # The line being read, as far as it is not data.
        self._line = bytearray()
        self._in_data = False
        # The first byte of data may be a space that belongs to the form.
        self._data_begins = False
        self._after_return = False
        self._data = bytearray()
        self._has_data = False
        self._too_long: IdScan | None = None

    def feed(self, piece: bytes) -> Iterator[bytes | IdScan]:
        """The data of events that end in a piece; of one that was too long, what was found in it."""
        place = 0
        while (end := _LINE_END.search(piece, place)) is not None:
            part = piece[place : end.start()]
            self._part(part)
            returned = end[0] == b"\r"
            # The second half of a line end that is two characters.
            doubled = not returned and not part and self._after_return
            self._after_return = returned
            if not doubled:
                yield from self._end_line()
            place = end.end()
        if place < len(piece):
            self._after_return = False
            self._part(piece[place:])

    def _part(self, part: bytes) -> None:
        if not self._in_data:
            room = max(0, _FIELD - len(self._line))
            self._line += part[:room]
            if not self._line.startswith(b"data:"):
                return
            # What of the value came along with the name.
            begun = bytes(self._line[5:])
            self._in_data = self._data_begins = True
            if self._has_data:
                self._keep(b"\n")
            self._has_data = True
            self._value(begun)
            part = part[room:]
        self._value(part)

    def _value(self, part: bytes) -> None:
        if self._data_begins and part:
            self._data_begins = False
            part = part.removeprefix(b" ")
        self._keep(part)

    def _keep(self, part: bytes) -> None:
        if self._too_long is None and len(self._data) + len(part) > self._limit:
            self._too_long = IdScan()
            self._too_long.feed(bytes(self._data))
            self._data.clear()
        if self._too_long is None:
            self._data += part
        else:
            self._too_long.feed(part)

    def _end_line(self) -> Iterator[bytes | IdScan]:
        line, in_data = bytes(self._line), self._in_data
        self._line.clear()
        self._in_data = False
        if in_data:
            return
        if line:
            self._field(line.decode(errors="replace"))
            return
        data, too_long = bytes(self._data), self._too_long
        self._data.clear()
        self._has_data, self._too_long = False, None
        if too_long is not None:
            yield too_long
        elif data:
            yield data

    def _field(self, line: str) -> None:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field.lstrip("\ufeff"):
            case "id" if "\0" not in value:
                self.last_id = value or None
            case "retry" if value.isascii() and value.isdigit():
                self.retry = min(int(value) / 1000, _LONGEST_RETRY)
