"""Content blocks as the protocol knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types
from pydantic import TypeAdapter, ValidationError

from . import jsontext

if TYPE_CHECKING:
    from .jsontext import Json

_KNOWN: TypeAdapter[Any] = TypeAdapter(types.ContentBlock)


def shown(block: Json) -> Json:
    """A block as it is; one that the protocol does not know is shown as the JSON that it is."""
    try:
        _KNOWN.validate_python(block, by_name=False)
    except ValidationError:
        return {"type": "text", "text": jsontext.write(block)}
    return block
