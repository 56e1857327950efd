"""The command target: one process for each call, from an argv template, never through a shell.

A value fills arguments and never becomes an option; time and output are bounded; a call that ends early takes its
process and that process's children with it.
"""

import asyncio
import contextlib
import errno
import os
import re
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import styles
from .errors import Code, OpError
from .http_response import Answer, read_json
from .requests import CommandLine, When
from .secrets import Mask, filled

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER")
_SECRET_LENGTH = 6  # a shorter value is a setting, not a secret, and would mask ordinary words
_GRACE_SECONDS = 0.5  # for a program to end after the polite signal, and for its children to close its output
_TAIL_BYTES, _CHUNK_BYTES = 2048, 64 * 1024
_ESCAPES = re.compile(r"\x1b(\[[^@-~]*.?|.)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]", re.DOTALL)


def argv(template: Iterable[str | tuple[str, ...] | When], args: Mapping[str, Any]) -> list[str]:
    """The program and its arguments. A missing parameter, null and an empty array drop the argument or its group."""
    given = {name: value for name, value in args.items() if value is not None and value != []}
    out: list[str] = []
    past_options = False
    for entry in template:
        match entry:
            case When(param, texts):
                texts = texts if args.get(param) is True else ()
            case str():
                texts = (entry,)
            case _:
                texts = entry if all(_params(text) <= given.keys() for text in entry) else ()
        for text in texts:
            if _params(text) <= given.keys():
                out += _arguments(text, given, past_options=past_options)
            past_options = past_options or text == "--"
    return out


def _pieces(text: str) -> list[str]:
    return re.split(r"\{([a-z][a-z0-9_]*)\}", text)


def _params(text: str) -> set[str]:
    return set(_pieces(text)[1::2])


def _arguments(text: str, given: Mapping[str, Any], *, past_options: bool) -> list[str]:
    literals, names = _pieces(text)[::2], _pieces(text)[1::2]
    only = given[names[0]] if len(names) == 1 else None
    out: list[str] = []
    for item in [item for item in only if item is not None] if isinstance(only, list) else [None]:
        values = [styles.scalar(given[name] if item is None else item) for name in names]
        argument = "".join(part for pair in zip(literals, [*values, ""], strict=True) for part in pair)
        if "\0" in argument:
            message = f"Parameter '{names[0]}' holds a NUL character, which no program argument can; remove it."
            raise OpError(Code.INVALID_ENCODING, message, param_name=names[0])
        # The first character comes from a value.
        leading = next((name for name, value in zip(names, values, strict=True) if value), "")
        if argument.startswith("-") and not literals[0] and not past_options:
            message = f"Parameter '{leading}' must not start with '-': the program would read it as an option."
            raise OpError(Code.INVALID_VALUE, message, param_name=leading)
        out.append(argument)
    return out


class CommandRunner:
    """Runs the programs of one target."""

    def __init__(self, target: Mapping[str, Any]) -> None:
        self._target = target
        names = {name for name in (*_PASSED_ON, *target["env"]) if name in os.environ}
        self._env = {**{name: os.environ[name] for name in names}, **target["set_env"]}
        own = [self._env[name] for name in names - set(_PASSED_ON) - set(target["set_env"])]
        self._secrets = [value for value in own if len(value) >= _SECRET_LENGTH]

    async def call(self, command: CommandLine[Any], args: Mapping[str, Any]) -> Answer:
        """Runs one call with validated arguments. Raises `OpError`."""
        line, stdin = argv(command.argv, args), _stdin(command, args)
        name, milliseconds = Path(line[0]).name, command.timeout_ms or self._target["timeout_ms"]
        process = await self._start(name, line, stdin)
        try:
            async with asyncio.timeout(milliseconds / 1000):
                stdout, stderr, held = await self._follow(process, stdin)
        except TimeoutError:
            message = f"{name} did not finish within {milliseconds} ms and was stopped; ask for less or try later."
            raise OpError(Code.TRANSPORT_TIMEOUT, message) from None
        finally:
            await asyncio.shield(asyncio.ensure_future(_end(process)))
        status = process.returncode or 0
        meaning = command.exit.get(status, "success" if status == 0 else Code.INTERNAL)
        if meaning != "success":
            mask = Mask(self._secrets)
            mask.add_values(args.get(name) for name, param in command.params.items() if param.sensitive)
            # Programs often repeat a value line by line.
            mask.add(*(line for text in mask.known for line in text.splitlines()))
            raise _failed(Code(meaning), name, status, _clean(stdout, mask), _clean(stderr, mask))
        answer = _output(command.output, stdout)
        if held:
            message = f"{name} left a process behind that kept its output open; it was stopped."
            answer.warnings.append(("OUTPUT_HELD_OPEN", message))
        return answer

    async def _start(self, name: str, line: list[str], stdin: bytes | None) -> Process:
        cwd = None if self._target["cwd"] is None else filled(self._target["cwd"])
        options: dict[str, Any] = {"env": self._env, "cwd": cwd, "stdout": PIPE, "stderr": PIPE}
        options["stdin"] = DEVNULL if stdin is None else PIPE
        if sys.platform != "win32":
            options["process_group"] = 0
        starting = asyncio.ensure_future(asyncio.create_subprocess_exec(line[0], *line[1:], **options))
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The process may be there already, although nobody was told so yet.
            with contextlib.suppress(OSError):
                await _end(await starting)
            raise
        except OSError as error:
            code = Code.PAYLOAD_TOO_LARGE if error.errno == errno.E2BIG else Code.INTERNAL
            raise OpError(code, f"The program '{name}' cannot be run so ({error.strerror}); tell the user.") from None

    async def _follow(self, process: Process, stdin: bytes | None) -> tuple[bytes, bytes, bool]:
        """Both outputs, and whether a child of the process kept them open."""
        stdout, stderr = bytearray(), bytearray()

        async def read(pipe: asyncio.StreamReader | None, out: bytearray, most: int | None) -> None:
            while pipe is not None and (chunk := await pipe.read(_CHUNK_BYTES)):
                out += chunk
                if most is not None and len(out) > most:
                    message = f"The program wrote more than {most} bytes and was stopped; ask for less."
                    raise OpError(Code.PAYLOAD_TOO_LARGE, message, limit="max_output_bytes", max=most)
                if most is None:
                    del out[: -8 * _TAIL_BYTES]

        async def feed() -> None:
            # A program that does not read what it is given is within its rights.
            with contextlib.suppress(OSError):
                if process.stdin is not None and stdin is not None:
                    process.stdin.write(stdin)
                    await process.stdin.drain()
                    process.stdin.close()

        limit = self._target["max_output_bytes"]
        works = read(process.stdout, stdout, limit), read(process.stderr, stderr, None), feed()
        tasks = [asyncio.ensure_future(work) for work in works]
        until = None
        try:
            # A child may hold the output open although the process is gone.
            while pending := [task for task in tasks[:2] if not task.done()]:
                if process.returncode is not None:
                    until = until or time.monotonic() + _GRACE_SECONDS
                    if time.monotonic() > until:
                        return bytes(stdout), bytes(stderr), True
                await asyncio.wait(pending, timeout=0.02, return_when=asyncio.FIRST_EXCEPTION)
                for task in tasks[:2]:
                    _ = task.done() and task.result()
            await process.wait()
            return bytes(stdout), bytes(stderr), False
        finally:
            for task in tasks:
                task.cancel()


async def _end(process: Process) -> None:
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


def _stdin(command: CommandLine[Any], args: Mapping[str, Any]) -> bytes | None:
    if command.stdin == "params":
        wires = {name: param.wire or name for name, param in command.params.items()}
        return styles.json_text({wires.get(name, name): value for name, value in args.items()}).encode()
    value = args.get(command.stdin_param or "")
    return None if value is None else styles.scalar(value).encode()


def _clean(output: bytes, mask: Mask) -> str:
    """The end of an output for people: without escape sequences and control characters, masked before it is cut."""
    text = mask.apply(_ESCAPES.sub("", output.decode(errors="replace"))).strip()
    return text.encode()[-_TAIL_BYTES:].decode(errors="ignore").strip()


def _failed(code: Code, name: str, status: int, stdout: str, stderr: str) -> OpError:
    details: dict[str, Any] = {"exit_status": status} if status >= 0 else {"signal": -status}
    # Some programs say on standard output why they refuse.
    details |= {"stderr": stderr} if stderr else {"stdout": stdout} if stdout else {}
    return OpError(code, f"{name} failed; the details say how and why.", **details)


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
        lines = text.removesuffix("\n").split("\n") if text else []
        return Answer([line.removesuffix("\r") for line in lines], None, warnings)
    return Answer(text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text, None, warnings)
