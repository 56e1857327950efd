"""Runs a call: finds the operation, checks its parameters, calls its handler and writes the envelope."""

import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, cast

from . import styles
from .command import CommandRunner
from .errors import INTERNAL, UNRECOVERABLE, Code, EnvelopeError, OpError, check_limit
from .http_client import HttpClient
from .introspection import introspect
from .requests import Answer, CommandLine, HttpRequest
from .validation import Checker, nearest

_TARGETS: dict[str, type[Any]] = {"http": HttpClient, "command": CommandRunner}
_log = logging.getLogger(__name__)

T = TypeVar("T")
P = TypeVar("P", bound=Mapping[str, Any])


@dataclass(slots=True)
class Call:
    """One call: gives a handler access to the target and collects the warnings of the answer."""

    operation: str
    targets: Mapping[str, Any]
    warnings: list[tuple[str, str]] = field(default_factory=list)
    answer: Answer = field(default_factory=lambda: Answer(None))  # the last answer of the target

    async def http(self, request: HttpRequest[T] | CommandLine[T], params: Mapping[str, Any]) -> T:
        """Sends a request to the API, or runs a program, and returns the data of the answer."""
        args = {name: value for name, value in params.items() if name != request.target}
        target = self.targets.get(str(params.get(request.target or "", "")))
        if target is None:
            raise OpError(Code.INTERNAL, "This operation has no such target; tell the operator.")
        self.answer = await target.call(request, args)
        self.warnings += self.answer.warnings
        return cast("T", self.answer.data)

    command = http


Handler: TypeAlias = Callable[[P, Call], Awaitable[object]]  # takes checked parameters, returns data
OwnTool: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[str]]  # takes the arguments of a tool, returns its text


class Adapter:
    """The operations of the adapter."""

    def __init__(self, catalog: Mapping[str, Any], handlers: Mapping[str, Any]) -> None:
        self.catalog = catalog
        self._handlers = {"introspect": self._introspect, **handlers}
        self._operations: dict[str, Any] = {row["name"]: row for row in catalog["operations"]}
        self._names = {name: row for row in catalog["operations"] for name in (row["name"], *row.get("aliases", ()))}
        self._checkers = {name: Checker(row, catalog) for name, row in self._operations.items()}
        if unknown := handlers.keys() - self._operations.keys():
            raise SystemExit(f"error: handlers.py answers unknown operations; rename or remove: {', '.join(unknown)}")
        several = catalog["target"].get("alternatives") or {"": catalog["target"]}
        self._targets = {name: _TARGETS[data["protocol"]](data) for name, data in several.items()}

    async def close(self) -> None:
        targets = list(self._targets.values())
        self._targets.clear()  # rejects new calls
        for target in targets:
            await target.close()

    async def call(self, tool: str, arguments: Mapping[str, Any], own: OwnTool | None = None) -> tuple[str, bool]:
        """Calls a tool, or the author's own function for it. Returns its text and MCP's `isError`."""
        name = "" if own is None else tool
        try:
            if own is not None:
                return await own(arguments), False
            row, params, warnings = self._find(tool, dict(arguments))
            name = row["name"]
            if "deprecated" in row:
                note = f"The operation '{name}' is deprecated. {row['deprecated']}"
                warnings.append(("DEPRECATION_WARNING", note.strip()))
            call = Call(name, self._targets, warnings)
            data = await self._handlers[name](self._checkers[name].check(params), call)
            return self._success(call, data), False
        except Exception as error:  # noqa: BLE001
            return self._failure(name, error)

    async def _introspect(self, args: Mapping[str, Any], call: Call) -> object:
        return introspect(self.catalog, args, call.warnings)

    def _success(self, call: Call, data: object) -> str:
        # If no handler changed the answer, its text is returned unchanged.
        unchanged = call.answer.text if data is call.answer.data else None
        text = f'{{"success":true,"data":{unchanged or styles.json_text(data)}'
        notes = [{"code": code, "message": message} for code, message in call.warnings]
        text += f',"warnings":{styles.json_text(notes)}}}' if notes else "}"
        check_limit("response_size", len(text.encode()), self.catalog["limits"]["response_bytes"], "Ask for less.")
        return text

    def _failure(self, name: str, error: Exception) -> tuple[str, bool]:
        """Returns the envelope of a failed call and MCP's `isError`, without details of unexpected exceptions."""
        if not isinstance(error, OpError):
            # The message may contain credentials, so it is logged only for debugging.
            _log.debug("%s failed", name, exc_info=error)
            frame = traceback.extract_tb(error.__traceback__)[-1]
            cause = f"{type(error).__name__} in {frame.name}, line {frame.lineno}"
            error = OpError(Code.INTERNAL, "The server failed during this call; tell the user.", cause)
        if error.cause:
            _log.warning("%s failed with %s: %s", name, error.code, error.cause)
        if name in self._operations and error.code.startswith("VALIDATION_"):
            error.details = {"operation": name, "signature": self._operations[name]["signature"], **error.details}
        if INTERNAL.search(error.message):
            error.details["reason"], error.message = error.message, "The call failed; `details.reason` says why."
        body = {"code": error.code, "message": error.message} | ({"details": error.details} if error.details else {})
        is_error = error.code in UNRECOVERABLE or isinstance(error, EnvelopeError) or self.catalog["errors"] == "all"
        return styles.json_text({"success": False, "error": body}), is_error

    def _find(self, tool: str, arguments: dict[str, Any]) -> tuple[Any, dict[str, Any], list[tuple[str, str]]]:
        route, warnings = self.catalog["routes"][tool], []
        if "renamed_to" in route:
            warnings.append(("DEPRECATION_WARNING", f"The tool '{tool}' is now called '{route['renamed_to']}'."))
        if "operation" in route:
            row = self._operations[route["operation"]]
            declared = {param["name"] for param in row["params"]}
            # An envelope is accepted too, unless the operation has parameters with these names.
            if "operation" not in declared and arguments.get("operation") in (row["name"], *row.get("aliases", ())):
                del arguments["operation"]
            return row, arguments if "params" in declared else _params(arguments), warnings
        name, kind, params = arguments.pop("operation", None), arguments.pop("element_type", None), _params(arguments)
        if not isinstance(name, str):
            code = Code.MISSING_PARAM if name is None else Code.INVALID_TYPE
            message = """Field 'operation' must name an operation. Send {"operation": "introspect"} to list all."""
            raise EnvelopeError(code, message, param_name="operation")
        if name not in self._names:
            near = nearest(name, self._operations, 3)
            message = "Unknown operation. Use one of the suggestions, or 'introspect' to list operations."
            signatures = [self._operations[meant]["brief"] for meant in near]
            raise OpError(Code.NOT_FOUND_OPERATION, message, suggestions=near, signatures=signatures)
        row = self._names[name]
        if route.get("endpoint", row["endpoint"]) != row["endpoint"]:
            message = f"Operation '{row['name']}' must be called via {row['tool']}, not {tool}."
            raise OpError(Code.ENDPOINT_MISMATCH, message, operation=row["name"], expected_tool=row["tool"])
        if row["name"] != name:
            warnings.append(("DEPRECATION_WARNING", f"The operation '{name}' is now called '{row['name']}'."))
        if kind is not None and any(param["name"] == "element_type" for param in row["params"]):
            params.setdefault("element_type", kind)
        elif kind is not None:
            warnings.append(("IGNORED_PARAMS", "Ignored: 'element_type'. The operation has one kind of resource."))
        return row, params, warnings


def _params(arguments: dict[str, Any]) -> dict[str, Any]:
    params = arguments.pop("params", None)
    if isinstance(params, str):
        with suppress(ValueError):
            value = styles.check_given(styles.read_json(params))
            params = params if value is None else value
    if not isinstance(params, dict | None):
        raise EnvelopeError(Code.INVALID_TYPE, "Field 'params' must be an object.", param_name="params")
    return {**arguments, **(params or {})}
