"""Who sends requests: how each can be asked and told something while its request is worked on.

A client of the revisions with a handshake is asked by a request of ours; one of the others by the answer to its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .caller import Caller
from .client import LOG_LEVEL, Ability, Level, Wish
from .parked import Mail
from .upstream.message import STATELESS

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.context import ServerRequestContext

    from .client import LogWish
    from .jsontext import Json
    from .peer import Peer
    from .session import Session


class Clients:
    """Who sends requests, as far as they can be asked and told something while these are worked on."""

    def __init__(self, session: Session, peer: Peer, hearing: Callable[[], LogWish]) -> None:
        """`hearing` says what a client that shook hands wants to hear of logs."""
        self._session = session
        self._peer = peer
        self._hearing = hearing

    def caller(self, context: ServerRequestContext[Any, Any]) -> Caller:
        """The client behind a request. Without a handshake it is asked by mail or not at all."""
        abilities = frozenset[Ability]() if _is_stateless(context) else _abilities(context)
        return Caller(self._session, _Line(self._peer, abilities), self._hears(context))

    def by_mail(self, context: ServerRequestContext[Any, Any]) -> tuple[Caller, Mail] | None:
        """The same where questions go out with the answer to the request; nothing where that cannot be."""
        if not _is_stateless(context) or not _abilities(context):
            return None
        mail = Mail(self._peer, _abilities(context))
        return Caller(self._session, mail, self._hears(context)), mail

    def _hears(self, context: ServerRequestContext[Any, Any]) -> Callable[[], LogWish]:
        """Where the client's wish is found, also when it changes while a call runs."""
        if not _is_stateless(context):
            return self._hearing
        meta = (context.params or {}).get("_meta")
        level = Level.of(meta.get(LOG_LEVEL)) if isinstance(meta, dict) else None
        return lambda: Wish.NOTHING if level is None else level


class _Line:
    """The client on the connection."""

    def __init__(self, peer: Peer, abilities: frozenset[Ability]) -> None:
        self.abilities = abilities
        self._peer = peer

    async def ask(self, ability: Ability, params: Json) -> Json:
        """Puts a question to it."""
        return await self._peer.ask(ability, params)

    async def notify(self, method: str, params: dict[str, Json]) -> None:
        """Tells it something."""
        await self._peer.notify(method, params)


def _is_stateless(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether the request is of a revision without a handshake."""
    return context.protocol_version >= STATELESS


def _abilities(context: ServerRequestContext[Any, Any]) -> frozenset[Ability]:
    """What the client says that it can be asked for."""
    declared = context.session.client_capabilities
    able = {Ability.ELICITATION: declared and declared.elicitation, Ability.SAMPLING: declared and declared.sampling}
    return frozenset(ability for ability, said in able.items() if said is not None)
