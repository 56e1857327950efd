"""A request literal and the arguments of a call → one HTTP request, without credentials.

The address has the origin and the path prefix of the base and never a segment that leads upwards; no parameter sets a
header, a query parameter or a cookie that belongs to the connection or to the credentials.
"""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qsl, unquote

from . import styles
from .errors import Code, OpError
from .requests import Param

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import httpx2 as httpx

    from .requests import HttpRequest

    Args: TypeAlias = Mapping[str, Any]

FRAMING = frozenset(
    "accept-encoding connection content-length expect host keep-alive proxy-connection te trailer transfer-encoding "
    "upgrade".split(),
)
"""Headers that no document and no parameter sets: they belong to the connection."""
_CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization"})
_MAX_URL_BYTES = 32 * 1024
_LITERAL = "%!$&'()*+,;=:@/~[]?"  # what literals of a path keep as it is; authors write `%2F` themselves
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+ *(;[ -~]*)?")
_FORM = "application/x-www-form-urlencoded"


@dataclass(slots=True)
class Reserved:
    """What only the server sets: a parameter of that name is refused."""

    headers: set[str] = field(default_factory=set)
    query: set[str] = field(default_factory=set)
    cookies: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request before credentials are added; names of headers are lower case."""

    method: str
    url: httpx.URL
    headers: dict[str, str]
    body: bytes | None


def header_name(text: str) -> str | None:
    """A header's name in lower case; `None` where it is none."""
    return text.lower() if _HEADER_NAME.fullmatch(text) else None


def build(
    base: httpx.URL, headers: Mapping[str, str], reserved: Reserved, request: HttpRequest[Any], args: Args
) -> Outgoing:
    """The request of a call to that base address, with these headers of the target."""
    url = _url(base, reserved, request, args)
    sent = {"accept": "application/json, text/*;q=0.8, */*;q=0.5", **headers}
    if request.content_type is not None:
        sent["content-type"] = request.content_type
    elif request.body != "json":
        sent.pop("content-type", None)
    for param, value in _given(request, args, "header"):
        _set_header(sent, reserved, param, value)
    _set_cookies(sent, reserved, request, args)
    body = _body(request, args)
    if body is None:
        sent.pop("content-type", None)
        return Outgoing(request.method, url, sent, None)
    kind, content = body
    named = sent.setdefault("content-type", kind)
    # What these two are called tells how they are read.
    if request.body == "multipart" or (request.body == "form" and not named.startswith(_FORM)):
        sent["content-type"] = kind
    return Outgoing(request.method, url, sent, content)


def _given(request: HttpRequest[Any], args: Args, place: str) -> Iterator[tuple[Param, Any]]:
    return ((param, args[param.name]) for param in request.params if param.place == place and param.name in args)


def _url(base: httpx.URL, reserved: Reserved, request: HttpRequest[Any], args: Args) -> httpx.URL:
    path, _, query = _filled(request, args).partition("?")
    if any(unquote(segment) in (".", "..") for segment in path.split("/")):
        raise OpError(Code.INVALID_VALUE, "The path parameters would spell '.' or '..'; send the real identifiers.")
    found = (styles.pairs(param.wire_name, value, param.spelling) for param, value in _given(request, args, "query"))
    query = "&".join(filter(None, [query, *map(styles.written, found)])).replace("'", "%27")
    for key, _ in parse_qsl(query, keep_blank_values=True):
        if key in reserved.query:
            raise _not_yours(key, key)
    prefix = base.raw_path.decode().rstrip("/")
    full = f"{prefix}{'' if not path or path.startswith('/') else '/'}{path}" or "/"
    url = base.copy_with(raw_path=f"{full}?{query}".removesuffix("?").encode())
    if url.raw_path.partition(b"?")[0].decode() != full:
        raise unusable("the path does not survive normalisation")
    if (length := len(str(url))) > _MAX_URL_BYTES:
        message = f"The address of the request would have {length} bytes; {_MAX_URL_BYTES} can be sent."
        raise OpError(Code.PAYLOAD_TOO_LARGE, message, limit="max_url_size", actual=length, maximum=_MAX_URL_BYTES)
    return url


def unusable(cause: object) -> OpError:
    """A request that cannot be sent as the document describes it."""
    return OpError(Code.INTERNAL, "This operation cannot be sent as described; tell the operator.", cause)


def _filled(request: HttpRequest[Any], args: Args) -> str:
    """The path and the query of the template, with values in place of the placeholders."""
    declared = {param.name: param for param in request.params}
    pieces = re.split(r"\{([^}]*)\}", request.path)
    pieces[::2] = [styles.encode(text, _LITERAL) for text in pieces[::2]]
    pieces[1::2] = [_path_value(declared.get(name) or Param(name, "path"), args) for name in pieces[1::2]]
    return "".join(pieces)


def _path_value(param: Param, args: Args) -> str:
    name = param.name
    text = styles.path(param.wire_name, args.get(name), param.spelling)
    if text is None:
        message = f"Missing required parameter '{name}'; it is part of the path of this operation."
        raise OpError(Code.MISSING_PARAM, message, param_name=name)
    if param.spelling.form == "segments" and text != "/":
        text = text.removeprefix("/").removesuffix("/")
        parts = text.split("/")
    else:
        parts = [] if param.spelling.form == "segments" else [text]
    if not {"", ".", ".."}.isdisjoint(parts):
        message = f"Parameter '{name}' is part of a path and cannot be empty, '.' or '..'; send a real identifier."
        raise OpError(Code.INVALID_VALUE, message, param_name=name)
    return "" if text == "/" else text


def _set_header(headers: dict[str, str], reserved: Reserved, param: Param, value: Any) -> None:
    name = header_name(param.wire_name)
    text = styles.header(value, param.spelling)
    if name is None:
        raise unusable(f"header name {param.wire_name!r}")
    if text is None:
        return
    if name in FRAMING | _CREDENTIALS | reserved.headers:
        raise _not_yours(param.name, param.wire_name)
    if re.search(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]", text):
        message = f"Parameter '{param.name}' travels in a header; send it without control characters."
        raise OpError(Code.INVALID_ENCODING, message, param_name=param.name)
    headers[name] = text


def _set_cookies(headers: dict[str, str], reserved: Reserved, request: HttpRequest[Any], args: Args) -> None:
    """The cookies of parameters join those of the target in one header."""
    cookies = [headers.get("cookie", "")]
    for param, value in _given(request, args, "cookie"):
        found = list(styles.pairs(param.wire_name, value, param.spelling, cookie=True))
        for name, _ in found:
            # Servers differ in whether they decode a name, so it is compared both ways.
            if not {name, unquote(name)}.isdisjoint(reserved.cookies):
                raise _not_yours(param.name, name)
        cookies.append(styles.written(found, "; "))
    if any(cookies):
        headers["cookie"] = "; ".join(filter(None, cookies))


def _not_yours(param: str, wire: str) -> OpError:
    message = f"Leave out parameter '{param}': '{wire}' is set by the server alone."
    return OpError(Code.INVALID_VALUE, message, param_name=param)


def _body(request: HttpRequest[Any], args: Args) -> tuple[str, bytes] | None:
    """The body and its media type; `None` where the request has none."""
    declared = [param for param in request.params if param.place == "body"]
    whole = next((param for param in request.params if param.name == request.body_param), None)
    if whole is None and request.body in ("text", "binary") and len(declared) == 1:
        whole = declared[0]
    if whole is not None:
        return _whole_body(request, whole, args[whole.name]) if whole.name in args else None
    # A method that expects a body gets an empty one; any other gets none.
    given = list(_given(request, args, "body"))
    if not declared or not (given or request.method in ("POST", "PUT", "PATCH")):
        return None
    return _fields_body(request, [(param, param.wire_name, value) for param, value in given])


def _whole_body(request: HttpRequest[Any], param: Param, value: Any) -> tuple[str, bytes]:
    """One parameter is the body."""
    match request.body:
        case "json":
            return "application/json", styles.json_text(value).encode()
        case "text":
            return "text/plain; charset=utf-8", ("" if value is None else styles.scalar(value)).encode()
        case "binary":
            return "application/octet-stream", _file(param.name, value)
    if isinstance(value, dict):
        parts = ((Param(param.name, "body", file=name in param.files), name, item) for name, item in value.items())
        return _fields_body(request, list(parts))
    if request.body == "multipart":
        raise unusable("the parameter that is the whole multipart body is no object")
    return _FORM, ("" if value is None else styles.scalar(value)).encode()


def _fields_body(request: HttpRequest[Any], fields: list[tuple[Param, str, Any]]) -> tuple[str, bytes]:
    """A body of fields: the parameter, the name on the wire and the value of each."""
    if request.body == "json":
        return "application/json", styles.json_text({name: value for _, name, value in fields}).encode()
    if request.body == "form":
        pairs = (styles.written(styles.form_pairs(name, value, param.spelling)) for param, name, value in fields)
        return _FORM, "&".join(filter(None, pairs)).encode()
    if request.body != "multipart":
        raise unusable("a text or binary body needs one body parameter")
    boundary = f"mcpaql-{secrets.token_hex(16)}"
    parts = [part for row in fields for part in _parts(*row)]
    content = b"".join(f"--{boundary}\r\n{head}\r\n\r\n".encode() + data + b"\r\n" for head, data in parts)
    kind = request.content_type or ""
    kind = kind if kind.startswith("multipart/") else "multipart/form-data"
    return f"{kind}; boundary={boundary}", content + f"--{boundary}--\r\n".encode()


def _parts(param: Param, name: str, value: Any) -> Iterator[tuple[str, bytes]]:
    """The head and the content of each part: lists are repeated, objects are JSON, anything else is plain text."""
    named = f'Content-Disposition: form-data; name="{_quoted(name)}"'
    as_json = param.spelling.form == "json" and not param.file
    for item in value if isinstance(value, list) and not as_json else [value]:
        if param.file and item is not None:
            about = item if isinstance(item, dict) else {"data": item}
            filename = re.split(r"[/\\]", str(about.get("filename") or ""))[-1]
            shown = name if filename in ("", ".", "..") else filename
            kind = str(about.get("content_type") or "application/octet-stream")
            if not _MEDIA_TYPE.fullmatch(kind):
                message = f"The content_type of parameter '{param.name}' is no media type; send one such as 'image/png'."
                raise OpError(Code.INVALID_VALUE, message, param_name=param.name)
            head = f'{named}; filename="{_quoted(shown)}"\r\nContent-Type: {kind}'
            yield head, _file(param.name, about.get("data"))
        elif item is not None and (as_json or isinstance(item, (list, dict))):
            yield f"{named}\r\nContent-Type: application/json", styles.json_text(item).encode()
        elif item is not None:
            yield named, styles.scalar(item).encode()


def _quoted(name: str) -> str:
    """A name inside quotes: what would end the quotes or the line is written as browsers write it."""
    return re.sub(r'["\\\x00-\x1f\x7f]', lambda char: f"%{ord(char[0]):02X}", name)


def _file(param: str, value: Any) -> bytes:
    """The bytes of base64 text: either alphabet, with or without padding and line breaks."""
    solid = "".join(value.split()) if isinstance(value, str) else "!"
    digits = solid.rstrip("=")
    altchars = b"-_" if "-" in solid or "_" in solid else b"+/"
    try:
        data = base64.b64decode(digits + "=" * (-len(digits) % 4), altchars)
    except (binascii.Error, ValueError):
        data = b""
    # Decoding skips what is not of the alphabet, so the way back must lead to the same text.
    if base64.b64encode(data, altchars).decode().rstrip("=") == digits and len(solid) - len(digits) <= -len(digits) % 4:
        return data
    message = f"Parameter '{param}' holds a file and must be base64 text; encode its bytes and send that."
    raise OpError(Code.INVALID_ENCODING, message, param_name=param)


