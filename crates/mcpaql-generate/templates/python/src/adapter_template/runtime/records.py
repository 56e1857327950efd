"""What every stored record fulfils: the schema of its resource, after a merge as after a creation.

Fields that an earlier version of the document declared may still be in a record; they are kept and not judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import Code, OpError
from .schema import Missing, OtherType, path_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .jsontext import Json
    from .schema import Schemas
    from .store import CheckFields

_OBJECT = 64


def add_checks(data: dict[str, Any]) -> dict[str, int]:
    """Adds a check for the records of each resource to the data of a catalog; its place among the checks."""
    operations = {operation["name"]: operation for operation in data["operations"]}
    places: dict[str, int] = {}
    for name, resource in data["target"].get("resources", {}).items():
        # Whoever creates a record gives its fields, one parameter each.
        params = operations[f"create_{name}"]["params"]
        properties = [[param["name"], param["check"]] for param in params]
        places[name] = len(data["schemas"])
        rules = {"properties": properties, "required": resource["required"]}
        data["schemas"].append({"types": _OBJECT, "object": rules})
    return places


def check_of(places: Mapping[str, int], schemas: Schemas) -> CheckFields:
    """The check of a record's fields."""

    def check(resource: str, fields: dict[str, Json]) -> None:
        violations = schemas.check(places[resource], fields)
        if not violations:
            return
        first = violations[0]
        name = path_text("", first.path)
        if isinstance(first.kind, Missing) and not first.path:
            message = f"Field '{first.kind.field}' is required and cannot be removed; give it a value."
            raise OpError(Code.MISSING_PARAM, message).detail("param_name", first.kind.field)
        where = f"'{name}' " if first.path else ""
        code = Code.INVALID_TYPE if isinstance(first.kind, OtherType) else Code.INVALID_VALUE
        message = f"The record does not fit: field {where}{first.kind}."
        raise OpError(code, message).detail("param_name", name)

    return check
