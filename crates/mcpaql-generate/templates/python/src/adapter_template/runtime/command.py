"""The command target: runs one process for each call, without a shell. A value never becomes an option."""

import asyncio
import contextlib
import errno
import math
import os
import re
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import styles
from .errors import OpError, check_limit, param_error
from .requests import Answer, CommandLine, When
from .secrets import filled, scalars

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "USER")
_SECRET_LENGTH = 6  # shorter variables are settings, not secrets, and would mask ordinary words
_GRACE_SECONDS = 0.5  # time to exit after SIGTERM, and time for children to close the output
_TAIL_BYTES, _CHUNK_BYTES = 2048, 64 * 1024
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_ESCAPES = re.compile(r"\x1b(\[[^@-~]*.?|.)?|[\x00-\x08\x0b-\x1f\x7f-\x9f]", re.DOTALL)


def argv(template: Iterable[str | tuple[str, ...] | When], args: Mapping[str, Any]) -> list[str]:
    """Returns the program and its arguments. A parameter without a value drops its argument, or its whole group."""
    given = {name: value for name, value in args.items() if value is not None and value != []}
    out, past_options = list[str](), False
    for entry in template:
        if isinstance(entry, When):
            groups: list[tuple[str, ...]] = [(text,) for text in entry.args if args.get(entry.param) is True]
        else:
            groups = [(entry,) if isinstance(entry, str) else entry]
        for group in groups:
            for text in group if set(_PLACEHOLDER.findall(" ".join(group))) <= given.keys() else ():
                out += _arguments(text, given, past_options=past_options)
                past_options = past_options or text == "--"
    return out


def _arguments(text: str, given: Mapping[str, Any], *, past_options: bool) -> list[str]:
    pieces, out = _PLACEHOLDER.split(text), list[str]()
    names = pieces[1::2]
    only = given[names[0]] if len(names) == 1 else None
    rows = [{names[0]: item} for item in only if item is not None] if isinstance(only, list) else [given]
    for row in rows:
        pieces[1::2] = [styles.scalar(row[name]) for name in names]
        argument = "".join(pieces)
        if argument.startswith("-") and not pieces[0] and not past_options:
            raise param_error(names[0], "must not start with '-', which begins an option.")
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
        return None if self._target["cwd"] is None else filled(self._target["cwd"])

    async def close(self) -> None:
        await asyncio.gather(*map(_end, self._running))

    async def call(self, command: CommandLine[Any], args: Mapping[str, Any]) -> Answer:
        line, stdin = argv(command.argv, args), _stdin(command, args)
        name, milliseconds = Path(line[0]).name, command.timeout_ms or self._target["timeout_ms"]
        pipes: dict[str, Any] = {"stdin": DEVNULL if stdin is None else PIPE, "stdout": PIPE, "stderr": PIPE}
        program = asyncio.create_subprocess_exec(*line, **pipes, env=self._env, cwd=self._cwd, process_group=0)
        # A separate task: a cancelled call must still stop the process that it started.
        self._running.add(starting := asyncio.ensure_future(program))
        held = True
        try:
            async with asyncio.timeout(milliseconds / 1000):
                process = await asyncio.shield(starting)
                stdout, stderr, held = await self._follow(process, stdin)
        except TimeoutError:
            raise OpError("TRANSPORT_TIMEOUT", f"{name} took more than {milliseconds} ms and was stopped.") from None
        except OSError as error:
            code = "VALIDATION_PAYLOAD_TOO_LARGE" if error.errno == errno.E2BIG else "INTERNAL_ERROR"
            raise OpError(code, f"The program '{name}' cannot be run so ({error.strerror}); tell the user.") from None
        finally:
            if held:
                await asyncio.shield(_end(starting))
            self._running.discard(starting)
        status = process.returncode or 0
        meaning = command.exit.get(status, "success" if status == 0 else "INTERNAL_ERROR")
        if meaning != "success":
            shown = {"stderr": self._shown(stderr, command, args), "stdout": self._shown(stdout, command, args)}
            said: dict[str, Any] = next(({stream: text} for stream, text in shown.items() if text), {})
            said |= {"exit_status": status} if status >= 0 else {"signal": -status}
            raise OpError(meaning, f"{name} failed; the details say how and why.", **said)
        answer = _output(command.output, stdout)
        answer.warnings += [("OUTPUT_HELD_OPEN", f"{name} left a process, which was stopped.")] if held else []
        return answer

    def _shown(self, output: bytes, command: CommandLine[Any], args: Mapping[str, Any]) -> str:
        """Returns the end of an output without escape sequences, secrets, sensitive arguments and local paths."""
        own = scalars(args.get(name) for name, param in command.params.items() if param.sensitive)
        hidden = {line: "***" for text in own for line in (text, *text.splitlines())} | self._hidden
        hidden |= {place: shown for place, shown in ((self._cwd, "."), (os.environ.get("HOME"), "~")) if place}
        text = _ESCAPES.sub("", output.decode(errors="replace"))
        # The text is masked before it is cut, so that no part of a secret remains.
        for secret in sorted(hidden.keys() - {"", "/"}, key=len, reverse=True):
            text = text.replace(secret, hidden[secret])
        return text.strip().encode()[-_TAIL_BYTES:].decode(errors="ignore").strip()

    async def _follow(self, process: Process, stdin: bytes | None) -> tuple[bytes, bytes, bool]:
        stdout, stderr = bytearray(), bytearray()

        async def read(pipe: Any, out: bytearray, most: float, kept: int) -> None:
            while chunk := await pipe.read(_CHUNK_BYTES):
                out += chunk
                check_limit("response_size", len(out), most, "Ask for less.")
                del out[:-kept]

        if process.stdin is not None:
            # Not awaited: the program may never read its input.
            process.stdin.write(stdin or b"")
            process.stdin.close()
        most = self._target["max_output_bytes"]
        errors = read(process.stderr, stderr, math.inf, 8 * _TAIL_BYTES)
        reading = asyncio.gather(read(process.stdout, stdout, most, most), errors)
        try:
            # `process.wait()` would also wait for children that keep the output open.
            while process.returncode is None and not reading.done():
                await asyncio.wait([reading], timeout=0.02)
            await asyncio.wait([reading], timeout=_GRACE_SECONDS)
            held = not reading.done()
            if not held:
                reading.result()
                await process.wait()
            return bytes(stdout), bytes(stderr), held
        finally:
            reading.cancel()


async def _end(starting: asyncio.Future[Process]) -> None:
    """Stops a process and its group, first with SIGTERM, so that programs can remove their lock files."""
    with contextlib.suppress(OSError):
        process = await starting
        for number in (signal.SIGTERM, signal.SIGKILL):
            if process.returncode is None or number != signal.SIGTERM:
                os.killpg(process.pid, number)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _GRACE_SECONDS)


def _stdin(command: CommandLine[Any], args: Mapping[str, Any]) -> bytes | None:
    if command.stdin == "params":
        wires = {name: param.wire or name for name, param in command.params.items()}
        return styles.json_text({wires.get(name, name): value for name, value in args.items()}).encode()
    value = args.get(command.stdin_param or "")
    return None if value is None else styles.scalar(value).encode()


def _output(form: str, stdout: bytes) -> Answer:
    if form in ("json", "jsonlines"):
        try:
            text = stdout.decode().strip()
            if form == "json":
                return Answer(styles.read_json(text), text) if text else Answer(None)
            return Answer(*styles.read_lines(text))
        except ValueError as error:
            raise OpError("INTERNAL_ERROR", "The output is not JSON; tell the user.", type(error).__name__) from None
    text = stdout.decode(errors="replace")
    warning = ("OUTPUT_NOT_UTF8", "The program's output is not UTF-8; unreadable bytes are shown as \ufffd.")
    warnings = [] if text.encode() == stdout else [warning]
    if form == "lines":
        lines = text.removesuffix("\n").split("\n") if text else []
        return Answer([line.removesuffix("\r") for line in lines], None, warnings)
    return Answer(re.sub(r"\r?\n\Z", "", text), None, warnings)
