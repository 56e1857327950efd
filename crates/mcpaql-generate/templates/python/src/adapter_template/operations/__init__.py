"""What the adapter can do: every operation with its parameters and its default handler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..runtime.pipeline import Operation


class Handlers(TypedDict, total=False):
    """Handlers that stand in for the default ones, by the names of their operations."""


OPERATIONS: Final[Mapping[str, Operation[Any]]] = {}
"""By the names that callers use."""
