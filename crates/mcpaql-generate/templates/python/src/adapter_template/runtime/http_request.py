"""A request literal and the arguments of a call → one HTTP request, without credentials.

The address has the origin and the path prefix of the base and never a segment that leads upwards; no parameter sets a
header, a query parameter or a cookie that belongs to the connection or to the credentials.
"""

import base64
import binascii
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote

import httpx2 as httpx

from . import styles
from .errors import Code, OpError
from .requests import HttpRequest, Param

Args: TypeAlias = Mapping[str, Any]
Reserved: TypeAlias = defaultdict[str, set[str]]  # by place the names that only the server sets

FRAMING = frozenset(
    "accept-encoding connection content-length expect host keep-alive proxy-connection te trailer transfer-encoding "
    "upgrade".split(),
)
"""Headers that no document and no parameter sets: they belong to the connection."""
_CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization"})
_MAX_URL_BYTES = 32 * 1024
_LITERAL = "%!$&'()*+,;=:@/~[]?"  # what literals of a path keep as it is; authors write `%2F` themselves
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+ *(;[ -~]*)?")
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request before credentials are added; names of headers are lower case."""

    method: str
    url: httpx.URL
    headers: dict[str, str]
    body: bytes | None
    trusted: bool = True  # whether credentials go along


def header_name(text: str) -> str | None:
    """A header's name in lower case; `None` where it is none."""
    return text.lower() if re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", text) else None


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
    for name, param, value in _given(request, args, "header"):
        _set_header(sent, reserved, name, param, value)
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


def unusable(cause: object) -> OpError:
    """A request that cannot be sent as the document describes it."""
    return OpError(Code.INTERNAL, "This operation cannot be sent as described; tell the operator.", cause)


def _given(request: HttpRequest[Any], args: Args, place: str) -> Iterator[tuple[str, Param, Any]]:
    params = request.params.items()
    return ((name, param, args[name]) for name, param in params if param.place == place and name in args)


def _url(base: httpx.URL, reserved: Reserved, request: HttpRequest[Any], args: Args) -> httpx.URL:
    pieces = re.split(r"\{([^}]*)\}", request.path)
    pieces[::2] = [styles.encode(text, _LITERAL) for text in pieces[::2]]
    pieces[1::2] = [_path_value(name, request.params.get(name, Param("path")), args) for name in pieces[1::2]]
    path, _, query = "".join(pieces).partition("?")
    if any(unquote(segment) in (".", "..") for segment in path.split("/")):
        raise OpError(Code.INVALID_VALUE, "The path parameters would spell '.' or '..'; send the real identifiers.")
    found = (styles.pairs(param.wire or name, value, param) for name, param, value in _given(request, args, "query"))
    query = "&".join(filter(None, [query, *map(styles.written, found)])).replace("'", "%27")
    for key, _ in parse_qsl(query, keep_blank_values=True):
        if key in reserved["query"]:
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


def _path_value(name: str, param: Param, args: Args) -> str:
    text = styles.path(param.wire or name, args.get(name), param)
    if text is None:
        message = f"Missing required parameter '{name}'; it is part of the path of this operation."
        raise OpError(Code.MISSING_PARAM, message, param_name=name)
    parts = [text]
    if param.form == "segments":
        text = text.removeprefix("/").removesuffix("/") if text != "/" else ""
        parts = text.split("/") if text or args[name] != "/" else []
    if not {"", ".", ".."}.isdisjoint(parts):
        message = f"Parameter '{name}' is part of a path and cannot be empty, '.' or '..'; send a real identifier."
        raise OpError(Code.INVALID_VALUE, message, param_name=name)
    return text


def _set_header(headers: dict[str, str], reserved: Reserved, name: str, param: Param, value: Any) -> None:
    header, text = header_name(param.wire or name), styles.header(value, param)
    if header is None:
        raise unusable(f"header name {param.wire or name!r}")
    if text is None:
        return
    if header in FRAMING | _CREDENTIALS | reserved["header"]:
        raise _not_yours(name, header)
    if re.search(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]", text):
        message = f"Parameter '{name}' travels in a header; send it without control characters."
        raise OpError(Code.INVALID_ENCODING, message, param_name=name)
    headers[header] = text


def _set_cookies(headers: dict[str, str], reserved: Reserved, request: HttpRequest[Any], args: Args) -> None:
    """The cookies of parameters join those of the target in one header."""
    cookies = [headers.get("cookie", "")]
    for name, param, value in _given(request, args, "cookie"):
        found = list(styles.pairs(param.wire or name, value, param))
        for cookie, _ in found:
            # Servers differ in whether they decode a name, so it is compared both ways.
            if not {cookie, unquote(cookie)}.isdisjoint(reserved["cookie"]):
                raise _not_yours(name, cookie)
        cookies.append(styles.written(found, "; "))
    if any(cookies):
        headers["cookie"] = "; ".join(filter(None, cookies))


def _not_yours(param: str, wire: str) -> OpError:
    message = f"Leave out parameter '{param}': '{wire}' is set by the server alone."
    return OpError(Code.INVALID_VALUE, message, param_name=param)


def _body(request: HttpRequest[Any], args: Args) -> tuple[str, bytes] | None:
    """The body and its media type; `None` where the request has none."""
    declared = [name for name, param in request.params.items() if param.place == "body"]
    whole = request.body_param
    if whole is None and request.body in ("text", "binary") and len(declared) == 1:
        whole = declared[0]
    if whole is None:
        # A method that expects a body gets an empty one; any other gets none.
        given = [(name, param.wire or name, param, value) for name, param, value in _given(request, args, "body")]
        expected = declared and (given or request.method in ("POST", "PUT", "PATCH"))
        return _fields_body(request, given) if expected else None
    if whole not in args:
        return None
    value = args[whole]
    text = "" if value is None else styles.scalar(value)
    match request.body:
        case "json":
            return "application/json", styles.json_text(value).encode()
        case "text":
            return "text/plain; charset=utf-8", text.encode()
        case "binary":
            return "application/octet-stream", _file(whole, value)
    if isinstance(value, dict):
        files = request.params[whole].file
        files = files if isinstance(files, tuple) else ()
        return _fields_body(request, [(whole, key, Param(file=key in files), item) for key, item in value.items()])
    if request.body == "multipart":
        raise unusable("the parameter that is the whole multipart body is no object")
    return _FORM, text.encode()


def _fields_body(request: HttpRequest[Any], fields: list[tuple[str, str, Param, Any]]) -> tuple[str, bytes]:
    """A body of fields: of each the parameter's name, its name on the wire, how it is written, and its value."""
    if request.body == "json":
        return "application/json", styles.json_text({wire: value for _, wire, _, value in fields}).encode()
    if request.body == "form":
        pairs = (styles.written(styles.form_pairs(wire, value, param)) for _, wire, param, value in fields)
        return _FORM, "&".join(filter(None, pairs)).encode()
    if request.body != "multipart":
        raise unusable("a text or binary body needs one body parameter")
    parts = [(wire, part) for name, wire, param, value in fields for part in _parts(name, wire, param, value)]
    kind, content = "multipart/form-data; boundary=empty", b"--empty--\r\n"
    if parts:
        written = httpx.Request("POST", "http://localhost", files=parts)
        kind, content = written.headers["content-type"], written.read()
    if (request.content_type or "").startswith("multipart/"):
        kind = f"{request.content_type};{kind.partition(';')[2]}"
    return kind, content


def _parts(name: str, wire: str, param: Param, value: Any) -> Iterator[tuple[str | None, bytes, str | None]]:
    """Each part as file name, content and type: lists are repeated, objects are JSON, anything else is plain text."""
    as_json = param.form == "json" and not param.file
    for item in value if isinstance(value, list) and not as_json else [value]:
        if param.file and item is not None:
            about = item if isinstance(item, dict) else {"data": item}
            filename = re.split(r"[/\\]", str(about.get("filename") or ""))[-1]
            kind = str(about.get("content_type") or "application/octet-stream")
            if not _MEDIA_TYPE.fullmatch(kind):
                message = f"The content_type of parameter '{name}' is no media type; send one such as 'image/png'."
                raise OpError(Code.INVALID_VALUE, message, param_name=name)
            yield wire if filename in ("", ".", "..") else filename, _file(name, about.get("data")), kind
        elif item is not None:
            is_json = as_json or isinstance(item, (list, dict))
            text = styles.json_text(item) if is_json else styles.scalar(item)
            yield None, text.encode(), "application/json" if is_json else None


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
    exact = base64.b64encode(data, altchars).decode().rstrip("=") == digits
    if exact and len(solid) - len(digits) <= -len(digits) % 4:
        return data
    message = f"Parameter '{param}' holds a file and must be base64 text; encode its bytes and send that."
    raise OpError(Code.INVALID_ENCODING, message, param_name=param)
