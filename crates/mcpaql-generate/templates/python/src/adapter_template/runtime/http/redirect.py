"""Which redirects are followed, and what goes along.

What always holds: credentials, and every header and body of the call, stay with the origin they were meant for; once a
call left it, it never carries them again, not even back home. A redirect never goes from `https` to `http`, never from
the outside to this machine, and never repeats a write elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .url import Scheme, Url

if TYPE_CHECKING:
    from ..secrets import Mask
    from .request import Outgoing

MAX_HOPS = 5
"""How many redirects one call follows."""

STATUSES = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Hop:
    """One request of a call: the first, or one that a redirect asked for."""

    outgoing: Outgoing
    trusted: bool
    """Whether credentials go along."""


class Refused(Exception):
    """A redirect that is not followed, with the reason for the log."""


def step(hop: Hop, status: int, location: bytes | None, mask: Mask, *, allow_http: bool) -> Hop | None:
    """Where an answer leads; nowhere where it is no redirect.

    Raises `Refused` for one that is not followed.
    """
    if status not in STATUSES:
        return None
    outgoing = hop.outgoing
    to = _location(outgoing.url, location)
    _may_go(outgoing.url, to, allow_http=allow_http)
    same_origin = to.origin == outgoing.url.origin
    if not same_origin and mask.finds(str(to)):
        raise Refused("the location carries a credential to another origin")
    read = outgoing.method in ("GET", "HEAD")
    becomes_get = status == 303 and outgoing.method != "HEAD"
    if not read and not becomes_get:
        if status not in (307, 308):
            raise Refused("a write is not repeated as another request")
        if not same_origin:
            raise Refused("a write is not sent to another origin")
    trusted = hop.trusted and same_origin
    return Hop(_next(outgoing, to, becomes_get=becomes_get, trusted=trusted), trusted)


def _location(here: Url, location: bytes | None) -> Url:
    if location is None:
        raise Refused("no usable location")
    try:
        text = location.decode()
    except UnicodeDecodeError:
        raise Refused("no usable location") from None
    try:
        return here.join(text)
    except Scheme:
        raise Refused("neither http nor https") from None
    except ValueError:
        raise Refused("the location is no URL") from None


def _next(outgoing: Outgoing, url: Url, *, becomes_get: bool, trusted: bool) -> Outgoing:
    method, body, headers = outgoing.method, outgoing.body, dict(outgoing.headers)
    if becomes_get:
        method, body = "GET", None
        headers.pop("content-type", None)
    if not trusted:
        body = None
        headers = {name: value for name, value in headers.items() if name == "accept"}
    return replace(outgoing, method=method, url=url, headers=headers, body=body)


def _may_go(here: Url, to: Url, *, allow_http: bool) -> None:
    if to.has_user:
        raise Refused("the location holds user information")
    if to.scheme == "http":
        if here.scheme == "https":
            raise Refused("https to http")
        if not allow_http and not to.is_loopback():
            raise Refused("plain http to another machine")
    if to.is_local() and not here.is_local():
        raise Refused("from the outside to this machine")
