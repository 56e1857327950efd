"""A successful answer → data.

What always holds: no more than the limit is ever held, whatever the upstream declares and however well it compresses;
JSON is passed on as text, without insignificant white space.

| the upstream says | the caller gets |
|---|---|
| JSON (`application/json`, `text/json`, `+json`) | the value; where it is not valid, the text and a warning |
| lines of JSON (`application/x-ndjson`, `jsonl`) | an array; where a line is not valid, the text and a warning |
| text (`text/*`, XML, YAML, JavaScript, form data) | a string; UTF-8 and ISO-8859-1 exactly, others with a warning |
| nothing | JSON if it is, else a string if it is UTF-8, else base64 |
| anything else | `{"media_type", "encoding": "base64", "data"}` |
| 204, 205, 304 or an empty body | null |
"""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING, Literal, TypeAlias

import httpx2 as httpx

from .. import jsontext, rawjson, text
from ..errors import Code, OpError
from ..response import Answer, Notice, Raw
from .headers import is_visible

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ..jsontext import Json
    from ..secrets import Mask

_HEAD_HEADERS = (
    "accept-ranges",
    "allow",
    "content-length",
    "content-type",
    "etag",
    "last-modified",
    "x-total-count",
)
"""Headers that answer a `HEAD`."""

_JSON_LINES = frozenset(
    {
        "application/x-ndjson",
        "application/ndjson",
        "application/jsonl",
        "application/json-lines",
        "application/x-jsonlines",
    },
)
_TEXT = frozenset(
    {
        "application/xml",
        "application/javascript",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/graphql",
        "application/x-www-form-urlencoded",
        "application/sql",
        "application/x-sh",
        "application/xhtml+xml",
    },
)

_BOM = "\ufeff"
_PIECE = 64 * 1024

Kind: TypeAlias = Literal["json", "json_lines", "text", "unlabelled", "binary"]


def header(response: httpx.Response, name: str) -> str | None:
    """The first header of that name, where it can be read as text."""
    value = raw_header(response, name)
    read = None if value is None else value.decode("latin-1")
    return read if read is not None and is_visible(read) else None


def raw_header(response: httpx.Response, name: str) -> bytes | None:
    """The first header of that name."""
    own = name.encode()
    return next((value for key, value in response.headers.raw if key.lower() == own), None)


def declared_length(response: httpx.Response) -> int | None:
    """The length that the upstream claims, where it counts what is read."""
    length = None if _is_gzip(response) else header(response, "content-length")
    return int(length) if length and length.isdigit() else None


async def read(response: httpx.Response, limit: int, body: bytearray) -> bool:
    """Reads up to `limit` bytes, counted after decompression, into `body`, which keeps what came before an error.

    Whether it was all of it; `False` where it goes on past the limit.
    """
    async for chunk in pieces(response):
        room = limit - len(body)
        body += chunk[:room]
        if len(chunk) > room:
            return False
    return True


def pieces(response: httpx.Response) -> AsyncIterator[bytes]:
    """The body, decompressed, as it comes."""
    chunks = response.aiter_raw()
    return _unzipped(chunks) if _is_gzip(response) else chunks


def _is_gzip(response: httpx.Response) -> bool:
    return header(response, "content-encoding") == "gzip" and header(response, "content-length") != "0"


async def _unzipped(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Decompresses a piece at a time: a small chunk may stand for very much."""
    unzip = zlib.decompressobj(16 + zlib.MAX_WBITS)
    begun = False
    try:
        async for chunk in chunks:
            begun = begun or bool(chunk)
            left = chunk
            # What follows the end is not read.
            while left and not unzip.eof:
                yield unzip.decompress(left, _PIECE)
                left = unzip.unconsumed_tail
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from error
    if begun and not unzip.eof:
        raise httpx.DecodingError("the compressed answer ends too early")


def too_large(limit: int) -> OpError:
    """The error for an answer past the limit."""
    message = (
        f"The answer is larger than the limit of {limit} bytes; ask for less with a page, a filter or fewer fields."
    )
    return OpError(Code.PAYLOAD_TOO_LARGE, message, {"limit": "max_response_bytes", "max_bytes": limit})


def head(response: httpx.Response, mask: Mask) -> Answer:
    """The answer to a `HEAD`."""
    shown = ((name, header(response, name)) for name in _HEAD_HEADERS)
    headers: dict[str, Json] = {name: mask.apply(value) for name, value in shown if value is not None}
    return Answer({"status": response.status_code, "headers": headers})


def decode(content_type: str | None, body: bytes, mask: Mask) -> Answer:
    """The data of a successful answer."""
    if not body:
        return Answer(None)
    media_type, _, parameters = (content_type or "").partition(";")
    media_type = text.ascii_lower(text.trim(media_type))
    match _kind(media_type):
        case "json":
            return _json(body, mask)
        case "json_lines":
            return _json_lines(body, mask)
        case "text":
            return _text(body, _charset(parameters), mask)
        case "unlabelled":
            return _unlabelled(body, mask)
        case "binary":
            return _binary(media_type, body)


def _kind(media_type: str) -> Kind:
    if not media_type:
        return "unlabelled"
    if media_type in ("application/json", "text/json") or media_type.endswith("+json"):
        return "json"
    if media_type in _JSON_LINES:
        return "json_lines"
    if media_type in _TEXT or media_type.startswith("text/") or media_type.endswith(("+xml", "+yaml")):
        return "text"
    return "binary"


def _charset(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, has_value, value = parameter.partition("=")
        if has_value and text.ascii_lower(text.trim(name)) == "charset":
            return text.ascii_lower(text.trim(value).strip('"'))
    return "utf-8"


def _json(body: bytes, mask: Mask) -> Answer:
    data = _raw(body, mask)
    return _not_json(body, mask) if data is None else Answer(data.value)


def _not_json(body: bytes, mask: Mask) -> Answer:
    message = "The API labelled its answer as JSON, but it is not; data is its text."
    return Answer(mask.apply(body.decode(errors="replace")), [Notice("UPSTREAM_NOT_JSON", message)])


class _Data:
    """JSON that was found in a body."""

    def __init__(self, value: Json | Raw) -> None:
        self.value = value


def _raw(body: bytes, mask: Mask) -> _Data | None:
    """The body as one valid JSON value."""
    try:
        whole = body.decode()
        raw = rawjson.minified(whole.lstrip(_BOM))
        if not mask.finds(whole):
            return _Data(Raw(raw))
    except ValueError:
        return None
    masked = mask.apply(raw)
    if rawjson.is_valid(masked):
        return _Data(Raw(masked))
    # The secret is a bare number, so what replaces it needs quotes.
    try:
        return _Data(mask.apply_value(jsontext.read(raw)))
    except ValueError:
        return None


def _json_lines(body: bytes, mask: Mask) -> Answer:
    try:
        lines = [text.trim(line) for line in body.decode().split("\n")]
    except ValueError:
        return _not_json(body, mask)
    values = [line for line in lines if line]
    if not all(map(rawjson.is_valid, values)):
        return _not_json(body, mask)
    return _json(f"[{','.join(values)}]".encode(), mask)


def _text(body: bytes, charset: str, mask: Mask) -> Answer:
    encoding = "latin-1" if charset in ("iso-8859-1", "latin1", "latin-1") else "utf-8"
    try:
        return Answer(mask.apply(body.decode(encoding).lstrip(_BOM)))
    except UnicodeDecodeError:
        message = "The answer is not UTF-8; characters that could not be read stand as U+FFFD."
        return Answer(mask.apply(body.decode(errors="replace")), [Notice("TEXT_LOSSY", message)])


def _unlabelled(body: bytes, mask: Mask) -> Answer:
    data = _raw(body, mask)
    if data is not None:
        return Answer(data.value)
    try:
        body.decode()
    except UnicodeDecodeError:
        return _binary("application/octet-stream", body)
    return _text(body, "utf-8", mask)


def _binary(media_type: str, body: bytes) -> Answer:
    return Answer({"media_type": media_type, "encoding": "base64", "data": base64.b64encode(body).decode()})
