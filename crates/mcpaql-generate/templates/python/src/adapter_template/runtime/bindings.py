"""How operations reach their targets, as the literals in `operations/` spell it: requests, argv templates, actions.

Credentials never stand here: only the names of the environment variables that hold them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from .errors import Code

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .jsontext import Json

Place: TypeAlias = Literal["path", "query", "header", "cookie", "body"]
"""Where a request carries a parameter."""

StyleForm: TypeAlias = Literal[
    "form", "simple", "spaceDelimited", "pipeDelimited", "deepObject", "label", "matrix", "json", "segments"
]
"""How arrays and objects are spelled outside a JSON body; OpenAPI's `style`, and `json` and `segments` besides."""

BodyForm: TypeAlias = Literal["json", "form", "multipart", "text", "binary"]
"""How a body is written."""


@dataclass(frozen=True, slots=True)
class Style:
    """OpenAPI's `style`, `explode` and `allowReserved`."""

    form: StyleForm = "form"
    explode: bool = True
    reserved: bool = False


SIMPLE = Style("simple", explode=False)
"""What paths and headers use unless the document says otherwise."""
FORM = Style("form", explode=True)
"""What everything else uses."""


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter and where the request carries it."""

    name: str
    place: Place
    wire: str = ""
    """The name the API knows, where it is another one."""
    style: Style | None = None
    """Where it is not the usual one of its place."""
    sensitive: bool = False
    """Its value is never repeated in an error."""
    file: bool = False
    """Its value is base64 text that stands for a file."""
    files: tuple[str, ...] = ()
    """The properties of the value that stand for files, where the value is the whole body."""

    @property
    def wire_name(self) -> str:
        """The name the API knows."""
        return self.wire or self.name

    @property
    def spelling(self) -> Style:
        """How the value is spelled."""
        return self.style or (SIMPLE if self.place in ("path", "header") else FORM)


@dataclass(frozen=True, slots=True)
class Bearer:
    """`Authorization: Bearer …`."""

    token_env: str
    header: str = "Authorization"
    prefix: str = "Bearer "


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key in a header, in the query or in a cookie."""

    key_env: str
    place: Literal["header", "query", "cookie"]
    name: str
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Basic:
    """HTTP basic authentication."""

    username_env: str
    password_env: str


@dataclass(frozen=True, slots=True)
class OAuth2:
    """OAuth 2.0 without a person: by client credentials, or by a refresh token where there is one."""

    token_url: str
    client_id_env: str
    client_secret_env: str | None = None
    refresh_token_env: str | None = None
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoAuth:
    """Calls are not authenticated."""


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of them together."""

    schemes: tuple[Auth, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The first whose variables are set."""

    schemes: tuple[Auth, ...]


Auth: TypeAlias = NoAuth | Bearer | ApiKey | Basic | OAuth2 | AllOf | AnyOf
"""How calls are authenticated."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One HTTP request."""

    method: str
    path: str
    """Placeholders in braces are parameters; everything else is sent as written."""
    params: tuple[Param, ...] = ()
    body: BodyForm = "json"
    body_param: str | None = None
    """A parameter that *is* the body instead of a field of it."""
    content_type: str | None = None
    """The body's media type where it is not the usual one of its form."""
    base_url: str | None = None
    """The API's address where it is not the target's."""
    auth: Auth | None = None
    """How this very request is authenticated where it is not the target's way."""
    repeatable: bool = False
    """A repetition does no harm, so a failed attempt may be repeated."""
    removes: bool = False
    """It removes something, which a repetition will not find any more."""


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """An HTTP API."""

    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: Auth = field(default_factory=NoAuth)
    allow_http: bool = False
    """Plain `http://` to other machines is allowed only where this says so."""
    connect_timeout_ms: int = 10_000
    timeout_ms: int = 60_000
    """For the whole call with its redirects and repetitions."""
    retries: int = 2
    max_response_bytes: int = 10_485_760
    user_agent: str = "mcpaql/__GENERATOR_VERSION__"


@dataclass(frozen=True, slots=True)
class StoreAction:
    """One action on one resource of the store."""

    resource: str
    action: Literal["create", "get", "list", "search", "update", "delete"]


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource type of the store."""

    plural: str
    fields: tuple[str, ...]
    search: tuple[str, ...]
    """The fields that search reads, the most telling one first."""
    filters: tuple[str, ...]
    """The fields that a list can be narrowed by."""
    flat: tuple[str, ...]
    """The fields that an update takes beside `input`."""


@dataclass(frozen=True, slots=True)
class StoreTarget:
    """The embedded store."""

    resources: Mapping[str, Resource]


@dataclass(frozen=True, slots=True)
class Group:
    """Arguments that stand or fall together: dropped when any parameter in them is missing."""

    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class When:
    """Arguments that are there when the boolean parameter is true."""

    param: str
    args: tuple[str, ...]


ExitMeaning: TypeAlias = Literal["success"] | Code
"""What a nonzero exit status means."""


@dataclass(frozen=True, slots=True)
class Command:
    """One process: an argv template, never a shell line."""

    argv: tuple[str | Group | When, ...]
    """The program and its arguments; placeholders in braces are parameters, a doubled brace is one brace."""
    stdin: str | None = None
    """The parameter that is standard input, or `*` for all of them as one JSON object; closed where there is none."""
    output: Literal["json", "jsonlines", "lines", "text"] = "text"
    timeout_ms: int | None = None
    exit: Mapping[int, ExitMeaning] = field(default_factory=dict)
    """Exit statuses that mean success besides 0, or an error of their own."""
    wires: Mapping[str, str] = field(default_factory=dict)
    """Parameters that the program knows by another name, for standard input."""
    sensitive: tuple[str, ...] = ()
    """Parameters whose values are never repeated in an error."""


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """Local programs."""

    cwd: str | None = None
    """Working directory of every process; may hold `${env:NAME}`."""
    env: tuple[str, ...] = ()
    """Environment variables that are passed on besides the usual ones."""
    set_env: Mapping[str, str] = field(default_factory=dict)
    timeout_ms: int = 30_000
    max_output_bytes: int = 1_048_576


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool of another MCP server."""

    tool: str
    names: Mapping[str, str] = field(default_factory=dict)
    """Parameters that the tool knows by another name."""
    fixed: Mapping[str, Json] = field(default_factory=dict)
    """Arguments that are the same in every call."""
    sensitive: tuple[str, ...] = ()
    """Parameters whose values are never repeated in an error."""


@dataclass(frozen=True, slots=True)
class McpProgram:
    """An MCP server that is a program; every text may hold `${env:NAME}`."""

    command: tuple[str, ...]
    cwd: str | None = None
    env: tuple[str, ...] = ()
    """Environment variables that are passed on besides the usual ones."""
    set_env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class McpAddress:
    """An MCP server that answers over streamable HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    allow_http: bool = False
    """Plain `http://` to other machines is allowed only where this says so."""


@dataclass(frozen=True, slots=True)
class McpTarget:
    """Another MCP server."""

    link: McpProgram | McpAddress
    auth: Auth = field(default_factory=NoAuth)
    caller_headers: tuple[str, ...] = ()
    """HTTP headers of whoever calls that go along; a call that did not come over HTTP has none."""
    eager: bool = False
    """It is started before anybody needs it."""
    start_timeout_ms: int = 30_000
    timeout_ms: int = 60_000
    """For one call; news of its progress begin the time anew."""
    max_response_bytes: int = 10_485_760


Target: TypeAlias = HttpTarget | StoreTarget | CommandTarget | McpTarget
"""Where calls go."""

Args: TypeAlias = "Mapping[str, Json]"
"""The arguments of one call, by parameter name."""
