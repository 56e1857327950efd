"""The calls that wait for an upstream's answers, and what becomes of everything that comes in.

What always holds: an answer goes to the call whose id it bears and to no other; one that nobody waits for is ignored;
once the conversation has ended every call has been told, and no further one begins; logs and news hold nothing that the
server was told in confidence. Nothing here waits for anybody.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from .. import jsontext
from ..caller import News
from ..client import MESSAGE, Ability
from . import message
from .errors import Failed, RpcRefused, TooLarge, Unreadable
from .lines import IdScan

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..caller import Caller
    from ..jsontext import Json
    from ..secrets import Mask
    from .errors import Fault

_log = logging.getLogger(__name__)

_OUTBOX = 64
"""Messages that wait to be sent; a server that does not read makes further calls wait."""
_EVENTS = 256
"""Questions and notices that a call has not looked at yet."""
_SMALLEST, _LARGEST = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Question:
    """To be put to the caller."""

    id: str
    """As the server wrote it."""
    ability: Ability
    params: Json


@dataclass(frozen=True, slots=True)
class Notice:
    """To be passed on to the caller."""

    method: str
    params: dict[str, Json]


Event: TypeAlias = Question | Notice
"""What a call hears before it ends."""


@dataclass(eq=False)
class Ticket:
    """A call that waits. Whoever holds it closes it."""

    id: int
    caller: Caller
    is_work: bool
    """Whether the server may have a reason to say something besides its answer."""
    _calls: Calls
    outcome: str | Fault | None = None
    """What the call ended with: the text of a result, or why there is none."""
    events: deque[Event] = field(default_factory=deque)
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there is something to look at."""
    open: list[str] = field(default_factory=list)
    """Questions that were put to the caller and are not answered yet."""
    heard: float | None = None
    """When the upstream last said that it is still at work."""

    def hear(self, event: Event) -> bool:
        """Takes an event in, where there is room for it."""
        if len(self.events) >= _EVENTS:
            return False
        self.events.append(event)
        self.stirred.set()
        return True

    def end(self, outcome: str | Fault) -> None:
        """The call has ended."""
        self.outcome = outcome
        self.stirred.set()

    def close(self) -> None:
        """Tells the upstream to stop, unless its answer has come."""
        for question in self.open:
            error: dict[str, Json] = {
                "code": -32000,
                "message": "The call that the question belongs to was cancelled.",
            }
            self._calls.send_aside(message.refusal(question, error))
        self.open.clear()
        if self._calls.forget(self.id):
            params: dict[str, Json] = {"requestId": self.id, "reason": "the caller does not wait any more"}
            self._calls.send_aside(message.notification("notifications/cancelled", params))


class Calls:
    """The calls of one conversation."""

    def __init__(self, server: str, limit: int, mask: Callable[[], Mask]) -> None:
        """With that server, as far as its name is known; `limit` is that of answers, `mask` hides what it was told."""
        self.server = server
        self._mask = mask
        self.outbox: asyncio.Queue[str] = asyncio.Queue(_OUTBOX)
        self.end_reason: Fault | None = None
        """Why it has ended."""
        self.ended = asyncio.Event()
        self._limit = limit
        # In the order they began.
        self._waiting: dict[int, Ticket] = {}
        self._next = 1

    def open(self, method: str, caller: Caller) -> Ticket:
        """Begins a call of that method.

        Raises `Failed`.
        """
        if self.end_reason is not None:
            raise Failed(self.end_reason, unseen=True)
        ticket = Ticket(self._next, caller, is_work(method), self)
        self._next += 1
        self._waiting[ticket.id] = ticket
        return ticket

    def callers(self) -> list[Caller]:
        """Of the calls that run."""
        return [ticket.caller for ticket in self._waiting.values()]

    def is_waiting(self, number: int) -> bool:
        """Whether the call's answer has not come yet."""
        return number in self._waiting

    def forget(self, number: int) -> bool:
        """Lets go of a call; whether its answer had not come yet."""
        return self._waiting.pop(number, None) is not None

    def send_aside(self, line: str) -> None:
        """Sends a message where there is room for it now. A server that reads nothing misses nothing."""
        try:
            self.outbox.put_nowait(line)
        except asyncio.QueueFull:
            _log.debug("the MCP server %s takes no messages", self.server)

    def end(self, why: Fault) -> None:
        """Ends the conversation: whoever waits is told why."""
        self.retire(why)
        waiting = [*self._waiting.values()]
        self._waiting.clear()
        for ticket in waiting:
            ticket.end(self.end_reason or why)

    def retire(self, why: Fault) -> None:
        """Lets running calls go on, but no further one begin."""
        self.end_reason = self.end_reason or why
        self.ended.set()

    def incoming(self, data: bytes | IdScan, related: int | None) -> None:
        """Something came in, in answer to the call `related` where that is known."""
        if isinstance(data, IdScan):
            self.too_long(data.number)
            return
        # What is not UTF-8 can still be told apart, and the rest of it read.
        text = data.decode(errors="replace")
        try:
            messages = message.read(text)
        except ValueError:
            self._unreadable(text)
            return
        for one in messages:
            self._take(one, related)

    def too_long(self, number: int | None) -> None:
        """Something came in that was too long to be held; the call that it answers, where that is known."""
        _log.debug("the MCP server %s sent more than is read", self.server)
        if number is not None:
            self._answered(number, TooLarge(self.server, self._limit))

    def _unreadable(self, text: str) -> None:
        _log.debug("the MCP server %s sent %d characters that are no message", self.server, len(text))
        if not text.startswith("{"):
            return
        scan = IdScan()
        scan.feed(text.encode())
        if scan.number is not None:
            self._answered(scan.number, Unreadable(self.server, "cannot be read"))

    def _answered(self, number: int, outcome: str | Fault) -> None:
        ticket = self._waiting.pop(number, None)
        if ticket is None:
            _log.debug("an answer that nobody waits for: %d", number)
        else:
            ticket.end(outcome)

    def _take(self, one: message.Message, related: int | None) -> None:
        match one:
            case message.Answer(id=number, error=str(error)):
                self._answered(number, self._refusal(error))
            case message.Answer(id=number, result=str(result)):
                self._answered(number, result)
            case message.Request():
                self._asked(one, related)
            case message.Notification():
                self._noticed(one, related)

    def _refusal(self, error: str) -> Fault:
        fault = rpc_error(self.server, _value(error))
        return Unreadable(self.server, "is an error of no known form") if fault is None else fault

    def _asked(self, request: message.Request, related: int | None) -> None:
        ability = Ability.of(request.method)
        if ability is not None:
            question = Question(request.id, ability, _params(request.params))
            if not self._tell(related, question, lambda caller: caller.is_able(ability)):
                self.send_aside(unanswered(request.id, ability))
        elif request.method == "ping":
            self.send_aside(message.answer(request.id, {}))
        else:
            error: dict[str, Json] = {
                "code": message.METHOD_NOT_FOUND,
                "message": f"Method not found: {request.method}",
            }
            self.send_aside(message.refusal(request.id, error))

    def _noticed(self, news: message.Notification, related: int | None) -> None:
        if news.method == "notifications/progress":
            self._progressed(_fields(news.params))
        elif news.method == MESSAGE:
            params = _fields(news.params)
            _log.debug("the MCP server %s logs (%s)", self.server, params.get("level"))
            mask = self._mask()
            # Levels are words of the protocol, whatever else they are.
            shown = {key: value if key == "level" else mask.apply_value(value) for key, value in params.items()}
            self._tell(related, Notice(news.method, shown), lambda _: True)

    def _progressed(self, params: dict[str, Json]) -> None:
        token = params.get("progressToken")
        if isinstance(token, str):
            token = int(token) if token.isascii() and token.isdigit() else None
        ticket = self._waiting.get(token) if isinstance(token, int) and not isinstance(token, bool) else None
        if ticket is None:
            return
        ticket.heard = asyncio.get_running_loop().time()
        said = params.get("message")
        message = self._mask().apply(said) if isinstance(said, str) else None
        done = _number(params.get("progress"))
        news = News(done or 0.0, _number(params.get("total")), message)
        ticket.caller.progress(news)

    def _tell(self, related: int | None, event: Event, will_do: Callable[[Caller], bool]) -> bool:
        """Tells the call that it belongs to.

        Where that is not known, the latest one whose caller will do, unless calls of several clients are running: what
        is meant for one of them must not reach another.
        """
        if related is not None:
            ticket = self._waiting.get(related)
            return ticket is not None and will_do(ticket.caller) and ticket.hear(event)
        work = [ticket for ticket in reversed(self._waiting.values()) if ticket.is_work]
        latest = next((ticket for ticket in work if will_do(ticket.caller)), None)
        if latest is None or not all(one is latest or one.caller.is_same_client(latest.caller) for one in work):
            return False
        return latest.hear(event)


def is_work(method: str) -> bool:
    """Whether a server may ask and log on behalf of a call of that method."""
    return method in ("tools/call", "prompts/get", "resources/read")


def rpc_error(server: str, error: Json) -> RpcRefused | None:
    """A JSON-RPC error as its sender wrote it; nothing where it has no known form."""
    if not isinstance(error, dict):
        return None
    code, words = error.get("code", 0), error.get("message", "")
    is_code = isinstance(code, int) and not isinstance(code, bool) and _SMALLEST <= code <= _LARGEST
    if not is_code or not isinstance(code, int) or not isinstance(words, str):
        return None
    return RpcRefused(server, code, words, error.get("data"))


NOBODY: dict[str, Json] = {"code": -32000, "message": "The client of this call cannot be asked for sampling."}
"""What the server is told when nobody could be asked for sampling."""
CANCELLED: dict[str, Json] = {"action": "cancel"}
"""What the server is told when nobody could be asked otherwise: nobody said no, and nobody said yes."""


def unanswered(number: str, ability: Ability) -> str:
    """The answer to a question that could be put to nobody."""
    if ability is Ability.ELICITATION:
        return message.answer(number, CANCELLED)
    return message.refusal(number, NOBODY)


def _value(text: str | None) -> Json:
    """The value of a text; nothing where no tree can hold it."""
    try:
        return None if text is None else jsontext.read(text)
    except ValueError:
        return None


def _params(text: str | None) -> Json:
    try:
        return {} if text is None else jsontext.read(text)
    except ValueError:
        return {}


def _fields(text: str | None) -> dict[str, Json]:
    value = _value(text)
    return value if isinstance(value, dict) else {}


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
