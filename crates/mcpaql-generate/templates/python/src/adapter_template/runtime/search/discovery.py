"""Finding operations: by what they do, by what they give, by a name that is nearly theirs.

With a hit come the operations that provide what it needs: the chain an agent has to walk, not only its last link.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from ..suggest import is_slip, nearest_many, snake_case
from .f32 import f32
from .index import Index
from .query import read
from .rank import Ranking

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..catalog import Operation

Producers: TypeAlias = "list[tuple[str, list[str]]]"
"""The parameters that other operations have values for, with the names of these, the best first."""

_OFFERED = 3
"""So many operations are offered for a name that there is not."""
_BEST = 3
"""Producers that are worth naming wherever the parameter is shown."""
_NAMED = 2
"""Producers that are named for one identifier of a hit."""
_ASKED = 2.0
"""How much the question counts against the order that links have by themselves."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A parameter and the operations that return a value for it, the best first."""

    param: str
    producers: list[int]
    everywhere: bool = False
    """Whether so many operations need it that it says little about one."""


class Discovery:
    """What operations are about and what they have for one another."""

    def __init__(self, search: Mapping[str, Any], links: Mapping[str, Any], operations: list[Operation]) -> None:
        """Reads the catalog's `search` and `links`; the index is made when somebody first asks."""
        self._search = search
        self._sources = [_Source(*source) for source in links["sources"]]
        self._wanted: list[list[int]] = links["wanted"]
        self._operations = operations
        self._last: tuple[str, Ranking] | None = None

    @cached_property
    def _index(self) -> Index:
        return Index(self._search)

    def search(self, question: str, limit: int) -> list[Operation]:
        """The operations that fit a question, the best first."""
        return [self._operations[hit.position] for hit in self._ranking(question).hits(limit)]

    def search_with_chain(self, question: str, limit: int) -> list[tuple[Operation, Producers]]:
        """The same, with where their identifiers come from: producers that fit the question first, each said once."""
        ranking = self._ranking(question)
        hits = ranking.hits(limit)
        best = hits[0].score if hits else 0.0
        said: list[tuple[str, list[int]]] = []
        found: list[tuple[Operation, Producers]] = []
        for hit in hits:
            named: list[tuple[list[str], list[int]]] = []
            for source in self._of(hit.position):
                chosen = _chosen(source.producers, ranking, best)
                if source.everywhere or (source.param, chosen) in said:
                    continue
                said.append((source.param, chosen))
                same = next((params for params, producers in named if producers == chosen), None)
                if same is None:
                    named.append(([source.param], chosen))
                else:
                    same.append(source.param)
            operation = self._operations[hit.position]
            inferred = [(param, self._names(producers)) for params, producers in named for param in params]
            # What an import wrote down is what is inferred; only what an author says goes before the question.
            found.append((operation, _declared_over(operation, inferred, self._inferred(hit.position))))
        return found

    def producers(self, position: int) -> Producers:
        """Where the values of an operation's parameters come from: as its author says, else as the operations show."""
        return _declared_over(self._operations[position], self._inferred(position), [])

    def meant(self, name: str, params: Iterable[str] = ()) -> list[Operation]:
        """What a name that there is not may have meant.

        A slip of the finger first, else what its words and the parameters beside it are about.
        """
        by_name = {operation.name: operation for operation in self._operations}
        near = nearest_many(name, by_name, _OFFERED)
        slips = [candidate for candidate in near if is_slip(name, candidate)]
        words = " ".join(snake_case(word).replace("_", " ") for word in (name, *params))
        found = [operation.name for operation in self.search(words, _OFFERED)]
        offered = list(dict.fromkeys(slips + found + near))[:_OFFERED]
        return [by_name[name] for name in offered]

    def _ranking(self, question: str) -> Ranking:
        """A list asks for its hits first and for their chain then."""
        if self._last is None or self._last[0] != question:
            self._last = question, Ranking(self._index, read(self._index, question))
        return self._last[1]

    def _of(self, position: int) -> list[_Source]:
        wanted = self._wanted[position] if position < len(self._wanted) else []
        return [self._sources[number] for number in wanted]

    def _inferred(self, position: int) -> Producers:
        return [(source.param, self._names(source.producers[:_BEST])) for source in self._of(position)]

    def _names(self, positions: list[int]) -> list[str]:
        return [self._operations[position].name for position in positions]


def _declared_over(operation: Operation, inferred: Producers, known: Producers) -> Producers:
    """With what the operation itself says in place of what is inferred, unless that is known anyway."""
    for param in operation.params:
        names = list(param.producers)
        if not names or (param.name, names) in known:
            continue
        place = next((at for at, (name, _) in enumerate(inferred) if name == param.name), None)
        if place is None:
            inferred.append((param.name, names))
        else:
            inferred[place] = (param.name, names)
    return inferred


def _chosen(producers: list[int], ranking: Ranking, best: float) -> list[int]:
    """The producers that fit both the identifier and the question."""

    def weight(place: int, position: int) -> float:
        asked = f32(ranking.score(position) / best) if best > 0.0 else 0.0
        return f32(f32(1.0 / place) + f32(_ASKED * asked))

    weighed = [(weight(place, position), position) for place, position in enumerate(producers, 1)]
    weighed.sort(key=lambda pair: -pair[0])
    return [position for _, position in weighed[:_NAMED]]
