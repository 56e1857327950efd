"""Environment variables in texts of the document, and the mask that keeps secrets out of answers and errors."""

import base64
import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\s+|-?[0-9][-+.0-9eE]*')
_MAX_SECRETS = 100  # beyond this, searching for each one is too slow, so everything is masked
_REFERENCE = re.compile(r"\$\{env:([^}]+?)(?::-([^}]*))?\}")


def variable(name: str) -> str:
    """Returns an environment variable, or an empty text. Secret files often end with white space, so it is removed."""
    return os.environ.get(name, "").strip()


class Mask:
    """Replaces known secrets in text, also percent-encoded, in base64 and inside JSON strings."""

    def __init__(self, known: Iterable[Any] = ()) -> None:
        self.known: set[str] = set()
        self.add(*known)

    def add(self, *secrets: Any) -> None:
        """Adds secrets. Of a list or an object, every value in it is a secret."""
        self.known.update(filter(None, scalars(secrets)))
        if len(self.known) > _MAX_SECRETS:
            self._pattern = re.compile("(?s).+")
            return
        short = {secret for secret in self.known if len(secret.encode()) < 4}
        # The longest spelling is first: a shorter one inside it would leave the rest of it visible.
        long = sorted({text for secret in self.known - short for text in _spellings(secret)}, key=len, reverse=True)
        # A short secret may be part of ordinary words, so it is masked only as a whole word.
        words = (rf"(?<![^\W_]){re.escape(secret)}(?![^\W_])" for secret in sorted(short, key=len, reverse=True))
        self._pattern = re.compile("|".join([*map(re.escape, long), *words]) or "(?!)")

    def finds(self, text: str) -> bool:
        return self._pattern.search(text) is not None

    def apply(self, text: str) -> str:
        return self._pattern.sub("[redacted]", text)

    def apply_json(self, text: str) -> str:
        """Masks every string, key and number of valid JSON, and removes white space, which costs tokens."""

        def masked(token: re.Match[str]) -> str:
            if token[0].isspace() or token[0][0] == '"' or not self.finds(token[0]):
                return self.apply(token[0].strip())
            return f'"{self.apply(token[0])}"'

        return _TOKEN.sub(masked, text)


def filled(text: str, mask: Mask | None = None) -> str:
    """Fills in each `${env:NAME}` or `${env:NAME:-fallback}`. Raises `KeyError` if a variable is not set."""

    def value(match: re.Match[str]) -> str:
        found = variable(match[1])
        if not found and match[2] is None:
            raise KeyError(match[1])
        if mask is not None:
            mask.add(found)
        return found or str(match[2])

    return _REFERENCE.sub(value, text)


def scalars(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, (list, dict)):
            yield from scalars(value if isinstance(value, list) else value.values())
        elif value is not None and not isinstance(value, bool):
            yield value if isinstance(value, str) else json.dumps(value)


def _spellings(secret: str) -> set[str]:
    strict, quoted = quote(secret, safe=""), json.dumps(secret, ensure_ascii=False)[1:-1]
    encoded = base64.b64encode(secret.encode()).decode().rstrip("=")
    percent = {strict, strict.replace("%20", "+"), quote(secret, safe="!'()*")}
    percent.add(re.sub("%..", lambda code: code[0].lower(), strict))
    return {secret, *percent, quoted, quoted.replace("/", "\\/"), encoded, encoded.translate({43: "-", 47: "_"})}
