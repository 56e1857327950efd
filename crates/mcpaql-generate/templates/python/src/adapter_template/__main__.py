"""Serves the adapter: `python -m adapter_template`."""

from __future__ import annotations

import sys
from pathlib import Path

from .handlers import HANDLERS
from .operations import OPERATIONS
from .runtime import server


def main() -> None:
    """Serves until the client ends the conversation."""
    sys.exit(server.main(Path(__file__).parent, OPERATIONS, HANDLERS))


if __name__ == "__main__":
    main()
