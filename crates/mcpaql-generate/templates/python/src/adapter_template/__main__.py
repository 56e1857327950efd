"""Serves the adapter: `python -m adapter_template`, or with `--http PORT` over Streamable HTTP."""

from __future__ import annotations

from pathlib import Path

from .handlers import HANDLERS, TOOLS
from .operations import DEFAULTS
from .runtime import server


def main() -> None:
    """Serves until the client ends the conversation."""
    server.main(Path(__file__).parent, {**DEFAULTS, **HANDLERS}, TOOLS)


if __name__ == "__main__":
    main()
