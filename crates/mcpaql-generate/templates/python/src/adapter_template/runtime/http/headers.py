"""The headers of a request: the target's, those of parameters, the cookies among them, and what the body is called.

Names are lower case. What always holds: no value adds a header or a cookie; no parameter sets one that belongs to the
connection or to the credentials; there is one `cookie` header at most.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote_to_bytes

from ..errors import Code, OpError
from . import style
from .errors import not_yours, unusable_document

if TYPE_CHECKING:
    from ..auth import Reserved
    from ..bindings import Args, HttpRequest, Param
    from ..jsontext import Json

Headers: TypeAlias = dict[str, str]

FRAMING = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    },
)
"""Headers that no document and no parameter sets: they frame the message or name its receiver."""

_CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization"})
"""Headers that carry a credential, which a caller must not choose."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_UNSENDABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
_VISIBLE = re.compile(r"[\t\x20-\x7e]*")


def name_of(text: str) -> str | None:
    """A header's name in lower case; nothing where it is none."""
    return text.lower() if _NAME.fullmatch(text) else None


def is_sendable(value: str) -> bool:
    """Whether a header can have that value."""
    return _UNSENDABLE.search(value) is None


def is_visible(value: str) -> bool:
    """Whether the value holds nothing but printable ASCII characters."""
    return _VISIBLE.fullmatch(value) is not None


def declare_type(headers: Headers, request: HttpRequest) -> None:
    """The document's own name for the body stands before the target's, which is meant for its usual bodies."""
    if request.content_type is not None:
        if not is_visible(request.content_type):
            raise unusable_document(f"content type {request.content_type!r}")
        headers["content-type"] = request.content_type
    elif request.body != "json":
        headers.pop("content-type", None)


def names_form(headers: Headers, request: HttpRequest) -> bool:
    """Whether the headers call the body a form already, with a charset perhaps."""
    return request.body == "form" and headers.get("content-type", "").startswith("application/x-www-form-urlencoded")


def set_header(reserved: Reserved, headers: Headers, param: Param, value: Json) -> None:
    """The header of a parameter."""
    wire = param.wire_name
    name = name_of(wire)
    if name is None:
        raise unusable_document(f"header name {wire!r}")
    text = style.header(value, param.spelling)
    if text is None:
        return
    if name in FRAMING or name in _CREDENTIALS or name in reserved.headers:
        raise not_yours("header", param.name, wire)
    if _CONTROL.search(text):
        message = f"Parameter '{param.name}' travels in a header; send it without line breaks and control characters."
        raise OpError(Code.INVALID_ENCODING, message).detail("param_name", param.name)
    headers[name] = text


def set_cookies(reserved: Reserved, headers: Headers, request: HttpRequest, args: Args) -> None:
    """The cookies of parameters join those of the target in its one header."""
    cookies: list[str] = []
    for param in request.params:
        if param.place != "cookie" or param.name not in args:
            continue
        pairs = style.Pairs(between="; ")
        pairs.append(param.wire_name, args[param.name], param.spelling)
        text = pairs.text()
        for pair in text.split("; "):
            name, has_value, _ = pair.partition("=")
            # Servers differ in whether they decode a name, so it is compared both ways.
            names = {name, unquote_to_bytes(name).decode(errors="replace")}
            if has_value and not names.isdisjoint(reserved.cookies):
                raise not_yours("cookie", param.name, name)
        cookies.append(text)
    if any(cookies):
        headers["cookie"] = join_cookies(headers.get("cookie", ""), *cookies)


def join_cookies(*cookies: str) -> str:
    """All of them in one header."""
    return "; ".join(text for text in cookies if text)
