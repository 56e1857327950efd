"""Secrets: values that travel to a target and nowhere else.

What always holds: a `Secret` prints as `[redacted]`, whoever formats it; text that passes through a `Mask` holds none
of the values the mask knows, neither as they are nor in the spellings they take on the wire (percent-encoded, base64,
inside a JSON string).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from . import jsontext
from .environment import Template, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .jsontext import Json

REDACTED = "[redacted]"
"""What stands in place of a secret."""

_ALONE_BELOW = 4
"""Values shorter than this occur by chance inside other words, so they are masked only where they stand alone."""

_MOST_SCALARS = 100
"""More values than this inside sensitive parameters cost more to look for than an echo of them is worth."""

_HEX = re.compile("%[0-9A-F]{2}")


class Secret:
    """A value that must not be shown."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        """Wraps a value."""
        self._value = value

    def expose(self) -> str:
        """The value itself, to be sent and not to be kept."""
        return self._value

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same value."""
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        """Equal secrets are one key."""
        return hash(self._value)

    def __repr__(self) -> str:
        """Never the value."""
        return REDACTED


class Mask:
    """Takes known secrets out of text that is passed on."""

    def __init__(self) -> None:
        """A mask that knows nothing yet."""
        # Longest first, so that a secret inside another spelling never leaves the rest of it behind.
        self._needles: list[str] = []
        # More values than can be looked for: nothing passes.
        self._opaque = False

    def __repr__(self) -> str:
        """Never a value."""
        return f"Mask({len(self._needles)} spellings)"

    def copy(self) -> Mask:
        """Another mask that knows the same."""
        mask = Mask()
        mask.join(self)
        return mask

    def add(self, secret: str) -> None:
        """Adds a secret in all its spellings; an empty one is nothing to hide."""
        if not secret:
            return
        spellings = _spellings(secret) if _bytes(secret) >= _ALONE_BELOW else []
        self._know([secret, *spellings])

    def add_values(self, values: Iterable[Json]) -> None:
        """Adds the text of every scalar inside the values, booleans excepted.

        Where there are too many to look for, the mask lets nothing through any more.
        """
        left = list(values)
        scalars = 0
        while left:
            value = left.pop()
            if value is None or isinstance(value, bool):
                continue
            if isinstance(value, list):
                left.extend(value)
                continue
            if isinstance(value, dict):
                left.extend(value.values())
                continue
            scalars += 1
            if scalars > _MOST_SCALARS:
                self._opaque = True
                return
            self.add(value if isinstance(value, str) else jsontext.number_text(value))

    def join(self, other: Mask) -> None:
        """Adds everything that another mask knows."""
        self._opaque = self._opaque or other._opaque
        self._know(other._needles)

    def finds(self, text: str) -> bool:
        """Whether the text holds a secret."""
        return self._opaque or any(_next_hit(text, needle, 0) is not None for needle in self._needles)

    def apply(self, text: str) -> str:
        """The text without secrets."""
        if self._opaque and text:
            return REDACTED
        for needle in self._needles:
            text = _replace(text, needle)
        return text

    def apply_value(self, value: Json) -> Json:
        """The value with every string, key and number in it masked."""
        if isinstance(value, str):
            return self.apply(value)
        if isinstance(value, list):
            return [self.apply_value(item) for item in value]
        if isinstance(value, dict):
            return {self.apply(key): self.apply_value(item) for key, item in value.items()}
        if value is None or isinstance(value, bool):
            return value
        text = jsontext.number_text(value)
        return self.apply(text) if self.finds(text) else value

    def longest(self) -> int:
        """Length in bytes of the longest spelling: how much of a cut text's end may be half a secret."""
        return _bytes(self._needles[0]) if self._needles else 0

    def _know(self, needles: Iterable[str]) -> None:
        known = {*self._needles, *needles}
        self._needles = sorted(known, key=lambda needle: (-_bytes(needle), needle))


def add_named(mask: Mask, value: object, environ: Mapping[str, str]) -> None:
    """Adds the variables that a target or a binding names: those of its credentials, its headers, its programs."""
    for name in _named_in(value):
        mask.add(plain(environ, name) or "")


def _named_in(value: object) -> list[str]:
    if isinstance(value, str):
        try:
            return [variable.name for variable in Template.parse(value).variables()]
        except ValueError:
            return []
    if isinstance(value, (list, tuple)):
        return [name for item in value for name in _named_in(item)]
    if is_dataclass(value) and not isinstance(value, type):
        return _named_in(asdict(value))
    names: list[str] = []
    for key, item in value.items() if isinstance(value, Mapping) else ():
        if key == "env" and isinstance(item, (list, tuple)):
            names += item
        elif key.endswith("_env") and isinstance(item, str):
            names.append(item)
        else:
            names += _named_in(item)
    return names


def _bytes(text: str) -> int:
    return len(text.encode())


def _spellings(secret: str) -> list[str]:
    strict = quote(secret, safe="")
    quoted = jsontext.write(secret)[1:-1]
    standard = base64.b64encode(secret.encode()).decode().rstrip("=")
    return [
        _HEX.sub(lambda found: found[0].lower(), strict),
        strict.replace("%20", "+"),
        strict,
        # What JavaScript's `encodeURIComponent` leaves besides.
        quote(secret, safe="!'()*"),
        standard,
        standard.translate(str.maketrans("+/", "-_")),
        quoted.replace("/", "\\/"),
        quoted,
    ]


def _next_hit(text: str, needle: str, begin: int) -> int | None:
    while (start := text.find(needle, begin)) >= 0:
        begin = start + len(needle)
        if _bytes(needle) >= _ALONE_BELOW or _stands_alone(text, start, begin):
            return start
    return None


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not text[start - 1 : start].isalnum() and not text[end : end + 1].isalnum()


def _replace(text: str, needle: str) -> str:
    pieces: list[str] = []
    done = 0
    while (hit := _next_hit(text, needle, done)) is not None:
        pieces += [text[done:hit], REDACTED]
        done = hit + len(needle)
    return "".join([*pieces, text[done:]]) if pieces else text
