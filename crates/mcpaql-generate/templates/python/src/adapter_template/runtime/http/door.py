"""Requests to one whole address that no operation describes, with the same care as calls.

What always holds: credentials stay with the address's origin, a redirect never leaves it, and what must not be shown
comes along as a mask.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx2 as httpx

from ..auth import Credentials, Env, Reserved
from ..bindings import HttpTarget
from ..oauth import Tokens
from ..secrets import Mask
from . import redirect, response
from .address import Network
from .client import refused_redirect, signed, target_headers
from .errors import SetupError
from .failure import READ_BYTES, Refusal
from .redirect import Hop
from .request import Outgoing
from .send import send

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..bindings import Auth, McpAddress
    from ..errors import OpError
    from .headers import Headers


@dataclass(frozen=True, slots=True)
class Opened:
    """An answer, and what must not be shown of it. Whoever holds it closes the answer."""

    response: httpx.Response
    mask: Mask

    async def refusal(self) -> tuple[bytes, OpError]:
        """The body of an answer that is no success, as far as it is read, and what the caller is told otherwise."""
        body = bytearray()
        is_whole = False
        # What arrived of a broken error is enough: the status is known.
        with contextlib.suppress(httpx.HTTPError):
            is_whole = await response.read(self.response, READ_BYTES, body)
        refusal = Refusal(
            self.response.status_code,
            response.raw_header(self.response, "content-type") or b"",
            response.header(self.response, "retry-after"),
            bytes(body),
            cut=not is_whole,
        )
        return bytes(body), refusal.error(self.mask)


class Broken(Exception):
    """Nobody could be reached, or the connection broke; what happened, without addresses and secrets."""

    def __init__(self, error: httpx.HTTPError, mask: Mask) -> None:
        """`mask` hides what the request was made with."""
        super().__init__(mask.apply(f"{type(error).__name__}: {error}"))
        self.is_unreachable = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError))
        """Nothing was sent."""


class Door:
    """One address, and how to be let in."""

    def __init__(self, address: McpAddress, auth: Auth, environ: Mapping[str, str]) -> None:
        """Raises `SetupError`; a variable that is not set is an error of the requests, not of the setup."""
        target = HttpTarget(address.url, address.headers, auth, address.allow_http)
        self._target = target
        self._env = Env(environ)
        self._network = Network(target, environ, queries=True)
        self._network.check(target.base_url)
        self._tokens = Tokens(self._network, target.user_agent)
        reserved = Reserved()
        self._headers, self._secret_headers = target_headers(target, reserved)
        try:
            reserved.add(auth)
        except ValueError as error:
            raise SetupError(f"the header '{error}' is not a header name; correct it in auth") from None

    async def send(self, method: str, headers: Headers, body: bytes | None = None) -> Opened:
        """One request. A token that is refused is fetched anew, once.

        Raises `OpError` where credentials are missing or a redirect is not followed, `Broken` where nobody answers.
        """
        mask = Mask()
        renewed = False
        while True:
            credentials = await Credentials.read(self._target.auth, self._secret_headers, self._env, self._tokens)
            mask.join(credentials.mask)
            answer = await self._follow(method, headers, body, credentials)
            if answer.status_code != 401 or renewed or not await credentials.give_up():
                return Opened(answer, mask)
            await answer.aclose()
            renewed = True

    async def close(self) -> None:
        """Ends all connections."""
        await self._network.close()

    async def _follow(
        self, method: str, headers: Headers, body: bytes | None, credentials: Credentials
    ) -> httpx.Response:
        url = self._network.resolve(self._target.base_url)
        hop = Hop(Outgoing(method, url, {**self._headers, **headers}, None), trusted=True)
        for _ in range(redirect.MAX_HOPS + 1):
            place, all_headers = signed(hop, credentials, self._target.user_agent)
            if body is not None:
                all_headers["content-length"] = str(len(body))
            try:
                answer = await send(self._network, method, place, all_headers, body)
            except httpx.HTTPError as error:
                raise Broken(error, credentials.mask) from None
            status = answer.status_code
            try:
                location = response.raw_header(answer, "location")
                following = redirect.step(hop, status, location, credentials.mask, allow_http=self._target.allow_http)
            except redirect.Refused as reason:
                await answer.aclose()
                raise refused_redirect(status, str(reason)) from None
            if following is None:
                return answer
            await answer.aclose()
            if not following.trusted or following.outgoing.method != method:
                raise refused_redirect(status, "it leads to another origin")
            hop = following
        raise refused_redirect(302, "too many redirects")
