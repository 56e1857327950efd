"""Typed parameters of operations: what was given, under names that Python allows."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .jsontext import Json


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "unset"

    def __repr__(self) -> str:
        """Short."""
        return "UNSET"

    def __bool__(self) -> bool:
        """Nothing was given."""
        return False


UNSET: Final = Unset.UNSET
"""Stands for a parameter that was not given, which is not the same as null."""


class Params:
    """What the parameters of every operation have in common; each one is a frozen dataclass.

    A field whose name is not that of the parameter says so in its metadata: `field(metadata={"name": "from"})`.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @classmethod
    def of(cls, args: Mapping[str, Json]) -> Self:
        """The parameters that the arguments of a call give; they are validated already."""
        return cls(**{field: args[name] for field, name in _names(cls).items() if name in args})

    def args(self) -> dict[str, Json]:
        """The arguments that the parameters stand for: those that are set."""
        found = ((name, getattr(self, field)) for field, name in _names(type(self)).items())
        return {name: value for name, value in found if value is not UNSET}


Given: TypeAlias = "Params | Mapping[str, Json]"
"""Parameters of a call, typed or plain."""


_known: dict[type[Params], dict[str, str]] = {}


def _names(params: type[Params]) -> dict[str, str]:
    """Field → parameter."""
    if params not in _known:
        fields = dataclasses.fields(params)
        _known[params] = {field.name: field.metadata.get("name", field.name) for field in fields}
    return _known[params]


def args_of(params: Given) -> Mapping[str, Json]:
    """The arguments that they stand for."""
    return params.args() if isinstance(params, Params) else params
