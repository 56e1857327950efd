"""Builds an HTTP request from a request literal and the arguments of a call, without credentials."""

import base64
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote
from uuid import uuid4

import httpx2 as httpx

from . import styles
from .errors import OpError, check_limit, param_error
from .requests import HttpRequest, Param

Args: TypeAlias = Mapping[str, Any]
Request: TypeAlias = HttpRequest[Any]
Reserved: TypeAlias = set[tuple[str, str]]  # places and names that parameters must not set

_LITERAL = "%!$&'()*+,;=:@/~[]?"  # characters that stay unencoded in the literals of a path
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+ *(;[ -~]*)?")
_FORM, _MAX_URL_BYTES = "application/x-www-form-urlencoded", 32 * 1024


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request without credentials. The names of its headers are in lower case."""

    method: str
    url: httpx.URL
    headers: dict[str, str]
    body: bytes | None
    trusted: bool = True  # whether credentials are added


def build(base: httpx.URL, headers: Mapping[str, str], reserved: Reserved, request: Request, args: Args) -> Outgoing:
    url = _url(base, reserved, request, args)
    sent = {"accept": "application/json, text/*;q=0.8, */*;q=0.5", **headers}
    if request.body != "json":
        sent.pop("content-type", None)
    sent |= {"content-type": request.content_type} if request.content_type else {}
    sent |= {request.idempotency: str(uuid4())} if request.idempotency else {}
    _set_headers(sent, reserved, request, args)
    kind, content = _body(request, args) or ("", None)
    named = sent.pop("content-type", kind)
    # Servers need the exact media type to read these bodies.
    if request.body == "multipart" or (request.body == "form" and not named.startswith(_FORM)):
        named = kind
    sent |= {} if content is None else {"content-type": named}
    return Outgoing(request.method, url, sent, content)


def _given(request: Request, args: Args, place: Any) -> Iterator[tuple[str, str, Param, Any]]:
    for name, param in request.params.items():
        if param.place == place and name in args:
            yield name, param.wire or name, param, args[name]
    yield from ((name, name, Param(place), value) for name, value in request.fixed.get(place, {}).items())


def _url(base: httpx.URL, reserved: Reserved, request: Request, args: Args) -> httpx.URL:
    pieces = re.split(r"\{([^}]*)\}", request.path)
    pieces[::2] = [styles.encode(text, safe=_LITERAL) for text in pieces[::2]]
    pieces[1::2] = [_path_value(name, request.params[name], args) for name in pieces[1::2]]
    path, _, query = "".join(pieces).partition("?")
    if any(unquote(segment) in (".", "..") for segment in path.split("/")):
        raise OpError("VALIDATION_INVALID_VALUE", "The parameters would spell '.' or '..'; send real identifiers.")
    found = (styles.pairs(wire, value, param) for _, wire, param, value in _given(request, args, "query"))
    query = "&".join(filter(None, [query, *map(styles.written, found)])).replace("'", "%27")
    for key, _ in parse_qsl(query, keep_blank_values=True):
        if ("query", key) in reserved:
            raise param_error(key, "is set by the server alone; leave it out.")
    full = f"{base.raw_path.decode().rstrip('/')}{'' if not path or path.startswith('/') else '/'}{path}" or "/"
    check_limit("request_size", len(str(base.copy_with(path=""))) + len(f"{full}?{query}"), _MAX_URL_BYTES)
    url = base.copy_with(raw_path=f"{full}?{query}".removesuffix("?").encode())
    if url.raw_path.partition(b"?")[0].decode() != full:
        raise OpError("INTERNAL_ERROR", "The path of this operation cannot be sent as described; tell the operator.")
    return url


def _path_value(name: str, param: Param, args: Args) -> str:
    text = styles.text(param.wire or name, args.get(name), param)
    if text is None:
        raise param_error(name, "is missing; it is part of the path of this operation.", "VALIDATION_MISSING_PARAM")
    parts = [text]
    if param.form == "segments":
        text = text.removeprefix("/").removesuffix("/")
        parts = text.split("/") if text or args[name] != "/" else []
    if not {"", ".", ".."}.isdisjoint(parts):
        raise param_error(name, "cannot be empty, '.' or '..' in a path; send a real identifier.")
    return text


def _set_headers(headers: dict[str, str], reserved: Reserved, request: Request, args: Args) -> None:
    for name, wire, param, value in _given(request, args, "header"):
        text = styles.text(wire, value, param, str)
        if text is not None and ("header", wire.lower()) in reserved:
            raise param_error(name, "is set by the server alone; leave it out.")
        if re.search(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]", text or ""):
            raise param_error(name, "has control characters; remove them.", "VALIDATION_INVALID_ENCODING")
        headers |= {} if text is None else {wire.lower(): text}
    cookies = [headers.get("cookie", "")]
    for name, wire, param, value in _given(request, args, "cookie"):
        found = list(styles.pairs(wire, value, param))
        # Some servers decode names, so both spellings are compared.
        if not {("cookie", text) for cookie, _ in found for text in (cookie, unquote(cookie))}.isdisjoint(reserved):
            raise param_error(name, "is set by the server alone; leave it out.")
        cookies.append(styles.written(found, "; "))
    headers |= {"cookie": "; ".join(filter(None, cookies))} if any(cookies) else {}


def _body(request: Request, args: Args) -> tuple[str, bytes] | None:
    whole, fields = request.body_param, list(_given(request, args, "body"))
    declared = any(param.place == "body" for param in request.params.values())
    if request.body_template is not None:
        value = _filled({"": request.body_template}, args).get("")
    # Methods that expect a body get an empty one.
    elif whole not in args if whole else not (fields or (declared and request.method in ("POST", "PUT", "PATCH"))):
        return None
    else:
        value = args[whole] if whole else {wire: item for _, wire, _, item in fields}
    text = "" if value is None else styles.scalar(value)
    match request.body:
        case "json":
            return "application/json", styles.json_text(value).encode()
        case "text":
            return "text/plain; charset=utf-8", text.encode()
        case "binary":
            return "application/octet-stream", _file(whole or "", value)
        case "form" if not isinstance(value, dict):
            return _FORM, text.encode()
    if whole or request.body_template is not None:
        files = request.params[whole].files if whole else ()
        fields = [(whole or key, key, Param(file=key in files), item) for key, item in value.items()]
    if request.body == "form":
        pairs = (styles.written(styles.pairs(wire, item, param, nests=True)) for _, wire, param, item in fields)
        return _FORM, "&".join(filter(None, pairs)).encode()
    parts = [(row[1], part) for row in fields for part in _parts(*row)]
    kind, content = "multipart/form-data; boundary=empty", b"--empty--\r\n"
    if parts:
        written = httpx.Request("POST", "http://localhost", files=parts)
        kind, content = written.headers["content-type"], written.read()
    if (request.content_type or "").startswith("multipart/"):
        kind = f"{request.content_type};{kind.partition(';')[2]}"
    return kind, content


def _filled(template: Any, args: Args) -> Any:
    """Returns a template with its parameters. `...` marks a missing one: left out, or null if items follow."""
    if isinstance(template, str) and (name := re.fullmatch(r"\{([a-z][a-z0-9_]*)\}", template)):
        return args.get(name[1], ...)
    if isinstance(template, list):
        items = [_filled(item, args) for item in template]
        end = max((at for at, item in enumerate(items, 1) if item is not ...), default=0)
        return [None if item is ... else item for item in items[:end]]
    if isinstance(template, dict):
        return {key: filled for key, item in template.items() if (filled := _filled(item, args)) is not ...}
    return template


def _parts(name: str, wire: str, param: Param, value: Any) -> Iterator[tuple[str | None, bytes, str | None]]:
    """Yields the file name, content and type of each part. A list has one part for each item; objects are JSON."""
    as_json = param.form == "json" and not param.file
    items = value if isinstance(value, list) and not as_json else [value]
    for item in (item for item in items if item is not None):
        is_json = as_json or isinstance(item, (list, dict))
        if not param.file:
            text = styles.json_text(item) if is_json else styles.scalar(item)
            yield None, text.encode(), "application/json" if is_json else None
            continue
        about = item if isinstance(item, dict) else {"data": item}
        filename = re.split(r"[/\\]", str(about.get("filename") or ""))[-1]
        kind = str(about.get("content_type") or "application/octet-stream")
        if not _MEDIA_TYPE.fullmatch(kind):
            raise param_error(name, "has a content_type, but not a media type such as 'image/png'.")
        yield wire if filename in ("", ".", "..") else filename, _file(name, about.get("data")), kind


def _file(param: str, value: Any) -> bytes:
    """Decodes base64 in either alphabet, with or without padding and line breaks."""
    solid = "".join(value.split()) if isinstance(value, str) else "!"
    digits, data = solid.rstrip("="), b""
    altchars = b"-_" if "-" in solid or "_" in solid else b"+/"
    with suppress(ValueError):
        data = base64.b64decode(digits + "=" * (-len(digits) % 4), altchars)
    # Python ignores invalid characters, so the result is encoded again and compared.
    exact = base64.b64encode(data, altchars).decode().rstrip("=") == digits
    if not exact or len(solid) - len(digits) > -len(digits) % 4:
        raise param_error(param, "is a file and must be base64 text.", "VALIDATION_INVALID_ENCODING")
    return data
