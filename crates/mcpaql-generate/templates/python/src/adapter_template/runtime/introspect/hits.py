"""What a search answers: enough about a few operations to call the right one, in few words.

Nothing is said twice: a summary that repeats the name is left out, where an identifier comes from is said once, and
identifiers that come from the same operations share a line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .. import jsontext
from ..text import shorten
from ..tokens import estimate

if TYPE_CHECKING:
    from ..catalog import Catalog, Operation
    from ..jsontext import Json
    from ..search.discovery import Producers

SHOWN = 5
"""So many operations where nobody says how many."""
_ROOM = 236
"""Estimated tokens of all of them together, for so many."""


class _Size(NamedTuple):
    """How much is said about an operation."""

    signature: int
    summary: int
    producers: int
    """Operations named for each parameter."""


_SIZES = (_Size(40, 100, 2), _Size(28, 72, 2), _Size(20, 56, 1), _Size(12, 40, 1), _Size(8, 0, 1), _Size(8, 0, 0))
"""From generous to terse. Where values come from outlasts the summary: it leads on, and the name says much already."""


def rows(catalog: Catalog, shown: list[tuple[Operation, Producers]]) -> list[Json]:
    """The hits, the best first, as generous as there is room."""
    room = _ROOM * -(-max(len(shown), 1) // SHOWN)
    found: list[Json] = []
    for size in _SIZES:
        said: set[str] = set()
        found = [_row(catalog, operation, producers, size, said) for operation, producers in shown]
        if estimate(jsontext.write(found)) <= room:
            break
    return found


def _row(catalog: Catalog, operation: Operation, producers: Producers, size: _Size, said: set[str]) -> Json:
    out: dict[str, Json] = {"name": operation.name}
    if catalog.mode == "discrete":
        out["tool"] = operation.tool
    else:
        out["endpoint"] = operation.endpoint
    out["signature"] = catalog.brief(operation, size.signature)
    if size.summary > 0 and not operation.repeats:
        out["summary"] = _clipped(operation.hit_summary, size.summary)
    if sources := _sources(operation, producers, size.producers, said):
        out["from"] = sources
    return out


def _sources(operation: Operation, producers: Producers, most: int, said: set[str]) -> dict[str, Json]:
    """Where the required values come from, as far as no hit before said so."""
    lines: dict[tuple[str, ...], list[str]] = {}
    for param, every in producers:
        names = tuple(every[:most])
        line = f"{param} {' '.join(names)}"
        if param in operation.needed and names and line not in said:
            said.add(line)
            lines.setdefault(names, []).append(param)
    return {", ".join(params): [*names] for names, params in lines.items()}


def _clipped(text: str, most: int) -> str:
    """The text, cut between words."""
    cut = shorten(text, most)
    whole, space, _ = cut.removesuffix("…").rpartition(" ")
    return f"{whole}…" if space and cut.endswith("…") and cut != text else cut
