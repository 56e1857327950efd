"""The types of the request literals in `operations/`, and of the answers of targets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

Json: TypeAlias = Any  # any JSON value
Auth: TypeAlias = Mapping[str, Any]  # names the environment variables that hold credentials, never a credential
T_co = TypeVar("T_co", covariant=True)  # the data of the answer; for type checkers only


@dataclass(frozen=True, slots=True)
class Param:
    """The place of a parameter in a request. `style`, `explode` and `reserved` have their meaning in OpenAPI."""

    place: Literal["path", "query", "header", "cookie", "body"] = "body"
    wire: str = ""  # the name in the API, if it differs
    style: str = ""
    explode: bool | None = None
    reserved: bool = False
    sensitive: bool = False  # errors never contain its value
    file: bool = False  # the value is a file as base64 text
    files: tuple[str, ...] = ()  # if the parameter is the whole body: its properties that are files

    @property
    def form(self) -> str:
        return self.style or ("simple" if self.place in ("path", "header") else "form")

    @property
    def exploded(self) -> bool:
        return self.place not in ("path", "header") if self.explode is None else self.explode


@dataclass(frozen=True, slots=True)
class HttpRequest(Generic[T_co]):
    """One HTTP request. Placeholders in the path are parameters; the rest of the path is sent as written."""

    method: str
    path: str
    params: Mapping[str, Param] = field(default_factory=dict)
    body: Literal["json", "form", "multipart", "text", "binary"] = "json"
    body_param: str | None = None  # the parameter that is the whole body
    body_template: Any = None  # the whole body; a text `{name}` in it stands for the parameter
    fixed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # values of every request, by place and name
    result: Sequence[str] | None = None  # the path of the result in the answer
    error: Mapping[str, Any] | None = None  # fails if `path` has the value `equals`, another than `not`, or any value
    page: bool = False  # the answer may be an HTML page
    content_type: str | None = None  # replaces the usual media type of the body
    base_url: str | None = None  # replaces the base URL of the target
    auth: Auth | None = None  # replaces the credentials of the target
    repeatable: bool = False  # a failed request may be sent again
    idempotency: str | None = None  # a header whose value is new for each call and the same for its repetitions
    removes: bool = False  # a second request may fail because the first one removed the resource
    target: str | None = None  # the parameter that selects one of several targets


class When(NamedTuple):
    """Arguments that are added if the boolean parameter is true."""

    param: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandLine(Generic[T_co]):
    """One process. A tuple in `argv` is dropped if one of its parameters is missing."""

    argv: tuple[str | tuple[str, ...] | When, ...]
    params: Mapping[str, Param] = field(default_factory=dict)  # only those with another name, and sensitive ones
    stdin: Literal["params"] | None = None  # all parameters as one JSON object
    stdin_param: str | None = None  # the parameter that is written to stdin
    output: Literal["json", "jsonlines", "lines", "text"] = "text"
    timeout_ms: int | None = None
    exit: Mapping[int, str] = field(default_factory=dict)  # exit status → `success` or an error code
    target: str | None = None  # the parameter that selects one of several targets


@dataclass(slots=True)
class Answer:
    """The data of a call, and warnings for the model, each a code and a message."""

    data: Any
    text: str | None = None  # the JSON text of the data, which keeps numbers exactly as written
    warnings: list[tuple[str, str]] = field(default_factory=list)
    file: tuple[str, bytes] | None = None  # the media type and the content of a file
