"""How operations reach their target, as the literals in `operations/` spell it, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

Json: TypeAlias = Any  # any JSON value
Auth: TypeAlias = Mapping[str, Any]  # names the environment variables that hold credentials, never a credential
T_co = TypeVar("T_co", covariant=True)  # the data of the answer, for type checkers alone: nothing checks it


@dataclass(frozen=True, slots=True)
class Param:
    """Where a request carries a parameter; `style`, `explode` and `reserved` are those of OpenAPI."""

    place: Literal["path", "query", "header", "cookie", "body"] = "body"
    wire: str = ""  # the name the API knows, where it is another one
    style: str = ""
    explode: bool | None = None
    reserved: bool = False
    sensitive: bool = False  # errors never repeat its value
    file: bool | tuple[str, ...] = False  # it is the base64 text of a file, or these properties of it are

    @property
    def form(self) -> str:
        return self.style or ("simple" if self.place in ("path", "header") else "form")

    @property
    def exploded(self) -> bool:
        return self.place not in ("path", "header") if self.explode is None else self.explode


@dataclass(frozen=True, slots=True)
class HttpRequest(Generic[T_co]):
    """One HTTP request. Placeholders in braces are parameters; everything else of the path is sent as written."""

    method: str
    path: str
    params: Mapping[str, Param] = field(default_factory=dict)
    body: Literal["json", "form", "multipart", "text", "binary"] = "json"
    body_param: str | None = None  # a parameter that is the body instead of a field of it
    content_type: str | None = None  # the body's media type where it is not the usual one of its form
    base_url: str | None = None  # where it is not the target's
    auth: Auth | None = None  # where it is not the target's
    repeatable: bool = False  # repeating it does no harm, so a failed attempt may be repeated
    removes: bool = False  # a repetition will not find what it removed
    target: str | None = None  # the parameter that chooses among several targets


class When(NamedTuple):
    """Arguments that are there when the boolean parameter is true."""

    param: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandLine(Generic[T_co]):
    """One process. A tuple in its argv is dropped where one of its parameters is missing."""

    argv: tuple[str | tuple[str, ...] | When, ...]
    params: Mapping[str, Param] = field(default_factory=dict)  # those with another name, and sensitive ones
    stdin: Literal["params"] | None = None  # all parameters as one JSON object
    stdin_param: str | None = None  # the text of that one
    output: Literal["json", "jsonlines", "lines", "text"] = "text"
    timeout_ms: int | None = None
    exit: Mapping[int, str] = field(default_factory=dict)  # exit statuses that are a success, or an error code
    target: str | None = None  # the parameter that chooses among several targets


@dataclass(slots=True)
class Answer:
    """The data of a call, and warnings for the agent, each a code and a message."""

    data: Any
    text: str | None = None  # the JSON that the data was read from, which keeps every number as it was written
    warnings: list[tuple[str, str]] = field(default_factory=list)
