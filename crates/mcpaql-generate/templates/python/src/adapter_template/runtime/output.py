"""What a program wrote → an answer, or words for an error."""

from __future__ import annotations

import json
import re
from typing import Literal

from . import rawjson, text
from .errors import Code, OpError
from .response import Answer, Notice, Raw

_LINE = 300
"""How much of one line goes into a message."""

# A control sequence ends with its first letter or `@`…`~`; any other escape is one character long.
_ESCAPE = re.compile("\x1b(?:\\[[^@-~]*[@-~]?|[^\\[])?", re.DOTALL)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def answer(form: Literal["json", "jsonlines", "lines", "text"], stdout: bytes) -> Answer:
    """Reads standard output the way the operation says.

    Nothing at all is null where JSON is expected. Text loses one final line end, lines their ends.
    """
    match form:
        case "json":
            written = _exact(stdout)
            if not text.trim(written):
                return Answer(None)
            if not rawjson.is_valid(written):
                raise _not_json(_bad_line(written))
            return Answer(Raw(written.strip(" \t\r\n")))
        case "jsonlines":
            return _json_lines(_exact(stdout))
        case "lines":
            written, warnings = _lossy(stdout)
            return Answer([*lines(written)], warnings)
        case "text":
            written, warnings = _lossy(stdout)
            if written.endswith("\n"):
                written = written[:-1].removesuffix("\r")
            return Answer(written, warnings)


def lines(written: str) -> list[str]:
    """The lines of a text without their ends."""
    found = written.split("\n")
    ends = [line.removesuffix("\r") for line in found[:-1]]
    return [*ends, found[-1]] if found[-1] else ends


def _json_lines(written: str) -> Answer:
    values: list[str] = []
    for number, line in enumerate(lines(written), 1):
        if not text.trim(line):
            continue
        if not rawjson.is_valid(line):
            raise _not_json(number)
        values.append(line.strip(" \t\r\n"))
    return Answer(Raw(f"[{','.join(values)}]"))


def _exact(stdout: bytes) -> str:
    try:
        return stdout.decode()
    except UnicodeDecodeError:
        message = "The program's output is not UTF-8, although JSON was expected; tell the user."
        raise OpError(Code.INTERNAL, message) from None


def _lossy(stdout: bytes) -> tuple[str, list[Notice]]:
    try:
        return stdout.decode(), []
    except UnicodeDecodeError:
        message = "The program's output is not UTF-8; what could not be read is shown as \ufffd."
        return stdout.decode(errors="replace"), [Notice("OUTPUT_NOT_UTF8", message)]


def _bad_line(written: str) -> int:
    """The line where the text stops being JSON."""
    try:
        json.loads(written)
    except json.JSONDecodeError as error:
        return error.lineno
    except (ValueError, RecursionError):
        return 1
    return written.count("\n") + 1


def _not_json(line: int) -> OpError:
    message = f"The program's output is not the JSON that was expected (see its line {line}); tell the user."
    return OpError(Code.INTERNAL, message)


def clean(said: bytes, tail: int, hidden: list[tuple[str, str]]) -> str:
    """The end of standard error for people: no escape sequences, no control characters, nothing that is hidden."""
    shown = _CONTROL.sub("", _ESCAPE.sub("", said.decode(errors="replace")))
    # Masked before it is cut, so that half a secret cannot stay behind.
    for value, mask in hidden:
        shown = shown.replace(value, mask)
    shown = text.trim(shown)
    if text.size(shown) > tail:
        shown = shown.encode()[-tail:].decode(errors="ignore")
    return text.trim(shown.lstrip("\ufffd"))


def last_line(said: str) -> str | None:
    """The line that says what is wrong: the last one, unless it would pass for a stack frame or shows a path."""
    line = next((line for line in map(text.trim, reversed(said.split("\n"))) if line), None)
    if line is None or any(map(_leaks, text.split(line))):
        return None
    return line[:_LINE]


def _leaks(word: str) -> bool:
    return word.lower() == "at" or ":\\" in word or word.lstrip("'\"`(").startswith("/")
