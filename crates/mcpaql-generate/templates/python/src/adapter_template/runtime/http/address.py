"""Addresses that a document names: with their variables filled in, checked, and with a client that reaches them.

What always holds: an address is `https`, or `http` to this machine, or `http` where the document allows it; it holds
neither credentials nor a fragment. Variables are read on every call, like those of headers.

Proxies: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` of the process are honoured as usual, except that a
loopback target is always reached directly.
"""

from __future__ import annotations

from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

import httpx2 as httpx

from ..environment import Template, Unset, plain
from ..errors import Code, OpError
from .errors import SetupError
from .url import Scheme, Url, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..bindings import HttpTarget

_NOT_CLOSED = "the base URL holds a ${env:NAME} that is not closed"


class Network:
    """How a target reaches other machines."""

    def __init__(self, target: HttpTarget, environ: Mapping[str, str], *, queries: bool = False) -> None:
        """With the target's rules and time limits; `queries` for addresses that are whole and may have one."""
        self._queries = queries
        self._allow_http = target.allow_http
        self._environ = environ
        self._timeout = httpx.Timeout(None, connect=target.connect_timeout_ms / 1000)
        self._clients: dict[bool, httpx.AsyncClient] = {}

    def check(self, text: str) -> None:
        """Checks the address of the target; one with variables where they are set.

        Raises `SetupError`.
        """
        try:
            self._fill(_template(text))
        except Unset:
            return

    def resolve(self, text: str) -> Url:
        """The address behind a text of the document, for this call."""
        names: list[str] = []
        try:
            template = _template(text)
            names = [variable.name for variable in template.variables()]
            return self._fill(template)
        except Unset as unset:
            message = (
                "The address of this API is not set up; tell the user to set the environment variable "
                f"{unset.name} for this server and to start it again."
            )
            raise OpError(Code.INTERNAL, message).detail("variable", unset.name) from None
        except SetupError as error:
            whom = "tell the operator to correct it in the document"
            if names:
                whom = f"tell the user to correct the environment variables it is made of: {', '.join(names)}"
            message = f"The address of this API cannot be used; {whom}."
            raise OpError(Code.INTERNAL, message).because(error) from None

    def client(self, url: Url) -> httpx.AsyncClient:
        """The client that reaches the address; loopback addresses are reached without a proxy."""
        local = url.is_loopback()
        if local not in self._clients:
            self._clients[local] = httpx.AsyncClient(
                trust_env=not local,
                timeout=self._timeout,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=90),
                follow_redirects=False,
                # An API is no browser's site: nothing is kept between calls.
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            )
        return self._clients[local]

    @property
    def timeout(self) -> dict[str, float | None]:
        """What a request carries along for the connection."""
        return self._timeout.as_dict()

    async def close(self) -> None:
        """Ends all connections."""
        for client in self._clients.values():
            await client.aclose()

    def _fill(self, template: Template) -> Url:
        return self._checked(template.fill(lambda name: plain(self._environ, name)))

    def _checked(self, text: str) -> Url:
        try:
            url = parse(text)
        except Scheme:
            raise SetupError("the base URL is neither https nor http") from None
        except ValueError:
            raise SetupError("the base URL is not an absolute URL; write https://host/path") from None
        if url.has_user:
            raise SetupError(
                "the base URL holds credentials; put them into environment variables and name those in auth",
            )
        if (url.query is not None and not self._queries) or url.has_fragment:
            raise SetupError("the base URL holds a query or a fragment; declare parameters instead")
        if url.scheme == "http" and not self._allow_http and not url.is_loopback():
            raise SetupError(
                "the base URL uses plain http to another machine; use https, or set allow_http in the target",
            )
        return url


def _template(text: str) -> Template:
    try:
        return Template.parse(text)
    except ValueError:
        raise SetupError(_NOT_CLOSED) from None
