"""A program that is an MCP server: started without a shell in a process group of its own, over its standard streams.

What always holds: it gets the usual variables and those the document names, nothing else; a line of its output that is
no message, or too long, is skipped and never held whole; when it ends, or is no longer wanted, its group goes with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import re
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import PASSED_ON, SECRET_LENGTH, short
from ..environment import Template, Unset
from ..http.failure import quotable
from ..process import GRACE, Process, start
from ..secrets import Mask
from .errors import Failed, Unavailable, UpstreamSetupError
from .lines import IdScan, Lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ..bindings import McpProgram
    from .calls import Calls

_log = logging.getLogger(__name__)

AROUND = 64 * 1024
"""What an answer's message has around its content, generously."""
_STDERR_LINE = 16 * 1024
"""The longest line of standard error that is read."""
_TAIL_LINES = 8
"""How many lines of standard error are kept."""
_CHUNK = 64 * 1024
_LOOK = 0.25
"""Seconds between two looks at whether a program is gone whose output is still open."""
_LAUNCHERS = ("npx", "uvx", "bunx", "pnpx")
"""Programs that run a package they are given."""

_REASONS = {
    errno.E2BIG: "argument list too long",
    errno.EINVAL: "invalid input parameter",
    errno.ENOMEM: "out of memory",
    errno.ENOTDIR: "not a directory",
    errno.ETXTBSY: "executable file busy",
}
"""Why else a program cannot be started."""

_TOKEN = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|"
    r"sk-[A-Za-z0-9_-]{20,}|sk_live_[A-Za-z0-9]{16,}|rk_live_[A-Za-z0-9]{16,}|xox[abeprs]-[A-Za-z0-9-]{10,}|"
    r"AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+)"
    r"|(?i:bearer|basic)\s+[A-Za-z0-9+/_.=-]{16,}"
    r"|://[^/\s:@]+:[^/\s@]+@"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----",
)
"""Shapes of well-known tokens, and of a password inside a URL."""


@dataclass(frozen=True, slots=True)
class _Filled:
    """A program with its variables filled in."""

    argv: list[str]
    cwd: str | None
    env: dict[str, str]
    mask: Mask
    """What it is given in confidence."""


class Program:
    """The program of a document."""

    def __init__(self, program: McpProgram, environ: Mapping[str, str]) -> None:
        """Raises `UpstreamSetupError`; a variable that is not set is an error of the calls, not of the setup."""
        for name in program.set_env:
            if not name or "=" in name or "\0" in name:
                raise UpstreamSetupError(
                    f"the environment variable '{name}' cannot be set: '=' and NUL are not allowed in names"
                )
        self.name = called(program.command)
        """What to call it before it has said its name."""
        self._command = [_template(text) for text in program.command]
        self._cwd = None if program.cwd is None else _template(program.cwd)
        self._env = program.env
        self._set_env = {name: _template(text) for name, text in program.set_env.items()}
        self._environ = environ

    async def open(self, limit: int) -> Pipes:
        """Starts it.

        Raises `Failed`.
        """
        filled = self._filled()
        if not filled.argv:
            raise self._failed("has no program")
        try:
            process = await start(filled.argv, filled.env, filled.cwd, is_fed=True)
        except (OSError, ValueError) as error:
            raise self._failed(_cannot_start(filled, error)) from None
        return Pipes(process, filled.mask, limit)

    def _failed(self, reason: str) -> Failed:
        return Failed(Unavailable(self.name, reason))

    def _filled(self) -> _Filled:
        mask = Mask()

        def look(name: str) -> str | None:
            value = self._environ.get(name)
            if value is not None and name not in PASSED_ON and len(value.encode()) >= SECRET_LENGTH:
                mask.add(value)
            return value

        try:
            argv = [template.fill(look) for template in self._command]
            cwd = None if self._cwd is None else self._cwd.fill(look)
            fixed = {name: template.fill(look) for name, template in self._set_env.items()}
        except Unset as unset:
            raise self._failed(f"needs the environment variable {unset.name}, which is not set") from None
        names = (name for name in (*PASSED_ON, *self._env) if name not in fixed)
        passed = {name: value for name in names if (value := look(name)) is not None}
        return _Filled(argv, cwd, dict(sorted((passed | fixed).items())), mask)


def called(command: tuple[str, ...]) -> str:
    """What people call a program: the package that a launcher runs, else the program."""
    program = short(command[0]) if command else ""
    package = next((argument for argument in command[1:] if not argument.startswith("-")), "$")
    return package if program in _LAUNCHERS and "$" not in package else program


def _template(text: str) -> Template:
    try:
        return Template.parse(text)
    except ValueError:
        raise UpstreamSetupError(f"'{text}' has a '${{' that is not '${{env:NAME}}'") from None


def _cannot_start(filled: _Filled, error: Exception) -> str:
    name = short(filled.argv[0])
    number = error.errno if isinstance(error, OSError) else None
    if filled.cwd is not None and not Path(filled.cwd).is_dir():
        return "cannot be started: its working directory is not there"
    if number == errno.ENOENT:
        return f"cannot be started: the program '{name}' is not installed"
    if number in (errno.EACCES, errno.EPERM):
        return f"cannot be started: the program '{name}' may not be run by this user"
    # What no argument may hold is found before anything is started.
    reason = "invalid input parameter" if number is None else _REASONS.get(number, "uncategorized error")
    return f"cannot be started: {reason}"


class Pipes:
    """The streams of one started program, and the program itself as long as it is wanted."""

    def __init__(self, process: Process, mask: Mask, limit: int) -> None:
        """`limit` is that of answers."""
        self._process = process
        self._mask = mask
        self._limit = limit + AROUND
        # The last lines of standard error, without secrets.
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)

    async def send(self, line: str, number: int, method: str, name: str | None, calls: Calls) -> None:  # noqa: ARG002
        """Puts a request into the outbox; where nobody takes it, the end is near and will say why."""
        await calls.outbox.put(line)

    def mask(self) -> Mask:
        """What the program was given in confidence."""
        return self._mask

    def echoed(self) -> Mask:
        """Nothing: what a program was given may be part of what it answers."""
        return Mask()

    def speak(self, version: str) -> None:
        """Nothing changes."""

    def greeted(self) -> None:
        """Nothing changes."""

    async def keep(self, calls: Calls) -> None:
        """Carries messages until the program ends or this is cancelled; then the program and its group end."""
        process = self._process.process
        writing = asyncio.create_task(_write(process.stdin, calls))
        reading = asyncio.create_task(_read(process.stdout, self._limit, lambda line: calls.incoming(line, None)))
        hearing = asyncio.create_task(_read(process.stderr, _STDERR_LINE, self._heard))
        try:
            while not reading.done() and not writing.done() and process.returncode is None:
                await asyncio.wait({reading, writing}, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
            # A descendant may hold the output, or the program may have closed its input: what was said last is read.
            await asyncio.wait({reading}, timeout=GRACE)
            _close(writing, process.stdin)
            status = await self._process.end(GRACE)
            await asyncio.wait({hearing}, timeout=GRACE)
            reason = _ending(status)
            line = next((quote for line in reversed(self._tail) if (quote := quotable(line)) is not None), None)
            _log.debug("the MCP server %s %s", calls.server, reason)
            calls.end(Unavailable(calls.server, reason if line is None else f"{reason}: {line}"))
        except asyncio.CancelledError:
            calls.end(Unavailable(calls.server, "was closed"))
            _close(writing, process.stdin)
            await self._process.end(GRACE)
        finally:
            calls.end(Unavailable(calls.server, "ended"))
            self._process.give_up()
            for task in (writing, reading, hearing):
                task.cancel()

    def _heard(self, line: bytes | IdScan) -> None:
        if isinstance(line, IdScan):
            return
        # What looks like a credential is one, also where nobody told us of it.
        text = self._mask.apply(line.decode(errors="replace"))
        text = text if "${env:" in text else _TOKEN.sub("•••", text)
        if text:
            _log.debug("standard error of an MCP server: %s", text)
            self._tail.append(text)


def _ending(status: int) -> str:
    return f"was ended by signal {-status}" if status < 0 else f"ended with exit status {status}"


def _close(writing: asyncio.Task[None], stdin: asyncio.StreamWriter | None) -> None:
    """Closing its input is how a server is asked to end."""
    writing.cancel()
    if stdin is not None and not stdin.transport.is_closing():
        # At once: one that does not read what was sent would never hear of the end.
        stdin.transport.abort()


async def _read(stream: asyncio.StreamReader | None, limit: int, take: Callable[[bytes | IdScan], None]) -> None:
    lines = Lines(limit)

    def hand_over(found: Iterator[bytes | IdScan]) -> None:
        for line in found:
            if line != b"":
                take(line)

    while stream is not None and (piece := await stream.read(_CHUNK)):
        hand_over(lines.feed(piece))
    hand_over(lines.rest())


async def _write(stdin: asyncio.StreamWriter | None, calls: Calls) -> None:
    """Ends when the program does not take anything any more."""
    with contextlib.suppress(OSError):
        while stdin is not None:
            stdin.write((await calls.outbox.get()).encode())
            await stdin.drain()
