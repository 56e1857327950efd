"""Introspection: pure views of the catalog.

Both query forms read the compiled operations that validation reads. Long lists come in pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..response import Answer, Notice
from ..suggest import nearest_many
from ..text import quoted
from . import lists, types, views
from .ask import Ask, invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..catalog import Catalog
    from ..jsontext import Json

__all__ = ["introspect"]


def introspect(catalog: Catalog, args: Mapping[str, Json]) -> Answer:
    """Answers `introspect` for arguments that are already validated.

    Raises `OpError` for parameters that make no sense together and a cursor of another list. Never for a name that does
    not exist: that is a success with null and a warning, as the protocol says.
    """
    ask = Ask.read(args)
    narrowed = ask.narrowed_by()
    if ask.types and narrowed:
        says = f"Parameter '{narrowed[0]}' narrows operations, not types. Leave it out, or leave out 'query'."
        raise invalid(narrowed[0], says)
    if ask.names is None:
        return types.listed(catalog, ask) if ask.types else lists.operations(catalog, ask)
    if ask.types:
        return _named(ask, ask.names, "type", lambda name: _type(catalog, name, ask))
    return _named(ask, ask.names, "operation", lambda name: _operation(catalog, name, ask))


def _operation(catalog: Catalog, name: str, ask: Ask) -> Json | Notice:
    if operation := catalog.get(name):
        if ask.detail == "signature":
            return views.signed(catalog, operation)
        return views.operation(operation, ask.detail or "full")
    return _unknown("operation", name, [near.name for near in catalog.discovery.meant(name)])


def _type(catalog: Catalog, name: str, ask: Ask) -> Json | Notice:
    for named in catalog.types:
        if named.name == name:
            return views.named_type(named, ask.detail or "full")
    listed = [named.name for named in catalog.types[: catalog.listed_types]]
    return _unknown("type", name, nearest_many(name, listed, 3))


def _named(ask: Ask, names: list[str], key: str, find: Callable[[str], Json | Notice]) -> Answer:
    """One result under `key`, or several under its plural."""
    warnings = ask.beside_names()
    found: list[Json] = []
    for name in names:
        result = find(name)
        if isinstance(result, Notice):
            warnings.append(result)
            result = None
            if ask.several:
                continue
        found.append(result)
    return Answer({f"{key}s": found} if ask.several else {key: found[0]}, warnings)


def _unknown(kind: str, name: str, near: list[str]) -> Notice:
    hint = f"Nearest: {', '.join(near)}." if near else f"List all with query '{kind}s'."
    return Notice("NOT_FOUND", f"There is no {kind}{quoted(name)}. {hint}")
