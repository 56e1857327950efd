"""The parameters of a call against what the operation declares.

The order is fixed: unknown names → required → limits (they protect what follows) → types → constraints → defaults. What
always holds: what comes back holds declared names only, every required one among them, and nothing that the schema
refuses; and an error repeats no secret: neither a sensitive parameter's value nor any part of it, its keys included.

- `perPage` and `per-page` are accepted for `per_page`, and so is a parameter's wire name where only one has it; next to
  the exact name they are ignored. Names that begin with `_` belong to the protocol and are dropped.
- An update over HTTP may carry its fields in `input`; identifiers stay outside of it.
- U+0000 is refused wherever a value leaves as text of its own (path, query, header, command line), and any control
  character but the tab in a header.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from .faults import INPUT, Faults
from .measure import Excess, Measure

if TYPE_CHECKING:
    from .catalog import Catalog, Operation, Param
    from .jsontext import Json
    from .schema import Violation


def validate(catalog: Catalog, operation: Operation, params: dict[str, Json]) -> dict[str, Json]:
    """The parameters under their declared names, with defaults; raises `OpError` with what to repair."""
    if any(name not in operation.by_name for name in params):
        params = _under_declared_names(operation, params)
    missing = [param for param in operation.params if param.required and param.name not in params]
    if missing:
        raise Faults(operation).missing_params(missing)
    _check(catalog, operation, params)
    for param in operation.params:
        if param.name in params:
            params[param.name] = catalog.schemas.integers(param.check, params[param.name])
        elif param.default:
            params[param.name] = deepcopy(param.default[0])
    return params


def _under_declared_names(operation: Operation, params: dict[str, Json]) -> dict[str, Json]:
    named: dict[str, Json] = {}
    respelled: list[tuple[Param, Json]] = []
    unknown: list[str] = []
    for name, value in params.items():
        if name in operation.by_name:
            named[name] = value
        elif operation.takes_input and name == INPUT:
            continue
        elif param := operation.respelled(name):
            respelled.append((param, value))
        elif not name.startswith("_"):
            unknown.append(name)
    if unknown:
        raise Faults(operation).unknown_params(unknown)
    for param, value in respelled:
        named.setdefault(param.name, value)
    if not operation.takes_input or INPUT not in params:
        return named
    fields = params[INPUT]
    if not isinstance(fields, dict):
        raise Faults(operation).input_not_an_object(fields)
    return _with_input(operation, named, fields)


def _with_input(operation: Operation, named: dict[str, Json], fields: dict[str, Json]) -> dict[str, Json]:
    """The flat parameters together with the fields of `input`."""
    unknown: list[str] = []
    for name, value in fields.items():
        param = operation.by_name.get(name) or operation.respelled(name)
        if param is None:
            if not name.startswith("_"):
                unknown.append(name)
        elif param.identifier:
            raise Faults(operation).identifier_in_input(param)
        elif not _identical(named.setdefault(param.name, value), value):
            raise Faults(operation).given_twice(param)
    if unknown:
        raise Faults(operation).unknown_input_fields(unknown)
    return named


def _check(catalog: Catalog, operation: Operation, params: dict[str, Json]) -> None:
    measure = Measure(catalog.limits)
    found: list[tuple[Param, Json, Violation]] = []
    for name, value in params.items():
        param = operation.by_name[name]
        try:
            measure.param(name, value, param.text)
        except Excess as excess:
            raise Faults(operation).excess(param, params, excess) from None
        found.extend((param, value, violation) for violation in catalog.schemas.check(param.check, value))
    if found:
        raise Faults(operation).violated(found)


def _identical(one: Json, other: Json) -> bool:
    """Whether two values are written alike: `1` and `1.0` are not."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_identical, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_identical(value, other[key]) for key, value in one.items())
    return type(one) is type(other) and one == other
