"""The answer of an API → the data of a call (JSON, text, or anything else in base64), or an error."""

import base64
import math
import re
import time
import zlib
from calendar import timegm
from contextlib import suppress
from email.utils import parsedate
from typing import Any

import httpx2 as httpx

from . import styles
from .errors import Code, OpError
from .requests import Answer
from .secrets import Mask

MAX_ERROR_BYTES = 64 * 1024  # how much of an error is read
_SHOWN_ERROR_BYTES = 4096  # how much of it is passed on
_HEAD_HEADERS = "accept-ranges allow content-length content-type etag last-modified x-total-count".split()
_JSON_LINES = re.compile(r"application/(x-ndjson|ndjson|jsonl|json-lines|x-jsonlines)")
_TEXT = re.compile(
    r"text/.*|.*\+(xml|yaml)|application/(xml|javascript|yaml|x-yaml|toml|graphql|x-www-form-urlencoded|sql|x-sh)",
)
_CODES = {
    **dict.fromkeys(range(400, 500), Code.INVALID_TYPE),
    **dict.fromkeys((401, 402, 403, 451), Code.PERMISSION_DENIED),
    **dict.fromkeys((404, 410), Code.NOT_FOUND_RESOURCE),
    **dict.fromkeys((409, 423), Code.CONFLICT_EXISTS),
    **dict.fromkeys((412, 428), Code.CONFLICT_VERSION),
    **dict.fromkeys((413, 414, 431), Code.PAYLOAD_TOO_LARGE),
    405: Code.INTERNAL,
    408: Code.TRANSPORT_TIMEOUT,
    429: Code.RATE_LIMIT_EXCEEDED,
}
# Words by which an API says that a value, not a type, was wrong.
_VALUE_WORDS = re.compile(
    "invalid[ _]value|must be one of|is not one of|not included in the list|out of range|must be greater|must be less|"
    "too long|too short",
)


def header(response: httpx.Response, name: str) -> str | None:
    value = next((value for key, value in response.headers.raw if key.lower() == name.encode()), b"\0")
    return value.decode() if re.fullmatch(rb"[\t -~]*", value) else None


async def read_body(response: httpx.Response, limit: int, body: bytearray) -> bool:
    """Reads up to `limit` bytes, counted after decompression, into `body`; whether that was all of it."""
    declared = header(response, "content-length") or ""
    if "content-encoding" not in response.headers and declared.isdigit() and int(declared) > limit:
        return False
    # Nothing else was asked for, so anything else is passed on as it is.
    unzip = zlib.decompressobj(31) if response.headers.get("content-encoding") == "gzip" else None
    try:
        async for chunk in response.aiter_raw():
            room = limit - len(body)
            data = unzip.decompress(chunk, room + 1) if unzip else chunk
            body += data[:room]
            if len(data) > room:
                return False
    except zlib.error:
        raise httpx.DecodingError("the body is not gzip") from None
    if unzip and body and not unzip.eof:
        raise httpx.DecodingError("the body ends too early")
    return True


def head_data(response: httpx.Response, mask: Mask) -> dict[str, Any]:
    shown = ((name, header(response, name)) for name in _HEAD_HEADERS)
    headers = {name: mask.apply(value) for name, value in shown if value is not None}
    return {"status": response.status_code, "headers": headers}


def decode(content_type: str, body: bytes, mask: Mask) -> Answer:
    if not body:
        return Answer(None)
    media_type, _, parameters = content_type.partition(";")
    media_type = media_type.strip().lower()
    if media_type in ("application/json", "text/json") or media_type.endswith("+json"):
        return _json(body, mask)
    if _JSON_LINES.fullmatch(media_type):
        return _json(body, mask, lines=True)
    if _TEXT.fullmatch(media_type):
        return _text(body, parameters, mask)
    if not media_type:
        answers = (_json(body, mask), _text(body, "", mask))
        if (answer := next((answer for answer in answers if not answer.warnings), None)) is not None:
            return answer
    data = base64.b64encode(body).decode()
    return Answer({"media_type": media_type or "application/octet-stream", "encoding": "base64", "data": data})


def _json(body: bytes, mask: Mask, *, lines: bool = False) -> Answer:
    try:
        text = body.decode()
        if lines:
            value, text = styles.read_lines(text)
        else:
            value = styles.read_json(text := text.lstrip("\ufeff"))
        masked = mask.apply_json(text)
        return Answer(styles.read_json(masked) if mask.finds(text) else value, masked)
    except ValueError:
        message = "The API labelled its answer as JSON, but it is not; data is its text."
        return Answer(mask.apply(body.decode(errors="replace")), None, [("UPSTREAM_NOT_JSON", message)])


def _text(body: bytes, parameters: str, mask: Mask) -> Answer:
    charset = re.search(r"(?:^|;)\s*charset\s*=\s*\"?([^\";\s]+)", parameters, re.IGNORECASE)
    latin = charset is not None and charset[1].lower() in ("iso-8859-1", "latin1", "latin-1")
    try:
        return Answer(mask.apply(body.decode("latin-1" if latin else "utf-8").lstrip("\ufeff")))
    except UnicodeDecodeError:
        message = "The answer is not UTF-8; characters that could not be read stand as U+FFFD."
        return Answer(mask.apply(body.decode(errors="replace")), None, [("TEXT_LOSSY", message)])


def retry_after(response: httpx.Response) -> float | None:
    text = (header(response, "retry-after") or "").strip()
    try:
        if re.fullmatch(r"\+?[0-9]+", text):
            return float(text) if int(text) < 2**64 else None
        return max(0.0, timegm(parsedate(text) or ()) - time.time())
    except (ValueError, OverflowError):
        return None


def failure(response: httpx.Response, body: bytes, mask: Mask, *, cut: bool) -> OpError:
    status, shown = response.status_code, _shown_body(response, body, mask, cut=cut)
    code = _CODES.get(status, Code.INTERNAL)
    if status in (400, 422) and _VALUE_WORDS.search(styles.json_text(shown).lower()):
        code = Code.INVALID_VALUE
    error = OpError(code, f"The API answered {status} ({response.reason_phrase}); details.upstream holds what it said.")
    if (wait := retry_after(response)) is not None:
        error.details["retry_after_seconds"] = math.ceil(wait)
    error.details["upstream"] = {"status": status} if shown is None else {"status": status, "body": shown}
    return error


def _shown_body(response: httpx.Response, body: bytes, mask: Mask, *, cut: bool) -> Any:
    """Parsed where it is JSON that fits, else text; masked before it is cut, so that no half of a secret remains."""
    text = body.decode(errors="replace").strip()
    with suppress(ValueError):
        if not cut and len(shown := mask.apply_json(text)) <= _SHOWN_ERROR_BYTES and styles.read_json(text) is not None:
            return styles.check_given(styles.read_json(shown))
    text = mask.apply(text)
    if cut:
        text = text[: -max(map(len, mask.known), default=1) * 3]
    if len(text.encode()) > _SHOWN_ERROR_BYTES:
        text = text.encode()[: _SHOWN_ERROR_BYTES - 3].decode(errors="ignore") + "…"
    if (header(response, "content-type") or "").startswith("text/html"):
        text = " ".join(re.sub(r"<[^>]*(>|$)", " ", text).split())
    return text or None
