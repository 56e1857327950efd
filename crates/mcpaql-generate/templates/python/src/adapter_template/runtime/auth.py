"""Credentials of HTTP requests: read from variables on every call, and always added to the mask; tokens are cached."""

import asyncio
import base64
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, product
from typing import Any, TypeAlias
from urllib.parse import quote_plus

import httpx2 as httpx

from .errors import OpError
from .http_messages import read_body
from .requests import Auth
from .secrets import Mask, filled, variable
from .styles import read_json

Network: TypeAlias = Callable[[str], tuple[httpx.URL, httpx.AsyncClient]]
_FETCH_SECONDS, _MAX_LIFE_SECONDS, _MAX_TOKEN_BYTES = 30.0, 24 * 3600.0, 64 * 1024
_UNKNOWN_CLIENT = (None, "invalid_client", "invalid_request", "unauthorized_client")
_MARGIN_SECONDS = 60.0  # a token is renewed this long before it expires, or a tenth of its life if that is shorter


def _denied(reason: str, names: list[str]) -> OpError:
    return OpError("PERMISSION_DENIED", f"{reason}; tell the user to check {', '.join(names)}.", variables=names)


def _sendable(value: str, name: str, forbidden: str = r"[\x00-\x08\x0a-\x1f\x7f]") -> str:
    if re.search(forbidden, value):
        raise _denied("A credential has invalid characters", [name])
    return value


def _alternatives(auth: Auth) -> list[list[Auth]]:
    """Returns the alternatives, each a list of simple schemes that are used together."""
    found = [_alternatives(scheme or {}) for scheme in auth.get("of", ())]
    if auth.get("type") == "any":
        return list(chain.from_iterable(found))
    if auth.get("type") == "all":
        return [list(chain.from_iterable(schemes)) for schemes in product(*found)]
    return [[auth] if auth else []]


def reserved(auth: Auth) -> set[tuple[str, str]]:
    """Returns the places and names that credentials may use. Parameters must not set these."""
    schemes = chain.from_iterable(_alternatives(auth))
    found = {(one.get("in", "header"), one.get("header", one.get("name", "authorization"))) for one in schemes}
    return {(place, name.lower() if place == "header" else name) for place, name in found}


def _variables(schemes: Iterable[Auth]) -> list[str]:
    return list(dict.fromkeys(name for auth in schemes for key, name in auth.items() if key.endswith("_env") and name))


def _is_set(auth: Auth) -> bool:
    # A password may be empty: some APIs expect the secret as the user name.
    password = auth.get("password_env")
    return all(variable(name) or (name == password and name in os.environ) for name in _variables([auth]))


def _basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


class Token:
    """The token of one OAuth 2.0 scheme. Concurrent calls share one request for a token and its outcome."""

    def __init__(self, oauth: Auth, network: Network, client_id: str, secret: str, refresh: str) -> None:
        self._oauth, self._network, self._client_id, self._secret = oauth, network, client_id, secret
        self._refresh = refresh  # the service may replace it with every token
        self._in_body = not secret  # whether the service accepts the client's secret only in the body
        self._value, self._until = "", 0.0
        self._fetch: asyncio.Task[str] | None = None

    def forget(self, value: str) -> None:
        if self._value == value:
            self._value = ""

    async def value(self, mask: Mask) -> str:
        mask.add(self._refresh)
        if self._value and time.monotonic() < self._until:
            return self._value
        if self._fetch is None or self._fetch.done():
            # A separate task: a cancelled call must not lose a new refresh token.
            self._fetch = asyncio.create_task(self._fetched())
            self._fetch.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return await asyncio.shield(self._fetch)

    async def _fetched(self) -> str:
        started, scopes = time.monotonic(), " ".join(self._oauth["scopes"])
        form = {"grant_type": "refresh_token" if self._refresh else "client_credentials"}
        form |= {"refresh_token": self._refresh} if self._refresh else {}
        form |= {"scope": scopes} if scopes else {}
        in_body, cause = self._in_body, ""
        try:
            async with asyncio.timeout(_FETCH_SECONDS):
                status, said = await self._ask(form, in_body=in_body)
                if status in (400, 401) and not in_body and said.get("error") in _UNKNOWN_CLIENT:
                    in_body = True
                    status, said = await self._ask(form, in_body=True)
        except (TimeoutError, httpx.HTTPError) as error:
            status, said, cause = 503, {}, type(error).__name__
        token, rotated = said.get("access_token"), said.get("refresh_token")
        if not isinstance(token, str) or not 200 <= status <= 299:
            if status >= 500 or status == 429:
                raise OpError("TRANSPORT_CONNECTION_FAILED", "The token service failed; try later.", cause or status)
            raise _denied("The token service rejected the credentials", _variables([self._oauth]))
        if self._refresh and isinstance(rotated, str):
            self._refresh = rotated
        self._in_body, self._value = in_body, token
        life = _MAX_LIFE_SECONDS
        with suppress(TypeError, ValueError):
            told = float(said.get("expires_in", life))
            life = min(told, life) if told >= 0 else life
        self._until = started + life - min(_MARGIN_SECONDS, life / 10)
        return token

    async def _ask(self, form: dict[str, str], *, in_body: bool) -> tuple[int, Any]:
        url, client = self._network(self._oauth["token_url"])
        headers = {"accept": "application/json", "accept-encoding": "gzip"}
        if in_body:
            form = {**form, "client_id": self._client_id} | ({"client_secret": self._secret} if self._secret else {})
        else:
            # RFC 6749, section 2.3.1: both parts are form-encoded first.
            headers["authorization"] = _basic(quote_plus(self._client_id), quote_plus(self._secret))
        body, said = bytearray(), None
        async with client.stream("POST", url, data=form, headers=headers) as response:
            if await read_body(response, _MAX_TOKEN_BYTES, body):
                with suppress(ValueError):
                    said = read_json(body.decode())
        return response.status_code, said if isinstance(said, dict) else {}


@dataclass(slots=True)
class Credentials:
    """The credentials of one call."""

    headers: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    cookies: list[str] = field(default_factory=list)
    tokens: list[tuple[Token, str]] = field(default_factory=list)


class Authenticator:
    """Reads the credentials of one target and caches its tokens."""

    def __init__(self, network: Network, headers: Mapping[str, str]) -> None:
        self._network, self._headers = network, headers  # only headers that refer to environment variables
        self._tokens: dict[str, Token] = {}

    async def read(self, auth: Auth, mask: Mask) -> Credentials:
        found = Credentials()
        for name, template in self._headers.items():
            try:
                found.headers[name] = _sendable(filled(template, mask), f"of header {name}")
            except KeyError as unset:
                raise _denied("A credential is missing", list(unset.args)) from None
        alternatives = _alternatives(auth)
        schemes = next((schemes for schemes in alternatives if all(map(_is_set, schemes))), None)
        if schemes is None:
            raise _denied("A credential is missing", _variables(chain.from_iterable(alternatives)))
        for scheme in schemes:
            await self._add(found, scheme, mask)
        return found

    async def _add(self, found: Credentials, auth: Auth, mask: Mask) -> None:
        match auth:
            case {"type": "bearer", "token_env": name} | {"type": "api_key", "key_env": name}:
                mask.add(secret := variable(name))
                value, place = auth["prefix"] + secret, auth.get("in", "header")
                if place == "header":
                    found.headers[auth.get("header", auth.get("name", "")).lower()] = _sendable(value, name)
                elif place == "query":
                    found.query[auth["name"]] = value
                else:
                    found.cookies.append(f"{auth['name']}=" + _sendable(value, name, r'[^!-~]|[",;\\]'))
            case {"type": "basic", "username_env": user, "password_env": password}:
                login, word = _sendable(variable(user), user, ":"), variable(password)
                # With an empty password, the user name is the secret.
                mask.add(f"{login}:{word}", word or login)
                found.headers["authorization"] = _basic(login, word)
            case {"type": "oauth2"}:
                names = (auth[f"{key}_env"] for key in ("client_id", "client_secret", "refresh_token"))
                mask.add(keys := [variable(name) if name else "" for name in names])
                token = self._tokens.setdefault(str((auth, keys)), Token(auth, self._network, *keys))
                mask.add(value := await token.value(mask))
                found.tokens.append((token, value))
                found.headers["authorization"] = _sendable(f"Bearer {value}", auth["client_id_env"])
