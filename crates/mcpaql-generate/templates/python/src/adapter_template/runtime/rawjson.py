"""JSON text that is passed on without becoming values: nothing of it is lost, and its depth costs nothing."""

from __future__ import annotations

import json
import re
from typing import NoReturn, TypeVar

T = TypeVar("T")

_SOLID = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^" \t\n\r]++', re.DOTALL)
_TOKEN = re.compile(
    r"[ \t\n\r]*+(?:(?P<mark>[\[\]{},:])"
    r'|(?P<text>"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+")'
    r"|(?P<word>true|false|null|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?))",
)
_SPACE = re.compile(r"[ \t\n\r]*+")


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


_scan = json.JSONDecoder(parse_constant=_refuse, parse_int=len, parse_float=len).raw_decode


def minified(text: str) -> str:
    """The text of one valid value without white space beside brackets, commas, colons and strings.

    Raises `ValueError` where it is not one valid value.
    """
    if not is_valid(text):
        raise ValueError("no JSON")
    return "".join(_SOLID.findall(text))


def members(text: str) -> list[tuple[str, str]]:
    """The members of one object: names, and values as they are written, however deep.

    Raises `ValueError` where the text is not one object.
    """
    found: list[tuple[str, str]] = []
    place = _behind(text, 0)
    if text[place : place + 1] != "{":
        raise ValueError("no object")
    place = _behind(text, place + 1)
    if text[place : place + 1] == "}":
        return _whole(found, text, place + 1)
    while True:
        if text[place : place + 1] != '"':
            raise ValueError("no name")
        name, place = _scan(text, place)
        place = _expect(text, place, ":")
        end = _end(text, place)
        found.append((name, text[place:end]))
        place = _behind(text, end)
        if text[place : place + 1] == "}":
            return _whole(found, text, place + 1)
        place = _expect(text, place, ",")


def items(text: str) -> list[str]:
    """The items of one array as they are written, however deep.

    Raises `ValueError` where the text is not one array.
    """
    found: list[str] = []
    place = _behind(text, 0)
    if text[place : place + 1] != "[":
        raise ValueError("no array")
    place = _behind(text, place + 1)
    if text[place : place + 1] == "]":
        return _whole(found, text, place + 1)
    while True:
        end = _end(text, place)
        found.append(text[place:end])
        place = _behind(text, end)
        if text[place : place + 1] == "]":
            return _whole(found, text, place + 1)
        place = _expect(text, place, ",")


def _behind(text: str, place: int) -> int:
    """The next place that is no white space."""
    space = _SPACE.match(text, place)
    return place if space is None else space.end()


def _expect(text: str, place: int, mark: str) -> int:
    """The place of what stands behind a mark."""
    place = _behind(text, place)
    if text[place : place + 1] != mark:
        raise ValueError(f"no {mark}")
    return _behind(text, place + 1)


def _whole(found: T, text: str, place: int) -> T:
    if _behind(text, place) != len(text):
        raise ValueError("more than one value")
    return found


def _end(text: str, place: int) -> int:
    """Where the value ends that begins there."""
    try:
        return _scan(text, place)[1]
    except RecursionError:
        return _deep_end(text, place)


def is_valid(text: str) -> bool:
    """Whether the text is one valid value, however deep."""
    try:
        json.loads(text, parse_constant=_refuse, parse_int=len, parse_float=len)
    except RecursionError:
        return _is_deep_value(text)
    except ValueError:
        return False
    return True


def _is_deep_value(text: str) -> bool:
    try:
        return _behind(text, _deep_end(text, 0)) == len(text)
    except ValueError:
        return False


def _deep_end(text: str, place: int) -> int:
    """Where a value ends, token by token: slow, but without a limit on depth."""
    closers: list[str] = []
    # What may come next: a value, a value or the end of a list, a key, a key or the end of an object, a colon, or what
    # stands behind a value.
    wanted = "value"
    while token := _TOKEN.match(text, place):
        place = token.end()
        mark = token["mark"]
        if mark is None:
            is_key = wanted in ("key", "first_key")
            if wanted not in ("value", "first_value") and not (is_key and token["text"]):
                break
            wanted = "colon" if is_key else "after"
        elif mark in "[{":
            if wanted not in ("value", "first_value"):
                break
            closers.append("]" if mark == "[" else "}")
            wanted = "first_value" if mark == "[" else "first_key"
        elif mark in "]}":
            if wanted not in ("after", "first_value", "first_key") or not closers or closers.pop() != mark:
                break
            wanted = "after"
        elif mark == ":":
            if wanted != "colon":
                break
            wanted = "value"
        else:
            if wanted != "after":
                break
            wanted = "key" if closers[-1] == "}" else "value"
        if wanted == "after" and not closers:
            return place
    raise ValueError("no value")
