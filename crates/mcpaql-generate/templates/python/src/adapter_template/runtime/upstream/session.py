"""One conversation with an upstream: the handshake, then any number of calls side by side.

A call sends, waits, puts the upstream's questions to its caller and passes notices on, in the order they came;
cancelling it forgets all of that and tells the upstream to stop.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Protocol

from .. import jsontext, rawjson
from ..caller import Caller
from ..client import LOG_LEVEL, Ability, Level, Refused, Wish
from . import message
from .calls import CANCELLED, NOBODY, Calls, Notice, is_work
from .errors import Failed, Late, RpcRefused, Unreadable, masked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..jsontext import Json
    from ..secrets import Mask
    from .calls import Question, Ticket

_SETTING = 2.0
"""Seconds that a server may take to accept a level."""
_QUESTION = 600.0
"""Seconds that a question may wait for its answer."""
_ROUNDS = 10
"""How often a server may ask by its answer."""
_REST = 1.0
"""Seconds that the rest of an answer's stream may take, so that its connection can be used again."""
_CLOSING = 5.0
"""Seconds that closing a conversation may take."""

_resting: set[asyncio.Task[None]] = set()
"""Streams whose answers have come."""
_ending: set[asyncio.Task[None]] = set()
"""What carries conversations that were told to end."""


class Link(Protocol):
    """How a conversation is carried."""

    async def send(self, line: str, number: int, method: str, name: str | None, calls: Calls) -> None:
        """Sends a request; over HTTP this also brings its answer.

        Raises `Failed`.
        """

    async def keep(self, calls: Calls) -> None:
        """Carries everything else until the conversation ends or this is cancelled, then ends what carries it."""

    def mask(self) -> Mask:
        """What must not be shown of the server's errors, logs and news."""

    def echoed(self) -> Mask:
        """What must not be shown of the server's answers either: it was sent along to be let in."""

    def speak(self, version: str) -> None:
        """The revision that is spoken from now on."""

    def greeted(self) -> None:
        """The handshake is over."""


class Session:
    """A conversation."""

    def __init__(self, link: Link, server: str, limit: int) -> None:
        """Over a link that stands; `start` greets."""
        self.calls = Calls(server, limit, link.mask)
        self.greeting: dict[str, Json] = {}
        """The server's answer to the handshake."""
        self._link = link
        self._is_stateless = False
        self._is_leaving = False
        # The level that the server was told to log from.
        self._level: Level | None = None
        self._keeper = asyncio.create_task(link.keep(self.calls))

    async def start(self, patience: float) -> None:
        """Greets the server within so many seconds.

        Raises `Failed`; then nothing is left of the conversation.
        """
        try:
            async with asyncio.timeout(patience):
                await self._greet(patience)
        except TimeoutError:
            self.abandon()
            raise Failed(Late(self.calls.server, round(patience * 1000))) from None
        except Failed as failed:
            self.abandon()
            # What the server says against us may hold what it was told in confidence.
            raise Failed(masked(failed.fault, self.mask())) from None
        except BaseException:
            self.abandon()
            raise

    async def _greet(self, patience: float) -> None:
        nobody = Caller()
        hello: dict[str, Json] = {
            "protocolVersion": message.REVISION,
            "capabilities": dict(message.CAPABILITIES),
            "clientInfo": dict(message.CLIENT_INFO),
        }
        try:
            said = await self.ask("initialize", hello, nobody, patience)
        except Failed as failed:
            refusals = (message.METHOD_NOT_FOUND, message.UNSUPPORTED_REVISION)
            if not isinstance(failed.fault, RpcRefused) or failed.fault.code not in refusals:
                raise
            self._is_stateless = True
            self._link.speak(message.STATELESS)
            said = await self.ask("server/discover", {}, nobody, patience)
        greeting = _object(said)
        if greeting is None:
            raise Failed(Unreadable(self.calls.server, "to the handshake is no object"))
        name = _info(greeting, "name")
        if name:
            self.calls.server = self.mask().apply(name)
        if not self._is_stateless:
            version = greeting.get("protocolVersion")
            if isinstance(version, str):
                self._link.speak(version)
            await self.calls.outbox.put(message.notification("notifications/initialized"))
        self.greeting = greeting
        self._link.greeted()

    def about(self) -> str:
        """Name and version of the server, as it says."""
        return f"{self.calls.server} {_info(self.greeting, 'version')}".rstrip()

    def mask(self) -> Mask:
        """What must not be shown of the server's errors."""
        return self._link.mask()

    def without_credentials(self, answer: str) -> str:
        """An answer without what was sent along to be let in, should the server echo it."""
        mask = self._link.echoed()
        if not mask.finds(answer):
            return answer
        text = mask.apply(answer)
        if rawjson.is_valid(text):
            return text
        # The secret is a bare number, so what replaces it needs quotes.
        try:
            return jsontext.write(mask.apply_value(jsontext.read(answer)))
        except ValueError:
            return "null"

    async def ask(self, method: str, params: Mapping[str, Json], caller: Caller, patience: float) -> str:
        """One call; the text of its result.

        Without a handshake a server asks by its answer, and the request is sent again with what the caller says.

        Raises `Failed`.
        """
        level = self._level_to_set(method, caller)
        if level is not None:
            # A server that does not follow logs as it likes, and our callers hear no more than they want.
            with contextlib.suppress(Failed):
                await self._ask_once("logging/setLevel", {"level": level.word}, Caller(), min(patience, _SETTING))
        answer = await self._ask_once(method, params, caller, patience)
        if not self._is_stateless:
            return answer
        for _ in range(_ROUNDS):
            asked = _input_required(answer)
            if asked is None:
                return answer
            along = await _answered_by(asked, caller)
            answer = await self._ask_once(method, {**params, **along}, caller, patience)
        raise Failed(Unreadable(self.calls.server, "asks for more and more"))

    def _logs(self) -> bool:
        """Whether the server says that it logs."""
        capabilities = self.greeting.get("capabilities")
        return isinstance(capabilities, dict) and isinstance(capabilities.get("logging"), dict)

    def _level_to_set(self, method: str, caller: Caller) -> Level | None:
        """The level to be set before a call begins, where it changes.

        The most talkative one that this caller or one whose call runs wants. Once a level was set, who never named one
        counts as wanting what is usual.
        """
        if not is_work(method) or self._is_stateless or not self._logs():
            return None
        wanted: list[Level] = []
        for one in (*self.calls.callers(), caller):
            wish = one.hearing()
            if isinstance(wish, Level):
                wanted.append(wish)
            elif wish is Wish.EVERYTHING and self._level is not None:
                wanted.append(Level.INFO)
        if not wanted or min(wanted) == self._level:
            return None
        self._level = min(wanted)
        return self._level

    async def _ask_once(self, method: str, params: Mapping[str, Json], caller: Caller, patience: float) -> str:
        """One request and its answer. News of its progress begin its time anew, and so does an answered question."""
        ticket = self.calls.open(method, caller)
        sending = asyncio.create_task(self._send(ticket, method, params, caller))
        sending.add_done_callback(lambda _: ticket.stirred.set())
        questions: dict[asyncio.Task[str], str] = {}
        try:
            return await self._await(ticket, sending, questions, patience)
        finally:
            for task in questions:
                task.cancel()
            _rest(sending, 0.0 if ticket.outcome is None else _REST)
            ticket.close()
            if self._is_leaving:
                self.leave()

    async def _await(
        self,
        ticket: Ticket,
        sending: asyncio.Task[None],
        questions: dict[asyncio.Task[str], str],
        patience: float,
    ) -> str:
        clock = asyncio.get_running_loop().time
        deadline = clock() + patience
        while True:
            ticket.stirred.clear()
            while ticket.events:
                event = ticket.events.popleft()
                if isinstance(event, Notice):
                    await ticket.caller.notify(event.method, event.params)
                else:
                    self._put(event, ticket, questions)
            if ticket.outcome is not None:
                if isinstance(ticket.outcome, str):
                    return ticket.outcome
                raise Failed(ticket.outcome)
            for task in [task for task in questions if task.done()]:
                ticket.open.remove(questions.pop(task))
                self.calls.send_aside(task.result())
                deadline = clock() + patience
            if sending.done():
                sending.result()
            try:
                async with asyncio.timeout_at(deadline):
                    await ticket.stirred.wait()
            except TimeoutError:
                heard = 0.0 if ticket.heard is None else ticket.heard + patience
                if heard > clock():
                    deadline = heard
                elif questions:
                    deadline = clock() + patience
                elif not ticket.stirred.is_set():
                    raise Failed(Late(self.calls.server, round(patience * 1000))) from None

    def _put(self, question: Question, ticket: Ticket, questions: dict[asyncio.Task[str], str]) -> None:
        """Puts a question to the caller, while the call goes on."""
        task = asyncio.create_task(_replied(question, ticket.caller))
        task.add_done_callback(lambda _: ticket.stirred.set())
        ticket.open.append(question.id)
        questions[task] = question.id

    async def _send(self, ticket: Ticket, method: str, params: Mapping[str, Json], caller: Caller) -> None:
        meta: dict[str, Json] = {}
        if self._is_stateless:
            meta.update(message.STATELESS_META)
            wish = caller.hearing()
            if isinstance(wish, Level) and self._logs():
                meta[LOG_LEVEL] = wish.word
        if method == "tools/call":
            meta["progressToken"] = ticket.id
        name = next((params[key] for key in ("name", "uri") if isinstance(params.get(key), str)), None)
        line = message.request(ticket.id, method, params, meta)
        await self._link.send(line, ticket.id, method, name if isinstance(name, str) else None, self.calls)

    def leave(self) -> None:
        """Ends the conversation as soon as no call runs in it any more."""
        self._is_leaving = True
        if not self.calls.callers():
            self.abandon()

    def abandon(self) -> None:
        """Ends the conversation; `all_closed` waits for what that takes."""
        if not self._keeper.done() and self._keeper not in _ending:
            _ending.add(self._keeper)
            self._keeper.add_done_callback(_ending.discard)
            self._keeper.cancel()


async def all_closed() -> None:
    """Waits until every conversation that was ended has let go of what carried it."""
    if _ending:
        await asyncio.wait(_ending, timeout=_CLOSING)


def _rest(sending: asyncio.Task[None], seconds: float) -> None:
    """Lets a stream go on for so many seconds, and no longer. Nobody is interested any more in how it ends."""
    if sending.done():
        _ = sending.cancelled() or sending.exception()
        return

    async def rest() -> None:
        if seconds:
            await asyncio.wait({sending}, timeout=seconds)
        sending.cancel()
        with contextlib.suppress(Failed, asyncio.CancelledError):
            await sending

    task = asyncio.create_task(rest())
    _resting.add(task)
    task.add_done_callback(_resting.discard)


async def _replied(question: Question, caller: Caller) -> str:
    """The answer to a question of the server."""
    try:
        return message.answer(question.id, await _put_to(caller, question.ability, question.params))
    except Refused as refused:
        return message.refusal(question.id, refused.error or NOBODY)


async def _put_to(caller: Caller, ability: Ability, params: Json) -> Json:
    """The caller's answer; who does not answer in time has not agreed to anything.

    Raises `Refused` with the error that stands for an answer.
    """
    error: dict[str, Json] | None = None
    try:
        async with asyncio.timeout(_QUESTION):
            return await caller.ask(ability, params)
    except Refused as refused:
        error = refused.error
    except TimeoutError:
        pass
    if error is None and ability is Ability.ELICITATION:
        return CANCELLED
    raise Refused(error or NOBODY)


def _input_required(answer: str) -> dict[str, Json] | None:
    """A result that asks instead of answering."""
    # Cheap to see for most of what is none.
    asked = _object(answer) if '"input_required"' in answer else None
    if asked is None or asked.get("resultType") != "input_required":
        return None
    return asked if isinstance(asked.get("inputRequests", {}), dict) else None


async def _answered_by(asked: dict[str, Json], caller: Caller) -> dict[str, Json]:
    """What goes along with the request when it is sent again. A question that nobody can answer goes without."""
    requests, responses = asked.get("inputRequests"), dict[str, "Json"]()
    for key, request in (requests if isinstance(requests, dict) else {}).items():
        fields: Mapping[str, Json] = request if isinstance(request, dict) else {}
        ability = Ability.of(fields.get("method"))
        if ability is not None:
            with contextlib.suppress(Refused):
                responses[key] = await _put_to(caller, ability, fields.get("params", {}))
    state = asked.get("requestState")
    along: dict[str, Json] = {"inputResponses": responses}
    return along if state is None else {**along, "requestState": state}


def _object(text: str) -> dict[str, Json] | None:
    try:
        value = jsontext.read(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _info(greeting: Mapping[str, Json], key: str) -> str:
    about = greeting.get("serverInfo")
    text = about.get(key) if isinstance(about, dict) else None
    return text if isinstance(text, str) else ""
