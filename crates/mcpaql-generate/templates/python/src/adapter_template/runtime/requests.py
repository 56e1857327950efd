"""How operations reach their target, as the literals in `operations/` and `target.py` spell it.

Credentials never stand here: only the names of the environment variables that hold them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from .errors import Code

if TYPE_CHECKING:
    from collections.abc import Mapping

Json: TypeAlias = Any
"""Any JSON value."""

T = TypeVar("T")
"""The data of the answer, for type checkers alone: nothing checks the answers of an API."""


@dataclass(frozen=True, slots=True)
class Style:
    """OpenAPI's `style`, `explode` and `allowReserved`; `json` and `segments` besides."""

    form: Literal[
        "form", "simple", "spaceDelimited", "pipeDelimited", "deepObject", "label", "matrix", "json", "segments"
    ] = "form"
    explode: bool = True
    reserved: bool = False


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter and where the request carries it."""

    name: str
    place: Literal["path", "query", "header", "cookie", "body"]
    wire: str = ""  # the name the API knows, where it is another one
    style: Style | None = None  # where it is not the usual one of its place
    sensitive: bool = False  # errors never repeat its value
    file: bool = False  # its value is the base64 text of a file
    files: tuple[str, ...] = ()  # the properties of the value that are files, where the value is the whole body

    @property
    def wire_name(self) -> str:
        """The name the API knows."""
        return self.wire or self.name

    @property
    def spelling(self) -> Style:
        """How the value is spelled."""
        return self.style or (Style("simple", explode=False) if self.place in ("path", "header") else Style())


@dataclass(frozen=True, slots=True)
class NoAuth:
    """Requests are not authenticated."""


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
    """OAuth 2.0 with client credentials, or with a refresh token where there is one."""

    token_url: str
    client_id_env: str
    client_secret_env: str | None = None
    refresh_token_env: str | None = None
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of them together."""

    schemes: tuple[Auth, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The first one whose variables are set."""

    schemes: tuple[Auth, ...]


Auth: TypeAlias = NoAuth | Bearer | ApiKey | Basic | OAuth2 | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """An HTTP API; texts may hold `${env:NAME}`."""

    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: Auth = field(default_factory=NoAuth)
    allow_http: bool = False  # whether plain `http://` to other machines is allowed
    connect_timeout_ms: int = 10_000
    timeout_ms: int = 60_000  # for the whole call with its redirects and repetitions
    retries: int = 2
    max_response_bytes: int = 10_485_760


@dataclass(frozen=True, slots=True)
class HttpRequest(Generic[T]):
    """One HTTP request."""

    method: str
    path: str  # placeholders in braces are parameters; everything else is sent as written
    params: tuple[Param, ...] = ()
    body: Literal["json", "form", "multipart", "text", "binary"] = "json"
    body_param: str | None = None  # a parameter that is the body instead of a field of it
    content_type: str | None = None  # the body's media type where it is not the usual one of its form
    base_url: str | None = None  # where it is not the target's
    auth: Auth | None = None  # where it is not the target's
    repeatable: bool = False  # repeating it does no harm, so a failed attempt may be repeated
    removes: bool = False  # a repetition will not find what it removed


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """Local programs."""

    cwd: str | None = None  # may hold `${env:NAME}`
    env: tuple[str, ...] = ()  # environment variables that are passed on besides the usual ones
    set_env: Mapping[str, str] = field(default_factory=dict)
    timeout_ms: int = 30_000
    max_output_bytes: int = 1_048_576


@dataclass(frozen=True, slots=True)
class Group:
    """Arguments that stay together: dropped when a parameter in them is missing."""

    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class When:
    """Arguments that are there when the boolean parameter is true."""

    param: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command(Generic[T]):
    """One process. In its argv, placeholders in braces are parameters, and a doubled brace is one brace."""

    argv: tuple[str | Group | When, ...]
    stdin: str | None = None  # the parameter that is standard input, or `*` for all of them as one JSON object
    output: Literal["json", "jsonlines", "lines", "text"] = "text"
    timeout_ms: int | None = None
    exit: Mapping[int, Literal["success"] | Code] = field(default_factory=dict)  # what exit statuses mean
    wires: Mapping[str, str] = field(default_factory=dict)  # names of parameters in standard input
    sensitive: tuple[str, ...] = ()  # parameters whose values errors never repeat
