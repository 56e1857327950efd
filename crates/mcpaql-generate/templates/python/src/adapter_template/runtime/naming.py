"""Tool names under a prefix that is only known when the server starts.

What always holds: a name that clients would cut is shortened, always the same way: its end gives way to six digits that
depend on all of it.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from .suggest import snake_case

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_log = logging.getLogger(__name__)

_LONGEST = 64
"""Longest name that MCP's checks and every known client accept."""
_SAFE = 51
"""Longest name that survives what clients put in front of it."""
_DIGITS = 6
"""Digits that stand for what was cut off."""
_LONG_PREFIX = 20
"""Prefixes this long or longer are discouraged."""
_PREFIX = re.compile(r"[a-z0-9_]*_")


class NameProblem(ValueError):
    """Why a prefix cannot be used; the text says what to do."""


def under_prefix(prefix: str, names: Mapping[str, str | None], is_operation: Callable[[str], bool]) -> dict[str, str]:
    """What each name is under a prefix.

    Raises `NameProblem` for a prefix that cannot be used.
    """
    _check(prefix)
    if len(prefix) >= _LONG_PREFIX:
        _log.warning("the prefix '%s' is long; clients add their own to it", prefix)
    renamed: dict[str, str] = {}
    for name, template in names.items():
        if template is None:
            raise NameProblem(f"the tool name '{name}' depends on the adapter's name; leave MCP_AQL_TOOL_PREFIX unset")
        new = template.replace("{prefix}", prefix)
        if is_operation(name) and len(new) > _SAFE:
            new = _shortened(new)
        if len(new) > _LONGEST:
            raise NameProblem(
                f"the tool name '{new}' has {len(new)} characters, more than the {_LONGEST} that clients accept; "
                "set a shorter tool_names.prefix"
            )
        renamed[name] = new
    return renamed


def fnv1a(data: bytes) -> int:
    """A number that depends on all of the data, the same on every machine."""
    number = 0x811C9DC5
    for byte in data:
        number = (number ^ byte) * 0x01000193 & 0xFFFFFFFF
    return number


def _check(prefix: str) -> None:
    if _PREFIX.fullmatch(prefix):
        return
    better = "".join(c for c in snake_case(prefix) if c.isascii() and (c.isalnum() or c in "_-"))
    raise NameProblem(
        f"the prefix '{prefix}' must be lower case letters, digits and underscores and end with '_', "
        f"such as '{better.rstrip('_') or 'github'}_'"
    )


def _shortened(name: str) -> str:
    head = name[: _SAFE - _DIGITS - 1].rstrip("_-")
    return f"{head}_{fnv1a(name.encode()) & 0xFFFFFF:06x}"
