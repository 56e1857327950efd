"""Your own handlers and tools. This file is yours: generating again does not change it.

A handler takes the checked parameters of an operation and returns the data of the answer, or raises `OpError`. The
functions in `operations/` are the default handlers. Their results are typed, so trimming an answer is one line:

    from .operations import read
    from .runtime.dispatch import Call

    async def get_thing(params: read.GetThingParams, call: Call) -> object:
        thing = await read.get_thing(params, call)
        return {"id": thing["id"], "name": thing["name"]}

    HANDLERS: Handlers = {"get_thing": get_thing}

An own tool is its entry in `tools/list`, and a function that returns the text of the answer:

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
