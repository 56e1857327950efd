"""Answers and tools of your own. This file is yours: generating again leaves it alone.

A handler gets the checked parameters of an operation and gives the data of the answer, or raises `OpError`. The
functions in `operations/` are the default handlers. What they give is typed, so trimming an answer is one line:

    from .operations import read
    from .runtime.dispatch import Call

    async def get_thing(params: read.GetThingParams, call: Call) -> object:
        thing = await read.get_thing(params, call)
        return {"id": thing["id"], "name": thing["name"]}

    HANDLERS: Handlers = {"get_thing": get_thing}

A tool of your own is what `tools/list` shows of it, and a function that answers its calls with text:

    async def ping(arguments: Mapping[str, Any]) -> str:
        return "pong"

    TOOLS: list[Tool] = [({"name": "ping", "inputSchema": {"type": "object"}}, ping)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .operations import Handlers
    from .runtime.server import Tool

HANDLERS: Handlers = {}
TOOLS: list[Tool] = []
