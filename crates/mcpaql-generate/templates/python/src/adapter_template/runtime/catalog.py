"""The compiled catalog: what `catalog.json` holds, under the names that tools have here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .jsontext import Json
    from .response import ErrorPolicy


class NameProblem(ValueError):
    """Why a prefix cannot be used; the text says what to do."""


@dataclass(slots=True)
class Operation:
    """One operation, compiled."""

    name: str
    endpoint: str
    tool: str
    signature: str


@dataclass(slots=True)
class Catalog:
    """An adapter, ready to serve."""

    tools: list[dict[str, Json]]
    operations: list[Operation]
    errors: ErrorPolicy


def load(data: Mapping[str, Json], environ: Mapping[str, str]) -> Catalog:
    """The catalog of that data; `MCP_AQL_TOOL_PREFIX` of the environment renames its tools.

    Raises `NameProblem` for a prefix that cannot be used.
    """
    raise NotImplementedError
