"""The one way a call goes: find the operation, check its parameters, run its handler, write the envelope."""

import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar, cast

from . import styles
from .errors import UNRECOVERABLE, Code, EnvelopeError, OpError
from .introspection import introspect
from .requests import Answer, CommandLine, HttpRequest
from .targets import TARGETS
from .validation import Checker, nearest

_log = logging.getLogger(__name__)

T = TypeVar("T")
P = TypeVar("P", bound=Mapping[str, Any])


@dataclass(slots=True)
class Call:
    """One call: how a handler reaches the target, and the warnings that go along with the answer."""

    operation: str
    targets: Mapping[str, Any]
    warnings: list[tuple[str, str]] = field(default_factory=list)
    answer: Answer = field(default_factory=lambda: Answer(None))  # of the target, the last one

    async def http(self, request: HttpRequest[T] | CommandLine[T], params: Mapping[str, Any]) -> T:
        """Sends a request to the API, or runs a program, and gives the data of the answer."""
        args = {name: value for name, value in params.items() if name != request.target}
        target = self.targets.get(str(params.get(request.target or "", "")))
        if target is None:
            raise OpError(Code.INTERNAL, "This operation has no such target; tell the operator.")
        self.answer = await target.call(request, args)
        self.warnings += self.answer.warnings
        return cast("T", self.answer.data)

    command = http


Handler: TypeAlias = Callable[[P, Call], Awaitable[object]]  # checked parameters and the call → data, or `OpError`


class Adapter:
    """The operations of the adapter, ready to be called."""

    def __init__(self, catalog: Mapping[str, Any], handlers: Mapping[str, Any]) -> None:
        self.catalog = catalog
        self._handlers = {"introspect": self._introspect, **handlers}
        self._operations: dict[str, Any] = {row["name"]: row for row in catalog["operations"]}
        self._names = {name: row for row in catalog["operations"] for name in (row["name"], *row.get("aliases", ()))}
        rules = catalog["$defs"], catalog["limits"]
        self._checkers = {name: Checker(row, *rules) for name, row in self._operations.items()}
        if unknown := handlers.keys() - self._operations.keys():
            raise SystemExit(f"error: handlers.py answers unknown operations; rename or remove: {', '.join(unknown)}")
        several = catalog["target"].get("alternatives") or {"": catalog["target"]}
        self._targets = {name: TARGETS[data["protocol"]](data) for name, data in several.items()}

    async def close(self) -> None:
        targets = list(self._targets.values())
        self._targets.clear()  # nothing begins any more
        for target in targets:
            await target.close()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """The envelope of a call through a tool, and MCP's `isError`."""
        name = ""
        try:
            row, params, warnings = self._find(tool, dict(arguments))
            name = row["name"]
            args = self._checkers[name].check(params)
            if "deprecated" in row:
                message = f"The operation '{name}' is deprecated. {row['deprecated']}".strip()
                warnings.append(("DEPRECATED_OPERATION", message))
            call = Call(name, self._targets, warnings)
            data = await self._handlers[name](args, call)
            return self._success(call, data), False
        except Exception as error:  # noqa: BLE001
            return self.failure(name, error)

    async def _introspect(self, args: Mapping[str, Any], call: Call) -> object:
        answer = introspect(self.catalog, args)
        call.warnings += answer.warnings
        return answer.data

    def _success(self, call: Call, data: object) -> str:
        # An answer that no handler changed passes on as it was written.
        passed_on = call.answer.text if data is call.answer.data else None
        text = f'{{"success":true,"data":{passed_on or styles.json_text(data)}'
        notes = [{"code": code, "message": message} for code, message in call.warnings]
        text += f',"warnings":{styles.json_text(notes)}}}' if notes else "}"
        if (length := len(text.encode())) > (limit := self.catalog["limits"]["response_bytes"]):
            message = f"The answer has {length} bytes, more than the {limit} that may be returned. Ask for less."
            raise OpError(Code.PAYLOAD_TOO_LARGE, message, limit="max_response_size", actual=length, maximum=limit)
        return text

    def failure(self, name: str, error: Exception) -> tuple[str, bool]:
        """The envelope of a failed call, and MCP's `isError`. What a handler raised is not for the client."""
        if not isinstance(error, OpError):
            # Its message may show credentials, so that only whoever looks for a mistake gets to see it.
            _log.debug("%s failed", name, exc_info=error)
            frame = traceback.extract_tb(error.__traceback__)[-1]
            cause = f"{type(error).__name__} in {frame.name}, line {frame.lineno}"
            error = OpError(Code.INTERNAL, "The server failed during this call; tell the user.", cause)
        if error.cause:
            _log.warning("%s failed with %s: %s", name, error.code, error.cause)
        if name in self._operations and error.code.startswith("VALIDATION_"):
            error.details = {"operation": name, "signature": self._operations[name]["signature"], **error.details}
        body = {"code": error.code, "message": error.message} | ({"details": error.details} if error.details else {})
        is_error = error.code in UNRECOVERABLE or isinstance(error, EnvelopeError) or self.catalog["errors"] == "all"
        return styles.json_text({"success": False, "error": body}), is_error

    def _find(self, tool: str, arguments: dict[str, Any]) -> tuple[Any, dict[str, Any], list[tuple[str, str]]]:
        route, warnings = self.catalog["routes"][tool], []
        if "renamed_to" in route:
            warnings.append(("DEPRECATED_TOOL", f"The tool '{tool}' is now called '{route['renamed_to']}'."))
        if "operation" in route:
            row = self._operations[route["operation"]]
            declared = {param["name"] for param in row["params"]}
            # An envelope is taken too, as far as the operation has no parameters of those names.
            if "operation" not in declared and arguments.get("operation") in (row["name"], *row.get("aliases", ())):
                del arguments["operation"]
            return row, arguments if "params" in declared else _params(arguments), warnings
        name = arguments.pop("operation", None)
        if name is not None and not isinstance(name, str):
            raise EnvelopeError(Code.INVALID_TYPE, "Field 'operation' must name an operation.", param_name="operation")
        params = _params(arguments)
        if name is None:
            message = """Missing required field 'operation'. Send {"operation": "introspect"} to list what there is."""
            raise EnvelopeError(Code.MISSING_PARAM, message, param_name="operation")
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
            warnings.append(("DEPRECATED_OPERATION", f"The operation '{name}' is now called '{row['name']}'."))
        return row, params, warnings


def _params(arguments: dict[str, Any]) -> dict[str, Any]:
    params = arguments.pop("params", None)
    if isinstance(params, str):
        try:
            params = [] if params.strip() == "null" else styles.check_given(styles.read_json(params))
        except ValueError:
            params = []
    if not isinstance(params, dict | None):
        raise EnvelopeError(Code.INVALID_TYPE, "Field 'params' must be an object.", param_name="params")
    return {**(params or {}), **{name: value for name, value in arguments.items() if name not in (params or {})}}
