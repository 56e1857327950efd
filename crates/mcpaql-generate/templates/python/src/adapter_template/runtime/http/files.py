"""Files arrive as base64 and leave as bytes, a chunk at a time.

What always holds: a `File` was checked from its first character to its last, so decoding it while it is sent cannot
fail; no more than a chunk of it exists twice.
"""

from __future__ import annotations

import binascii
import re
from typing import TYPE_CHECKING

from ..errors import Code, OpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..jsontext import Json

_CHUNK = 64 * 1024
"""Characters decoded in one go; a multiple of four, because four of them are three bytes."""

_SPACES = str.maketrans("", "", "\t\n\x0c\r ")
_STANDARD = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_URL_SAFE = re.compile(r"[A-Za-z0-9_-]*={0,2}")
_TO_STANDARD = str.maketrans("-_", "+/")


class File:
    """Text that is known to be base64: either alphabet, with or without padding and line breaks."""

    def __init__(self, text: str) -> None:
        """Raises `ValueError` where the text is not base64."""
        url_safe = "-" in text or "_" in text
        solid = text.translate(_SPACES)
        digits = solid.rstrip("=")
        padding = len(solid) - len(digits)
        rest = len(digits) % 4
        # Padding may be there or not, and the bits behind the last byte are zero.
        fits = rest != 1 and padding <= -len(digits) % 4
        if not fits or not (_URL_SAFE if url_safe else _STANDARD).fullmatch(solid) or not _ends_clean(digits):
            raise ValueError("not base64")
        self._digits = digits.translate(_TO_STANDARD)
        self.length = len(digits) * 3 // 4

    def chunks(self) -> Iterator[bytes]:
        """What it stands for, in order."""
        for start in range(0, len(self._digits), _CHUNK):
            chunk = self._digits[start : start + _CHUNK]
            yield binascii.a2b_base64(chunk + "=" * (-len(chunk) % 4))


def file_of(param: str, value: Json) -> File:
    """The file that a parameter's value holds."""
    try:
        if isinstance(value, str):
            return File(value)
    except ValueError:
        pass
    raise OpError(
        Code.INVALID_ENCODING,
        f"Parameter '{param}' holds a file and must be base64 text; encode its bytes and send that.",
    ).detail("param_name", param)


def _ends_clean(digits: str) -> bool:
    unused = {2: 0b1111, 3: 0b11}.get(len(digits) % 4, 0)
    if not unused:
        return True
    last = digits[-1].translate(_TO_STANDARD)
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".find(last) & unused == 0
