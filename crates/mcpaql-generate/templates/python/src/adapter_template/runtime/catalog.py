"""The compiled catalog: what `catalog.json` holds, under the names that tools have here.

What always holds: tools, introspection, validation and errors are views of this one value, so what introspection says
is what validation does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from . import naming, schema
from .search.discovery import Discovery
from .suggest import snake_case
from .text import size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .jsontext import Json
    from .response import ErrorPolicy
    from .schema import Schemas

FORMAT = 1
"""The shape of the data; another one is refused."""
PREFIX = "MCP_AQL_TOOL_PREFIX"
"""The variable whose value stands before the names of tools."""
INTROSPECT = "introspect"
_TIMEOUT_MS = 3_600_000
"""How long an execution may take unless the document says otherwise: an hour."""
_LONGEST_NAME = 96
"""Longer keys are not another spelling of a name."""


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of an operation, ready to validate calls."""

    name: str
    check: int
    """Its place among the schemas."""
    expected: str
    """`string (repository owner)`."""
    view: dict[str, Json]
    """As introspection shows it."""
    required: bool = False
    """Whether a call must have it; not where a default is filled in."""
    sensitive: bool = False
    identifier: bool = False
    """Names the thing that is changed, so it never stands inside `input`."""
    text: Literal["any", "no_nul", "no_control"] = "any"
    """Which characters its texts may hold."""
    default: tuple[Json, ...] = ()
    """What validation fills in, where it does."""
    producers: tuple[str, ...] = ()
    """Operations that have values for it, as its author says."""


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """How an operation runs in the background."""

    survives: bool
    """It goes on when the session that started it ends."""
    keep_seconds: int
    """How long it is kept after its end."""
    timeout_ms: int | None
    """How long it may take, where the document says; it stands in place of the target's own timeout."""

    @property
    def limit_ms(self) -> int:
        """How long it may take."""
        return _TIMEOUT_MS if self.timeout_ms is None else self.timeout_ms


@dataclass
class Operation:
    """One operation, compiled."""

    name: str
    category: str
    endpoint: str
    tool: str
    """The tool that reaches it; empty where none does."""
    signature: str
    """As it stands in errors."""
    params: list[Param]
    aliases: list[str]
    tags: list[str]
    deprecated: str | None
    group: str
    tagged: bool
    summary: str
    hit_summary: str
    repeats: bool
    """The summary only says the name again."""
    brief: list[str]
    """Signatures, from long to short."""
    listed: str
    details: dict[str, Json]
    """What introspection says besides the parameters."""
    takes_input: bool
    wire: Mapping[str, int]
    spelled: Mapping[str, int | None]
    lifecycle: Lifecycle | None
    """How it runs in the background, where it does."""
    execution: Literal["get", "list", "cancel"] | None
    """What it asks about executions, where it does."""

    @cached_property
    def by_name(self) -> dict[str, Param]:
        """The parameters by their declared names."""
        return {param.name: param for param in self.params}

    def respelled(self, name: str) -> Param | None:
        """The parameter that another spelling of its name stands for."""
        if name in self.wire:
            return self.params[self.wire[name]]
        if name.startswith("_") or size(name) > _LONGEST_NAME:
            return None
        spelled = snake_case(name)
        if spelled not in self.spelled:
            return self.by_name.get(spelled)
        position = self.spelled[spelled]
        return None if position is None else self.params[position]

    @cached_property
    def needed(self) -> frozenset[str]:
        """The parameters that their author calls required, whether or not a default is filled in."""
        return frozenset(param.name for param in self.params if param.view["required"])


@dataclass(frozen=True, slots=True)
class Route:
    """Where a tool name leads: to an endpoint, to one operation, or, where it names neither, to everything."""

    endpoint: str | None = None
    operation: int | None = None
    renamed_to: str | None = None
    """The present name, where this one is an alias."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a call and its answer may be."""

    request_bytes: int
    response_bytes: int
    string_bytes: int
    array_items: int
    depth: int


@dataclass(frozen=True, slots=True)
class NamedType:
    """A type, as introspection shows it."""

    details: dict[str, Json]
    signature: str | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.details["name"])


@dataclass
class Catalog:
    """An adapter, ready to serve."""

    adapter: dict[str, str]
    """Its `name`, `display_name`, `version` and `description`."""
    instructions: str
    """What the server says about itself before anybody asks."""
    mode: str
    errors: ErrorPolicy
    limits: Limits
    protocol: dict[str, Json]
    tools: list[dict[str, Json]]
    """What `tools/list` shows."""
    routes: dict[str, Route]
    target: dict[str, Json]
    """Where calls go."""
    brief_sizes: list[int]
    operations: list[Operation]
    """Every operation, `introspect` last."""
    schemas: Schemas
    types: list[NamedType]
    """The protocol's, the adapter's, then those that are not listed."""
    listed_types: int
    discovery: Discovery
    _by_name: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        """Makes the map of names; later ones win."""
        self._by_name = {}
        for index, operation in enumerate(self.operations):
            for name in (operation.name, *operation.aliases):
                self._by_name[name] = index

    def get(self, name: str) -> Operation | None:
        """The operation of that name or alias."""
        index = self._by_name.get(name)
        return None if index is None else self.operations[index]

    def position(self, operation: Operation) -> int:
        """Its place among the operations."""
        return self._by_name[operation.name]

    @property
    def has_executions(self) -> bool:
        """Whether anything runs in the background."""
        return any(operation.lifecycle is not None for operation in self.operations)

    def brief(self, operation: Operation, tokens: int) -> str:
        """Its signature in about that many estimated tokens."""
        return operation.brief[self.brief_sizes.index(tokens)]


def load(data: Mapping[str, Any], environ: Mapping[str, str]) -> Catalog:
    """The catalog of that data; `MCP_AQL_TOOL_PREFIX` of the environment renames its tools.

    Raises `NameProblem` for a prefix that cannot be used.
    """
    if data["format"] != FORMAT:
        raise ValueError(f"the catalog has format {data['format']}, this runtime reads {FORMAT}")
    prefix = environ.get(PREFIX)
    routes: Mapping[str, Any] = data["routes"]
    renamed: dict[str, str] = {}
    if prefix:
        renamed = naming.under_prefix(prefix, data["names"], lambda name: "operation" in routes.get(name, ()))
    params = [_param(param) for param in data["params"]]
    operations = [_operation(operation, params, renamed) for operation in data["operations"]]
    old, new = data["operations"][-1]["tool"], operations[-1].tool
    return Catalog(
        adapter=data["adapter"],
        instructions=data["instructions"].replace(f" on {old}.", f" on {new}."),
        mode=data["mode"],
        errors=data["errors"],
        limits=Limits(**data["limits"]),
        protocol=data["protocol"],
        tools=[
            _tool(tool, renamed, f"introspect through {old}.", f"introspect through {new}.") for tool in data["tools"]
        ],
        routes={renamed.get(name, name): _route(route, renamed) for name, route in routes.items()},
        target=data["target"],
        brief_sizes=data["brief_sizes"],
        operations=operations,
        schemas=schema.load(data["schemas"], data["patterns"]),
        types=[NamedType(**named) for named in data["types"]["all"]],
        listed_types=data["types"]["listed"],
        discovery=Discovery(data["search"], data["links"], operations),
    )


def _tool(data: Mapping[str, Any], renamed: Mapping[str, str], old: str, new: str) -> dict[str, Json]:
    tool = {**data, "name": renamed.get(data["name"], data["name"])}
    if "description" in tool:
        tool["description"] = tool["description"].replace(old, new)
    return tool


def _route(data: Mapping[str, Any], renamed: Mapping[str, str]) -> Route:
    name: str | None = data.get("renamed_to")
    return Route(data.get("endpoint"), data.get("operation"), name and renamed.get(name, name))


def _operation(data: Mapping[str, Any], params: list[Param], renamed: Mapping[str, str]) -> Operation:
    brief: list[str] = []
    for signature in data["brief"]:
        brief.append(brief[-1] if signature is None else signature)
    return Operation(
        name=data["name"],
        category=data["category"],
        endpoint=data["endpoint"],
        tool=renamed.get(data["tool"], data["tool"]),
        signature=data["signature"],
        params=[params[number] for number in data["params"]],
        aliases=data.get("aliases", []),
        tags=data.get("tags", []),
        deprecated=data.get("deprecated"),
        group=data["group"],
        tagged=data.get("tagged", False),
        summary=data["summary"],
        hit_summary=data.get("hit_summary", data["summary"]),
        repeats=data.get("repeats", False),
        brief=brief,
        listed=data.get("listed", data["signature"]),
        details=data["details"],
        takes_input=data.get("takes_input", False),
        wire=data.get("wire", {}),
        spelled=data.get("spelled", {}),
        lifecycle=Lifecycle(**data["lifecycle"]) if "lifecycle" in data else None,
        execution=data.get("execution"),
    )


def _param(data: Mapping[str, Any]) -> Param:
    return Param(
        name=data["name"],
        check=data["check"],
        expected=data["expected"],
        view=data["view"],
        required=data.get("required", False),
        sensitive=data.get("sensitive", False),
        identifier=data.get("identifier", False),
        text=data.get("text", "any"),
        default=(data["default"],) if "default" in data else (),
        producers=tuple(data.get("from", ())),
    )
