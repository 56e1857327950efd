"""What somebody asks `introspect` for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import Code, OpError
from ..response import Notice
from ..text import trim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..jsontext import Json


def invalid(param: str, message: str) -> OpError:
    """A parameter that makes no sense here."""
    return OpError(Code.INVALID_VALUE, message).detail("param_name", param)


@dataclass(frozen=True, slots=True)
class Ask:
    """The arguments, read. A blank text is as good as none: some callers fill in every parameter."""

    types: bool
    """About types, not operations."""
    names: list[str] | None
    several: bool
    """The names came as a list."""
    search: str | None
    category: str | None
    endpoint: str | None
    tag: str | None
    detail: str | None
    """How much is said about each: `names`, `signature`, `summary` or `full`."""
    first: int | None
    after: str | None

    @staticmethod
    def read(args: Mapping[str, Json]) -> Ask:
        """Raises `OpError` for a query that there is not."""

        def text(key: str) -> str | None:
            value = args.get(key)
            return (trim(value) or None) if isinstance(value, str) else None

        query = text("query") or "operations"
        if query not in ("operations", "types"):
            raise invalid("query", "Parameter 'query' must be 'operations' or 'types'.")
        given, first, name = args.get("name"), args.get("first"), text("name")
        names = [name] if name else None
        if isinstance(given, list):
            names = [name for name in given if isinstance(name, str)]
        return Ask(
            types=query == "types",
            names=names,
            several=isinstance(given, list),
            search=text("search"),
            category=text("category"),
            endpoint=text("endpoint"),
            tag=text("tag"),
            detail=text("detail"),
            first=first if isinstance(first, int) else None,
            after=text("after"),
        )

    def narrowed_by(self) -> list[str]:
        """The parameters that leave operations out."""
        given = {"search": self.search, "category": self.category, "endpoint": self.endpoint, "tag": self.tag}
        return [name for name, value in given.items() if value is not None]

    def paged(self) -> bool:
        """Whether somebody wants one page of many."""
        return self.first is not None or self.after is not None

    def beside_names(self) -> list[Notice]:
        """A warning about what has no effect beside names."""
        idle = self.narrowed_by() + (["first or after"] if self.paged() else [])
        text = f"'name' says what to show, so {', '.join(idle)} had no effect."
        return [Notice("IGNORED_PARAMS", text)] if idle else []
