"""Local programs: one process per call, from an argv template, never through a shell.

What always holds: the environment is cleared but for named variables; the working directory is the adapter's; time and
output are bounded; a call that ends early, for whatever reason, takes its process and that process's children with it.
"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING

from . import jsontext
from .argv import build
from .environment import Template, Unset
from .errors import Code, OpError
from .output import answer, clean, last_line
from .process import TAIL, Finished, Job, run
from .response import Answer, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .bindings import Args, Command, CommandTarget
    from .jsontext import Json

PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER")
"""Passed on to every program; adapters add to them."""
SECRET_LENGTH = 6
"""A shorter value is a setting, not a secret, and would mask ordinary words."""


class CommandSetupError(Exception):
    """Why an adapter's programs cannot be run. For the operator: it may name paths."""


class Runner:
    """Runs the programs of one adapter."""

    def __init__(self, target: CommandTarget, environ: Mapping[str, str]) -> None:
        """Prepares to run the programs of that target; `environ` is what the server's own environment holds.

        Raises `CommandSetupError` where the working directory is not there or names a variable that is not set, or
        where a fixed variable cannot be set.
        """
        self._target = target
        self._cwd = None if target.cwd is None else _expand(target.cwd, environ)
        if self._cwd is not None and not Path(self._cwd).is_dir():
            raise CommandSetupError(f"the working directory {self._cwd} does not exist or is not a directory")
        # What errors must not show, and what they show instead.
        self._hidden: list[tuple[str, str]] = []
        self._env: dict[str, str] = {}
        for name in (*PASSED_ON, *target.env):
            value = environ.get(name)
            if value is None or name in self._env or name in target.set_env:
                continue
            if name not in PASSED_ON and len(value.encode()) >= SECRET_LENGTH:
                self._hidden.append((value, "***"))
            self._env[name] = value
        for name, value in target.set_env.items():
            if not name or "=" in name or "\0" in name or "\0" in value:
                raise CommandSetupError(
                    f"the environment variable '{name}' cannot be set: '=' and NUL are not allowed in names, "
                    "NUL not in values",
                )
            self._env[name] = value
        places = ((self._cwd, "."), (environ.get("HOME"), "~"))
        self._hidden += [(path, mask) for path, mask in places if path is not None and len(path) > 1]

    async def call(self, command: Command, args: Args, limit_ms: int | None = None) -> Answer:
        """Runs one call; `limit_ms` stands in place of the target's timeout.

        Raises `OpError` for a value the program must not see, a program that is missing, fails, writes too much or
        takes too long.
        """
        program, arguments = build(command.argv, args)
        usual_ms = self._target.timeout_ms if limit_ms is None else limit_ms
        timeout_ms = usual_ms if command.timeout_ms is None else command.timeout_ms
        job = Job(
            program=program,
            args=arguments,
            env=self._env,
            cwd=self._cwd,
            stdin=_stdin(command, args),
            max_output=self._target.max_output_bytes,
            timeout=timeout_ms / 1000,
        )
        try:
            finished = await run(job)
        except OSError as error:
            raise self._cannot_run(program, error) from None
        return self._judge(short(program), command, args, finished, timeout_ms)

    def _judge(self, name: str, command: Command, args: Args, finished: Finished, timeout_ms: int) -> Answer:
        if finished.ending == "too_large":
            most = self._target.max_output_bytes
            message = f"{name} wrote more than {most} bytes and was stopped; ask for less."
            raise OpError(Code.PAYLOAD_TOO_LARGE, message, {"limit": "max_output_bytes", "max": most})
        if finished.ending == "timed_out":
            message = f"{name} did not finish within {timeout_ms} ms and was stopped; ask for less or try later."
            raise OpError(Code.TRANSPORT_TIMEOUT, message)
        meaning = command.exit.get(finished.status) if finished.status >= 0 else None
        if isinstance(meaning, Code):
            raise self._failed(meaning, name, command, args, finished)
        if finished.status != 0 and meaning is None:
            raise self._failed(Code.INTERNAL, name, command, args, finished)
        answered = answer(command.output, finished.stdout)
        if finished.ending == "held":
            message = f"{name} left a process behind that kept its output open; it was stopped."
            answered.warnings.append(Notice("OUTPUT_HELD_OPEN", message))
        return answered

    def _failed(self, code: Code, name: str, command: Command, args: Args, finished: Finished) -> OpError:
        hidden = self._hidden_in(command, args)
        stream, said = "stderr", clean(finished.stderr, TAIL, hidden)
        if not said:
            # Some programs say on standard output why they refuse.
            stream, said = "stdout", clean(finished.stdout, TAIL, hidden)
        status = finished.status
        how = f"failed with exit status {status}" if status >= 0 else "was ended by a signal"
        line = last_line(said)
        if line is not None:
            message = f"{name} {how}: {line}"
        elif said:
            message = f"{name} {how}; details.{stream} says why."
        else:
            message = f"{name} {how} and said nothing; tell the user."
        error = OpError(code, message)
        if status >= 0:
            error.detail("exit_status", status)
        else:
            error.detail("signal", -status)
        return error.detail(stream, said) if said else error

    def _hidden_in(self, command: Command, args: Args) -> list[tuple[str, str]]:
        """What no error of this call may show: sensitive arguments and the operator's own values and places."""
        sensitive = [value for name in command.sensitive if name in args for value in _texts(args[name])]
        hidden = [*((value, "***") for value in sensitive), *self._hidden]
        # The longest first: a value inside another must not break its mask.
        return sorted(hidden, key=lambda pair: -len(pair[0].encode()))

    def _cannot_run(self, program: str, error: OSError) -> OpError:
        name = short(program)
        if self._cwd is not None and not Path(self._cwd).is_dir():
            message = "The adapter's working directory is gone; tell the user."
        elif error.errno == errno.E2BIG:
            message = f"The parameters are too long for the arguments of '{name}'; send less."
            return OpError(Code.PAYLOAD_TOO_LARGE, message, {"limit": "argument list"}).because(error)
        elif error.errno == errno.ENOENT:
            message = f"The program '{name}' is not installed on the server; tell the user to install it."
        elif error.errno == errno.EACCES:
            message = f"The program '{name}' may not be run by the server; tell the user."
        else:
            message = f"The program '{name}' could not be run; tell the user."
        return OpError(Code.INTERNAL, message).because(error)


def short(program: str) -> str:
    """The program without its folder."""
    return program.replace("\\", "/").rpartition("/")[2]


def _stdin(command: Command, args: Args) -> bytes | None:
    if command.stdin is None:
        return None
    if command.stdin == "*":
        params = {command.wires.get(name, name): value for name, value in args.items()}
        return jsontext.write(params).encode()
    value = args.get(command.stdin)
    if value is None:
        return None
    return (value if isinstance(value, str) else jsontext.write(value)).encode()


def _texts(value: Json) -> Iterator[str]:
    """Every text and number in a value, and each line of a text: programs often repeat a value line by line."""
    if isinstance(value, str):
        yield from (line for line in (line.removesuffix("\r") for line in value.split("\n")) if line)
        if value:
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif value is not None and not isinstance(value, bool):
        yield jsontext.number_text(value)


def _expand(text: str, environ: Mapping[str, str]) -> str:
    """The working directory with its variables filled in."""
    try:
        return Template.parse(text).fill(environ.get)
    except ValueError:
        message = f"the working directory '{text}' has a '${{' that is not '${{env:NAME}}'"
        raise CommandSetupError(message) from None
    except Unset as unset:
        message = f"the working directory needs the environment variable {unset.name}; set it"
        raise CommandSetupError(message) from None
