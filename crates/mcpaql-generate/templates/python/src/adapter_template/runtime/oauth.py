"""OAuth 2.0 without a person: a token is fetched with client credentials or a refresh token, kept and renewed.

What always holds: calls that need a token meanwhile share one fetch and its outcome; a fetch outlives the call that
began it, so a rotated refresh token is never lost to a cancelled call; what the token endpoint says is read within a
limit of size and time, and no error repeats it beyond OAuth's own error word; every value is in the call's mask.
"""

from __future__ import annotations

import asyncio
import base64
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

import httpx2 as httpx

from . import jsontext
from .auth import Env, variables
from .errors import Code, OpError
from .http.response import read
from .http.send import send
from .secrets import Mask, Secret

if TYPE_CHECKING:
    from .bindings import OAuth2
    from .http.address import Network
    from .http.url import Url
    from .jsontext import Json

_PATIENCE = 30.0
"""Longest wait for a token, in seconds."""
_MAX_BYTES = 64 * 1024
"""Largest answer of a token endpoint that is read."""
_MARGIN = 60.0
"""A token is given up this long before it ends, or a tenth of its life where that is less."""
_LONGEST = 24 * 3600.0
"""A token that does not say how long it lives, or says forever, is kept no longer than this."""

_WORD = re.compile("[a-z_]{1,40}")


@dataclass(frozen=True, slots=True)
class _Keys:
    """What the environment says now."""

    id: Secret
    secret: Secret | None
    refresh: Secret | None

    @staticmethod
    def read(oauth: OAuth2, env: Env) -> _Keys:
        def optional(name: str | None) -> Secret | None:
            return None if name is None else env.require(name)

        client = env.require(oauth.client_id_env)
        return _Keys(client, optional(oauth.client_secret_env), optional(oauth.refresh_token_env))

    def hide(self, mask: Mask) -> None:
        for secret in (self.secret, self.refresh):
            if secret is not None:
                mask.add(secret.expose())
        mask.add(self.basic())

    def basic(self) -> str:
        """RFC 6749, 2.3.1: both halves are form-encoded first."""
        secret = "" if self.secret is None else _form_encoded(self.secret.expose())
        return f"{_form_encoded(self.id.expose())}:{secret}"


def _form_encoded(text: str) -> str:
    return quote_plus(text, safe="*").replace("~", "%7E")


@dataclass(slots=True)
class _Grant:
    """One way to get a token, and the token."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    fetches: int = 0
    """Fetches that have ended."""
    keys: _Keys | None = None
    """What the token was fetched with: another value in the environment makes another token."""
    token: Secret | None = None
    until: float = 0.0
    rotated: Secret | None = None
    """The refresh token that replaced the one in the environment."""
    in_body: bool = False
    """This server takes the client's secret in the body alone."""
    failure: OpError | None = None
    """How the last fetch failed, for those who waited for it."""


@dataclass(frozen=True, slots=True)
class Issued:
    """A token that a call uses."""

    token: Secret
    _grant: _Grant

    async def give_up(self) -> None:
        """The API refused it; unless another call has renewed it already, the next one fetches."""
        async with self._grant.lock:
            if self._grant.token == self.token:
                self._grant.token = None


class Tokens:
    """The tokens of a target, one for each way to get one."""

    def __init__(self, network: Network, user_agent: str) -> None:
        """Fetched through that network."""
        self._network = network
        self._user_agent = user_agent
        self._grants: dict[OAuth2, _Grant] = {}
        self._renewing: set[asyncio.Task[Secret]] = set()

    async def issue(self, oauth: OAuth2, env: Env, mask: Mask) -> Issued:
        """A token that is good for a while: the one there is, or a new one."""
        keys = _Keys.read(oauth, env)
        keys.hide(mask)
        grant = self._grants.setdefault(oauth, _Grant())
        # On a task of its own: a call that is cancelled must not lose a rotated refresh token.
        task = asyncio.create_task(self._renewed(oauth, keys, grant, grant.fetches))
        self._renewing.add(task)
        task.add_done_callback(self._renewing.discard)
        token = await asyncio.shield(task)
        mask.add(token.expose())
        return Issued(token, grant)

    async def _renewed(self, oauth: OAuth2, keys: _Keys, grant: _Grant, seen: int) -> Secret:
        async with grant.lock:
            if grant.keys != keys:
                grant.keys, grant.token, grant.rotated = keys, None, None
                grant.in_body, grant.failure = False, None
            if grant.token is not None and time.monotonic() < grant.until:
                return grant.token
            # A fetch that this call waited for has failed.
            if grant.failure is not None and grant.fetches != seen:
                raise grant.failure
            url = self._network.resolve(oauth.token_url)
            try:
                token = await _Fetch(self._network, self._user_agent, grant, url, oauth, keys).token()
            except OpError as error:
                grant.failure = error
                raise
            finally:
                grant.fetches += 1
            grant.token, grant.failure = token, None
            return token


@dataclass(frozen=True, slots=True)
class _Said:
    """What the endpoint said."""

    status: int
    body: Json

    def text(self, key: str) -> str | None:
        value = self.body.get(key) if isinstance(self.body, dict) else None
        return value if isinstance(value, str) else None

    def refuses_client(self) -> bool:
        """Whether the endpoint did not understand who the client is."""
        error = self.text("error")
        return error is None or error in ("invalid_client", "invalid_request", "unauthorized_client")

    @property
    def is_success(self) -> bool:
        return 200 <= self.status <= 299


@dataclass(frozen=True, slots=True)
class _Fetch:
    """One visit to the token endpoint."""

    network: Network
    user_agent: str
    grant: _Grant
    url: Url
    oauth: OAuth2
    keys: _Keys

    async def token(self) -> Secret:
        try:
            async with asyncio.timeout(_PATIENCE):
                return await self._token()
        except TimeoutError:
            raise _unreachable("no answer in time") from None
        except httpx.HTTPError as error:
            raise _unreachable(type(error).__name__) from None

    async def _token(self) -> Secret:
        refresh = self.grant.rotated or self.keys.refresh
        started = time.monotonic()
        in_body = self.grant.in_body or self.keys.secret is None
        said = await self._ask(refresh, in_body=in_body)
        if said.status in (400, 401) and not in_body and said.refuses_client():
            in_body = True
            said = await self._ask(refresh, in_body=in_body)
        access = said.text("access_token") if said.is_success else None
        if access is None:
            raise self._refused(said)
        self.grant.in_body = in_body
        rotated = said.text("refresh_token")
        if rotated is not None and refresh is not None:
            self.grant.rotated = Secret(rotated)
        self.grant.until = started + _usable_for(said.body)
        return Secret(access)

    async def _ask(self, refresh: Secret | None, *, in_body: bool) -> _Said:
        form = {"grant_type": "client_credentials"}
        if refresh is not None:
            form = {"grant_type": "refresh_token", "refresh_token": refresh.expose()}
        if self.oauth.scopes:
            form["scope"] = " ".join(self.oauth.scopes)
        headers = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded"}
        if in_body:
            form["client_id"] = self.keys.id.expose()
            if self.keys.secret is not None:
                form["client_secret"] = self.keys.secret.expose()
        else:
            headers["authorization"] = f"Basic {base64.b64encode(self.keys.basic().encode()).decode()}"
        content = "&".join(f"{key}={_form_encoded(value)}" for key, value in form.items()).encode()
        headers["user-agent"] = self.user_agent
        response = await send(self.network, "POST", self.url, headers, content)
        try:
            bytes_read = bytearray()
            if not await read(response, _MAX_BYTES, bytes_read):
                bytes_read.clear()
        finally:
            await response.aclose()
        try:
            body = jsontext.read(bytes_read.decode())
        except ValueError:
            body = None
        return _Said(response.status_code, body)

    def _refused(self, said: _Said) -> OpError:
        if said.status >= 500 or said.status == 429:
            return _unreachable(f"status {said.status}")
        # OAuth's own words have this shape; anything else might repeat what was sent.
        word = said.text("error") or ""
        if _WORD.fullmatch(word):
            what = f"refused the credentials ({word})"
        elif said.is_success:
            what = "answered without a token"
        else:
            what = f"refused the credentials with status {said.status}"
        names = variables(self.oauth)
        message = (
            f"The service that issues tokens for this API {what}; tell the user to check the environment variables "
            f"{', '.join(names)} of this server."
        )
        return OpError(Code.PERMISSION_DENIED, message).detail("variables", [*names])


def _usable_for(body: Json) -> float:
    """How long a token is used that says how many seconds it lives."""
    life = body.get("expires_in") if isinstance(body, dict) else None
    try:
        seconds = float(life) if isinstance(life, (str, int, float)) and not isinstance(life, bool) else -1.0
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        return _LONGEST
    life = min(seconds, _LONGEST)
    return life - min(_MARGIN, life / 10)


def _unreachable(cause: str) -> OpError:
    message = "The service that issues tokens for this API could not be reached; try later or tell the user."
    return OpError(Code.TRANSPORT_CONNECTION, message).because(cause)
