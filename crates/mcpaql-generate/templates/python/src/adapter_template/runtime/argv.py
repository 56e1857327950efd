"""Argv template + arguments → argv. Never a shell: a value fills arguments, and nothing in it is split or interpreted.

What always holds: the program is literal, and no value becomes an option. An argument whose first character would come
from a value must not start with `-` unless a literal `--` stands before it. Negative numbers are no exception, because
a program that reads `-1` as an option reads it so whatever the parameter's type; `--opt={param}` or `--` take them.

An array in an argument with a single placeholder gives one argument per element (`{paths}` → `a` `b`). A missing
optional parameter, null and an empty array drop the argument or its group.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from . import jsontext
from .bindings import Group, When
from .errors import Code, OpError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .bindings import Args
    from .jsontext import Json

_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[^{}]+")


class _Piece(NamedTuple):
    """Written text, or the name of a parameter."""

    text: str
    is_param: bool


def _pieces(template: str) -> list[_Piece]:
    found = _PIECE.finditer(template)
    return [_Piece(one[1], True) if one[1] is not None else _Piece(_unescaped(one[0]), False) for one in found]


def _unescaped(text: str) -> str:
    return text[0] if text in ("{{", "}}") else text


def build(template: tuple[str | Group | When, ...], args: Args) -> tuple[str, list[str]]:
    """The program and its arguments."""
    program = template[0] if template else ""
    pieces = _pieces(program) if isinstance(program, str) else []
    if not pieces or any(piece.is_param for piece in pieces):
        cause = "the first entry of argv must be a literal program"
        raise OpError(Code.INTERNAL, "The operation's command is not usable; tell the user.").because(cause)
    line = _Line(args)
    for entry in template[1:]:
        if isinstance(entry, str):
            line.push(_pieces(entry))
        elif isinstance(entry, When):
            if args.get(entry.param) is True:
                line.push_all(map(_pieces, entry.args))
        else:
            group = [_pieces(one) for one in entry.args]
            if all(map(line.is_filled, group)):
                line.push_all(group)
    return "".join(piece.text for piece in pieces), line.argv


class _Line:
    """The arguments so far."""

    def __init__(self, args: Args) -> None:
        self._args = args
        self.argv: list[str] = []
        # A literal `--` has been written: what follows cannot be an option.
        self._past_options = False

    def is_filled(self, pieces: list[_Piece]) -> bool:
        return all(self._args.get(text) not in (None, []) for text, is_param in pieces if is_param)

    def push_all(self, group: Iterable[list[_Piece]]) -> None:
        for pieces in group:
            self.push(pieces)

    def push(self, pieces: list[_Piece]) -> None:
        if not self.is_filled(pieces):
            return
        params = [piece.text for piece in pieces if piece.is_param]
        only = self._args.get(params[0]) if len(params) == 1 else None
        if isinstance(only, list):
            for item in only:
                if item is not None:
                    self._push_one(pieces, item)
        else:
            self._push_one(pieces, None)

    def _push_one(self, pieces: list[_Piece], element: Json) -> None:
        """One argument; `element` stands in for the only placeholder's value."""
        argument = ""
        leading: str | None = None
        for text, is_param in pieces:
            filled = text
            if is_param:
                filled = _text_of(self._args.get(text) if element is None else element)
                if "\0" in filled:
                    message = f"Parameter '{text}' holds a NUL character, which no program argument can; remove it."
                    raise OpError(Code.INVALID_ENCODING, message).detail("param_name", text)
                if not argument and filled:
                    leading = text
            argument += filled
        if leading is not None and argument.startswith("-") and not self._past_options:
            message = f"Parameter '{leading}' must not start with '-': the program would read it as an option."
            raise OpError(Code.INVALID_VALUE, message).detail("param_name", leading)
        is_literal = not any(piece.is_param for piece in pieces)
        self._past_options = self._past_options or (is_literal and argument == "--")
        self.argv.append(argument)


def _text_of(value: Json) -> str:
    """A value as the text of an argument: strings as they are, anything else as JSON."""
    return value if isinstance(value, str) else jsontext.write(value)
