"""What a client can be asked for, and how much it wants to hear of what servers log."""

from __future__ import annotations

from enum import Enum, IntEnum, StrEnum
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .jsontext import Json

MESSAGE = "notifications/message"
"""The notification that brings what was logged."""
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
"""Where requests of the revisions without a handshake say the level."""


class Ability(StrEnum):
    """What a client may be asked for, by the method that asks."""

    ELICITATION = "elicitation/create"
    SAMPLING = "sampling/createMessage"

    @staticmethod
    def of(method: Json) -> Ability | None:
        """What that method asks for."""
        return next((ability for ability in Ability if ability == method), None)


class Level(IntEnum):
    """How severe something is that was logged."""

    DEBUG = 0
    INFO = 1
    NOTICE = 2
    WARNING = 3
    ERROR = 4
    CRITICAL = 5
    ALERT = 6
    EMERGENCY = 7

    @property
    def word(self) -> str:
        """As it travels."""
        return self.name.lower()

    @staticmethod
    def of(word: Json) -> Level | None:
        """The level of that word."""
        return next((level for level in Level if level.word == word), None)


class Wish(Enum):
    """What a client wants to hear that did not name a level."""

    NOTHING = "nothing"
    EVERYTHING = "everything"


LogWish: TypeAlias = Wish | Level
"""What a client wants to hear of what is logged: what is as severe as a level or more, or one of the extremes."""


def includes(wish: LogWish, params: Mapping[str, Json]) -> bool:
    """Whether a client wants to hear what a notification brings."""
    if isinstance(wish, Wish):
        return wish is Wish.EVERYTHING
    level = Level.of(params.get("level"))
    return level is not None and level >= wish


class Refused(Exception):
    """Why a question was not answered: the client's own error, or nothing where it could not be asked."""

    def __init__(self, error: dict[str, Json] | None = None) -> None:
        """`error` as JSON-RPC has it."""
        super().__init__()
        self.error = error


class Client(Protocol):
    """Whoever sent a request, as far as it can be reached while the request is worked on."""

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can be asked for."""

    async def ask(self, ability: Ability, params: Json) -> Json:
        """Puts a question to it and waits for the answer, both as the protocol has them.

        Raises `Refused`.
        """

    async def notify(self, method: str, params: dict[str, Json]) -> None:
        """Tells it something."""
