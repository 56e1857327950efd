"""Every operation of the adapter, and the function that answers it by default."""

from __future__ import annotations

from typing import Final, TypedDict


class Handlers(TypedDict, total=False):
    """Functions that answer operations, by their names."""


DEFAULTS: Final[Handlers] = {}
