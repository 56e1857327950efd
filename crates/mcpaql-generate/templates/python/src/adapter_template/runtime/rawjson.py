"""JSON text that is passed on without becoming values: nothing of it is lost, and its depth costs nothing."""

from __future__ import annotations

import json
import re
from typing import NoReturn

_SOLID = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^" \t\n\r]++', re.DOTALL)
_TOKEN = re.compile(
    r"[ \t\n\r]*+(?:(?P<mark>[\[\]{},:])"
    r'|(?P<text>"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+")'
    r"|(?P<word>true|false|null|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?))",
)
_SPACE = re.compile(r"[ \t\n\r]*+")
_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_int=len, parse_float=len)


def minified(text: str) -> str:
    """The text of one valid value without white space beside brackets, commas, colons and strings.

    Raises `ValueError` where it is not one valid value.
    """
    if not is_valid(text):
        raise ValueError("no JSON")
    return "".join(_SOLID.findall(text))


def is_valid(text: str) -> bool:
    """Whether the text is one valid value, however deep."""
    try:
        json.loads(text, parse_constant=_refuse, parse_int=len, parse_float=len)
    except RecursionError:
        return _is_deep_value(text)
    except ValueError:
        return False
    return True


def members(text: str) -> dict[str, str]:
    """The members of an object, each as the text that it is written with.

    Raises `ValueError` where the text is no object.
    """
    found: dict[str, str] = {}
    place = _behind(text, 0, "{")
    while not text.startswith("}", place):
        place = _behind(text, place, ",") if found else place
        key, end = _DECODER.raw_decode(text, place)
        start = _behind(text, _spaced(text, end), ":")
        end = _end(text, start)
        found[key] = text[start:end]
        place = _spaced(text, end)
    return found


def _behind(text: str, place: int, mark: str) -> int:
    """The place behind a mark and white space."""
    if not text.startswith(mark, place):
        raise ValueError("no object")
    return _spaced(text, place + 1)


def _spaced(text: str, place: int) -> int:
    space = _SPACE.match(text, place)
    return place if space is None else space.end()


def _end(text: str, start: int) -> int:
    """Where the value ends that starts there."""
    try:
        return _DECODER.raw_decode(text, start)[1]
    except RecursionError:
        depth = 0
        for mark in _BRACKET.finditer(text, start):
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark[0], 0)
            if depth == 0:
                return mark.end()
        raise ValueError("no end") from None


def _is_deep_value(text: str) -> bool:
    """The same, token by token: slow, but without a limit on depth."""
    closers: list[str] = []
    # What may come next: a value, a value or the end of a list, a key, a key or the end of an object, a colon, or what
    # stands behind a value.
    wanted = "value"
    place = 0
    while token := _TOKEN.match(text, place):
        place = token.end()
        mark = token["mark"]
        if mark is None:
            is_key = wanted in ("key", "first_key")
            if wanted not in ("value", "first_value") and not (is_key and token["text"]):
                return False
            wanted = "colon" if is_key else "after"
        elif mark in "[{":
            if wanted not in ("value", "first_value"):
                return False
            closers.append("]" if mark == "[" else "}")
            wanted = "first_value" if mark == "[" else "first_key"
        elif mark in "]}":
            if wanted not in ("after", "first_value", "first_key") or not closers or closers.pop() != mark:
                return False
            wanted = "after"
        elif mark == ":":
            if wanted != "colon":
                return False
            wanted = "value"
        else:
            if wanted != "after" or not closers:
                return False
            wanted = "key" if closers[-1] == "}" else "value"
    rest = _SPACE.match(text, place)
    return wanted == "after" and not closers and rest is not None and rest.end() == len(text)
