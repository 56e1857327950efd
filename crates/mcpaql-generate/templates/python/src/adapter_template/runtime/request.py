"""Arguments of a tool call → one validated call of one operation.

Order: envelope, operation known, right endpoint, then the parameters (`validate`). Everything here is recoverable by
the agent, except arguments that are no envelope at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .catalog import Catalog, Operation
    from .jsontext import Json
    from .response import Notice


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
    raise NotImplementedError
