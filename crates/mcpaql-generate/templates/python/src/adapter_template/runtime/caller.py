"""Who called: news of the work go back to them, and what an upstream asks is put to them.

Whoever cannot be reached is not an error: news are dropped, and a question is refused so that the upstream can go on
without an answer.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .client import MESSAGE, Refused, Wish, includes

if TYPE_CHECKING:
    from collections.abc import Callable

    from .client import Ability, Client, LogWish
    from .jsontext import Json
    from .session import Session


@dataclass(frozen=True, slots=True)
class News:
    """How far the work has come, as whoever does it says."""

    done: float = 0.0
    """Rises with the work."""
    total: float | None = None
    """What it will have risen to in the end, where that is known."""
    message: str | None = None
    """For people."""


class Caller:
    """Who called; with nothing said of them, nobody who could be told or asked anything."""

    def __init__(
        self,
        session: Session | None = None,
        client: Client | None = None,
        hearing: Callable[[], LogWish] = lambda: Wish.NOTHING,
    ) -> None:
        """`session` is the one they call in, where it will end; `hearing` says what they want to hear of logs."""
        self.session = session
        self.client = client
        self.hearing = hearing
        self.started: str | None = None
        """The execution that the call goes on as, where it goes on in the background."""
        self._news = News()
        self._told = asyncio.Event()

    def progress(self, news: News) -> None:
        """Tells how far the work has come; only the latest news reach whoever listens slowly."""
        self._news = news
        self._told.set()

    async def news(self) -> News:
        """Waits for the next news."""
        await self._told.wait()
        self._told.clear()
        return self._news

    def is_able(self, ability: Ability) -> bool:
        """Whether they can be asked for that."""
        return self.client is not None and ability in self.client.abilities

    def is_same_client(self, other: Caller) -> bool:
        """Whether both are the client; this process has one, and work in the background has none."""
        return self.client is not None and other.client is not None

    async def ask(self, ability: Ability, params: Json) -> Json:
        """Puts a question to the client and waits for the answer, both as the protocol has them.

        Raises `Refused`.
        """
        if self.client is None or not self.is_able(ability):
            raise Refused
        return await self.client.ask(ability, params)

    async def notify(self, method: str, params: dict[str, Json]) -> None:
        """Passes a notification on; of what is logged as much as the client wants to hear."""
        if self.client is not None and (method != MESSAGE or includes(self.hearing(), params)):
            await self.client.notify(method, params)
