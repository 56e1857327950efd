"""Work in the background, as MCP's tasks extension shows it to clients that know it.

A task has the id of its execution, so the same work can be asked after either way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

    from .executions import Executions
    from .executions.outcome import Outcome
    from .response import Reply

EXTENSION = "io.modelcontextprotocol/tasks"

_COMPLETE = {"resultType": "complete"}
_CAPABILITIES: dict[str, dict[str, Any]] = {"extensions": {EXTENSION: {}}}


class GoesOn(Exception):
    """A call is answered with a task, which the SDK would not let through as the result of a handler."""

    def __init__(self, task: dict[str, Any]) -> None:
        """`task` is what there is to say of it now; what has come of it already is asked for later."""
        super().__init__()
        self.result = {"resultType": "task", **{name: said for name, said in task.items() if name != "result"}}


def are_known(context: ServerRequestContext[Any, Any]) -> bool:
    """Whether the client knows what a task is."""
    return context.session.check_client_capability(types.ClientCapabilities(extensions={EXTENSION: {}}))


def serving(executions: Executions, reply: Callable[[Outcome], Reply]) -> ServerMiddleware[Any]:
    """Answers the methods of the extension; `reply` writes an outcome as the call would have been answered."""

    async def serve(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        params = ctx.params or {}
        identity, method = params.get("taskId"), ctx.method
        is_update = method == "tasks/update" and isinstance(params.get("inputResponses"), dict)
        if isinstance(identity, str) and (is_update or method in ("tasks/get", "tasks/cancel")):
            if not are_known(ctx):
                message, needed = "Missing required client capability", {"requiredCapabilities": _CAPABILITIES}
                raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, message, needed)
            if method == "tasks/get":
                return {**_COMPLETE, **_found(await executions.task(identity, reply))}
            if method == "tasks/cancel":
                return {**_COMPLETE, **_found({} if await executions.cancel_task(identity) else None)}
        try:
            result = await call_next(ctx)
        except GoesOn as call:
            return call.result
        if method == "initialize" and isinstance(result, dict):
            # Older revisions have no extensions, so the SDK leaves them out; their clients may know them all the same.
            result["capabilities"] = {**result["capabilities"], **_CAPABILITIES}
        return result

    return serve


def _found(task: dict[str, Any] | None) -> dict[str, Any]:
    if task is None:
        raise MCPError(types.INVALID_PARAMS, "There is no such task; it may have expired.")
    return task
