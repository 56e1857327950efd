"""The one way a call goes: prepare, run, envelope."""

from __future__ import annotations

import logging
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from . import text
from .caller import News
from .command import Runner
from .environment import Variables
from .errors import Code, HandlerFailed, OpError, Remedy, remedy
from .http.client import HttpClient
from .introspect import introspect
from .params import Given, Params, args_of
from .process import all_ended
from .request import prepare
from .response import Answer, Raw, Reply, envelope, signed
from .secrets import Mask, add_named
from .store import Store
from .upstream.server import McpServer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from .bindings import Command, HttpRequest, StoreAction, ToolCall
    from .caller import Caller
    from .catalog import Catalog, Lifecycle
    from .catalog import Operation as CatalogOperation
    from .executions import Executions
    from .executions.outcome import Outcome
    from .jsontext import Json
    from .request import Prepared
    from .targets import Target

_log = logging.getLogger(__name__)

P = TypeVar("P", bound=Params)

Handler: TypeAlias = "Callable[[P, Call], Awaitable[Answer | Json]]"
"""What runs an operation: gets its parameters and the call, gives the answer or raises `OpError`.

Arguments are validated and completed with defaults before; cancelling the call cancels the handler.
"""


@dataclass(frozen=True, slots=True)
class Operation(Generic[P]):
    """How an operation runs: the type of its parameters, and its default handler."""

    params: type[P]
    handler: Handler[P]
    target: str | None = None
    """The parameter that chooses the upstream, where there are several."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call on its way: what a handler may use."""

    operation: str
    args: Mapping[str, Json]
    """As the caller gave them, completed with defaults."""
    _target: Target
    _chooser: str | None
    _caller: Caller
    _limit_ms: int | None
    """How long it may take in the background, in place of the target's own timeout; nothing where it runs otherwise."""
    _used: list[HttpRequest]
    """What the handler has asked for so far."""

    async def http(self, request: HttpRequest, params: Given) -> Answer:
        """Sends a request to the adapter's API, with its credentials, limits and care."""
        self._used.append(request)
        if not isinstance(self._target, HttpClient):
            raise _no_such("HTTP API")
        return await self._target.call(request, self._arguments(params), self._limit_ms)

    async def store(self, action: StoreAction, params: Given) -> Answer:
        """Runs an action on the adapter's store."""
        if not isinstance(self._target, Store):
            raise _no_such("store")
        return await self._target.call(action, self._arguments(params))

    async def command(self, command: Command, params: Given) -> Answer:
        """Runs one of the adapter's programs."""
        if not isinstance(self._target, Runner):
            raise _no_such("programs")
        return await self._target.call(command, self._arguments(params), self._limit_ms)

    async def tool(self, tool: ToolCall, params: Given) -> Answer:
        """Calls a tool of the MCP server behind the adapter."""
        if not isinstance(self._target, McpServer):
            raise _no_such("MCP server")
        return await self._target.call(tool, self._arguments(params), self._caller)

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Tells whoever waits how far the work has come: `done` rises with it, up to `total` where that is known."""
        self._caller.progress(News(done, total, message))

    def _arguments(self, params: Given) -> dict[str, Json]:
        """In the order in which the caller gave them, without the one that chooses the upstream."""
        given = args_of(params)
        ordered = {name: given[name] for name in self.args if name in given}
        return {name: value for name, value in (ordered | dict(given)).items() if name != self._chooser}


def _no_such(what: str) -> OpError:
    message = f"This adapter has no {what}; tell the user that its handler has to be corrected."
    return OpError(Code.INTERNAL, message)


class Adapter:
    """An adapter that is being served: what it can do and where its calls go."""

    def __init__(
        self,
        catalog: Catalog,
        targets: Mapping[str | None, Target],
        operations: Mapping[str, Operation[Any]],
        handlers: Mapping[str, Any],
        executions: Executions | None = None,
    ) -> None:
        """`handlers` of the author stand before those of `operations`.

        Without `executions`, operations that would run in the background run to their end.
        """
        self.catalog = catalog
        self._targets = targets
        self._operations = operations
        self._handlers = handlers
        self.executions = executions

    async def call(self, tool: str, arguments: Mapping[str, Json], caller: Caller) -> Reply:
        """A call through one of the adapter's tools. One that runs in the background is answered at once."""
        try:
            call = prepare(self.catalog, tool, arguments)
            lifecycle = call.operation.lifecycle
            if self.executions is not None and lifecycle is not None:
                outcome: Answer | OpError = await self._start(self.executions, lifecycle, call, caller)
            else:
                outcome = await self._run(call, caller)
        except OpError as error:
            outcome = error
        return self._reply(outcome)

    def concluded(self, outcome: Outcome) -> Reply:
        """What a call would have been answered with whose work went on in the background."""
        return self._reply(outcome if isinstance(outcome, OpError) else Answer(Raw(outcome.data), [], outcome.blocks))

    def start(self) -> None:
        """Starts what shall be there before anybody calls it."""
        for target in self._targets.values():
            if isinstance(target, McpServer):
                target.start()

    @property
    def servers(self) -> list[McpServer]:
        """The MCP servers behind the adapter."""
        return [target for target in self._targets.values() if isinstance(target, McpServer)]

    async def close(self) -> None:
        """Drops what still runs in the background, and lets go of the targets."""
        if self.executions is not None:
            await self.executions.close()
        await all_ended()
        for target in self._targets.values():
            if isinstance(target, (HttpClient, McpServer)):
                await target.close()
            elif isinstance(target, Store):
                target.close()

    async def _run(self, call: Prepared, caller: Caller) -> Answer:
        answer = await self._answered(call.operation, call.args, caller)
        answer.warnings[:0] = call.warnings
        return answer

    async def _start(self, executions: Executions, lifecycle: Lifecycle, call: Prepared, caller: Caller) -> Answer:
        operation, args = call.operation, call.args
        answer = await executions.start(
            operation.name,
            lifecycle,
            self.catalog.limits.response_bytes,
            caller,
            lambda listener: self._answered(operation, args, listener),
        )
        answer.warnings[:0] = call.warnings
        return answer

    async def _answered(self, operation: CatalogOperation, args: dict[str, Json], caller: Caller) -> Answer:
        """What an operation answers, in the foreground as in the background."""
        used: list[HttpRequest] = []
        try:
            if operation.name == "introspect":
                return introspect(self.catalog, args)
            if operation.execution is not None and self.executions is not None:
                return await self.executions.answer(operation.execution, args, caller)
            return await self._handled(operation, args, caller, used)
        except OpError as error:
            self._report(operation, args, used, error)
            raise signed(error, operation) from None
        except Exception as error:  # noqa: BLE001
            self._report(operation, args, used, error)
            raise HandlerFailed from None

    async def _handled(
        self, known: CatalogOperation, args: dict[str, Json], caller: Caller, used: list[HttpRequest]
    ) -> Answer:
        name, operation = known.name, self._operations.get(known.name)
        if operation is None:
            raise OpError(Code.INTERNAL, f"Nothing answers '{name}' in this program; tell the user.")
        chosen = args.get(operation.target) if operation.target else None
        target = self._targets.get(chosen if isinstance(chosen, str) else None)
        if target is None:
            raise OpError(Code.INTERNAL, "The call chose no upstream; tell the user.")
        handler = self._handlers.get(name, operation.handler)
        limit_ms = None if known.lifecycle is None else known.lifecycle.limit_ms
        call = Call(name, args, target, operation.target, caller, limit_ms, used)
        answer = await handler(operation.params.of(args), call)
        return answer if isinstance(answer, Answer) else Answer(answer)

    def _reply(self, outcome: Answer | OpError) -> Reply:
        reply = envelope(outcome, self.catalog.errors)
        size, limit = text.size(reply.text), self.catalog.limits.response_bytes
        if size <= limit:
            return reply
        message = f"The answer has {size} bytes, more than the {limit} that may be returned. Ask for less."
        details: dict[str, Json] = {"limit": "max_response_size", "actual": size, "maximum": limit}
        return envelope(OpError(Code.PAYLOAD_TOO_LARGE, message, details), self.catalog.errors)

    def _report(
        self, operation: CatalogOperation, args: Mapping[str, Json], used: list[HttpRequest], error: Exception
    ) -> None:
        """Tells the operator of what nobody in the conversation can mend."""
        if isinstance(error, OpError) and remedy(error.code) is not Remedy.OPERATOR:
            return
        mask = Mask()
        add_named(mask, [self.catalog.target, *used], Variables())
        mask.add_values(args.get(param.name) for param in operation.params if param.sensitive)
        if isinstance(error, OpError):
            said = mask.apply(error.log_cause or error.message)
            _log.warning("call of %s failed with %s: %s", operation.name, error.code, said)
        else:
            said = mask.apply("".join(traceback.format_exception(error)))
            _log.error("a handler failed: %s\n%s", operation.name, said)
