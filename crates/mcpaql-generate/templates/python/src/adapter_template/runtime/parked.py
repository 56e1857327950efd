"""Calls that wait for their client in the revisions without a handshake.

There a question is the answer to the request, and the client's answer comes with the request again. What always holds:
a call that is put aside is the very call that goes on, so nothing runs twice; what leads back to it cannot be guessed,
works once and only for the same tool; there are never more than a few hundred, and none waits for long. A call that
nobody comes back for is cancelled, which stops its work.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mcp_types as types
from pydantic import ValidationError

from .client import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from .caller import Caller
    from .client import Ability
    from .jsontext import Json
    from .peer import Peer
    from .response import Reply

_MOST = 256
"""How many calls are put aside together."""
_PATIENCE = 600.0
"""Seconds that a call waits for its client."""
_KEY = "question"
"""The one question of a round."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question that goes out with the answer to a request."""

    ability: Ability
    params: Json
    answer: asyncio.Future[Json]

    def give_up(self) -> None:
        """Nobody answers it."""
        if not self.answer.done():
            self.answer.set_exception(Refused())


class Mail:
    """A client that is asked by the answers to its requests."""

    def __init__(self, peer: Peer, abilities: frozenset[Ability]) -> None:
        """`peer` is told what is no question."""
        self.abilities = abilities
        self.questions: asyncio.Queue[_Asked] = asyncio.Queue(1)
        self._peer = peer

    async def ask(self, ability: Ability, params: Json) -> Json:
        """Puts a question aside for whoever answers the request."""
        asked = _Asked(ability, params, asyncio.get_running_loop().create_future())
        await self.questions.put(asked)
        return await asked.answer

    async def notify(self, method: str, params: dict[str, Json]) -> None:
        """Tells it something."""
        await self._peer.notify(method, params)


class ParkedCall:
    """A call that can be put aside."""

    def __init__(self, tool: str, work: Coroutine[Any, Any, Reply], caller: Caller, mail: Mail | None) -> None:
        """`work` runs from now on; without `mail` its client is asked another way, or not at all."""
        self.tool = tool
        self.caller = caller
        self.asked: _Asked | None = None
        """What its client has been asked and has not answered."""
        self._mail = mail
        self._work = asyncio.create_task(work)

    async def step(self) -> Reply | _Asked:
        """Goes on until there is an answer or a question."""
        if self._mail is None:
            return await self._work
        asking = asyncio.ensure_future(self._mail.questions.get())
        try:
            await asyncio.wait({self._work, asking}, return_when=asyncio.FIRST_COMPLETED)
            return self._work.result() if self._work.done() else asking.result()
        finally:
            asking.cancel()

    def cancel(self) -> None:
        """Stops its work."""
        self._work.cancel()


class Parked:
    """The calls that are put aside."""

    def __init__(self) -> None:
        """None yet."""
        self._calls: dict[str, ParkedCall] = {}

    async def go_on(
        self, call: ParkedCall, announced: Callable[[Coroutine[Any, Any, Any]], Any]
    ) -> Reply | dict[str, Any]:
        """Runs a call to its end, or to a question that only its client can answer: then that is the result.

        `announced` tells of the progress of what it runs.
        """
        try:
            while True:
                came = await announced(call.step())
                if not isinstance(came, _Asked):
                    reply: Reply = came
                    return reply
                result = self._ask(call, came)
                if result is not None:
                    return result
                came.give_up()
        except BaseException:
            call.cancel()
            raise

    def _ask(self, call: ParkedCall, asked: _Asked) -> dict[str, Any] | None:
        """Puts a call aside until its client has answered; nothing where that cannot be."""
        state = secrets.token_hex(32)
        request = {"method": str(asked.ability), "params": asked.params}
        result = {"resultType": "input_required", "inputRequests": {_KEY: request}, "requestState": state}
        try:
            types.InputRequiredResult.model_validate(result)
        except ValidationError:
            return None
        if len(self._calls) >= _MOST:
            return None
        call.asked = asked
        self._calls[state] = call
        asyncio.get_running_loop().call_later(_PATIENCE, self._forget, state)
        return result

    def resume(self, state: str, tool: str, responses: Mapping[str, Json]) -> ParkedCall | None:
        """Takes up a call of that tool with what its client answered; without an answer the question is given up."""
        call = self._calls.get(state)
        if call is None or call.tool != tool:
            return None
        del self._calls[state]
        asked, call.asked = call.asked, None
        if asked is not None and _KEY in responses and not asked.answer.done():
            asked.answer.set_result(responses[_KEY])
        elif asked is not None:
            asked.give_up()
        return call

    def _forget(self, state: str) -> None:
        call = self._calls.pop(state, None)
        if call is not None:
            call.cancel()
