"""The command target: one process for each call, never through a shell; a value never becomes an option."""

import asyncio
import contextlib
import errno
import math
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
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_ESCAPES = re.compile(r"\x1b(\[[^@-~]*.?|.)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]", re.DOTALL)


def argv(template: Iterable[str | tuple[str, ...] | When], args: Mapping[str, Any]) -> list[str]:
    """The program and its arguments. A missing parameter, null and an empty array drop the argument or its group."""
    given = {name: value for name, value in args.items() if value is not None and value != []}
    out, past_options = list[str](), False
    for entry in template:
        texts = (entry,) if isinstance(entry, str) else entry
        if isinstance(entry, When):
            texts = entry.args if args.get(entry.param) is True else ()
        elif not all(_params(str(text)) <= given.keys() for text in texts):
            continue
        for text in map(str, texts):
            if _params(text) <= given.keys():
                out += _arguments(text, given, past_options=past_options)
            past_options = past_options or text == "--"
    return out


def _params(text: str) -> set[str]:
    return set(_PLACEHOLDER.findall(text))


def _arguments(text: str, given: Mapping[str, Any], *, past_options: bool) -> list[str]:
    literals, names = _PLACEHOLDER.split(text)[::2], _PLACEHOLDER.findall(text)
    only = given[names[0]] if len(names) == 1 else None
    out: list[str] = []
    for item in [item for item in only if item is not None] if isinstance(only, list) else [None]:
        values = [styles.scalar(given[name] if item is None else item) for name in names]
        argument = "".join(part for pair in zip(literals, [*values, ""], strict=True) for part in pair)
        # The first character comes from a value.
        if argument.startswith("-") and not literals[0] and not past_options:
            message = f"Parameter '{names[0]}' must not start with '-': the program would read it as an option."
            raise OpError(Code.INVALID_VALUE, message, param_name=names[0])
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
            if process.returncode is None:
                await asyncio.shield(asyncio.ensure_future(_end(process)))
        status = process.returncode or 0
        meaning = command.exit.get(status, "success" if status == 0 else Code.INTERNAL)
        if meaning != "success":
            mask = Mask(self._secrets)
            mask.add_values(args.get(name) for name, param in command.params.items() if param.sensitive)
            # Programs often repeat a value line by line.
            mask.add(*(line for text in mask.known for line in text.splitlines()))
            details: dict[str, Any] = {"exit_status": status} if status >= 0 else {"signal": -status}
            # Some programs say on standard output why they refuse.
            said = {"stderr": _clean(stderr, mask), "stdout": _clean(stdout, mask) if not stderr.strip() else ""}
            details |= {stream: text for stream, text in said.items() if text}
            raise OpError(Code(meaning), f"{name} failed; the details say how and why.", **details)
        answer = _output(command.output, stdout)
        if held:
            await _end(process)
            message = f"{name} left a process behind that kept its output open; it was stopped."
            answer.warnings.append(("OUTPUT_HELD_OPEN", message))
        return answer

    async def _start(self, name: str, line: list[str], stdin: bytes | None) -> Process:
        cwd = None if self._target["cwd"] is None else filled(self._target["cwd"])[0]
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
        stdout, stderr = bytearray(), bytearray()

        async def read(pipe: asyncio.StreamReader | None, out: bytearray, most: int | None) -> None:
            while pipe is not None and (chunk := await pipe.read(_CHUNK_BYTES)):
                out += chunk
                if most is not None and len(out) > most:
                    message = f"The program wrote more than {most} bytes and was stopped; ask for less."
                    raise OpError(Code.PAYLOAD_TOO_LARGE, message, limit="max_output_bytes", maximum=most)
                if most is None:
                    del out[: -8 * _TAIL_BYTES]

        if process.stdin is not None:
            # What the program does not read stays in the buffer of the pipe.
            process.stdin.write(stdin or b"")
            process.stdin.close()
        works = read(process.stdout, stdout, self._target["max_output_bytes"]), read(process.stderr, stderr, None)
        tasks = [asyncio.ensure_future(work) for work in works]
        until = math.inf
        try:
            # A child may hold the output open although the process is gone.
            while pending := [task for task in tasks if not task.done()]:
                if process.returncode is not None:
                    until = min(until, time.monotonic() + _GRACE_SECONDS)
                if time.monotonic() > until:
                    return bytes(stdout), bytes(stderr), True
                await asyncio.wait(pending, timeout=0.02, return_when=asyncio.FIRST_EXCEPTION)
                for task in tasks:
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
