"""The credentials of HTTP requests: read from the environment on every call, OAuth tokens fetched and kept.

Of alternatives the first one whose variables are all set is taken. Whatever was read is in the mask of the call.
"""

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

from .errors import Code, OpError
from .http_response import read_body
from .requests import Auth
from .secrets import Mask, filled, variable
from .styles import read_json

Network: TypeAlias = Callable[[str], tuple[httpx.URL, httpx.AsyncClient]]
_FETCH_SECONDS, _MAX_LIFE_SECONDS = 30.0, 24 * 3600.0
_MAX_TOKEN_BYTES = 64 * 1024
_UNKNOWN_CLIENT = (None, "invalid_client", "invalid_request", "unauthorized_client")
_MARGIN_SECONDS = 60.0  # a token is given up this long before it ends, or a tenth of its life where that is less


def _missing(names: list[str]) -> OpError:
    message = f"Credentials for this API are missing; tell the user to set {', '.join(names)} and restart the server."
    return OpError(Code.PERMISSION_DENIED, message, variables=names)


def _sendable(value: str, name: str, forbidden: str = r"[\x00-\x08\x0a-\x1f\x7f]") -> str:
    if re.search(forbidden, value) is None:
        return value
    message = f"The environment variable {name} holds characters that cannot be sent; tell the user to correct it."
    raise OpError(Code.PERMISSION_DENIED, message, variable=name)


def _alternatives(auth: Auth) -> list[list[Auth]]:
    """The simple schemes that go together, in every way that will do."""
    found = [_alternatives(scheme or {}) for scheme in auth.get("of", ())]
    match auth.get("type"):
        case "any":
            return list(chain.from_iterable(found))
        case "all":
            return [list(chain.from_iterable(schemes)) for schemes in product(*found)]
    return [[auth] if auth else []]


def reserved(auth: Auth) -> set[tuple[str, str]]:
    """Place and name of what these credentials use, alternatives included: a parameter must not set it."""
    schemes = chain.from_iterable(_alternatives(auth))
    found = {(one.get("in", "header"), one.get("header", one.get("name", "authorization"))) for one in schemes}
    return {(place, name.lower() if place == "header" else name) for place, name in found}


def _variables(schemes: Iterable[Auth]) -> list[str]:
    named = (name for auth in schemes for key, name in auth.items() if key.endswith("_env") and name)
    return list(dict.fromkeys(named))


def _is_set(auth: Auth) -> bool:
    # A password may be empty where the user name is the secret.
    password = auth.get("password_env")
    return all(variable(name) or (name == password and name in os.environ) for name in _variables([auth]))


def _basic(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def _unreachable(cause: object) -> OpError:
    message = "The service that issues tokens for this API could not be reached; try later or tell the user."
    return OpError(Code.TRANSPORT_CONNECTION, message, cause)


class Token:
    """The token of one OAuth 2.0 scheme. Calls that need one meanwhile share one fetch and its outcome."""

    def __init__(self, oauth: Auth, network: Network) -> None:
        self._oauth, self._network, self._until = oauth, network, 0.0
        self._keys: tuple[str, str | None, str | None] | None = None
        self._value: str | None = None
        self._rotated: str | None = None  # the refresh token that replaced the one in the environment
        self._in_body = False  # this server takes the client's secret in the body alone
        self._fetch: asyncio.Task[str] | None = None

    def forget(self, value: str) -> None:
        if self._value == value:
            self._value = None

    async def value(self, mask: Mask) -> str:
        names = (self._oauth[key] for key in ("client_id_env", "client_secret_env", "refresh_token_env"))
        client_id, secret, refresh = (None if name is None else variable(name) for name in names)
        keys = (client_id or "", secret, refresh)
        mask.add(secret, refresh, self._rotated)
        if keys != self._keys:
            self._keys, self._value, self._rotated, self._in_body, self._fetch = keys, None, None, False, None
        if self._value is not None and time.monotonic() < self._until:
            return self._value
        if self._fetch is None or self._fetch.done():
            # A task of its own: a call that is cancelled must not lose a rotated refresh token.
            self._fetch = asyncio.create_task(self._fetched(*keys))
            self._fetch.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return await asyncio.shield(self._fetch)

    async def _fetched(self, client_id: str, secret: str | None, given: str | None) -> str:
        refresh, started = self._rotated or given, time.monotonic()
        form = {"grant_type": "refresh_token" if refresh else "client_credentials"}
        form |= {"refresh_token": refresh} if refresh else {}
        form |= {"scope": " ".join(self._oauth["scopes"])} if self._oauth["scopes"] else {}
        in_body = self._in_body or secret is None
        try:
            async with asyncio.timeout(_FETCH_SECONDS):
                status, said = await self._ask(form, client_id, secret, in_body=in_body)
                if status in (400, 401) and not in_body and said.get("error") in _UNKNOWN_CLIENT:
                    in_body = True
                    status, said = await self._ask(form, client_id, secret, in_body=True)
        except (TimeoutError, httpx.HTTPError) as error:
            raise _unreachable(type(error).__name__) from None
        token, rotated = said.get("access_token"), said.get("refresh_token")
        if not isinstance(token, str) or not 200 <= status <= 299:
            if status >= 500 or status == 429:
                raise _unreachable(f"status {status}")
            message = f"The service that issues tokens refused the credentials ({status}); tell the user to check them."
            raise OpError(Code.PERMISSION_DENIED, message, variables=_variables([self._oauth]))
        if refresh is not None and isinstance(rotated, str):
            self._rotated = rotated
        self._in_body, self._value = in_body, token
        life = _MAX_LIFE_SECONDS
        with suppress(TypeError, ValueError):
            told = float(said.get("expires_in", life))
            life = min(told, life) if told >= 0 else life
        self._until = started + life - min(_MARGIN_SECONDS, life / 10)
        return token

    async def _ask(self, form: dict[str, str], client_id: str, secret: str | None, *, in_body: bool) -> tuple[int, Any]:
        url, client = self._network(self._oauth["token_url"])
        headers = {"accept": "application/json", "accept-encoding": "gzip"}
        if in_body:
            form = {**form, "client_id": client_id, **({"client_secret": secret} if secret is not None else {})}
        else:
            # RFC 6749, 2.3.1: both halves are form-encoded first.
            headers["authorization"] = _basic(quote_plus(client_id), quote_plus(secret or ""))
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
    cookies: dict[str, str] = field(default_factory=dict)
    tokens: list[tuple[Token, str]] = field(default_factory=list)


class Authenticator:
    """Reads credentials and keeps the tokens of one target."""

    def __init__(self, network: Network, headers: Mapping[str, str]) -> None:
        self._network, self._headers = network, headers  # the target's headers with variables in them
        self._tokens: dict[str, Token] = {}

    async def read(self, auth: Auth, mask: Mask) -> Credentials:
        found = Credentials()
        for name, template in self._headers.items():
            try:
                value, secrets = filled(template)
            except KeyError as unset:
                raise _missing(list(unset.args)) from None
            mask.add(*secrets)
            found.headers[name] = _sendable(value, f"of header {name}")
        alternatives = _alternatives(auth)
        schemes = next((schemes for schemes in alternatives if all(map(_is_set, schemes))), None)
        if schemes is None:
            raise _missing(_variables(chain.from_iterable(alternatives)))
        for scheme in schemes:
            await self._add(found, scheme, mask)
        return found

    async def _add(self, found: Credentials, auth: Auth, mask: Mask) -> None:
        match auth:
            case {"type": "bearer", "token_env": name} | {"type": "api_key", "key_env": name}:
                mask.add(secret := variable(name) or "")
                value, place = auth["prefix"] + secret, auth.get("in", "header")
                if place == "header":
                    found.headers[auth.get("header", auth.get("name", "")).lower()] = _sendable(value, name)
                elif place == "query":
                    found.query[auth["name"]] = value
                else:
                    found.cookies[auth["name"]] = _sendable(value, name, r'[^!-~]|[",;\\]')
            case {"type": "basic", "username_env": user, "password_env": password}:
                login, word = _sendable(variable(user) or "", user, ":"), variable(password) or ""
                # An API key as user name with an empty password is common.
                mask.add(f"{login}:{word}", word or login)
                found.headers["authorization"] = _basic(login, word)
            case {"type": "oauth2"}:
                token = self._tokens.setdefault(str(auth), Token(auth, self._network))
                mask.add(value := await token.value(mask))
                found.tokens.append((token, value))
                found.headers["authorization"] = _sendable(f"Bearer {value}", auth["client_id_env"])
