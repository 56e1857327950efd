"""Texts: lengths in bytes and in characters, what counts as a letter or a space, and how a caller's words are shown.

What always holds: letters and white space are those of Unicode's own properties, whatever `str.isalpha` and `str.split`
make of them.
"""

from __future__ import annotations

import re
import unicodedata

WHITE = "\t\n\x0b\x0c\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
"""All white space; Python takes four control characters for it as well."""

# Vowel signs, letter-like numbers and encircled letters, which `str.isalpha` does not take for letters.
_MORE_LETTERS = """
    345 363-36f 5b0-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-657 659-65f 670 6d6-6dc 6e1-6e8 6ed 711 730-73f 7a6-7b0
    816-817 81b-82c 8d4-8df 8e3-8e9 8f0-903 93a-93b 93e-94c 94e-94f 955-957 962-963 981-983 9be-9cc 9d7 9e2-9e3 a01-a03
    a3e-a4c a51 a70-a75 a81-a83 abe-acc ae2-ae3 afa-afc b01-b03 b3e-b4c b56-b57 b62-b63 b82 bbe-bcc bd7 c00-c04 c3e-c4c
    c55-c56 c62-c63 c81-c83 cbe-ccc cd5-cd6 ce2-ce3 d00-d03 d3e-d4c d57 d62-d63 d81-d83 dcf-ddf df2-df3 e31-e3a e4d
    eb1-eb9 ebb-ebc ecd f71-f83 f8d-fbc 102b-1036 1038 103b-103e 1056-1074 1082-108f 109a-109d 16ee-16f0 1712-1713
    1732-1733 1752-1753 1772-1773 17b6-17c8 1885-1886 18a9 1920-1938 1a17-1a1b 1a55-1a5e 1a61-1a74 1abf-1ac0 1acc-1ace
    1b00-1b04 1b35-1b43 1b80-1b82 1ba1-1ba9 1bac-1bad 1be7-1bf1 1c24-1c36 1dd3-1df4 2160-2188 24b6-24e9 2de0-2dff 3007
    3021-3029 3038-303a a674-a67b a69e-a69f a6e6-a6ef a802 a80b a823-a827 a880-a881 a8b4-a8c3 a8c5 a8ff a926-a92a
    a947-a952 a980-a983 a9b4-a9bf a9e5 aa29-aa36 aa43 aa4c-aa4d aa7b-aa7d aab0-aabe aaeb-aaef aaf5 abe3-abea fb1e
    1f130-1f149 1f150-1f169 1f170-1f189
"""


def _listed(ranges: str) -> frozenset[str]:
    ends = ([int(end, 16) for end in part.split("-")] for part in ranges.split())
    return frozenset(chr(code) for pair in ends for code in range(pair[0], pair[-1] + 1))


_LETTERS = _listed(_MORE_LETTERS)
_SPACES = re.compile(f"[{WHITE}]+")
_LONGEST_NAME = 64
_ESCAPES = {"\0": "\\0", "\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "'": "\\'", "\\": "\\\\"}


def is_alphabetic(char: str) -> bool:
    """Whether a character is a letter."""
    return char.isalpha() or char in _LETTERS


def is_alphanumeric(char: str) -> bool:
    """Whether a character is a letter or a number."""
    return char.isalnum() or char in _LETTERS


def size(text: str) -> int:
    """The length of a text in bytes."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def cut(text: str, most: int) -> str:
    """As many whole characters of a text as fit into so many bytes."""
    if len(text) * 4 <= most or size(text) <= most:
        return text
    return text.encode(errors="surrogatepass")[:most].decode(errors="ignore")


def shorten(text: str, most: int) -> str:
    """At most so many characters of a text, with `…` where some are left out."""
    return text if len(text) <= most else f"{text[:most]}…"


def trim(text: str) -> str:
    """The text without white space around it."""
    return text.strip(WHITE)


def split(text: str) -> list[str]:
    """The parts of a text between white space."""
    return [part for part in _SPACES.split(text) if part]


def first_line(text: str) -> str:
    """The first line of a text."""
    line, end, _ = text.partition("\n")
    return line.removesuffix("\r") if end else line


def ascii_lower(text: str) -> str:
    """The text with the letters A to Z in lower case, and no others."""
    return text.lower() if text.isascii() else "".join(c.lower() if c.isascii() else c for c in text)


def quoted(name: str) -> str:
    """A caller's word as a sentence may repeat it.

    What is no name is not repeated, so that no text of a caller's choosing stands in a message.
    """
    plain = all(is_alphanumeric(c) or c in "_-./:" for c in name)
    return f" '{name}'" if name and len(name) <= _LONGEST_NAME and plain else ""


def escaped(text: str) -> str:
    """The text between quotation marks of a message, with everything spelled out that cannot be seen."""

    def spelled(at: int, char: str) -> str:
        # A mark that combines with what stands before it would join the quotation mark.
        joins = at == 0 and unicodedata.category(char) in ("Mn", "Me")
        seen = char.isprintable() and not joins
        return _ESCAPES.get(char) or (char if seen else f"\\u{{{ord(char):x}}}")

    return "".join(spelled(at, char) for at, char in enumerate(text))
