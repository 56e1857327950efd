"""The kinds of targets that this project reaches."""

from typing import Any

from .command import CommandRunner
from .http_client import HttpClient

TARGETS: dict[str, type[Any]] = {"http": HttpClient, "command": CommandRunner}
