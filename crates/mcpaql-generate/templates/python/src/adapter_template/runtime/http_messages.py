"""Builds HTTP requests from request literals, without credentials. Reads responses: JSON, text, files, or errors."""

import base64
import json
import math
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from itertools import product
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, unquote
from uuid import uuid4

import httpx2 as httpx

from . import styles
from .errors import OpError, check_limit, param_error
from .requests import Answer, HttpRequest, Param
from .secrets import Mask

Args: TypeAlias = Mapping[str, Any]
Request: TypeAlias = HttpRequest[Any]
Reserved: TypeAlias = set[tuple[str, str]]  # places and names that parameters must not set
Failures: TypeAlias = Mapping[str, Any]  # the codes of failures, from the catalog

_LITERAL = "%!$&'()*+,;=:@/~[]?"  # characters that stay unencoded in the literals of a path
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+ *(;[ -~]*)?")
_FORM, _MAX_URL_BYTES = "application/x-www-form-urlencoded", 32 * 1024
MAX_ERROR_BYTES, _SHOWN_ERROR_BYTES = 64 * 1024, 4096  # maximum of an error's body that is read, and returned
HEAD_HEADERS = "accept-ranges allow content-length content-type etag last-modified x-total-count".split()
_JSON_LINES = re.compile(r"application/(x-ndjson|ndjson|jsonl|json-lines|x-jsonlines)")
_TEXT_APPLICATIONS = "xml|javascript|yaml|x-yaml|toml|graphql|x-www-form-urlencoded|sql|x-sh"
_TEXT = re.compile(rf"text/.*|.*\+(xml|yaml)|application/({_TEXT_APPLICATIONS})")
# The start of a whole HTML page, and the media types under which servers send one in place of data.
_PAGE = re.compile(r"[\ufeff \t\r\n]*(<!--((?!-->).)*-->\s*)*<(!doctype html|html)", re.IGNORECASE | re.DOTALL)
_PAGE_TYPES = re.compile(r"(|text/html|application/xhtml\+xml|text/plain|.*json)")


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


def header(response: httpx.Response, name: str, allowed: bytes = rb"[\t -~]*") -> str | None:
    value = next((value for key, value in response.headers.raw if key.lower() == name.encode()), b"\0")
    return value.decode(errors="replace") if re.fullmatch(allowed, value) else None


async def read_body(response: httpx.Response, limit: int, body: bytearray) -> bool:
    """Reads up to `limit` bytes, counted after decompression, into `body`. Returns whether the body is complete."""
    declared, coding = header(response, "content-length") or "", response.headers.get("content-encoding", "").lower()
    if not coding and declared.isdigit() and int(declared) > limit:
        return False
    # Requests accept only gzip, which may have several members; any other encoding is not decoded.
    unzip = zlib.decompressobj(31) if coding in ("gzip", "x-gzip") else None
    try:
        async for chunk in response.aiter_raw():
            rest = chunk
            while rest:
                unzip = zlib.decompressobj(31) if unzip and unzip.eof else unzip
                room = limit - len(body)
                data = unzip.decompress(rest, room + 1) if unzip else rest
                body += data[:room]
                if len(data) > room:
                    return False
                rest = unzip.unused_data if unzip else b""
    except zlib.error:
        raise httpx.DecodingError("the body is not gzip") from None
    if unzip and body and not unzip.eof:
        raise httpx.DecodingError("the body ends too early")
    return True


def decode(content_type: str, body: bytes, mask: Mask, *, page: bool = False) -> Answer:
    if not body:
        return Answer(None)
    media_type, _, parameters = content_type.partition(";")
    media_type = media_type.strip().lower()
    if not page and _PAGE_TYPES.fullmatch(media_type) and _PAGE.match(body[:1024].decode(errors="replace")):
        shown = _shown_body("text/html", body, mask, cut=False)
        raise OpError("INTERNAL_ERROR", "The API answered with an HTML page; it may be down.", upstream={"body": shown})
    is_lines = _JSON_LINES.fullmatch(media_type) is not None
    is_json = is_lines or media_type in ("application/json", "text/json") or media_type.endswith("+json")
    warning = None
    # A body without a media type is JSON or text if it can be read as such.
    if is_json or not media_type:
        with suppress(ValueError):
            text = body.decode() if is_lines else body.decode().lstrip("\ufeff")
            value, text = styles.read_lines(text) if is_lines else (styles.read_json(text), text)
            masked = mask.apply_json(text)
            return Answer(styles.read_json(masked) if mask.finds(text) else value, masked)
        warning = ("UPSTREAM_NOT_JSON", "The answer should be JSON, but is not; `data` contains its text.")
    if not media_type or (not is_json and _TEXT.fullmatch(media_type)):
        charset = re.search(r"(?:^|;)\s*charset\s*=\s*\"?([^\";\s]+)", parameters, re.IGNORECASE)
        latin = charset is not None and charset[1].lower() in ("iso-8859-1", "latin1", "latin-1")
        with suppress(UnicodeDecodeError):
            return Answer(mask.apply(body.decode("latin-1" if latin else "utf-8").lstrip("\ufeff")))
        warning = ("TEXT_LOSSY", "The answer is not UTF-8; unreadable characters are shown as U+FFFD.")
    if warning and media_type:
        return Answer(mask.apply(body.decode(errors="replace")), None, [warning])
    media_type = media_type or "application/octet-stream"
    return Answer({"media_type": media_type, "bytes": len(body)}, file=(media_type, body))


def retry_after(response: httpx.Response) -> float | None:
    text = (header(response, "retry-after") or "").strip()
    try:
        if re.fullmatch(r"\+?[0-9]+", text):
            return float(text) if int(text) < 2**64 else None
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _code(number: int, text: str, failures: Failures) -> str:
    """Returns the code of a status or of a JSON-RPC error with this body in lower case."""
    if number in (400, 422) and any(words in text for words in failures["value_words"]):
        return "VALIDATION_INVALID_VALUE"
    usual = "VALIDATION_INVALID_TYPE" if 400 <= number < 500 else "INTERNAL_ERROR"
    return str(failures["codes"].get(str(number), usual))


def failure(response: httpx.Response, body: bytes, mask: Mask, failures: Failures, *, cut: bool) -> OpError:
    status, shown = response.status_code, _shown_body(header(response, "content-type") or "", body, mask, cut=cut)
    code = _code(status, json.dumps(shown).lower(), failures)
    wait, upstream = retry_after(response), {"status": status} | ({} if shown is None else {"body": shown})
    details: dict[str, Any] = {} if wait is None else {"retry_after_seconds": math.ceil(wait)}
    if code == "RATE_LIMIT_EXCEEDED":
        details = _rate_limit(response) | details
    message = f"The API answered {status}, see details.upstream; {failures['advice'][code]}."
    return OpError(code, message, **details, http_status=status, upstream=upstream)


def _rate_limit(response: httpx.Response) -> dict[str, Any]:
    """Returns what the headers of a 429 say. A list of limits starts with the one that applies: `100, 100;w=60`."""
    found, now = dict[str, Any](), int(time.time())
    for name, prefix in product(("limit", "remaining", "reset"), ("x-rate-limit", "ratelimit", "x-ratelimit")):
        if digits := re.match(r"\s*\+?([0-9]{1,15})\s*([,;]|$)", header(response, f"{prefix}-{name}") or ""):
            found[name] = int(digits[1])
    if (reset := found.pop("reset", None)) is not None:
        # A large number is a time since 1970, in seconds or milliseconds. A small one is a wait.
        at = now + reset if reset < 10**9 else reset if reset < 10**12 else reset // 1000
        found["resets_at"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
        found["retry_after_seconds"] = max(0, at - now)
    return found


def _select(value: Any, path: Sequence[str]) -> Any:
    """Returns the value at a path, or `...` if there is none."""
    for part in path:
        if isinstance(value, list):
            value = value[int(part)] if part.isdecimal() and int(part) < len(value) else ...
        else:
            value = value.get(part, ...) if isinstance(value, dict) else ...
    return value


def result(answer: Answer, path: Sequence[str]) -> Answer:
    """Returns the part of an answer that is its result, with numbers as written, or else the whole answer."""
    if (data := _select(answer.data, path)) is ...:
        answer.warnings.append(("RESULT_NOT_FOUND", "The answer has no result; `data` is the whole answer."))
        return answer
    mark = f"number {uuid4()} "
    tree = None if answer.text is None else json.loads(answer.text, parse_float=lambda digits: mark + digits)
    text = re.sub(f'"{mark}([^"]+)"', r"\1", styles.json_text(_select(tree, path))) if answer.text else None
    return Answer(data, text, answer.warnings)


def refuse_failure(data: Any, rule: Mapping[str, Any], failures: Failures, mask: Mask) -> None:
    """Raises the failure that an answer reports although its status says success."""
    value, message = _select(data, rule["path"]), _select(data, rule["message"]) if "message" in rule else ...
    same = type(value) is type(other := rule.get("equals", rule.get("not"))) and value == other
    if not (same if "equals" in rule else not same if "not" in rule else value is not ... and value):
        return
    # A flag says nothing, but the rest of the answer may.
    content = value if isinstance(value, (str, list, dict)) else data
    if message is not ...:
        beside = {"value": value} if isinstance(message, str) and value is not ... else {}
        content = {**(value if isinstance(value, dict) else beside), "message": message}
    text, fields = json.dumps(content, ensure_ascii=False), content if isinstance(content, dict) else {}
    shown, text = _shown_body("", text.encode(errors="replace"), mask, cut=False), mask.apply_json(text).lower()
    numbers = (fields.get(name) for name in ("code", "status", "statusCode"))
    number = next((number for number in numbers if type(number) is int), 0)
    guesses = (code for code, words in failures["words"] if any(word in text for word in words))
    is_known = 400 <= number < 600 or -32768 <= number <= -32000
    code = _code(number, text, failures) if is_known else next(guesses, "INTERNAL_ERROR")
    raise OpError(code, f"The API reported a failure, see details; {failures['advice'][code]}.", upstream=shown)


def _shown_body(content_type: str, body: bytes, mask: Mask, *, cut: bool) -> Any:
    """Returns short JSON as a value and anything else as text, masked before it is cut: no part of a secret remains."""
    text = body.decode(errors="replace").strip()
    with suppress(ValueError):
        if not cut and styles.read_json(text) is not None and len(shown := mask.apply_json(text)) <= _SHOWN_ERROR_BYTES:
            return styles.check_given(styles.read_json(shown))
    text = mask.apply(text)
    if cut:
        text = text[: -max(map(len, mask.known), default=1) * 3]
    if len(text.encode()) > _SHOWN_ERROR_BYTES:
        text = text.encode()[: _SHOWN_ERROR_BYTES - 3].decode(errors="ignore") + "…"
    if content_type.startswith("text/html"):
        text = " ".join(re.sub(r"<[^>]*(>|$)", " ", text).split())
    return text or None
