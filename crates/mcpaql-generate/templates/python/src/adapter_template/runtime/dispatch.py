"""Runs a call: finds the operation, checks its parameters, calls its handler and writes the envelope."""

import base64
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar, cast

from . import controls, styles
from .command import CommandRunner
from .confirmations import Confirmations
from .errors import INTERNAL, UNRECOVERABLE, OpError, check_limit
from .http_client import HttpClient
from .introspection import introspect
from .requests import Answer, CommandLine, HttpRequest
from .validation import Checker, nearest

_TARGETS: dict[str, type[Any]] = {"http": HttpClient, "command": CommandRunner}
_log = logging.getLogger(__name__)
Reply: TypeAlias = tuple[str, bool, list[Any]]  # the text of an answer, MCP's `isError`, and its other blocks

T = TypeVar("T")
P = TypeVar("P", bound=Mapping[str, Any])


@dataclass(slots=True)
class Call:
    """One call: gives a handler access to the target and collects the warnings of the answer."""

    operation: str
    targets: Mapping[str, Any]
    warnings: list[Any] = field(default_factory=list)  # codes, messages and perhaps details
    answer: Answer = field(default_factory=lambda: Answer(None))  # the last answer of the target

    async def http(self, request: HttpRequest[T] | CommandLine[T], params: Mapping[str, Any]) -> T:
        """Sends a request to the API, or runs a program, and returns the data of the answer."""
        args = {name: value for name, value in params.items() if name != request.target}
        target = self.targets.get(str(params.get(request.target or "", "")))
        if target is None:
            raise OpError("INTERNAL_ERROR", "This operation has no such target; tell the operator.")
        self.answer = await target.call(request, args)
        self.warnings += self.answer.warnings
        return cast("T", self.answer.data)

    command = http


Handler: TypeAlias = Callable[[P, Call], Awaitable[object]]  # takes checked parameters, returns data
OwnTool: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[str]]  # takes the arguments of a tool, returns its text


class Adapter:
    """The operations of the adapter."""

    def __init__(self, catalog: Mapping[str, Any], handlers: Mapping[str, Any]) -> None:
        self.catalog, self._confirmations = catalog, Confirmations()
        self._handlers = {"introspect": partial(introspect, catalog), **handlers}
        self._operations: dict[str, Any] = {row["name"]: row for row in catalog["operations"]}
        self._names = {name: row for row in catalog["operations"] for name in (row["name"], *row.get("aliases", ()))}
        self._checkers = {name: Checker(row, catalog) for name, row in self._operations.items()}
        if unknown := handlers.keys() - self._operations.keys():
            raise SystemExit(f"error: handlers.py answers unknown operations; rename or remove: {', '.join(unknown)}")
        several = catalog["target"].get("alternatives") or {"": catalog["target"]}
        self._targets = {name: _TARGETS[data["protocol"]](data) for name, data in several.items()}

    async def close(self) -> None:
        while self._targets:  # a removed target rejects new calls
            await self._targets.popitem()[1].close()

    async def call(self, tool: str, arguments: Mapping[str, Any], own: OwnTool | None = None) -> Reply:
        """Calls a tool, or the author's own function for it."""
        name = "" if own is None else tool
        try:
            if own is not None:
                return await own(arguments), False, []
            row, params, warnings = self._find(tool, arguments)
            name, checker = row["name"], self._checkers[row["name"]]
            beside = params if "operation" in self.catalog["routes"][tool] else arguments
            token = controls.take_token(params, checker.name_of)
            query = controls.take(row, params, checker.name_of, beside, warnings)
            if "deprecated" in row:
                warnings.append(("DEPRECATION_WARNING", f"'{name}' is deprecated. {row['deprecated']}".strip()))
            self._confirmations.check(row, args := checker.check(params), token)
            data = await self._handlers[name](args, call := Call(name, self._targets, warnings))
            answer = call.answer if data is call.answer.data else Answer(data)  # an unchanged answer keeps its text
            return self._success(call, *controls.shape(answer, row, args, query, checker.name_of))
        except Exception as error:  # noqa: BLE001
            return self._failure(name, error)

    def _success(self, call: Call, answer: Answer, shaped: list[Any]) -> Reply:
        text = f'{{"success":true,"data":{answer.text or styles.json_text(answer.data)}'
        notes = [dict(zip(("code", "message", "details"), note, strict=False)) for note in [*call.warnings, *shaped]]
        text += f',"warnings":{styles.json_text(notes)}}}' if notes else "}"
        check_limit("response_size", len(text.encode()), self.catalog["limits"]["response_bytes"], "Ask for less.")
        return text, False, [] if answer.file is None else [_block(call.operation, *answer.file)]

    def _failure(self, name: str, error: Exception) -> Reply:
        if not isinstance(error, OpError):
            # The message may contain credentials, so it is logged only for debugging.
            _log.debug("%s failed", name, exc_info=error)
            error = OpError("INTERNAL_ERROR", "The server failed; tell the user.", type(error).__name__)
        if error.cause:
            _log.warning("%s failed with %s: %s", name, error.code, error.cause)
        if name in self._operations and error.code.startswith("VALIDATION_"):
            error.details = {"operation": name, "signature": self._operations[name]["signature"], **error.details}
        if INTERNAL.search(error.message):
            error.details["reason"], error.message = error.message, "The call failed; `details.reason` says why."
        body = {"code": error.code, "message": error.message} | ({"details": error.details} if error.details else {})
        is_error = error.code in UNRECOVERABLE or error.unrouted or self.catalog["errors"] == "all"
        return styles.json_text({"success": False, "error": body}), is_error, []

    def _find(self, tool: str, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any], list[Any]]:
        route, warnings, arguments = self.catalog["routes"][tool], [], dict(given)
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
            code = "VALIDATION_MISSING_PARAM" if name is None else "VALIDATION_INVALID_TYPE"
            raise OpError(code, "'operation' must name an operation, such as 'introspect'.", unrouted=True)
        if name not in self._names:
            near = nearest(name, self._operations, 3)
            briefs = [self._operations[meant]["brief"] for meant in near]
            raise OpError("NOT_FOUND_OPERATION", "Unknown; use 'introspect'.", suggestions=near, signatures=briefs)
        row = self._names[name]
        if route.get("endpoint", row["endpoint"]) != row["endpoint"]:
            raise OpError("VALIDATION_ENDPOINT_MISMATCH", f"Use the tool {row['tool']}.", expected_tool=row["tool"])
        if row["name"] != name:
            warnings.append(("DEPRECATION_WARNING", f"The operation '{name}' is now called '{row['name']}'."))
        if kind is not None and any(param["name"] == "element_type" for param in row["params"]):
            params.setdefault("element_type", kind)
        elif kind is not None:
            warnings.append(("IGNORED_PARAMS", "Ignored: 'element_type'. The operation has one kind of resource."))
        return row, params, warnings


def _block(operation: str, media_type: str, content: bytes) -> dict[str, Any]:
    """Returns a file as a block of its own, so that clients can show it."""
    kind, data = media_type.partition("/")[0], base64.b64encode(content).decode()
    if kind in ("image", "audio"):
        return {"type": kind, "data": data, "mimeType": media_type}
    return {"type": "resource", "resource": {"uri": f"mcpaql:///{operation}", "mimeType": media_type, "blob": data}}


def _params(arguments: dict[str, Any]) -> dict[str, Any]:
    params = arguments.pop("params", None)
    if isinstance(params, str):
        with suppress(ValueError):
            value = styles.check_given(styles.read_json(params))
            params = params if value is None else value
    if not isinstance(params, dict | None):
        raise OpError("VALIDATION_INVALID_TYPE", "Field 'params' must be an object.", unrouted=True)
    return {**arguments, **(params or {})}
