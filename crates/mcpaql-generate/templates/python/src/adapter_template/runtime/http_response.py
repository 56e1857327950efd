"""Converts the response of an API to the data of a call (JSON, text, or base64 for anything else), or to an error."""

import json
import math
import re
import time
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from itertools import product
from typing import Any, TypeAlias
from uuid import uuid4

import httpx2 as httpx

from . import styles
from .errors import OpError
from .requests import Answer
from .secrets import Mask

Failures: TypeAlias = Mapping[str, Any]  # the codes of failures, from the catalog
MAX_ERROR_BYTES = 64 * 1024  # maximum of an error's body that is read
_SHOWN_ERROR_BYTES = 4096  # maximum of it that is returned
HEAD_HEADERS = "accept-ranges allow content-length content-type etag last-modified x-total-count".split()
_JSON_LINES = re.compile(r"application/(x-ndjson|ndjson|jsonl|json-lines|x-jsonlines)")
_TEXT_APPLICATIONS = "xml|javascript|yaml|x-yaml|toml|graphql|x-www-form-urlencoded|sql|x-sh"
_TEXT = re.compile(rf"text/.*|.*\+(xml|yaml)|application/({_TEXT_APPLICATIONS})")
# The start of a whole HTML page, and the media types under which servers send one in place of data.
_PAGE = re.compile(r"[\ufeff \t\r\n]*(<!--((?!-->).)*-->\s*)*<(!doctype html|html)", re.IGNORECASE | re.DOTALL)
_PAGE_TYPES = re.compile(r"(|text/html|application/xhtml\+xml|text/plain|.*json)")


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
