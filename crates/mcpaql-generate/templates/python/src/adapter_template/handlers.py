"""Handlers of your own, in place of the default ones. This file is yours: generating again leaves it alone.

A handler gets the parameters, validated and completed with defaults, and the call. It gives the answer as JSON or as an
`Answer`, or raises `OpError`. `call.http`, `call.store`, `call.command` and `call.tool` reach the target as the default
handlers do, and `call.progress` tells whoever waits how far the work has come:

    from .operations import Handlers, read
    from .runtime.errors import Code, OpError
    from .runtime.pipeline import Call
    from .runtime.response import Answer, Notice

    async def get_thing(params: read.GetThingParams, call: Call) -> Answer:
        if params.id == "secret":
            raise OpError(Code.PERMISSION_DENIED, "That thing is not shown to anybody; choose another one.")
        answer = await call.http(read.GET_THING, params)
        answer.warnings.append(Notice("SEEN", "This handler was here."))
        return answer

    HANDLERS: Handlers = {"get_thing": get_thing}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .operations import Handlers

HANDLERS: Handlers = {}
