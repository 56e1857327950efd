"""The result of a tool → data, and what stands beside it.

| the tool answered | data | blocks beside it |
|---|---|---|
| structured content | it | texts that say something else, and whatever is no text |
| one text that is JSON | that JSON, unparsed | whatever is no text |
| one text | a string | whatever is no text |
| several texts | an array of the above | whatever is no text |
| no text | `{"blocks": […]}`: what each block is, by media type or address | all of them |
| nothing | null | |
| an envelope like ours, as any of these | what is in it | |
| `isError` | a failure | |

What always holds: nothing is wrapped twice and nothing is said twice; blocks pass as they came; JSON is passed on as
text, without white space between its tokens.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .. import jsontext, rawjson, text
from ..errors import Code, OpError
from ..response import Answer, Notice, Raw
from . import failed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..jsontext import Json
    from ..secrets import Mask

_DIGITS = 15
"""Numbers with more digits would not survive every reader."""
_ENVELOPE = frozenset({"success", "data", "warnings", "_meta"})
"""What an envelope like ours may hold."""
_NUMBER = re.compile(f"[0-9-][0-9.-]{{0,{_DIGITS - 1}}}")
_NO_RESULT = "The MCP server answered with something that is no result; tell the user."


def answer(result: str, mask: Callable[[], Mask]) -> Answer:
    """The answer that a result is; `mask` is asked for where something may have to be hidden.

    Raises `OpError` where the tool failed.
    """
    try:
        parts = _members(result, ("content", "structuredContent", "isError", "_meta"))
    except ValueError:
        raise OpError(Code.INTERNAL, _NO_RESULT) from None
    structured = parts.get("structuredContent")
    if not parts.keys() & {"content", "structuredContent", "isError"}:
        # Not what the protocol says, but it is what the tool said.
        return Answer(_raw(result))
    texts, blocks = _content(parts.get("content"))
    if parts.get("isError") == "true":
        raise _failure(texts, structured, mask())
    if structured is None:
        data = _text_data(texts, blocks)
    else:
        blocks[:0] = [{"type": "text", "text": one} for one in _without_twins(texts, structured)]
        data = _structured_data(structured, parts.get("_meta"))
    answered = _unpacked(data, mask)
    answered.blocks = blocks
    return answered


def _members(written: str, names: tuple[str, ...]) -> dict[str, str]:
    """Those members of an object that are there and not null; an array holds them in this order.

    Raises `ValueError` where the text is neither, or has one of them twice.
    """
    if written.startswith("["):
        items = rawjson.items(written)
        if not 1 <= len(items) <= len(names):
            raise ValueError("not as many members")
        return {name: value for name, value in zip(names, items, strict=False) if value != "null"}
    found: dict[str, str] = {}
    for name, value in rawjson.members(written):
        if name in names and name in found:
            raise ValueError("a member is there twice")
        found[name] = value
    return {name: value for name, value in found.items() if name in names and value != "null"}


def _content(written: str | None) -> tuple[list[str], list[dict[str, Json]]]:
    """What of the content is text and what is not."""
    texts: list[str] = []
    blocks: list[Json] = []
    for block in _items(written):
        said = _text_of(block)
        if said is not None:
            texts.append(said)
            continue
        try:
            blocks.append(jsontext.read(block))
        except ValueError:
            # What no tree can hold is still text.
            texts.append(block)
    return texts, blocks  # type: ignore[return-value]  # blocks pass as they came, whatever they are


def _items(written: str | None) -> list[str]:
    try:
        return [] if written is None else rawjson.items(written)
    except ValueError:
        return []


def _text_of(block: str) -> str | None:
    """What a block of text says."""
    try:
        parts = _members(block, ("type", "text"))
        kind, said = (jsontext.read(parts[name]) for name in ("type", "text"))
    except (KeyError, ValueError):
        return None
    return said if kind == "text" and isinstance(said, str) else None


def _raw(written: str) -> Json | Raw:
    """Text where it is valid JSON, without its white space; else nothing."""
    try:
        return Raw(rawjson.minified(text.trim(written)))
    except ValueError:
        return None


def _meaning(said: str) -> Json | Raw:
    """What a text means: JSON where it is that, else itself; a number that only looks like one, a hash, is text."""
    trimmed = said.strip(" \t\r\n\ufeff")
    is_json = trimmed[:1] in ("{", "[", '"') or trimmed in ("true", "false", "null") or _NUMBER.fullmatch(trimmed)
    found = _raw(trimmed) if trimmed and is_json else None
    return said if found is None else found


def _text_data(texts: list[str], blocks: list[dict[str, Json]]) -> Json | Raw:
    if not texts:
        return {"blocks": [_label(block) for block in blocks]} if blocks else None
    if len(texts) == 1:
        return _meaning(texts[0])
    values = (_meaning(one) for one in texts)
    return Raw(f"[{','.join(one.text if isinstance(one, Raw) else jsontext.write(one) for one in values)}]")


def _label(block: Json) -> str:
    """What a block is, in a word."""
    fields: Mapping[str, Json] = block if isinstance(block, dict) else {}
    kind = fields.get("type")
    kind = kind if isinstance(kind, str) else "unknown"
    if kind in ("resource", "resource_link"):
        inner = fields.get("resource", block)
        uri = inner.get("uri") if isinstance(inner, dict) else None
        return uri if isinstance(uri, str) else kind
    places = (fields.get(key) for key in ("mimeType", "uri"))
    return next((place for place in places if isinstance(place, str)), kind)


def _structured_data(structured: str, meta: str | None) -> Json | Raw:
    """Structured content; a wrapping that its maker marks as there for the protocol alone falls away."""
    written = structured
    if meta is not None and _marks_wrapping(meta):
        try:
            wrapped = [value for name, value in rawjson.members(structured) if name == "result"]
        except ValueError:
            wrapped = []
        written = wrapped[0] if len(wrapped) == 1 else structured
    return _raw(written)


def _marks_wrapping(meta: str) -> bool:
    said = _value(meta)
    made_by = said.get("fastmcp") if isinstance(said, dict) else None
    return isinstance(made_by, dict) and made_by.get("wrap_result") is True


def _value(written: str) -> Json:
    """The value of a text; null where no tree can hold it."""
    try:
        return jsontext.read(written)
    except ValueError:
        return None


def _without_twins(texts: list[str], structured: str) -> list[str]:
    """The texts but for those that only repeat the structured content, whole or spread over several of them."""
    plain = rawjson.minified(structured)
    left = [one for one in texts if text.trim(one) != structured and _minified(one) != plain]
    if not left:
        return left
    try:
        value = jsontext.read(plain)
    except ValueError:
        return left
    twins = [_fingerprint(value)]
    inner: Json = None
    if isinstance(value, dict) and [*value] == ["result"]:
        inner = value["result"]
        twins.append(_fingerprint(inner))
    said = [_fingerprint(_said(one)) for one in left]
    if f"[{','.join(said)}]" in twins:
        return []
    return [one for one, found in zip(left, said, strict=True) if found not in twins and one != inner]


def _minified(said: str) -> str | None:
    try:
        return rawjson.minified(text.trim(said))
    except ValueError:
        return None


def _said(one: str) -> Json:
    try:
        return jsontext.read(one)
    except ValueError:
        return one


def _fingerprint(value: Json) -> str:
    """The value as JSON whose keys are sorted: equal for equal values, of which 1 and 1.0 are none."""
    if isinstance(value, dict):
        pairs = sorted((jsontext.write(key), _fingerprint(item)) for key, item in value.items())
        return "{" + ",".join(f"{key}:{item}" for key, item in pairs) + "}"
    if isinstance(value, list):
        return f"[{','.join(map(_fingerprint, value))}]"
    return jsontext.write(value)


def _unpacked(data: Json | Raw, mask: Callable[[], Mask]) -> Answer:
    """Takes the data, or the error, out of an envelope like ours."""
    whole = Answer(data)
    # Cheap to see for most of what is no envelope.
    if not isinstance(data, Raw) or data.text[:1] != "{" or '"success":' not in data.text:
        return whole
    try:
        parts = _members(data.text, ("success", "data", "error", "warnings"))
        warnings = jsontext.read(parts["warnings"]) if "warnings" in parts else None
    except ValueError:
        return whole
    if parts.get("success") == "false" and "error" in parts:
        error = _value(parts["error"])
        passed = failed.passed_on(error, mask()) if isinstance(error, dict) else None
        if passed is not None:
            raise passed
        return whole
    if parts.get("success") != "true" or "data" not in parts:
        return whole
    keys = _value(data.text)
    if not isinstance(keys, dict) or not keys.keys() <= _ENVELOPE:
        return whole
    return Answer(Raw(parts["data"]), _notices(warnings))


def _notices(said: Json) -> list[Notice]:
    warnings = said if isinstance(said, list) else []
    words = [warning.get("message") if isinstance(warning, dict) else warning for warning in warnings]
    return [Notice("UPSTREAM_WARNING", message) for message in words if isinstance(message, str)]


def _failure(texts: list[str], structured: str | None, mask: Mask) -> OpError:
    said: Json = "\n".join(texts)
    if not texts and structured is not None:
        try:
            said = jsontext.read(structured)
        except ValueError:
            said = ""
    elif len(texts) == 1:
        only = text.trim(texts[0])
        said = _said(only) if only.startswith("{") else only
    if isinstance(said, dict) and said.get("success") is False:
        error = said.get("error")
        passed = failed.passed_on(error, mask) if isinstance(error, dict) else None
        if passed is not None:
            return passed
    return failed.tool_error(said, mask)
