"""Addresses as browsers read them (the WHATWG URL standard), as far as `http` and `https` go.

What always holds: the host is lower-case ASCII or an IP address in its usual spelling, whatever odd way it was written
in, so that whoever asks where an address leads is not fooled; a path starts with `/` and holds no dot segment.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, replace
from typing import TypeAlias
from urllib.parse import quote, unquote_to_bytes, urljoin

import idna

_PORTS = {"http": 80, "https": 443}
_PATH_SAFE = "%!$&'()*+,;=:@/~[]|\\"
_QUERY_SAFE = "%!$&()*+,;=:@/?~[]|\\^`{}"
_FORBIDDEN = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)

Host: TypeAlias = str | ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Url:
    """An address without user information and fragment."""

    scheme: str
    host: Host
    port: int
    path: str
    query: str | None = None
    has_user: bool = False
    """It was written with user information, which nobody should use."""
    has_fragment: bool = False

    @property
    def origin(self) -> tuple[str, Host, int]:
        """What credentials are bound to."""
        return (self.scheme, self.host, self.port)

    @property
    def host_text(self) -> str:
        """The host as an address writes it."""
        return f"[{self.host}]" if isinstance(self.host, ipaddress.IPv6Address) else str(self.host)

    @property
    def authority(self) -> str:
        """Host and, where it is not the usual one, port: the `Host` header."""
        host = self.host_text
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """What stands in the first line of the request."""
        return self.path if self.query is None else f"{self.path}?{self.query}"

    def __str__(self) -> str:
        """The whole address."""
        return f"{self.scheme}://{self.authority}{self.target}"

    def is_loopback(self) -> bool:
        """Whether its host is this machine."""
        if isinstance(self.host, str):
            name = self.host.rstrip(".")
            return name == "localhost" or name.endswith(".localhost")
        if isinstance(self.host, ipaddress.IPv6Address) and self.host.ipv4_mapped is not None:
            return self.host.ipv4_mapped.is_loopback
        return self.host.is_loopback

    def is_local(self) -> bool:
        """Loopback, unspecified and link-local addresses: services that trust whoever reaches them."""
        if self.is_loopback() or isinstance(self.host, str):
            return self.is_loopback()
        return self.host.is_unspecified or self.host.is_link_local

    def with_query(self, query: str) -> Url:
        """The same with that query; without one where it is empty."""
        return replace(self, query=query.replace("'", "%27") or None)

    def query_names(self) -> list[str]:
        """The names of its parameters, decoded as a server would."""
        names = (pair.partition("=")[0].replace("+", " ") for pair in (self.query or "").split("&") if pair)
        return [unquote_to_bytes(name).decode(errors="replace") for name in names]

    def join(self, reference: str) -> Url:
        """Where a reference in an answer of this address leads.

        Raises `ValueError` where it is none, or leads to neither `http` nor `https`.
        """
        text = _trimmed(reference)
        absolute = _SCHEME.fullmatch(text)
        if absolute and (absolute[1].lower() != self.scheme or absolute[2][:1] in ("/", "\\")):
            return parse(text)
        head, mark, tail = (absolute[2] if absolute else text).partition("?")
        slashed = head.replace("\\", "/")
        return parse(f"{self.scheme}:{text}" if slashed.startswith("//") else urljoin(str(self), slashed + mark + tail))


def parse(text: str) -> Url:
    """The address of a text.

    Raises `ValueError` where it is no absolute address; `Scheme` where it is one of another scheme.
    """
    matched = _SCHEME.fullmatch(_trimmed(text))
    if matched is None:
        raise ValueError("no absolute URL")
    scheme, rest = matched[1].lower(), matched[2]
    if scheme not in _PORTS:
        raise Scheme(scheme)
    rest, fragment, _ = rest.partition("#")
    rest, has_query, query = rest.partition("?")
    rest = rest.replace("\\", "/").lstrip("/")
    authority, slash, path = rest.partition("/")
    user, has_user, place = authority.rpartition("@")
    name, port = _split_port(place)
    return Url(
        scheme,
        _host(name),
        _PORTS[scheme] if port is None else port,
        _normal(slash + path),
        quote(query, safe=_QUERY_SAFE) if has_query else None,
        has_user=bool(has_user and user.strip(":")),
        has_fragment=bool(fragment),
    )


def _trimmed(text: str) -> str:
    """Without what is no part of an address: control characters and spaces around it, tabs and line ends inside."""
    return text.strip("".join(map(chr, range(33)))).translate({9: None, 10: None, 13: None})


class Scheme(ValueError):
    """An address that is neither `http` nor `https`."""


def _split_port(place: str) -> tuple[str, int | None]:
    name, colon, digits = place.rpartition(":")
    if not colon or place.endswith("]"):
        return place, None
    if not digits:
        return name, None
    if not digits.isascii() or not digits.isdigit() or int(digits) > 65535:
        raise ValueError("no port")
    return name, int(digits)


def _host(name: str) -> Host:
    if name.startswith("["):
        if not name.endswith("]") or "%" in name:
            raise ValueError("no host")
        return ipaddress.IPv6Address(name[1:-1])
    decoded = unquote_to_bytes(name).decode()
    ascii_name = _ascii_name(decoded)
    if not ascii_name or _FORBIDDEN.search(ascii_name):
        raise ValueError("no host")
    return _number(ascii_name) or ascii_name


def _ascii_name(name: str) -> str:
    if name.isascii():
        return name.lower()
    try:
        return idna.encode(name, uts46=True).decode().lower()
    except idna.IDNAError as error:
        raise ValueError("no host") from error


def _number(name: str) -> ipaddress.IPv4Address | None:
    """An IPv4 address in any of the spellings that are read as one: `127.0.0.1`, `127.1`, `0x7f000001`."""
    parts = name.removesuffix(".").split(".")
    last = parts[-1]
    if not (last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last)):
        return None
    if len(parts) > 4:
        raise ValueError("no host")
    numbers = [_part(part) for part in parts]
    *firsts, end = numbers
    if any(number > 255 for number in firsts) or end >= 256 ** (5 - len(numbers)):
        raise ValueError("no host")
    return ipaddress.IPv4Address(end + sum(number << (8 * (3 - index)) for index, number in enumerate(firsts)))


def _part(part: str) -> int:
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    if not part.isascii() or not part.isdigit():
        raise ValueError("no host")
    return int(part, 8) if len(part) > 1 and part.startswith("0") else int(part)


def _normal(path: str) -> str:
    """The path encoded and without dot segments."""
    segments: list[str] = []
    written = path.split("/")[1:] if path else [""]
    for index, segment in enumerate(written):
        is_last = index == len(written) - 1
        match segment.lower().replace("%2e", "."):
            case "..":
                del segments[-1:]
            case ".":
                pass
            case _:
                segments.append(quote(segment, safe=_PATH_SAFE))
                continue
        if is_last:
            segments.append("")
    return "/" + "/".join(segments)
