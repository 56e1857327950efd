"""Another MCP server as a target: a tool call here is a tool call there, and its result is unwrapped once.

What always holds: one conversation with the server carries all its calls; answers are never mixed up, late ones are
ignored, and they stay the JSON text they came as until somebody needs a part of them; nothing a server sends, however
much or malformed, ends this program or makes it hold more than a limit; a call ends with an answer, an error, its
timeout, or its caller's patience, and then the server is told to stop; no process is left behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import jsontext
from ..bindings import McpProgram
from ..errors import Code, OpError
from ..http.headers import name_of
from ..secrets import Mask
from . import failed
from .endpoint import Endpoint
from .errors import Failed, RpcRefused, Shut, Unreadable, UpstreamSetupError, masked, told
from .life import Life, Plan
from .message import METHOD_NOT_FOUND
from .program import Program
from .unwrapped import answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..bindings import Args, McpTarget, ToolCall
    from ..caller import Caller
    from ..jsontext import Json
    from ..response import Answer

_PAGES = 1000
"""The most pages of a list that are asked for."""
_ENTRIES = 100_000
"""The most entries of a list that are taken."""
_FOREVER = 86_400.0 * 365
"""A timeout past what the clock can hold is no timeout."""


class McpServer:
    """One MCP server."""

    def __init__(self, target: McpTarget, environ: Mapping[str, str]) -> None:
        """Gets ready to reach it; nothing is started yet.

        Raises `UpstreamSetupError` or `SetupError` for what is wrong with the target as it is written.
        """
        for name in target.caller_headers:
            if name_of(name) is None:
                raise UpstreamSetupError(f"the header '{name}' is not a header name; correct it in caller_headers")
        link = target.link
        opening = Program(link, environ) if isinstance(link, McpProgram) else Endpoint(link, target.auth, environ)
        self.name = opening.name
        self._opening = opening
        self._target = target
        self._timeout = min(target.timeout_ms / 1000, _FOREVER)
        start_timeout = min(target.start_timeout_ms / 1000, _FOREVER)
        self._life = Life(Plan(opening, target.max_response_bytes, start_timeout))

    def start(self) -> None:
        """Starts the server now where the document wants it, else with the first call."""
        if self._target.eager:
            self._life.follow()

    async def close(self) -> None:
        """Ends the conversation, and the program behind it with all its descendants."""
        await self._life.close()
        if isinstance(self._opening, Endpoint):
            await self._opening.close()

    def has(self, capability: str) -> bool:
        """Whether the server has that besides tools, as far as it has ever said so."""
        greeting = self._life.greeting or {}
        capabilities = greeting.get("capabilities")
        return isinstance(capabilities, dict) and isinstance(capabilities.get(capability), dict)

    async def call(self, tool: ToolCall, args: Args, caller: Caller) -> Answer:
        """Runs one call whose arguments are validated and completed with defaults.

        Raises `OpError` for what the server, or the way to it, had against the call.
        """
        arguments: dict[str, Json] = {tool.names.get(name, name): value for name, value in args.items()}
        arguments.update(tool.fixed)

        def mask() -> Mask:
            session = self._life.running()
            hidden = Mask() if session is None else session.mask().copy()
            hidden.add_values(args[name] for name in tool.sensitive if name in args)
            return hidden

        try:
            result = await self.ask("tools/call", {"name": tool.tool, "arguments": arguments}, caller)
        except Failed as error:
            if isinstance(error.fault, RpcRefused):
                fault = error.fault
                raise failed.refused(fault.code, fault.message, fault.data, mask()) from None
            raise told(error.fault) from None
        return answer(result, mask)

    async def ask(self, method: str, params: Mapping[str, Json], caller: Caller) -> str:
        """The result of any method, as the text it came as, without what was sent along to be let in.

        Raises `Failed`.
        """
        if self._target.caller_headers:
            raise Failed(Shut(_without_headers(self._target.caller_headers[0])))
        is_second = False
        while True:
            session = await self._life.session()
            try:
                return session.without_credentials(await session.ask(method, params, caller, self._timeout))
            except Failed as error:
                # The server had gone, or forgotten us: nothing can have happened yet.
                if not error.unseen or is_second:
                    raise Failed(masked(error.fault, session.mask())) from None
                is_second = True

    async def request(self, method: str, params: Mapping[str, Json], caller: Caller) -> Json:
        """The result of any method as a tree, which holds neither endless depth nor halves of characters.

        Raises `Failed`.
        """
        return self._parsed(method, await self.ask(method, params, caller))

    async def list(self, method: str, key: str, caller: Caller) -> list[Json]:
        """All pages of a list, in order; empty where the server has no such list.

        Raises `Failed`, also for a list that has no end.
        """
        entries: list[Json] = []
        seen: set[str] = set()
        cursor: dict[str, Json] = {}
        for _ in range(_PAGES):
            try:
                page = await self.request(method, cursor, caller)
            except Failed as error:
                fault = error.fault
                if not cursor and isinstance(fault, RpcRefused) and fault.code == METHOD_NOT_FOUND:
                    return entries
                raise
            more = page.get(key) if isinstance(page, dict) else None
            # What cannot be read is not nothing: an empty list would hide what the server shows to others.
            if not isinstance(page, dict) or not isinstance(more, list):
                raise self._unreadable(method, f"it has no list '{key}'")
            entries += more
            following = page.get("nextCursor")
            # A server that names a page again would never come to an end.
            if len(entries) > _ENTRIES:
                break
            if not isinstance(following, str) or not following or following in seen:
                return entries
            seen.add(following)
            cursor = {"cursor": following}
        raise Failed(Unreadable(self.name, "is a list without an end"))

    def _parsed(self, method: str, text: str) -> Json:
        try:
            return jsontext.read(text)
        except UnicodeError:
            raise self._unreadable(method, "lone leading surrogate in hex escape") from None
        except ValueError as error:
            why = "it is nested too deeply" if "nested" in str(error) else str(error)
            raise self._unreadable(method, why) from None

    def _unreadable(self, method: str, why: str) -> Failed:
        return Failed(Unreadable(self.name, f"to {method} cannot be read: {why}"))


def _without_headers(header: str) -> OpError:
    """A server over standard streams is sent no headers."""
    message = (
        f"This operation is called with what its caller sends in the HTTP header {header}, and this call did not come "
        "over HTTP; tell the user to serve the adapter over HTTP."
    )
    return OpError(Code.PERMISSION_DENIED, message).detail("header", header)
