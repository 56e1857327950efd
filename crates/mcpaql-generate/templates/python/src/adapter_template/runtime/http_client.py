"""The HTTP target: retries, redirects and new tokens within one deadline. Credentials go to their own origin only."""

import asyncio
import ipaddress
import random
import re
import socket
from collections.abc import Mapping
from contextlib import aclosing, suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpcore2
import httpx2 as httpx

from . import http_messages as messages
from . import styles
from .auth import Authenticator, Credentials, reserved
from .errors import OpError, check_limit
from .http_messages import Args, Outgoing, Request, build
from .requests import Answer, Auth
from .secrets import Mask, filled

_MAX_REDIRECTS, _MAX_HEADERS, _BACKOFF_SECONDS, _MAX_BACKOFF_SECONDS = 5, 100, 0.2, 5.0
httpcore2.AsyncHTTP11Connection.MAX_INCOMPLETE_EVENT_SIZE = 400 * 1024  # all headers together
_EARLY_SECONDS = 0.01  # reading an error's body ends this long before the deadline: part of it is better than a timeout


def _is_local(url: httpx.URL, *, only_loopback: bool = False) -> bool:
    """Whether the host is loopback, unspecified or link-local, in any notation such as `127.1` or `0x7f000001`."""
    host = url.host.rstrip(".")
    try:
        address = ipaddress.ip_address(host if ":" in host else socket.inet_aton(host))
    except (OSError, ValueError):
        return f".{host}".endswith(".localhost")
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or (not only_loopback and (address.is_unspecified or address.is_link_local))


async def _received(response: httpx.Response) -> None:
    if len(response.headers.raw) > _MAX_HEADERS or len(messages.header(response, "content-length") or "") > 19:
        raise httpx.RemoteProtocolError("too many headers, or an impossible length")
    # httpx2 fails on an invalid location even if it does not follow redirects.
    response.extensions["location"] = messages.header(response, "location", rb"[\t -~\x80-\xff]*")
    response.headers.pop("location", None)


def _unsafe(response: httpx.Response, reason: str) -> OpError:
    upstream = {"status": response.status_code}
    return OpError("INTERNAL_ERROR", "The API sent an unsafe redirect; tell the user.", reason, upstream=upstream)


class HttpClient:
    """Sends the requests of one target."""

    def __init__(self, target: Mapping[str, Any]) -> None:
        self.target = target
        self._clients: dict[bool, httpx.AsyncClient] = {}
        headers: dict[str, str] = {name.lower(): value for name, value in target["headers"].items()}
        secret = {name: value for name, value in headers.items() if "${" in value}
        self._headers = {name: value for name, value in headers.items() if name not in secret}
        cookies = (pair.partition("=")[0].strip() for pair in headers.get("cookie", "").split(";"))
        self._reserved = {*(("header", name) for name in secret), *(("cookie", name) for name in cookies)}
        self.authenticator = Authenticator(self.reach, secret)

    async def close(self) -> None:
        for client in self._clients.values():
            await client.aclose()

    async def call(self, request: Request, args: Args) -> Answer:
        auth: Auth = (self.target["auth"] if request.auth is None else request.auth) or {}
        base, _ = self.reach(request.base_url or self.target["base_url"])
        outgoing = build(base, self._headers, self._reserved | reserved(auth), request, args)
        milliseconds = self.target["timeout_ms"]
        deadline = asyncio.get_running_loop().time() + milliseconds / 1000
        try:
            async with asyncio.timeout_at(deadline):
                return await _Call(self, request, args, auth, deadline).run(outgoing)
        except TimeoutError:
            raise OpError("TRANSPORT_TIMEOUT", f"No answer within {milliseconds} ms; a write may be done.") from None

    def reach(self, text: str) -> tuple[httpx.URL, httpx.AsyncClient]:
        """Returns a URL of the document with its variables filled in, and the client for it."""
        try:
            url = httpx.URL(filled(text))
            if self.accepts(url) and not url.query and not url.fragment:
                return url, self.client(url)
            reason: object = "it must be an https URL without credentials, query and fragment, unless allow_http is set"
        except (KeyError, ValueError, httpx.InvalidURL) as error:
            reason = error
        raise OpError("INTERNAL_ERROR", "The address of this API is not set up; tell the user.", reason)

    def accepts(self, url: httpx.URL) -> bool:
        plain = self.target["allow_http"] or _is_local(url, only_loopback=True)
        names_a_host = re.fullmatch(r"[\w.:-]+", url.host) is not None
        return names_a_host and not url.userinfo and (url.scheme == "https" or (url.scheme == "http" and plain))

    def client(self, url: httpx.URL) -> httpx.AsyncClient:
        local = _is_local(url, only_loopback=True)
        if local not in self._clients:
            timeout = httpx.Timeout(None, connect=self.target["connect_timeout_ms"] / 1000)
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=90)
            network: Any = {"trust_env": not local, "timeout": timeout, "limits": limits}
            jar = CookieJar(DefaultCookiePolicy(allowed_domains=[]))  # stores no cookies
            agent, hooks = {"user-agent": "mcpaql/__GENERATOR_VERSION__"}, {"response": [_received]}
            self._clients[local] = httpx.AsyncClient(headers=agent, event_hooks=hooks, cookies=jar, **network)
        return self._clients[local]


class _Call:
    def __init__(self, client: HttpClient, request: Request, args: Args, auth: Auth, deadline: float) -> None:
        self._client, self._request, self._args, self._auth, self._deadline = client, request, args, auth, deadline
        self._credentials, self._mask = Credentials(), Mask()

    async def run(self, first: Outgoing) -> Answer:
        sign_in, clock = self._client.authenticator.read, asyncio.get_running_loop().time
        self._credentials = await sign_in(self._auth, self._mask)
        attempts, repetition, renewed = self._client.target["retries"] if self._request.repeatable else 0, 0, False
        while True:
            wait = min(_BACKOFF_SECONDS * 2.0**repetition, _MAX_BACKOFF_SECONDS) * random.uniform(0.5, 1)  # noqa: S311
            try:
                hop, response = await self._follow(first)
            except httpx.HTTPError as error:
                if repetition >= attempts or clock() + wait >= self._deadline:
                    raise self._broken(error) from None
            else:
                async with aclosing(response):
                    status, asked = response.status_code, messages.retry_after(response)
                    # A rejected request had no effect, so even a write is sent again, once, with a new token.
                    if status == 401 and hop.trusted and not renewed and self._credentials.tokens:
                        renewed = True
                        for token, value in self._credentials.tokens:
                            token.forget(value)
                        self._credentials = await sign_in(self._auth, self._mask)
                        continue
                    wait = max(wait, asked or 0.0)
                    busy = status in (502, 503, 504) or (status == 429 and asked is not None)
                    if not busy or repetition >= attempts or clock() + wait >= self._deadline:
                        return await self._conclude(hop, response, repeated=repetition > 0)
            repetition += 1
            await asyncio.sleep(wait)

    async def _follow(self, hop: Outgoing) -> tuple[Outgoing, httpx.Response]:
        for _ in range(_MAX_REDIRECTS + 1):
            response = await self._send(hop)
            if response.status_code not in (301, 302, 303, 307, 308):
                return hop, response
            await response.aclose()
            hop = self._redirected(hop, response)
        raise _unsafe(response, "too many redirects")

    async def _send(self, hop: Outgoing) -> httpx.Response:
        url, headers, credentials = hop.url, {"accept-encoding": "gzip", **hop.headers}, self._credentials
        if hop.trusted:
            cookies = [headers.get("cookie"), credentials.headers.get("cookie"), *credentials.cookies]
            headers |= credentials.headers
            if any(cookies):
                headers["cookie"] = "; ".join(filter(None, cookies))
            # The location of a redirect may already contain the key.
            own = credentials.query.items()
            keys = [(styles.encode(name), styles.encode(key)) for name, key in own if name not in url.params]
            query = "&".join(filter(None, [url.query.decode(), styles.written(keys)]))
            url = url.copy_with(query=query.encode()) if keys else url
        client = self._client.client(url)
        pairs = [(name.encode(), value.strip(" \t").encode()) for name, value in headers.items()]
        request = client.build_request(hop.method, url, headers=pairs, content=hop.body)
        if not hop.body:
            request.headers.pop("content-length", None)
        try:
            return await client.send(request, stream=True, auth=None)
        except httpx.RemoteProtocolError as error:
            # The library reports status 101 as a protocol error.
            if "SWITCH" not in str(error):
                raise
            raise OpError("INTERNAL_ERROR", "The API switches protocols.", http_status=101) from None

    def _redirected(self, hop: Outgoing, response: httpx.Response) -> Outgoing:
        here, status, location = hop.url, response.status_code, response.extensions["location"]
        try:
            to = here.join((location or "").strip()).copy_with(fragment=None)
        except (httpx.InvalidURL, UnicodeError):
            raise _unsafe(response, "the location is not a URL") from None
        same = (to.scheme, to.netloc) == (here.scheme, here.netloc)
        becomes_get = status == 303 and hop.method != "HEAD"
        read = hop.method in ("GET", "HEAD") or becomes_get
        for reason, refused in (
            ("not an accepted URL", location is None or "\ufffd" in location or not self._client.accepts(to)),
            ("from https to http", here.scheme == "https" and to.scheme == "http"),
            ("from a remote host to this machine", _is_local(to) and not _is_local(here)),
            ("a credential would be sent to another origin", not same and self._mask.finds(str(to))),
            ("a write would be sent as another request", not read and (status not in (307, 308) or not same)),
        ):
            if refused:
                raise _unsafe(response, reason)
        trusted = hop.trusted and same
        headers = dict(hop.headers) if trusted else {"accept": hop.headers["accept"]}
        if becomes_get:
            headers.pop("content-type", None)
        body = hop.body if trusted and not becomes_get else None
        return Outgoing("GET" if becomes_get else hop.method, to, headers, body, trusted)

    async def _conclude(self, hop: Outgoing, response: httpx.Response, *, repeated: bool) -> Answer:
        status, body, target = response.status_code, bytearray(), self._client.target
        limit, failures = target["max_response_bytes"], target["failures"]
        if status == 304:
            return Answer(None, None, [("NOT_MODIFIED", "Nothing changed since the version of the call.")])
        if 200 <= status <= 299:
            if hop.method == "HEAD":
                shown = ((name, messages.header(response, name)) for name in messages.HEAD_HEADERS)
                headers = {name: self._mask.apply(value) for name, value in shown if value is not None}
                return Answer({"status": status, "headers": headers})
            if status in (204, 205):
                return Answer(None)
            try:
                if not await messages.read_body(response, limit, body):
                    check_limit("response_size", limit + 1, limit, "Ask for less with a page or a filter.")
            except httpx.HTTPError as error:
                raise self._broken(error) from None
            kind, request = messages.header(response, "content-type") or "", self._request
            answer = messages.decode(kind, bytes(body), self._mask, page=request.page)
            if request.error is not None:
                messages.refuse_failure(answer.data, request.error, failures, self._error_mask())
            return answer if request.result is None else messages.result(answer, request.result)
        whole = False
        # Part of the body is enough: the status already says that the call failed.
        with suppress(TimeoutError, httpx.HTTPError):
            async with asyncio.timeout_at(self._deadline - _EARLY_SECONDS):
                whole = await messages.read_body(response, min(limit, messages.MAX_ERROR_BYTES), body)
        failed = messages.failure(response, bytes(body), self._error_mask(), failures, cut=not whole)
        if repeated and self._request.removes:
            failed.message += " An earlier attempt of this very call may have removed it."
        raise failed

    def _error_mask(self) -> Mask:
        sensitive = (self._args.get(name) for name, param in self._request.params.items() if param.sensitive)
        return Mask([*self._mask.known, *sensitive])

    def _broken(self, error: httpx.HTTPError) -> OpError:
        cause = self._error_mask().apply(f"{type(error).__name__}: {error}")
        return OpError("TRANSPORT_CONNECTION_FAILED", "The connection failed; try later or tell the user.", cause)
