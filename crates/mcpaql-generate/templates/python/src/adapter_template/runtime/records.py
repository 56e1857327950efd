"""What every stored record fulfils: the schema of its resource, after a merge as after a creation.

Fields that an earlier version of the document declared may still be in a record; they are kept and not judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import Code, OpError
from .schema import Missing, OtherType, path_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .catalog import Catalog
    from .jsontext import Json
    from .schema import Schemas
    from .store import CheckFields


def checks(catalog: Catalog) -> CheckFields:
    """The check of a record's fields, by the parameters of the operation that creates such records: one each."""
    places: dict[str, int] = {}
    resources: Any = catalog.target.get("resources", {})
    for name, resource in resources.items():
        creates = catalog.get(f"create_{name}")
        if creates is not None:
            properties = {param.name: param.check for param in creates.params}
            places[name] = catalog.schemas.add_object(properties, resource["required"])
    return _check_of(places, catalog.schemas)


def _check_of(places: Mapping[str, int], schemas: Schemas) -> CheckFields:
    """The check of a record's fields."""

    def check(resource: str, fields: dict[str, Json]) -> None:
        violations = schemas.check(places[resource], fields) if resource in places else []
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
