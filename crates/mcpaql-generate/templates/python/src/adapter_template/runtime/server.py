"""The adapter as an MCP server, in every revision of the protocol that the SDK speaks.

What always holds: `tools/list` shows the catalog's tools as they are; every `tools/call` is answered with the envelope's
text and what stands beside it, or a JSON-RPC error; a cancelled call cancels its handler, and no more than a few hundred
run together. Nothing but the protocol is written to standard output, and no value of a call to the log.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from . import schema, text
from .catalog import load
from .errors import Code, OpError
from .naming import NameProblem
from .pipeline import Adapter, Operation
from .process import all_ended
from .progress import with_progress
from .records import record_check
from .response import Reply, envelope
from .stdio import converse
from .targets import OpenError, default_data, open_targets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from .catalog import Catalog

_log = logging.getLogger(__name__)

_RUNNING_CALLS = 256
"""Calls that run together; further ones wait."""
_LIST_TTL_MS = 60_000
"""How long a client may keep a list of tools before it asks again."""

_FAILED = "The server failed during this call; tell the user, and for a write first read whether it took effect."


def main(package: Path, operations: Mapping[str, Operation[Any]], handlers: Mapping[str, Any]) -> int:
    """Serves the adapter whose `catalog.json` lies in that folder; the exit status."""
    parser = argparse.ArgumentParser(description="Serves the adapter over standard input and output.")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the store")
    given = parser.parse_args()
    logging.basicConfig(stream=sys.stderr, level=os.environ.get("LOG_LEVEL", "WARNING").upper())
    # These two write addresses, and with them perhaps credentials.
    for name in ("httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        catalog = load(json.loads((package / "catalog.json").read_text(encoding="utf-8")), os.environ)
        _check_settings(catalog)
        asyncio.run(_serve(catalog, given.data or default_data(os.environ), operations, handlers))
    except (NameProblem, OpenError, ValueError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0
