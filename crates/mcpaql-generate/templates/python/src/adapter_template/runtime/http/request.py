"""An operation and its arguments → one request, without credentials.

What always holds: the URL has the origin and the path prefix of the base and as many segments as the template, or more
where a parameter's style is `segments`, but never one that leads upwards; a placeholder is never sent unfilled; no
parameter sets a header, a query parameter or a cookie that belongs to the connection or to the credentials.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from ..errors import Code, OpError
from . import body as bodies
from . import headers as heads
from . import style
from .errors import not_yours, unusable_document

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..auth import Reserved
    from ..bindings import Args, HttpRequest
    from .body import Body
    from .headers import Headers
    from .url import Url

_MAX_URL_BYTES = 32 * 1024
"""Longest address that is sent; servers and proxies refuse far shorter ones."""

_LITERAL_SAFE = "%!$&'()*+,/:;=@[]~"
"""What literals of a template may hold as it is; `%` stays, since authors write `%2F` themselves."""

_ACCEPT = "application/json, text/*;q=0.8, */*;q=0.5"
_METHOD = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request before credentials are added."""

    method: str
    url: Url
    headers: Headers
    """The cookies of parameters among them."""
    body: Body | None


@dataclass(frozen=True, slots=True)
class Frame:
    """What the request of a call starts from."""

    base: Url
    headers: Headers
    """The target's headers that hold no secret."""
    reserved: Reserved
    """What only the server sets."""
    boundary: Callable[[], str]
    """Separates the parts of a multipart body."""


def build(frame: Frame, request: HttpRequest, args: Args) -> Outgoing:
    """Builds the request of a call."""
    if not _METHOD.fullmatch(request.method):
        raise unusable_document(f"method {request.method!r}")
    url = _url(frame, request, args)
    headers = {"accept": _ACCEPT, **frame.headers}
    heads.declare_type(headers, request)
    for param in request.params:
        if param.place == "header" and param.name in args:
            heads.set_header(frame.reserved, headers, param, args[param.name])
    heads.set_cookies(frame.reserved, headers, request, args)
    typed = bodies.build(request, args, frame.boundary)
    if typed is None:
        headers.pop("content-type", None)
    elif request.body in ("form", "multipart") and not heads.names_form(headers, request):
        # What these two are called tells how they are read.
        headers["content-type"] = typed.content_type
    else:
        headers.setdefault("content-type", typed.content_type)
    return Outgoing(request.method, url, headers, typed.body if typed else None)


def _url(frame: Frame, request: HttpRequest, args: Args) -> Url:
    path, _, query = _fill(request, args).partition("?")
    pairs = style.Pairs(query)
    slash = "" if not path or path.startswith("/") else "/"
    full = f"{frame.base.path.rstrip('/')}{slash}{path}"
    for param in request.params:
        if param.place == "query" and param.name in args:
            pairs.append(param.wire_name, args[param.name], param.spelling)
    url = replace(frame.base, path=full or "/").with_query(pairs.text())
    names = url.query_names()
    if key := next((key for key in frame.reserved.query if key in names), None):
        raise not_yours("query parameter", key, key)
    length = len(str(url))
    if length > _MAX_URL_BYTES:
        message = (
            f"The address of the request would have {length} bytes, more than the {_MAX_URL_BYTES} that can be sent. "
            "Use shorter values."
        )
        raise OpError(
            Code.PAYLOAD_TOO_LARGE,
            message,
            {"limit": "max_url_size", "actual": length, "maximum": _MAX_URL_BYTES},
        )
    return url


def _fill(request: HttpRequest, args: Args) -> str:
    """The filled path with the query that the template itself holds; `?` stands in no value."""
    pieces: list[str] = []
    # Literals and names take turns.
    for index, piece in enumerate(_PLACEHOLDER.split(request.path)):
        is_open = not any("?" in before for before in pieces)
        if index % 2:
            pieces.append(_path_value(request, piece, args))
        elif is_open and "?" in piece:
            before, _, after = piece.partition("?")
            pieces.append(f"{quote(before, safe=_LITERAL_SAFE)}?{quote(after, safe=_LITERAL_SAFE)}")
        else:
            pieces.append(quote(piece, safe=_LITERAL_SAFE))
    filled = "".join(pieces)
    # A literal and a value together may still spell a dot segment: `.{x}` with `.`.
    if any(unquote_to_bytes(segment) in (b".", b"..") for segment in filled.partition("?")[0].split("/")):
        raise OpError(
            Code.INVALID_VALUE,
            "The path parameters would spell '.' or '..', which is no identifier; send the real identifiers.",
        )
    return filled


def _path_value(request: HttpRequest, name: str, args: Args) -> str:
    param = next((param for param in request.params if param.name == name), None)
    if param is None:
        raise unusable_document(f"the placeholder {name!r} is no parameter")
    text = style.path(param.wire_name, args.get(name), param.spelling)
    if text is not None and param.spelling.form == "segments":
        return _inner_path(name, text)
    if text is None:
        message = f"Missing required parameter '{name}'; it is part of the path of this operation."
        raise OpError(Code.MISSING_PARAM, message).detail("param_name", name)
    if text in ("", ".", ".."):
        message = f"Parameter '{name}' is part of a path and cannot be empty, '.' or '..'; send a real identifier."
        raise OpError(Code.INVALID_VALUE, message).detail("param_name", name)
    return text


def _inner_path(name: str, text: str) -> str:
    """A path inside the template's. `/` alone is the folder that the template names; an empty text is a mistake."""
    inner = text.removeprefix("/").removesuffix("/")
    if text == "/" or all(segment not in ("", ".", "..") for segment in inner.split("/")):
        return inner
    message = f"Parameter '{name}' is a path without empty parts, '.' and '..'; send it as 'folder/file'."
    raise OpError(Code.INVALID_VALUE, message).detail("param_name", name)
