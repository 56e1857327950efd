"""Converts the response of an API to the data of a call (JSON, text, or base64 for anything else), or to an error."""

import base64
import math
import re
import time
import zlib
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2 as httpx

from . import styles
from .errors import Code, OpError
from .requests import Answer
from .secrets import Mask

MAX_ERROR_BYTES = 64 * 1024  # maximum of an error's body that is read
_SHOWN_ERROR_BYTES = 4096  # maximum of it that is returned
HEAD_HEADERS = "accept-ranges allow content-length content-type etag last-modified x-total-count".split()
_JSON_LINES = re.compile(r"application/(x-ndjson|ndjson|jsonl|json-lines|x-jsonlines)")
_TEXT = re.compile(
    r"text/.*|.*\+(xml|yaml)|application/(xml|javascript|yaml|x-yaml|toml|graphql|x-www-form-urlencoded|sql|x-sh)",
)
_CODES = dict.fromkeys(range(400, 500), Code.INVALID_TYPE) | {405: Code.INTERNAL, 408: Code.TRANSPORT_TIMEOUT}
_CODES |= dict.fromkeys((401, 402, 403, 451), Code.PERMISSION_DENIED) | {429: Code.RATE_LIMIT_EXCEEDED}
_CODES |= dict.fromkeys((404, 410), Code.NOT_FOUND_RESOURCE) | dict.fromkeys((409, 423), Code.CONFLICT_EXISTS)
_CODES |= dict.fromkeys((412, 428), Code.CONFLICT_VERSION) | dict.fromkeys((413, 414, 431), Code.PAYLOAD_TOO_LARGE)
# Phrases that report a wrong value, not a wrong type.
_VALUE_WORDS = re.compile(
    "invalid.value|(must be|is not) one of|must be (great|less)|not included in the list|out of range|too (long|short)",
)


def header(response: httpx.Response, name: str) -> str | None:
    value = next((value for key, value in response.headers.raw if key.lower() == name.encode()), b"\0")
    return value.decode() if re.fullmatch(rb"[\t -~]*", value) else None


async def read_body(response: httpx.Response, limit: int, body: bytearray) -> bool:
    """Reads up to `limit` bytes, counted after decompression, into `body`. Returns whether the body is complete."""
    declared = header(response, "content-length") or ""
    if "content-encoding" not in response.headers and declared.isdigit() and int(declared) > limit:
        return False
    # Requests accept only gzip, which may have several members; any other encoding is not decoded.
    unzip = zlib.decompressobj(31) if response.headers.get("content-encoding") == "gzip" else None
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


def decode(content_type: str, body: bytes, mask: Mask) -> Answer:
    if not body:
        return Answer(None)
    media_type, _, parameters = content_type.partition(";")
    media_type = media_type.strip().lower()
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
        message = "The content type is JSON, but the answer is not valid JSON; `data` contains its text."
        warning = ("UPSTREAM_NOT_JSON", message)
    if not media_type or (not is_json and _TEXT.fullmatch(media_type)):
        charset = re.search(r"(?:^|;)\s*charset\s*=\s*\"?([^\";\s]+)", parameters, re.IGNORECASE)
        latin = charset is not None and charset[1].lower() in ("iso-8859-1", "latin1", "latin-1")
        with suppress(UnicodeDecodeError):
            return Answer(mask.apply(body.decode("latin-1" if latin else "utf-8").lstrip("\ufeff")))
        warning = ("TEXT_LOSSY", "The answer is not UTF-8; unreadable characters are shown as U+FFFD.")
    if warning and media_type:
        return Answer(mask.apply(body.decode(errors="replace")), None, [warning])
    data = base64.b64encode(body).decode()
    return Answer({"media_type": media_type or "application/octet-stream", "encoding": "base64", "data": data})


def retry_after(response: httpx.Response) -> float | None:
    text = (header(response, "retry-after") or "").strip()
    try:
        if re.fullmatch(r"\+?[0-9]+", text):
            return float(text) if int(text) < 2**64 else None
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def failure(response: httpx.Response, body: bytes, mask: Mask, *, cut: bool) -> OpError:
    status, shown = response.status_code, _shown_body(response, body, mask, cut=cut)
    code = _CODES.get(status, Code.INTERNAL)
    if status in (400, 422) and _VALUE_WORDS.search(styles.json_text(shown).lower()):
        code = Code.INVALID_VALUE
    wait, upstream = retry_after(response), {"status": status} | ({} if shown is None else {"body": shown})
    details = {"http_status": status} | ({} if wait is None else {"retry_after_seconds": math.ceil(wait)})
    message = f"The API answered {status} ({response.reason_phrase}); see details.upstream."
    return OpError(code, message, **details, upstream=upstream)


def _shown_body(response: httpx.Response, body: bytes, mask: Mask, *, cut: bool) -> Any:
    """Returns short JSON as a value and anything else as text, masked before it is cut: no part of a secret remains."""
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
