"""The command target: one process for each call, never through a shell; a value never becomes an option."""

import asyncio
import contextlib
import errno
import math
import os
import re
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import styles
from .errors import Code, OpError
from .requests import Answer, CommandLine, When
from .secrets import filled, scalars

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
        self._hidden = {value: "***" for value in own if len(value.encode()) >= _SECRET_LENGTH}
        self._running: set[asyncio.Future[Process]] = set()

    @property
    def _cwd(self) -> str | None:
        return None if self._target["cwd"] is None else filled(self._target["cwd"])[0]

    async def close(self) -> None:
        """Ends the programs that still run, with their children."""
        await asyncio.gather(*map(_end, self._running))

    async def call(self, command: CommandLine[Any], args: Mapping[str, Any]) -> Answer:
        line, stdin = argv(command.argv, args), _stdin(command, args)
        name, milliseconds = Path(line[0]).name, command.timeout_ms or self._target["timeout_ms"]
        # A task of its own: a call that is cancelled must know what it started.
        starting = asyncio.ensure_future(self._start(line, DEVNULL if stdin is None else PIPE))
        self._running.add(starting)
        held = True
        try:
            async with asyncio.timeout(milliseconds / 1000):
                process = await asyncio.shield(starting)
                stdout, stderr, held = await self._follow(process, stdin)
        except TimeoutError:
            message = f"{name} did not finish within {milliseconds} ms and was stopped; ask for less or try later."
            raise OpError(Code.TRANSPORT_TIMEOUT, message) from None
        except OSError as error:
            code = Code.PAYLOAD_TOO_LARGE if error.errno == errno.E2BIG else Code.INTERNAL
            raise OpError(code, f"The program '{name}' cannot be run so ({error.strerror}); tell the user.") from None
        finally:
            if held:
                await asyncio.shield(asyncio.ensure_future(_end(starting)))
            self._running.discard(starting)
        status = process.returncode or 0
        meaning = command.exit.get(status, "success" if status == 0 else Code.INTERNAL)
        if meaning != "success":
            details: dict[str, Any] = {"exit_status": status} if status >= 0 else {"signal": -status}
            hidden = self._hidden_in(command, args)
            # Some programs say on standard output why they refuse.
            for stream, output in (("stderr", stderr), ("stdout", stdout)):
                if text := _clean(output, hidden):
                    details[stream] = text
                    break
            raise OpError(Code(meaning), f"{name} failed; the details say how and why.", **details)
        answer = _output(command.output, stdout)
        if held:
            message = f"{name} left a process behind that kept its output open; it was stopped."
            answer.warnings.append(("OUTPUT_HELD_OPEN", message))
        return answer

    def _hidden_in(self, command: CommandLine[Any], args: Mapping[str, Any]) -> dict[str, str]:
        """What no error may show, the longest first: secrets, sensitive arguments, and where things are."""
        own = scalars(args.get(name) for name, param in command.params.items() if param.sensitive)
        # Programs often repeat a value line by line.
        hidden = {line: "***" for text in own for line in (text, *text.splitlines())} | self._hidden
        hidden |= {place: shown for place, shown in ((self._cwd, "."), (os.environ.get("HOME"), "~")) if place}
        return {text: hidden[text] for text in sorted(hidden, key=len, reverse=True) if text not in ("", "/")}

    async def _start(self, line: list[str], stdin: int) -> Process:
        options: dict[str, Any] = {"env": self._env, "cwd": self._cwd, "stdin": stdin}
        if sys.platform != "win32":
            options["process_group"] = 0
        return await asyncio.create_subprocess_exec(*line, stdout=PIPE, stderr=PIPE, **options)

    async def _follow(self, process: Process, stdin: bytes | None) -> tuple[bytes, bytes, bool]:
        stdout, stderr = bytearray(), bytearray()

        async def read(pipe: Any, out: bytearray, most: float, kept: int) -> None:
            while chunk := await pipe.read(_CHUNK_BYTES):
                out += chunk
                if len(out) > most:
                    message = f"The program wrote more than {most} bytes and was stopped; ask for less."
                    raise OpError(Code.PAYLOAD_TOO_LARGE, message, limit="max_output_bytes", maximum=most)
                del out[:-kept]

        if process.stdin is not None:
            # What the program does not read stays in the buffer of the pipe.
            process.stdin.write(stdin or b"")
            process.stdin.close()
        most = self._target["max_output_bytes"]
        works = read(process.stdout, stdout, most, most), read(process.stderr, stderr, math.inf, 8 * _TAIL_BYTES)
        tasks = [asyncio.ensure_future(work) for work in works]
        try:
            while process.returncode is None and (pending := [task for task in tasks if not task.done()]):
                await asyncio.wait(pending, timeout=0.02, return_when=asyncio.FIRST_EXCEPTION)
                for task in tasks:
                    _ = task.done() and task.result()
            # A child may hold the output open although the process is gone.
            ended, held = await asyncio.wait(tasks, timeout=_GRACE_SECONDS)
            for task in ended:
                task.result()
            _ = held or await process.wait()
            return bytes(stdout), bytes(stderr), bool(held)
        finally:
            for task in tasks:
                task.cancel()


async def _end(starting: asyncio.Future[Process]) -> None:
    """Ends a process and its group: politely first, so that programs can remove their lock files."""
    with contextlib.suppress(OSError):
        process = await starting
        for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            if sys.platform == "win32":
                process.kill()
            elif process.returncode is None or number != signal.SIGTERM:
                os.killpg(process.pid, number)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _GRACE_SECONDS)


def _stdin(command: CommandLine[Any], args: Mapping[str, Any]) -> bytes | None:
    if command.stdin == "params":
        wires = {name: param.wire or name for name, param in command.params.items()}
        return styles.json_text({wires.get(name, name): value for name, value in args.items()}).encode()
    value = args.get(command.stdin_param or "")
    return None if value is None else styles.scalar(value).encode()


def _clean(output: bytes, hidden: Mapping[str, str]) -> str:
    """The end of an output for people: without escape sequences and control characters, masked before it is cut."""
    text = _ESCAPES.sub("", output.decode(errors="replace"))
    for secret, shown in hidden.items():
        text = text.replace(secret, shown)
    text = text.strip()
    return text.encode()[-_TAIL_BYTES:].decode(errors="ignore").strip()


def _output(form: str, stdout: bytes) -> Answer:
    if form in ("json", "jsonlines"):
        try:
            text = stdout.decode().strip()
            if form == "json":
                return Answer(styles.read_json(text), text) if text else Answer(None)
            return Answer(*styles.read_lines(text))
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
