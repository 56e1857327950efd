"""Arguments of a tool call → one validated call of one operation.

Order: envelope, operation known, right endpoint, then the parameters (`validate`). Everything here is recoverable by
the agent, except arguments that are no envelope at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import jsontext
from .catalog import INTROSPECT
from .errors import Code, OpError
from .response import Notice
from .schema import type_name
from .text import WHITE, quoted, size
from .validate import validate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .catalog import Catalog, Operation
    from .jsontext import Json

_SIGNATURE = 80
"""Estimated tokens of a signature that is offered."""
_KEYS = 12
"""So many keys of parameters help to find out which operation was meant."""
_LONG_KEY = 64
"""Longer keys are no names."""


@dataclass(slots=True)
class Prepared:
    """A call that may run: an operation and complete, validated arguments by parameter name, defaults filled in."""

    operation: Operation
    args: dict[str, Json]
    warnings: list[Notice]
    """What to tell the agent besides the answer."""


def prepare(catalog: Catalog, tool: str, arguments: Mapping[str, Json]) -> Prepared:
    """Prepares a call that came through a tool.

    Raises `OpError` for what is wrong with the envelope, the operation, the endpoint or the parameters, in that order.
    """
    route = catalog.routes.get(tool)
    if route is None:
        raise OpError(Code.NOT_FOUND_OPERATION, f"There is no tool{quoted(tool)} here.")
    given = _plain(arguments)
    warnings: list[Notice] = []
    if route.renamed_to is not None:
        warnings.append(Notice("DEPRECATED_TOOL", f"The tool '{tool}' is now called '{route.renamed_to}'."))
    if route.operation is not None:
        operation = catalog.operations[route.operation]
        params = _flat(operation, given)
    else:
        name, params = _merged(given)
        operation = _found(catalog, name, params)
        if route.endpoint is not None and operation.endpoint != route.endpoint:
            raise _wrong_endpoint(operation, route.endpoint, tool)
        if name != operation.name:
            text = f"The operation '{name}' is now called '{operation.name}'."
            warnings.append(Notice("DEPRECATED_OPERATION", text))
    args = validate(catalog, operation, params)
    if operation.deprecated is not None:
        text = f"The operation '{operation.name}' is deprecated. {operation.deprecated}".rstrip(WHITE)
        warnings.append(Notice("DEPRECATED_OPERATION", text))
    return Prepared(operation, args, warnings)


def _plain(arguments: Mapping[str, Json]) -> dict[str, Json]:
    """A copy with the numbers that JSON has here; no value in it is too deep to be walked."""
    root: dict[str, Json] = {}
    stack: list[tuple[Any, Any, int]] = [(arguments, root, 0)]
    while stack:
        source, copy, depth = stack.pop()
        if depth >= jsontext.DEEPEST:
            message = f"The arguments are nested deeper than {jsontext.DEEPEST} levels. Send a flatter value."
            raise OpError(Code.PAYLOAD_TOO_LARGE, message).before_dispatch()
        if isinstance(source, list):
            copy.extend([None] * len(source))
        for key, value in source.items() if isinstance(copy, dict) else enumerate(source):
            if isinstance(value, (list, dict)):
                copy[key] = [] if isinstance(value, list) else {}
                stack.append((value, copy[key], depth + 1))
            else:
                copy[key] = _scalar(value)
    return root


def _scalar(value: Any) -> Any:
    try:
        number = jsontext.whole(value) if isinstance(value, int) and not isinstance(value, bool) else value
    except ValueError:
        number = math.inf
    if isinstance(number, float) and not math.isfinite(number):
        raise OpError(Code.INVALID_VALUE, "Numbers must be finite. Send another one.").before_dispatch()
    return number


def _flat(operation: Operation, arguments: dict[str, Json]) -> dict[str, Json]:
    """The parameters of a tool that is one operation.

    The arguments are the parameters; an envelope is taken too, as far as the operation has no parameters of those
    names.
    """
    if "operation" not in operation.by_name:
        name = arguments.get("operation")
        if name == operation.name or name in operation.aliases:
            del arguments["operation"]
    if "params" in operation.by_name:
        return arguments
    return _params(arguments)


def _merged(arguments: dict[str, Json]) -> tuple[str, dict[str, Json]]:
    """The operation's name and its parameters: those of `params`, then those beside it."""
    name = arguments.pop("operation", None)
    if name is not None and not isinstance(name, str):
        message = "Field 'operation' must be a string, the name of an operation."
        error = OpError(Code.INVALID_TYPE, message).detail("param_name", "operation")
        raise error.detail("actual_type", type_name(name)).before_dispatch()
    params = _params(arguments)
    if name is None:
        message = """Missing required field 'operation'. Send {"operation": "introspect"} to list what there is."""
        raise OpError(Code.MISSING_PARAM, message).detail("param_name", "operation").before_dispatch()
    return name, params


def _params(arguments: dict[str, Json]) -> dict[str, Json]:
    """What stands under `params`, and beside it what that does not name."""
    params = arguments.pop("params", None)
    found = type_name(params)
    if isinstance(params, str):
        # Some models write the object as a string; what it means is not in doubt.
        try:
            params = jsontext.read(params)
        except ValueError:
            params = []
    if params is None and found == "null":
        return arguments
    if not isinstance(params, dict):
        message = "Field 'params' must be an object with the operation's parameters."
        error = OpError(Code.INVALID_TYPE, message).detail("param_name", "params").detail("expected_type", "object")
        raise error.detail("actual_type", found).before_dispatch()
    for name, value in arguments.items():
        params.setdefault(name, value)
    return params


def _found(catalog: Catalog, name: str, params: dict[str, Json]) -> Operation:
    if operation := catalog.get(name):
        return operation
    keys = [key for key in params if size(key) <= _LONG_KEY][:_KEYS]
    meant = catalog.discovery.meant(name, keys)
    hint = f"Did you mean '{meant[0].name}'?" if meant else f"Use '{INTROSPECT}' to list operations."
    error = OpError(Code.NOT_FOUND_OPERATION, f"Unknown operation{quoted(name)}. {hint}").detail("operation", name[:64])
    error.detail("suggestions", [operation.name for operation in meant])
    if meant:
        error.detail("signatures", [catalog.brief(operation, _SIGNATURE) for operation in meant])
    raise error


def _wrong_endpoint(operation: Operation, actual: str, tool: str) -> OpError:
    message = f"Operation '{operation.name}' must be called via {operation.tool}, not {tool}."
    return OpError(
        Code.ENDPOINT_MISMATCH,
        message,
        {
            "operation": operation.name,
            "expected_endpoint": operation.endpoint,
            "actual_endpoint": actual,
            "expected_tool": operation.tool,
        },
    )
