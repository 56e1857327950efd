"""Credentials of an HTTP target: where they go, and their values for one call.

Values are read from the environment on every call, so a rotated variable works without a restart and a missing one
fails only the calls that need it. Of alternatives the first whose variables are all set is taken. What always holds:
whatever was read or fetched is in the mask of the call.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, NoReturn

from .bindings import AllOf, AnyOf, ApiKey, Auth, Basic, Bearer, NoAuth, OAuth2
from .environment import Template, Variable
from .errors import Code, OpError
from .http.headers import is_sendable, name_of
from .secrets import Mask, Secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .jsontext import Json
    from .oauth import Issued, Tokens

_COOKIE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")


class Env:
    """Environment variables that hold credentials."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Of the process, usually."""
        self._environ = environ

    def get(self, name: str) -> Secret | None:
        """The variable's value without white space around it (a line feed at the end is common in secret files)."""
        value = self._environ.get(name)
        return None if value is None else Secret(value.strip())

    def require(self, name: str) -> Secret:
        """The variable's value, which must not be empty."""
        secret = self.get(name)
        if secret is None or not secret.expose():
            raise missing(name)
        return secret

    def has(self, name: str) -> bool:
        """Whether it is set to something."""
        secret = self.get(name)
        return secret is not None and secret.expose() != ""


def missing(name: str) -> OpError:
    """A variable is not set."""
    message = (
        f"The credentials for this API are not set up; tell the user to set the environment variable {name} for this "
        "server and to start it again."
    )
    return OpError(Code.PERMISSION_DENIED, message).detail("variable", name)


def _unsendable(name: str) -> OpError:
    message = (
        f"The environment variable {name} holds characters that cannot be sent in a header; tell the user to correct "
        "its value."
    )
    return OpError(Code.PERMISSION_DENIED, message).detail("variable", name)


class Reserved:
    """What only the server itself sets: a parameter of that name is refused."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.headers: set[str] = set()
        self.query: list[str] = []
        self.cookies: set[str] = set()

    def copy(self) -> Reserved:
        """Another one that holds the same."""
        reserved = Reserved()
        reserved.headers |= self.headers
        reserved.query += self.query
        reserved.cookies |= self.cookies
        return reserved

    def add(self, auth: Auth) -> None:
        """Adds what these credentials use, alternatives included.

        Raises `ValueError` with the header's name, where it is not one.
        """
        match auth:
            case Bearer(header=name) | ApiKey(place="header", name=name):
                header = name_of(name)
                if header is None:
                    raise ValueError(name)
                self.headers.add(header)
            case ApiKey(place="query"):
                self.query.append(auth.name)
            case ApiKey():
                self.cookies.add(auth.name)
            case Basic() | OAuth2():
                self.headers.add("authorization")
            case AllOf() | AnyOf():
                for scheme in auth.schemes:
                    self.add(scheme)
            case NoAuth():
                pass


class Credentials:
    """The credentials of one call."""

    def __init__(self) -> None:
        """None."""
        self.headers: dict[str, str] = {}
        self.query: list[tuple[str, Secret]] = []
        self.cookies: list[tuple[str, Secret]] = []
        self.mask = Mask()
        # The fetched tokens among them, so that a refused one can be given up.
        self._tokens: list[Issued] = []

    @staticmethod
    async def read(auth: Auth, headers: Mapping[str, Template], env: Env, tokens: Tokens) -> Credentials:
        """Reads what the way of authentication and the secret headers of the target need."""
        credentials = Credentials()
        for name, template in headers.items():
            credentials._fill(name, template, env)
        for simple in _chosen(auth, env):
            await credentials._add(simple, env, tokens)
        return credentials

    async def give_up(self) -> bool:
        """Gives up the fetched tokens, because the API refused them; `False` where there are none."""
        for issued in self._tokens:
            await issued.give_up()
        return bool(self._tokens)

    async def _add(self, auth: Auth, env: Env, tokens: Tokens) -> None:
        match auth:
            case Bearer():
                self._header(auth.header, auth.prefix, auth.token_env, env)
            case ApiKey(place="header"):
                self._header(auth.name, auth.prefix, auth.key_env, env)
            case ApiKey(place="query"):
                self.query.append((auth.name, self._prefixed(auth.prefix, auth.key_env, env)))
            case ApiKey():
                value = self._prefixed(auth.prefix, auth.key_env, env)
                # What ends a cookie, or is no character of one, would change what is sent.
                if not _COOKIE.fullmatch(value.expose()):
                    raise _unsendable(auth.key_env)
                self.cookies.append((auth.name, value))
            case Basic():
                self._basic(auth.username_env, auth.password_env, env)
            case OAuth2():
                issued = await tokens.issue(auth, env, self.mask)
                self._set("authorization", f"Bearer {issued.token.expose()}", auth.client_id_env)
                self._tokens.append(issued)
            case NoAuth() | AllOf() | AnyOf():
                pass

    def _header(self, name: str, prefix: str, variable: str, env: Env) -> None:
        header = name_of(name)
        if header is None:
            raise _unsendable(variable)
        self._set(header, self._prefixed(prefix, variable, env).expose(), variable)

    def _prefixed(self, prefix: str, variable: str, env: Env) -> Secret:
        secret = env.require(variable).expose()
        self.mask.add(secret)
        return Secret(f"{prefix}{secret}")

    def _fill(self, name: str, template: Template, env: Env) -> None:
        value: list[str] = []
        last = ""
        for piece in template.pieces:
            if not isinstance(piece, Variable):
                value.append(piece)
                continue
            last = piece.name
            if piece.fallback is not None and not env.has(piece.name):
                value.append(piece.fallback)
                continue
            secret = env.require(piece.name).expose()
            self.mask.add(secret)
            value.append(secret)
        self._set(name, "".join(value), last)

    def _basic(self, username: str, password: str, env: Env) -> None:
        """An API key as user name with an empty password is common; then the user name is the secret."""
        user = env.require(username).expose()
        word = env.get(password)
        if word is None:
            raise missing(password)
        if ":" in user:
            raise _unsendable(username)
        pair = f"{user}:{word.expose()}"
        self.mask.add(pair)
        self.mask.add(word.expose() or user)
        self._set("authorization", f"Basic {base64.b64encode(pair.encode()).decode()}", username)

    def _set(self, name: str, value: str, variable: str) -> None:
        if not is_sendable(value):
            raise _unsendable(variable)
        self.headers[name] = value


def _chosen(auth: Auth, env: Env) -> Iterable[Auth]:
    """The simple schemes that stand for this one now: all of several, and the first alternative that is set."""
    match auth:
        case AllOf():
            return [simple for scheme in auth.schemes for simple in _chosen(scheme, env)]
        case AnyOf():
            found = next((scheme for scheme in auth.schemes if _is_set(scheme, env)), None)
            if found is None:
                return [] if not auth.schemes else _none_set(auth.schemes)
            return _chosen(found, env)
        case _:
            return [auth]


def _is_set(auth: Auth, env: Env) -> bool:
    match auth:
        case AllOf():
            return all(_is_set(scheme, env) for scheme in auth.schemes)
        case AnyOf():
            return any(_is_set(scheme, env) for scheme in auth.schemes)
        case Basic():
            # A password may be empty where the user name is the secret.
            return env.has(auth.username_env) and env.get(auth.password_env) is not None
        case _:
            return all(map(env.has, variables(auth)))


def variables(auth: Auth) -> list[str]:
    """The variables a scheme needs, for people: alternatives are not told apart."""
    match auth:
        case Bearer():
            return [auth.token_env]
        case ApiKey():
            return [auth.key_env]
        case Basic():
            return [auth.username_env, auth.password_env]
        case OAuth2():
            names = (auth.client_id_env, auth.client_secret_env, auth.refresh_token_env)
            return [name for name in names if name is not None]
        case AllOf() | AnyOf():
            return [name for scheme in auth.schemes for name in variables(scheme)]
        case NoAuth():
            return []


def _none_set(schemes: tuple[Auth, ...]) -> NoReturn:
    alternatives: list[Json] = [" and ".join(variables(scheme)) for scheme in schemes]
    names = ", or ".join(map(str, alternatives))
    message = (
        f"The credentials for this API are not set up; tell the user to set the environment variables {names} for this "
        "server and to start it again."
    )
    raise OpError(Code.PERMISSION_DENIED, message).detail("variables", alternatives)
