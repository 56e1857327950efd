"""What to tell the model: one sentence with the repair in it, the rest in `details`, the signature always."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import jsontext
from .errors import Code, OpError
from .schema import (
    Field,
    Key,
    Missing,
    NoVariant,
    OtherType,
    OtherValue,
    TooMuch,
    UnknownField,
    path_text,
    type_name,
)
from .suggest import nearest
from .text import WHITE, ascii_lower, shorten, size, split, trim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .catalog import Operation, Param
    from .jsontext import Json
    from .measure import Excess
    from .schema import Kind, Violation

INPUT = "input"
"""The object that carries the fields of an update."""
_ECHO = 200
"""Characters of a value that `details` repeats."""
_LISTED = 10
"""Names that a message lists."""
_ALSO = 4
"""Further problems that `details.also` lists."""


class Faults:
    """The errors of one operation's parameters."""

    def __init__(self, operation: Operation) -> None:
        """Every error names the operation and shows its signature."""
        self._operation = operation

    def unknown_params(self, unknown: list[str]) -> OpError:
        """Parameters that are not declared."""
        valid = [param.name for param in self._operation.params]
        meant = _meant(unknown, valid)
        hint = _question(meant, len(unknown)) if valid else ". It takes no parameters"
        message = f"Unknown parameter(s) for operation '{self._operation.name}': {_listed(unknown)}{hint}"
        details: dict[str, Json] = {"unknown_params": _texts(unknown), "valid_params": [*valid]}
        return self._error(Code.UNKNOWN_PARAM, message, details | _did_you_mean(meant))

    def unknown_input_fields(self, unknown: list[str]) -> OpError:
        """Fields of `input` that are not declared."""
        valid = self._changeable()
        meant = _meant(unknown, valid)
        hint = _question(meant, len(unknown))
        message = f"Unknown field(s) in 'input' of operation '{self._operation.name}': {_listed(unknown)}{hint}"
        details: dict[str, Json] = {
            "param_name": INPUT,
            "unknown_fields": _texts(unknown),
            "valid_fields": [*valid],
        }
        return self._error(Code.UNKNOWN_FIELD, message, details | _did_you_mean(meant))

    def identifier_in_input(self, param: Param) -> OpError:
        """An identifier among the fields."""
        message = f"'{param.name}' says what is updated and belongs beside 'input', not inside it"
        details: dict[str, Json] = {
            "param_name": f"{INPUT}.{param.name}",
            "unknown_fields": [param.name],
            "valid_fields": [*self._changeable()],
        }
        return self._error(Code.UNKNOWN_FIELD, message, details)

    def given_twice(self, param: Param) -> OpError:
        """Two values for one parameter."""
        message = f"Parameter '{param.name}' has two different values, one of them inside 'input'. Send it once"
        return self._error(Code.INVALID_VALUE, message, {"param_name": param.name})

    def input_not_an_object(self, given: Json) -> OpError:
        """`input` of another type."""
        actual = type_name(given)
        message = (
            f"Parameter 'input' expected 'object', got '{actual}'. "
            "Send the fields to change as an object or as flat parameters"
        )
        details: dict[str, Json] = {"param_name": INPUT, "expected_type": "object", "actual_type": actual}
        return self._error(Code.INVALID_TYPE, message, details)

    def missing_params(self, missing: list[Param]) -> OpError:
        """Required parameters that are absent."""
        first, rest = missing[0], [f"'{param.name}'" for param in missing[1:]]
        others = f" (and {len(rest)} more: {_listed(rest)})" if rest else ""
        message = f"Missing required parameter '{first.name}'{others}. Expected: {first.expected}"
        details: dict[str, Json] = {
            "param_name": first.name,
            "missing_params": [param.name for param in missing],
        }
        return self._error(Code.MISSING_PARAM, message, details)

    def excess(self, param: Param, params: dict[str, Json], excess: Excess) -> OpError:
        """A value beyond a limit, or with characters that cannot be sent."""
        name, limits, actual = param.name, excess.limits, excess.actual
        match excess.what:
            case "request":
                actual, maximum, limit = size(jsontext.write(params)), limits.request_bytes, "max_request_size"
                message = f"The parameters have {actual} bytes, the limit is {maximum}. Send less in one call"
            case "string":
                maximum, limit = limits.string_bytes, "max_string_length"
                says = f"has a text of {actual} bytes, the limit is {maximum}. Send a shorter one"
                message = f"Parameter '{name}' {says}"
            case "items":
                maximum, limit = limits.array_items, "max_array_elements"
                message = f"Parameter '{name}' has {actual} items, the limit is {maximum}. Split the call"
            case "depth":
                # A value that is too deep is not walked to its end; one level more is what is known.
                actual, maximum, limit = limits.depth + 1, limits.depth, "max_nesting_depth"
                message = f"Parameter '{name}' is nested deeper than {maximum} levels. Send a flatter value"
            case "nul":
                message = f"Parameter '{name}' holds the character U+0000. Send it without"
                return self._error(Code.INVALID_ENCODING, message, {"param_name": name})
            case "control":
                says = "holds a control character such as a line break. Send one plain line"
                return self._error(Code.INVALID_ENCODING, f"Parameter '{name}' {says}", {"param_name": name})
        details: dict[str, Json] = {"param_name": name, "limit": limit, "actual": actual, "maximum": maximum}
        return self._error(Code.PAYLOAD_TOO_LARGE, message, details)

    def violated(self, found: list[tuple[Param, Json, Violation]]) -> OpError:
        """The gravest violation as the error, the others as `details.also`."""
        found.sort(key=lambda fault: _rank(fault[2].kind))
        first, *others = (_Report.of(*fault) for fault in found[: _ALSO + 1])
        details = first.details()
        if others:
            details["also"] = [report.message() for report in others]
        return self._error(first.code(), first.message(), details)

    def _error(self, code: Code, message: str, details: dict[str, Json]) -> OpError:
        named: dict[str, Json] = {"operation": self._operation.name}
        return OpError(code, message, named | details | {"signature": self._operation.signature})

    def _changeable(self) -> list[str]:
        return [param.name for param in self._operation.params if not param.identifier]


def _rank(kind: Kind) -> int:
    """The protocol's order: unknown → required → types → constraints."""
    order = (UnknownField, Missing, OtherType)
    return order.index(type(kind)) if isinstance(kind, order) else len(order)


@dataclass(frozen=True, slots=True)
class _Report:
    """One violation of one parameter, on its way to a sentence.

    A secret one tells nothing that the caller gave: no value, no key, no suggestion that depends on them.
    """

    kind: Kind
    place: str
    """`labels[2].name`."""
    secret: bool
    given: tuple[Json, ...]
    """The value there, unless it is secret or absent."""

    @staticmethod
    def of(param: Param, value: Json, violation: Violation) -> _Report:
        secret, path = param.sensitive or violation.sensitive, violation.path
        if secret:
            chosen = next((at for at, part in enumerate(path) if isinstance(part, Key)), len(path))
            return _Report(violation.kind, path_text(param.name, path[:chosen]), secret, ())
        given: tuple[Json, ...] = (value,)
        for part in path:
            match part, given:
                case ((Field(name) | Key(name)), (dict(fields),)) if name in fields:
                    given = (fields[name],)
                case int(index), (list(items),) if index < len(items):
                    given = (items[index],)
                case _:
                    given = ()
        return _Report(violation.kind, path_text(param.name, path), secret, given)

    def code(self) -> Code:
        match self.kind:
            case OtherType():
                return Code.INVALID_TYPE
            case Missing():
                return Code.MISSING_PARAM
            case UnknownField():
                return Code.UNKNOWN_FIELD
            case TooMuch():
                return Code.PAYLOAD_TOO_LARGE
            case OtherValue() | NoVariant():
                return Code.INVALID_VALUE

    def message(self) -> str:
        place = self.place
        match self.kind:
            case OtherType(expected=expected):
                advice = _advice(expected, self.given[0]) if self.given else None
                return f"Parameter '{place}' {self.kind}" + (f". {advice}" if advice else "")
            case Missing(field=name):
                return f"Missing required field '{name}' in '{place}'"
            case UnknownField(valid=valid) if self.secret:
                return f"Unknown field in '{place}'. Its fields are: {_listed(valid)}"
            case UnknownField(field=name, valid=valid, nearest=near):
                if near is not None:
                    hint = f"Did you mean '{near}'?"
                else:
                    hint = f"Its fields are: {_listed(valid)}" if valid else "It has no fields"
                return f"Unknown field in '{place}': {shorten(name, 64)}. {hint}"
            case OtherValue(fragment=fragment, nearest=near):
                hint = f". Did you mean '{near}'?" if near is not None and not self.secret else ""
                return f"Parameter '{place}' {fragment}{hint}"
            case NoVariant() if self.secret:
                return f"Parameter '{place}' matches none of its forms"
            case kind:
                return f"Parameter '{place}' {kind}"

    def details(self) -> dict[str, Json]:
        details: dict[str, Json] = {"param_name": self.place}
        echoed = False
        match self.kind:
            case OtherType(expected=expected, actual=actual):
                details |= {"expected_type": expected, "actual_type": actual}
                # A list or an object that was sent as a text may have secrets among its parts.
                echoed = not _wants(expected, "array") and not _wants(expected, "object")
            case Missing(field=name):
                missing = path_text(self.place, [Field(name)])
                details |= {"param_name": missing, "missing_params": [missing]}
            case UnknownField(field=name, valid=valid, nearest=near):
                if not self.secret:
                    details["unknown_fields"] = [shorten(name, 64)]
                details["valid_fields"] = [*valid]
                if near is not None and not self.secret:
                    details["did_you_mean"] = {shorten(name, 64): near}
            case OtherValue(allowed=allowed):
                details["allowed"] = allowed
                echoed = True
        if echoed and self.given and _is_echoed(self.given[0]):
            value = self.given[0]
            details["value"] = shorten(value, _ECHO) if isinstance(value, str) else value
        return details


def _is_echoed(value: Json) -> bool:
    """Whether a value may be repeated.

    Larger ones are known to whoever sent them, and may hold a secret; so may a text that spells one of them.
    """
    if isinstance(value, str):
        return not value.lstrip(WHITE).startswith(("{", "["))
    return isinstance(value, (bool, int, float))


def _wants(expected: str, kind: str) -> bool:
    """Whether a value of one of these types is expected."""
    return any(name == kind or (name == "number" and kind == "integer") for name in expected.split(" | "))


def _advice(expected: str, given: Json) -> str | None:
    """What to send instead of a value of the wrong type."""
    if given is None:
        return "Leave it out instead of sending null"
    if isinstance(given, str):
        for value in _meant_by(given):
            if _wants(expected, type_name(value)):
                if isinstance(value, (list, dict)):
                    return "Send it as JSON, unquoted"
                return f"Send it unquoted: {jsontext.write(value)}"
        return 'Send a list such as ["a", "b"]' if _wants(expected, "array") else None
    if isinstance(given, (bool, int, float)) and _wants(expected, "string"):
        return f'Send it quoted: "{jsontext.write(given)}"'
    return None


def _meant_by(text: str) -> tuple[Json, ...]:
    """The value that a text spells, where it spells one."""
    text = trim(text)
    word = ascii_lower(text)
    if word in ("true", "false"):
        return (word == "true",)
    try:
        return (jsontext.read(text),)
    except ValueError:
        return ()


def _shown(name: str) -> str:
    """A caller's name as a message shows it: short, and one word, so that it never reads as a sentence of ours."""
    return "_".join(split(shorten(name, 64)))


def _listed(names: list[str]) -> str:
    """Names as a message lists them."""
    shown = ", ".join(map(_shown, names[:_LISTED]))
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} more"


def _texts(names: Iterable[str]) -> list[Json]:
    return [shorten(name, 64) for name in [*names][:_LISTED]]


def _meant(unknown: list[str], valid: list[str]) -> dict[str, str]:
    """Unknown name → the declared one that was probably meant."""
    pairs = ((shorten(name, 64), nearest(name, valid)) for name in unknown[:_LISTED])
    return {name: meant for name, meant in pairs if meant is not None}


def _question(meant: dict[str, str], unknown: int) -> str:
    """`. Did you mean 'force'?`."""
    if unknown == 1:
        words = [f"'{name}'" for name in meant.values()]
    else:
        words = [f"'{name}' for '{_shown(given)}'" for given, name in meant.items()]
    return f". Did you mean {', '.join(words)}?" if words else ""


def _did_you_mean(meant: dict[str, str]) -> dict[str, Json]:
    return {"did_you_mean": {**meant}} if meant else {}
