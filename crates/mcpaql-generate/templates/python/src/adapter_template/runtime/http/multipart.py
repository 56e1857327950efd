"""`multipart/form-data` (RFC 7578): one part for each value.

What always holds: no value ends its part or adds a header to it. Names and file names are escaped as browsers do it, a
media type that is none is refused, and the boundary cannot be guessed.

A file's value is base64 text, or `{data, filename?, content_type?}`. Lists become repeated parts, objects parts of
JSON, anything else plain text.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import jsontext
from ..errors import Code, OpError
from . import style
from .errors import unusable_document
from .files import File, file_of

if TYPE_CHECKING:
    from ..bindings import Style
    from ..jsontext import Json

_UNQUOTABLE = re.compile(r'["\\\x00-\x1f\x7f]')
_PRINTABLE = re.compile(r"[\x20-\x7e]*")
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a body."""

    name: str
    """On the wire."""
    param: str
    """What the caller calls the parameter it came in."""
    file: bool
    style: Style
    value: Json


def random_boundary() -> str:
    """A boundary that occurs in no content."""
    return f"mcpaql-{uuid.uuid4().hex}"


def write(fields: list[Field], content_type: str | None, boundary: str) -> tuple[list[bytes | File], str]:
    """The fields as parts, and what the whole of them is called."""
    kind = content_type if content_type and content_type.startswith("multipart/") else "multipart/form-data"
    if not _PRINTABLE.fullmatch(kind):
        raise unusable_document("the media type of the multipart body")
    parts = _Parts(boundary)
    for field in fields:
        parts.field(field)
    parts.text.append(f"--{boundary}--\r\n")
    return [*parts.body, "".join(parts.text).encode()], f"{kind}; boundary={boundary}"


class _Parts:
    def __init__(self, boundary: str) -> None:
        self.boundary = boundary
        self.body: list[bytes | File] = []
        # What comes behind the last file.
        self.text: list[str] = []

    def field(self, field: Field) -> None:
        if field.style.form == "json" and not field.file:
            if field.value is not None:
                self._json(field.name, field.value)
            return
        for item in field.value if isinstance(field.value, list) else [field.value]:
            self._item(field, item)

    def _item(self, field: Field, value: Json) -> None:
        if value is None:
            return
        if field.file and isinstance(value, dict):
            kind, name = value.get("content_type"), value.get("filename")
            kind = _media_type(field.param, kind) if isinstance(kind, str) else None
            self._file(field, value.get("data"), name if isinstance(name, str) else None, kind)
        elif field.file:
            self._file(field, value, None, None)
        elif isinstance(value, (dict, list)):
            self._json(field.name, value)
        else:
            self._head(field.name, None, None)
            self.text.append(f"{style.scalar(value)}\r\n")

    def _json(self, name: str, value: Json) -> None:
        self._head(name, None, "application/json")
        self.text.append(f"{jsontext.write(value)}\r\n")

    def _file(self, field: Field, data: Json, filename: str | None, kind: str | None) -> None:
        content = file_of(field.param, data)
        self._head(field.name, _base_name(filename or "") or field.name, kind or "application/octet-stream")
        self.body += ["".join(self.text).encode(), content]
        self.text = ["\r\n"]

    def _head(self, name: str, filename: str | None, kind: str | None) -> None:
        self.text.append(f'--{self.boundary}\r\nContent-Disposition: form-data; name="{_quoted(name)}"')
        if filename is not None:
            self.text.append(f'; filename="{_quoted(filename)}"')
        if kind is not None:
            self.text.append(f"\r\nContent-Type: {kind}")
        self.text.append("\r\n\r\n")


def _quoted(name: str) -> str:
    """What would end the quotes or the line is written as browsers write it; everything else stays."""
    return _UNQUOTABLE.sub(lambda found: f"%{ord(found[0]):02X}", name)


def _base_name(filename: str) -> str:
    """The last name of a path: a sender's folders are nobody's business, and a receiver might follow `..`."""
    name = filename.replace("\\", "/").rpartition("/")[2]
    return "" if name in (".", "..") else name


def _media_type(param: str, text: str) -> str:
    if _PRINTABLE.fullmatch(text) and _MEDIA_TYPE.fullmatch(text.split(";", maxsplit=1)[0].strip()):
        return text
    message = f"The content_type of parameter '{param}' is no media type; send one such as 'image/png' or leave it out."
    raise OpError(Code.INVALID_VALUE, message).detail("param_name", param)
