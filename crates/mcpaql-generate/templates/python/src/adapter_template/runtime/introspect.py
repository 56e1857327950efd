"""Introspection: pure views of the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .catalog import Catalog
    from .jsontext import Json
    from .response import Answer


def introspect(catalog: Catalog, args: Mapping[str, Json]) -> Answer:
    """Answers `introspect` for arguments that are already validated.

    Raises `OpError` for parameters that make no sense together and a cursor of another list. Never for a name that does
    not exist: that is a success with null and a warning, as the protocol says.
    """
    raise NotImplementedError
