"""Lists of operations: all, narrowed, found by search; whole or in pages."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from ..response import Answer, Notice
from ..suggest import nearest_many
from ..text import ascii_lower, quoted
from . import hits, page, views
from .page import Page

if TYPE_CHECKING:
    from ..catalog import Catalog, Operation
    from ..jsontext import Json
    from ..search.discovery import Producers
    from .ask import Ask

_NAMES = 200
"""Names are short, so that more of them make a page."""
_DETAILS = 5
"""Details are long."""
_MOST_DETAILS = 20
"""So many details at once, whatever is asked for."""
_GROUPS = 15
"""How many groups are counted before the rest of them is."""
_HINT = """Find operations with {"search":"what you want to do"}, or narrow with tag, category or endpoint."""
"""How to go on where a list is long."""


def operations(catalog: Catalog, ask: Ask) -> Answer:
    """The operations that are asked for."""
    found = _found(catalog, ask)
    shown = _page(ask, len(found))
    rows = found[shown.start : shown.end]
    data: dict[str, Json] = {}
    if not ask.narrowed_by() and ask.detail is None and ask.after is None:
        data["_protocol"] = catalog.protocol
    if ask.detail is None and ask.search is not None:
        data["operations"] = hits.rows(catalog, _chained(catalog, ask, ask.search, shown, rows))
    else:
        data["operations"] = [views.operation(operation, ask.detail or "summary") for operation in rows]
    # A search answers with the best; how many others fit somehow says nothing.
    if ask.paged() or (shown.is_part() and ask.search is None):
        data["pageInfo"] = shown.info()
    if shown.is_part() and ask.search is None and ask.detail is None and ask.after is None:
        data["groups"] = _groups(found)
        data["hint"] = _HINT
    return Answer(data, [] if found else [_nothing(catalog, ask)])


def _page(ask: Ask, total: int) -> Page:
    if ask.detail == "full":
        return Page.of(ask, total, _DETAILS, _MOST_DETAILS)
    if ask.search is not None:
        return Page.of(ask, total, hits.SHOWN)
    if ask.detail == "names":
        return Page.of(ask, total, _NAMES)
    return Page.of(ask, total, page.WHOLE if total <= page.WHOLE else page.SIZE)


def _found(catalog: Catalog, ask: Ask) -> list[Operation]:
    """The operations that fit, in order: the best first where there is a question."""
    every = catalog.operations
    if ask.search is not None:
        every = catalog.discovery.search(ask.search, len(every))
    return [operation for operation in every if _fits(ask, operation)]


def _fits(ask: Ask, operation: Operation) -> bool:
    """Whether an operation is none of those that are left out."""
    category = ask.category is None or operation.category == ask.category.upper()
    endpoint = ask.endpoint is None or operation.endpoint == ask.endpoint
    return category and endpoint and (ask.tag is None or _has_tag(operation, ask.tag))


def _has_tag(operation: Operation, tag: str) -> bool:
    return any(ascii_lower(own) == ascii_lower(tag) for own in operation.tags)


def _chained(
    catalog: Catalog, ask: Ask, question: str, shown: Page, rows: list[Operation]
) -> list[tuple[Operation, Producers]]:
    """What search found, with where identifiers come from. Filters leave out hits, and what was said with them."""
    if len(ask.narrowed_by()) > 1 or shown.start > 0:
        return [(operation, catalog.discovery.producers(catalog.position(operation))) for operation in rows]
    return catalog.discovery.search_with_chain(question, shown.end)


def _groups(found: list[Operation]) -> dict[str, Json]:
    """`{"by":"tag","counts":{"repos":201},"more":12}`."""
    counts = Counter(operation.group for operation in found)
    largest = sorted(counts.items(), key=lambda group: (-group[1], group[0]))
    by_tag = sum(operation.tagged for operation in found) * 2 >= len(found)
    out: dict[str, Json] = {"by": "tag" if by_tag else "noun", "counts": dict(largest[:_GROUPS])}
    return out | {"more": len(largest) - _GROUPS} if len(largest) > _GROUPS else out


def _nothing(catalog: Catalog, ask: Ask) -> Notice:
    """Why a list is empty, and what to do about it."""
    if ask.tag is not None and not any(_has_tag(operation, ask.tag) for operation in catalog.operations):
        tags = [tag for operation in catalog.operations for tag in operation.tags]
        near = [tag for tag, _ in groupby(nearest_many(ask.tag, tags, 40))][:3]
        hint = f"Nearest: {', '.join(near)}." if near else "List operations without it to see the groups."
        message = f"No operation has the tag{quoted(ask.tag)}. {hint}"
    elif ask.search is not None:
        message = "No operation fits. Search with other words, or list operations to see what there is."
    else:
        message = "No operation fits all of these parameters. Leave one of them out."
    return Notice("NOT_FOUND", message)
