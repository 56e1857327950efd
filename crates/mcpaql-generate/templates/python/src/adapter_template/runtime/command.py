"""The command target: one process for each call, from an argv template, never through a shell.

A value fills arguments and never becomes an option; time and output are bounded; a call that ends early takes its process
and that process's children with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import styles
from .errors import Code, OpError, SetupError
from .http_response import Answer, read_json
from .requests import Group, When
from .secrets import Mask, filled, variables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .requests import Command, CommandTarget

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER")
_SECRET_LENGTH = 6  # a shorter value is a setting, not a secret, and would mask ordinary words
_GRACE_SECONDS = 0.5  # for a program to end after the polite signal, and for its children to close its output
_TAIL_BYTES = 2048
_CHUNK_BYTES = 64 * 1024
_ESCAPES = re.compile(r"\x1b(\[[^@-~]*.?|.)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]", re.DOTALL)


def argv(template: Iterable[str | Group | When], args: Mapping[str, Any]) -> list[str]:
    """The program and its arguments.

    An array in an argument with one placeholder gives an argument for each element. A missing parameter, null and an empty
    array drop the argument or its group.
    """
    given = {name: value for name, value in args.items() if value is not None and value != []}
    out: list[str] = []
    past_options = False
    for entry in template:
        texts: tuple[str, ...] = (entry,) if isinstance(entry, str) else entry.args
        if isinstance(entry, When) and args.get(entry.param) is not True:
            continue
        if isinstance(entry, Group) and not all(_params(text) <= given.keys() for text in texts):
            continue
        for text in texts:
            if _params(text) <= given.keys():
                out += _arguments(text, given, past_options=past_options)
            past_options = past_options or text == "--"
    return out


def _pieces(text: str) -> list[str]:
    """Literals, and parameters at odd places."""
    marked = text.replace("{{", "\0").replace("}}", "\1")
    return [piece.replace("\0", "{").replace("\1", "}") for piece in re.split(r"\{([^{}]*)\}", marked)]


def _params(text: str) -> set[str]:
    return set(_pieces(text)[1::2])


def _arguments(text: str, given: Mapping[str, Any], *, past_options: bool) -> list[str]:
    pieces = _pieces(text)
    names = pieces[1::2]
    several = given[names[0]] if len(names) == 1 else None
    out: list[str] = []
    for item in [item for item in several if item is not None] if isinstance(several, list) else [several]:
        values = [styles.scalar(given[name] if item is None else item) for name in names]
        argument = "".join(piece + value for piece, value in zip(pieces[::2], [*values, ""], strict=True))
        if "\0" in argument:
            message = f"Parameter '{names[0]}' holds a NUL character, which no program argument can; remove it."
            raise OpError(Code.INVALID_ENCODING, message, param_name=names[0])
        # The first character comes from a value.
        leading = next((name for name, value in zip(names, values, strict=True) if value), None)
        if argument.startswith("-") and not pieces[0] and leading is not None and not past_options:
            message = f"Parameter '{leading}' must not start with '-': the program would read it as an option."
            raise OpError(Code.INVALID_VALUE, message, param_name=leading)
        out.append(argument)
    return out


class CommandRunner:
    """Runs the programs of one target."""

    def __init__(self, target: CommandTarget) -> None:
        """Raises `SetupError` where the working directory cannot be used."""
        self._target = target
        try:
            variables(target.cwd or "")
            self._cwd = None if target.cwd is None else filled(target.cwd)
        except KeyError as unset:
            raise SetupError(f"the working directory needs the environment variable {unset.args[0]}; set it") from None
        except ValueError as error:
            raise SetupError(f"the working directory {error}") from None
        if self._cwd is not None and not Path(self._cwd).is_dir():
            raise SetupError(f"the working directory {self._cwd} does not exist or is not a directory")
        passed_on = {name: os.environ[name] for name in (*_PASSED_ON, *target.env) if name in os.environ}
        self._env = {**passed_on, **target.set_env}
        own = (name for name in target.env if name not in _PASSED_ON and name not in target.set_env)
        self._secrets = [value for name in own if len(value := os.environ.get(name, "")) >= _SECRET_LENGTH]

    async def call(self, command: Command[Any], args: Mapping[str, Any]) -> Answer:
        """Runs one call with validated arguments. Raises `OpError`."""
        line, stdin = argv(command.argv, args), _stdin(command, args)
        name, milliseconds = Path(line[0]).name, command.timeout_ms or self._target.timeout_ms
        try:
            process = await self._start(line, is_fed=stdin is not None)
        except OSError as error:
            raise self._cannot_run(name, error) from None
        try:
            async with asyncio.timeout(milliseconds / 1000):
                stdout, stderr, held = await self._follow(process, stdin)
        except TimeoutError:
            message = f"{name} did not finish within {milliseconds} ms and was stopped; ask for less or try later."
            raise OpError(Code.TRANSPORT_TIMEOUT, message) from None
        except _TooLarge:
            most = self._target.max_output_bytes
            message = f"{name} wrote more than {most} bytes and was stopped; ask for less."
            raise OpError(Code.PAYLOAD_TOO_LARGE, message, limit="max_output_bytes", max=most) from None
        finally:
            await asyncio.shield(asyncio.ensure_future(_end(process)))
        status = process.returncode or 0
        meaning = command.exit.get(status, "success" if status == 0 else Code.INTERNAL)
        if meaning != "success":
            raise self._failed(Code(meaning), name, status, stdout, stderr, command, args)
        answer = _output(command.output, stdout)
        if held:
            message = f"{name} left a process behind that kept its output open; it was stopped."
            answer.warnings.append(("OUTPUT_HELD_OPEN", message))
        return answer

    async def _start(self, line: list[str], *, is_fed: bool) -> asyncio.subprocess.Process:
        pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        group: dict[str, Any] = {} if sys.platform == "win32" else {"process_group": 0}
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *line, env=self._env, cwd=self._cwd, stdin=pipe if is_fed else null, stdout=pipe, stderr=pipe, **group
            ),
        )
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The process may be there already, although nobody was told so yet.
            with contextlib.suppress(OSError):
                await _end(await starting)
            raise

    async def _follow(self, process: asyncio.subprocess.Process, stdin: bytes | None) -> tuple[bytes, bytes, bool]:
        """Both outputs, and whether a child of the process kept them open."""
        stdout, stderr = bytearray(), bytearray()

        async def read(pipe: asyncio.StreamReader | None, out: bytearray, most: int | None) -> None:
            while pipe is not None and (chunk := await pipe.read(_CHUNK_BYTES)):
                out += chunk
                if most is not None and len(out) > most:
                    raise _TooLarge
                if most is None:
                    del out[: -8 * _TAIL_BYTES]

        async def feed() -> None:
            # A program that does not read what it is given is within its rights.
            with contextlib.suppress(OSError):
                if process.stdin is not None and stdin is not None:
                    process.stdin.write(stdin)
                    await process.stdin.drain()
                    process.stdin.close()

        feeding = asyncio.ensure_future(feed())
        outputs = read(process.stdout, stdout, self._target.max_output_bytes), read(process.stderr, stderr, None)
        reading = asyncio.gather(*outputs)
        try:
            while not reading.done() and process.returncode is None:
                await asyncio.wait({reading}, timeout=0.02)
            await asyncio.wait({reading}, timeout=_GRACE_SECONDS)
            if held := not reading.done():
                return bytes(stdout), bytes(stderr), held
            await reading
            await process.wait()
            return bytes(stdout), bytes(stderr), held
        finally:
            feeding.cancel()
            reading.cancel()

    def _failed(
        self,
        code: Code,
        name: str,
        status: int,
        stdout: bytes,
        stderr: bytes,
        command: Command[Any],
        args: Mapping[str, Any],
    ) -> OpError:
        """What the program said about its failure, without the caller's and the operator's secrets."""
        mask = Mask(self._secrets)
        mask.add_values(args.get(param) for param in command.sensitive)
        for text in list(mask.known):
            mask.add(*text.splitlines())  # programs often repeat a value line by line
        said = {"stderr": _clean(stderr, mask)}
        said = said if said["stderr"] else {"stdout": _clean(stdout, mask)}
        (stream, text), *_ = said.items()
        how = f"failed with exit status {status}" if status >= 0 else "was ended by a signal"
        details: dict[str, Any] = {"exit_status": status} if status >= 0 else {"signal": -status}
        why = f"; details.{stream} says why." if text else " and said nothing; tell the user."
        return OpError(code, f"{name} {how}{why}", **details, **({stream: text} if text else {}))

    def _cannot_run(self, name: str, error: OSError) -> OpError:
        if error.errno == errno.E2BIG:
            message = f"The parameters are too long for the arguments of '{name}'; send less."
            return OpError(Code.PAYLOAD_TOO_LARGE, message, error, limit="argument list")
        return OpError(Code.INTERNAL, f"The program '{name}' is missing or cannot be run; tell the user.", error)


class _TooLarge(Exception):
    """More output than is read."""


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ends the process and its group: politely first, so that programs can remove their lock files."""

    def send(number: int) -> None:
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, number)

    if process.returncode is None:
        send(signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE_SECONDS)
    send(getattr(signal, "SIGKILL", signal.SIGTERM))


def _stdin(command: Command[Any], args: Mapping[str, Any]) -> bytes | None:
    if command.stdin == "*":
        return styles.json_text({command.wires.get(name, name): value for name, value in args.items()}).encode()
    value = args.get(command.stdin or "")
    return None if value is None else styles.scalar(value).encode()


def _clean(output: bytes, mask: Mask) -> str:
    """The end of an output for people: without escape sequences and control characters, masked before it is cut."""
    text = mask.apply(_ESCAPES.sub("", output.decode(errors="replace"))).strip()
    return text.encode()[-_TAIL_BYTES:].decode(errors="ignore").strip()


def _output(form: str, stdout: bytes) -> Answer:
    if form in ("json", "jsonlines"):
        try:
            text = stdout.decode()
            if form == "json":
                return Answer(read_json(text) if text.strip() else None)
            return Answer([read_json(line) for line in text.split("\n") if line.strip()])
        except ValueError as error:
            message = "The program's output is not the JSON that was expected; tell the user."
            raise OpError(Code.INTERNAL, message, type(error).__name__) from None
    text = stdout.decode(errors="replace")
    warning = "The program's output is not UTF-8; what could not be read is shown as \ufffd."
    warnings = [] if text.encode() == stdout else [("OUTPUT_NOT_UTF8", warning)]
    if form == "lines":
        return Answer([line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else [], warnings)
    return Answer(text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text, warnings)
