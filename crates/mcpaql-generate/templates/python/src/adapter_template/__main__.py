"""Serves the adapter: `python -m adapter_template`, or with `--http PORT` over Streamable HTTP."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
from pathlib import Path

from .handlers import HANDLERS, TOOLS
from .operations import DEFAULTS
from .runtime import server
from .runtime.dispatch import Adapter


def main() -> None:
    """Serves until the client disconnects."""
    parser = argparse.ArgumentParser(description="Serves the adapter as an MCP server.")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve Streamable HTTP on this port of 127.0.0.1")
    port = parser.parse_args().http
    logging.basicConfig(stream=sys.stderr, level=os.environ.get("LOG_LEVEL", "WARNING").upper())
    for library in ("httpx2", "httpcore2"):
        logging.getLogger(library).setLevel(logging.WARNING)  # more detailed logs contain URLs with credentials
    catalog = json.loads(Path(__file__).with_name("catalog.json").read_text(encoding="utf-8"))
    asyncio.run(server.serve(Adapter(catalog, {**DEFAULTS, **HANDLERS}), TOOLS, port))


if __name__ == "__main__":
    main()
