"""The body of a request: its pieces, and how they are sent.

What always holds: the body holds nothing that the caller or the document did not say; its length is known before the
first byte leaves; a file is decoded while it is sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import jsontext
from ..bindings import FORM, Args, HttpRequest, Param
from . import multipart, style
from .errors import unusable_document
from .files import File, file_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from ..jsontext import Json


class Body:
    """A body as its pieces: bytes, and files that are decoded on their way."""

    def __init__(self, *pieces: bytes | File) -> None:
        """In order."""
        self._pieces = pieces

    @property
    def length(self) -> int:
        """In bytes."""
        return sum(piece.length if isinstance(piece, File) else len(piece) for piece in self._pieces)

    @property
    def content(self) -> bytes | AsyncIterator[bytes]:
        """What is sent: all at once where it is one piece anyway, else a chunk at a time. May be asked for again."""
        match self._pieces:
            case (bytes() as only,):
                return only
            case _:
                return self._chunks()

    async def _chunks(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            if isinstance(piece, File):
                for chunk in piece.chunks():
                    yield chunk
            else:
                yield piece


@dataclass(frozen=True, slots=True)
class Typed:
    """A body, and what it is called unless the document or the caller calls it otherwise."""

    body: Body
    content_type: str


def build(request: HttpRequest, args: Args, boundary: Callable[[], str]) -> Typed | None:
    """What the body parameters become; nothing where the request has no body."""
    given = _given(request, args)
    if given is None:
        return None
    whole, fields = given
    match request.body:
        case "json":
            value = whole[1] if whole else {field.name: field.value for field in fields}
            return Typed(Body(jsontext.write(value).encode()), "application/json")
        case "form":
            return Typed(Body(_form(whole, fields).encode()), "application/x-www-form-urlencoded")
        case "multipart":
            if whole:
                fields = _fields_of(*whole)
            body, content_type = multipart.write(fields, request.content_type, boundary())
            return Typed(Body(*body), content_type)
        case _ if whole is None:
            raise unusable_document("a text or binary body needs one body parameter")
        case "text":
            return Typed(Body((style.scalar(whole[1]) or "").encode()), "text/plain; charset=utf-8")
        case "binary":
            return Typed(Body(file_of(whole[0].name, whole[1])), "application/octet-stream")


def _form(whole: tuple[Param, Json] | None, fields: list[multipart.Field]) -> str:
    if whole and isinstance(whole[1], dict):
        fields = _fields_of(*whole)
    elif whole:
        return style.scalar(whole[1]) or ""
    form = style.Pairs()
    for field in fields:
        form.append_field(field.name, field.value, field.style)
    return form.text()


def _given(request: HttpRequest, args: Args) -> tuple[tuple[Param, Json] | None, list[multipart.Field]] | None:
    """What the caller gave for the body: one parameter that is all of it, or fields."""
    declared = [param for param in request.params if param.place == "body"]
    whole: Param | None = None
    if request.body_param is not None:
        whole = next((param for param in request.params if param.name == request.body_param), None)
        if whole is None:
            raise unusable_document("the body's parameter is not declared")
    elif not declared:
        return None
    elif request.body in ("text", "binary") and len(declared) == 1:
        whole = declared[0]
    if whole is not None:
        return ((whole, args[whole.name]), []) if whole.name in args else None
    fields = [
        multipart.Field(param.wire_name, param.name, param.file, param.spelling, args[param.name])
        for param in declared
        if param.name in args
    ]
    # A method that expects a body gets an empty one; any other gets none.
    expected = request.method in ("POST", "PUT", "PATCH")
    return (None, fields) if expected or fields else None


def _fields_of(param: Param, value: Json) -> list[multipart.Field]:
    """The fields of the object where one parameter is the body."""
    if not isinstance(value, dict):
        raise unusable_document("the parameter that is the whole multipart body is no object")
    return [multipart.Field(name, param.name, name in param.files, FORM, item) for name, item in value.items()]
