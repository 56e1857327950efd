"""The HTTP target: one operation is one request to one API, with one pooled client.

What always holds: the whole call, with its redirects and retries, ends within the target's timeout; credentials go to
the origin that the document names alone; cancelling the call aborts the request; logs name the method, the path's
template, the status and the duration, never a value.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx2 as httpx

from ..auth import Credentials, Env, Reserved
from ..environment import Template
from ..errors import Code, OpError
from ..oauth import Tokens
from ..response import Answer, Notice
from . import headers as heads
from . import redirect, response, retry, style
from .address import Network
from .errors import SetupError, unusable_document
from .failure import READ_BYTES, Refusal
from .multipart import random_boundary
from .redirect import Hop
from .request import Frame, build
from .send import send

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..bindings import Args, Auth, HttpRequest, HttpTarget
    from ..secrets import Mask
    from .url import Url

_log = logging.getLogger(__name__)

_EARLY = 0.01
"""An error's body is read until so many seconds before the deadline: what arrived of it is better than a timeout."""


class HttpClient:
    """The HTTP target."""

    def __init__(self, target: HttpTarget, environ: Mapping[str, str]) -> None:
        """Raises `SetupError`; a variable that is not set is an error of the calls, not of the setup."""
        self.target = target
        self.env = Env(environ)
        self.network = Network(target, environ)
        self.network.check(target.base_url)
        self.tokens = Tokens(self.network, target.user_agent)
        # What the target's headers keep for the server, whatever the way of authentication.
        self._fixed = Reserved()
        self._headers, self.secret_headers = target_headers(target, self._fixed)
        self._reserved = self._fixed.copy()
        try:
            self._reserved.add(target.auth)
        except ValueError as error:
            raise SetupError(f"the header '{error}' is not a header name; correct it in auth") from None

    async def call(self, request: HttpRequest, args: Args, limit_ms: int | None = None) -> Answer:
        """Runs one call whose arguments are validated and completed with defaults; `limit_ms` for the target's timeout.

        Raises `OpError` for what the API, or the way to it, had against the call.
        """
        base = self.network.resolve(request.base_url or self.target.base_url)
        auth, reserved = self._authentication(request.auth)
        outgoing = build(Frame(base, self._headers, reserved, random_boundary), request, args)
        started = time.monotonic()
        timeout_ms = self.target.timeout_ms if limit_ms is None else limit_ms
        deadline = asyncio.get_running_loop().time() + timeout_ms / 1000
        call = _Call(self, request, args, auth, deadline)
        error: OpError | None = None
        try:
            async with asyncio.timeout_at(deadline):
                return await call.run(Hop(outgoing, trusted=True))
        except TimeoutError:
            error = _timed_out(timeout_ms)
            raise error from None
        except OpError as failed:
            error = failed
            raise
        finally:
            elapsed = time.monotonic() - started
            outcome = f"failed with {error.code}: {error.log_cause}" if error else "answered"
            _log.debug("%s %s %s %s in %.3f s", request.method, request.path, call.status, outcome, elapsed)

    async def close(self) -> None:
        """Ends all connections."""
        await self.network.close()

    def _authentication(self, own: Auth | None) -> tuple[Auth, Reserved]:
        """The operation's own way of authentication, else the target's, and what it keeps for the server."""
        if own is None:
            return self.target.auth, self._reserved
        reserved = self._fixed.copy()
        try:
            reserved.add(own)
        except ValueError as error:
            raise unusable_document(f"header name {error} in auth") from None
        return own, reserved


def _timed_out(milliseconds: int) -> OpError:
    message = (
        f"The API did not answer within {milliseconds} ms; try later, and after a write first read whether it took "
        "effect."
    )
    return OpError(Code.TRANSPORT_TIMEOUT, message)


def target_headers(target: HttpTarget, reserved: Reserved) -> tuple[heads.Headers, dict[str, Template]]:
    """The target's headers, plain and secret, and what they keep for the server."""
    plain: heads.Headers = {}
    secret: dict[str, Template] = {}
    for name, value in target.headers.items():
        header = heads.name_of(name)
        if header is None:
            raise SetupError(f"the header '{name}' is not a header name; correct it")
        if header in heads.FRAMING:
            raise SetupError(f"the header '{name}' is set by the connection itself; remove it from the target")
        if header == "cookie":
            reserved.cookies.update(pair.partition("=")[0].strip() for pair in value.split(";"))
        try:
            template = Template.parse(value)
        except ValueError:
            raise SetupError(f"the header '{name}' holds a ${{env:NAME}} that is not closed") from None
        if template.variables():
            reserved.headers.add(header)
            secret[header] = template
        elif heads.is_sendable(value):
            plain[header] = value
        else:
            raise SetupError(f"the header '{name}' holds characters that cannot be sent; correct its value")
    return plain, secret


def signed(hop: Hop, credentials: Credentials, user_agent: str) -> tuple[Url, heads.Headers]:
    """The address and the headers of a hop, with credentials where they may go along."""
    url, headers = hop.outgoing.url, dict(hop.outgoing.headers)
    # Whoever we are, it is no secret: an address that we are led to may know it.
    headers.setdefault("user-agent", user_agent)
    if not hop.trusted:
        return url, headers
    cookies = [headers.get("cookie", ""), credentials.headers.get("cookie", "")]
    cookies += [f"{name}={secret.expose()}" for name, secret in credentials.cookies]
    headers.update(credentials.headers)
    if any(cookies):
        headers["cookie"] = heads.join_cookies(*cookies)
    for name, key in credentials.query:
        # A redirect may have kept it.
        if name not in url.query_names():
            pairs = style.Pairs(url.query or "")
            pairs.push(style.encode(name), style.encode(key.expose()))
            url = replace(url, query=pairs.text())
    return url, headers


class _Call:
    """One call on its way: attempts, redirects, a renewed token, and what becomes of the answer."""

    def __init__(self, client: HttpClient, request: HttpRequest, args: Args, auth: Auth, deadline: float) -> None:
        self._client = client
        self._request = request
        self._args = args
        self._auth = auth
        # What the last attempt was made with.
        self._credentials = Credentials()
        self._deadline = deadline
        # Of the last answer, for the log; 0 without one.
        self.status = 0

    async def run(self, first: Hop) -> Answer:
        """Attempts until an answer is final, then reads it."""
        await self._sign_in()
        attempts = self._client.target.retries if self._request.repeatable else 0
        repetition = 0
        renewed = False
        while True:
            backoff = retry.delay(repetition)
            wait: float | None = backoff
            try:
                hop, answer = await self._follow(first)
            except httpx.HTTPError as error:
                if repetition >= attempts or backoff >= self._left():
                    raise self._broken(error) from None
            else:
                async with aclosing(answer):
                    refused = hop.trusted and answer.status_code == 401
                    # A request that was refused had no effect, so it may be repeated, whatever it does; once.
                    if refused and not renewed and await self._credentials.give_up():
                        renewed = True
                        await self._sign_in()
                        continue
                    asked = retry.retry_after(response.header(answer, "retry-after"))
                    wait = retry.wait_after(answer.status_code, asked, backoff, self._left())
                    if wait is None or repetition >= attempts:
                        return await self._conclude(hop, answer, repeated=repetition > 0)
            repetition += 1
            await asyncio.sleep(wait or 0)

    def _left(self) -> float:
        return self._deadline - asyncio.get_running_loop().time()

    async def _sign_in(self) -> None:
        """Reads or fetches the credentials; what was hidden before stays hidden."""
        client = self._client
        credentials = await Credentials.read(self._auth, client.secret_headers, client.env, client.tokens)
        credentials.mask.join(self._credentials.mask)
        self._credentials = credentials

    async def _follow(self, hop: Hop) -> tuple[Hop, httpx.Response]:
        """One attempt, with its redirects."""
        allow_http = self._client.target.allow_http
        for _ in range(redirect.MAX_HOPS + 1):
            answer = await self._send(hop)
            self.status = answer.status_code
            try:
                location = response.raw_header(answer, "location")
                following = redirect.step(
                    hop, answer.status_code, location, self._credentials.mask, allow_http=allow_http
                )
            except redirect.Refused as reason:
                await answer.aclose()
                raise refused_redirect(answer.status_code, str(reason)) from None
            if following is None:
                return hop, answer
            await answer.aclose()
            hop = following
        raise refused_redirect(302, "too many redirects")

    async def _send(self, hop: Hop) -> httpx.Response:
        """The request of a hop, with credentials where they may go along."""
        url, headers = signed(hop, self._credentials, self._client.target.user_agent)
        content = None
        if hop.outgoing.body is not None:
            headers["content-length"] = str(hop.outgoing.body.length)
            content = hop.outgoing.body.content
        return await send(self._client.network, hop.outgoing.method, url, headers, content)

    async def _conclude(self, hop: Hop, answer: httpx.Response, *, repeated: bool) -> Answer:
        status = answer.status_code
        if 200 <= status <= 299:
            return await self._success(hop.outgoing.method, answer)
        if status == 304:
            notice = Notice("NOT_MODIFIED", "Nothing changed since the version that the call named.")
            return Answer(None, [notice])
        raise await self._failure(answer, repeated=repeated)

    async def _success(self, method: str, answer: httpx.Response) -> Answer:
        mask = self._credentials.mask
        if method == "HEAD":
            return response.head(answer, mask)
        if answer.status_code in (204, 205):
            return Answer(None)
        limit = self._client.target.max_response_bytes
        declared = response.declared_length(answer)
        if declared is not None and declared > limit:
            raise response.too_large(limit)
        body = bytearray()
        try:
            whole = await response.read(answer, limit, body)
        except httpx.HTTPError as error:
            raise self._broken(error) from None
        if not whole:
            raise response.too_large(limit)
        return response.decode(response.header(answer, "content-type"), bytes(body), mask)

    async def _failure(self, answer: httpx.Response, *, repeated: bool) -> OpError:
        body = bytearray()
        whole = False
        # What arrived of a slow or broken error is enough: the status is known.
        try:
            async with asyncio.timeout_at(self._deadline - _EARLY):
                limit = min(self._client.target.max_response_bytes, READ_BYTES)
                whole = await response.read(answer, limit, body)
        except (TimeoutError, httpx.HTTPError):
            pass
        refusal = Refusal(
            answer.status_code,
            response.raw_header(answer, "content-type") or b"",
            response.header(answer, "retry-after"),
            bytes(body),
            cut=not whole,
        )
        error = refusal.error(self._error_mask())
        if repeated and error.code is Code.NOT_FOUND_RESOURCE and self._request.removes:
            error.message += " An earlier attempt of this very call may have removed it."
        return error

    def _broken(self, error: httpx.HTTPError) -> OpError:
        message = (
            "The connection to the API broke before the answer was complete; try later, and after a write first read "
            "whether it took effect."
        )
        if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)):
            message = "The API could not be reached; try later or tell the user."
        cause = self._error_mask().apply(f"{type(error).__name__}: {error}")
        return OpError(Code.TRANSPORT_CONNECTION, message).because(cause)

    def _error_mask(self) -> Mask:
        """Credentials, and the values of parameters that must not be echoed."""
        mask = self._credentials.mask.copy()
        sensitive = (param.name for param in self._request.params if param.sensitive)
        mask.add_values(self._args[name] for name in sensitive if name in self._args)
        return mask


def refused_redirect(status: int, reason: str) -> OpError:
    """A redirect was not followed; `reason` is for the log."""
    message = (
        f"The API answered {status} with a redirect that is not safe to follow; tell the operator to check the address."
    )
    return OpError(Code.INTERNAL, message).detail("upstream", {"status": status}).because(reason)
