"""Environment variables in texts of the document, and the mask that keeps secrets out of answers and errors."""

import base64
import json
import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any
from urllib.parse import quote

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\s+|-?[0-9][-+.0-9eE]*')
_MAX_SENSITIVE = 100  # more values cost more to look for than an echo of them is worth
_REFERENCE = re.compile(r"\$\{env:([^}]+?)(?::-([^}]*))?\}")


def variable(name: str) -> str | None:
    """A variable of the environment without white space around it, which secret files often end with."""
    return os.environ[name].strip() if name in os.environ else None


def filled(text: str) -> tuple[str, list[str]]:
    """A text with each `${env:NAME}` or `${env:NAME:-fallback}` filled in, and the values. Raises `KeyError`."""
    values: list[str] = []

    def value(match: re.Match[str]) -> str:
        values.append(variable(match[1]) or "")
        if not values[-1] and match[2] is None:
            raise KeyError(match[1])
        return values[-1] or str(match[2])

    return _REFERENCE.sub(value, text), values


class Mask:
    """Replaces known secrets in text, also percent-encoded, in base64 and inside JSON strings."""

    def __init__(self, known: Iterable[str | None] = ()) -> None:
        self.known: set[str] = set()
        self.add(*known)

    def add(self, *secrets: str | None) -> None:
        self.known.update(filter(None, secrets))
        # The longest first, so that a secret inside another spelling never leaves the rest of it behind.
        spelled = sorted({text for secret in self.known for text in _spellings(secret)}, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_needle, spelled)) or "(?!)")

    def add_values(self, values: Iterable[Any]) -> None:
        found = list(islice(scalars(values), _MAX_SENSITIVE + 1))
        self.add(*found)
        if len(found) > _MAX_SENSITIVE:
            self._pattern = re.compile("(?s).+")

    def finds(self, text: str) -> bool:
        return self._pattern.search(text) is not None

    def apply(self, text: str) -> str:
        return self._pattern.sub("[redacted]", text)

    def apply_json(self, text: str) -> str:
        """Valid JSON with every string, key and number masked, and without white space, which costs tokens."""

        def masked(token: re.Match[str]) -> str:
            if token[0].isspace() or token[0][0] == '"' or not self.finds(token[0]):
                return self.apply(token[0].strip())
            return f'"{self.apply(token[0])}"'

        return _TOKEN.sub(masked, text)


def _needle(text: str) -> str:
    """Short values occur by chance inside other words, so they are masked only where they stand alone."""
    return re.escape(text) if len(text.encode()) >= 4 else rf"(?<![^\W_]){re.escape(text)}(?![^\W_])"


def scalars(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, (list, dict)):
            yield from scalars(value if isinstance(value, list) else value.values())
        elif value is not None and not isinstance(value, bool):
            yield value if isinstance(value, str) else json.dumps(value)


def _spellings(secret: str) -> set[str]:
    if len(secret.encode()) < 4:
        return {secret}
    strict, quoted = quote(secret, safe=""), json.dumps(secret, ensure_ascii=False)[1:-1]
    encoded = base64.b64encode(secret.encode()).decode().rstrip("=")
    percent = {strict, strict.replace("%20", "+"), quote(secret, safe="!'()*")}
    percent.add(re.sub("%..", lambda code: code[0].lower(), strict))
    return {secret, *percent, quoted, quoted.replace("/", "\\/"), encoded, encoded.translate({43: "-", 47: "_"})}
