"""One operation or type, in as much detail as is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..catalog import Catalog, NamedType, Operation
    from ..jsontext import Json


def operation(op: Operation, detail: str) -> Json:
    """An operation in a list, or by its name."""
    match detail:
        case "names":
            return op.name
        case "signature":
            return {"name": op.name, "signature": op.listed}
        case "full":
            return {
                "name": op.name,
                "semantic_category": op.category,
                "endpoint": op.endpoint,
                "mcpTool": op.tool,
                "description": op.details["description"],
                "permissions": op.details["permissions"],
                "parameters": [param.view for param in op.params],
                **op.details,
            }
    return {"name": op.name, "semantic_category": op.category, "endpoint": op.endpoint, "description": op.summary}


def signed(catalog: Catalog, op: Operation) -> Json:
    """The signature of an operation with its types, and where its identifiers come from: all that a call needs."""
    out: dict[str, Json] = {"name": op.name, "endpoint": op.endpoint, "signature": op.details["signature"]}
    producers: dict[str, Json] = {param: [*names] for param, names in catalog.discovery.producers(catalog.position(op))}
    return out | {"from": producers} if producers else out


def named_type(named: NamedType, detail: str) -> Json:
    """A type."""
    if detail == "names":
        return named.name
    if detail == "full":
        return named.details
    if detail == "signature" and named.signature is not None:
        return {"name": named.name, "signature": named.signature}
    return {key: named.details[key] for key in ("name", "kind", "description") if key in named.details}
