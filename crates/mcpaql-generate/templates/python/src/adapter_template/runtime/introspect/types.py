"""Types: the protocol's own, then the adapter's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..response import Answer
from . import page, views
from .page import Page

if TYPE_CHECKING:
    from ..catalog import Catalog
    from ..jsontext import Json
    from .ask import Ask

_FULL = 10
"""So many details where nobody says how many."""


def listed(catalog: Catalog, ask: Ask) -> Answer:
    """The types, a page at a time where there are many."""
    detail = ask.detail or "summary"
    total = catalog.listed_types
    sizes = {"names": page.LARGEST, "full": _FULL}
    shown = Page.of(ask, total, sizes.get(detail, page.WHOLE if total <= page.WHOLE else page.SIZE))
    rows = [views.named_type(named, detail) for named in catalog.types[shown.start : shown.end]]
    data: dict[str, Json] = {"types": rows}
    if ask.paged() or shown.is_part():
        data["pageInfo"] = shown.info()
    return Answer(data)
