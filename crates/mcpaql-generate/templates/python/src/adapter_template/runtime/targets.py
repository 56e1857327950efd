"""Where calls go: opens the target that the catalog names."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .bindings import (
    AllOf,
    AnyOf,
    ApiKey,
    Auth,
    Basic,
    Bearer,
    CommandTarget,
    HttpTarget,
    McpAddress,
    McpProgram,
    McpTarget,
    NoAuth,
    OAuth2,
    Resource,
    StoreTarget,
)
from .command import CommandSetupError, Runner
from .datafile import StoreError
from .executions import Executions
from .http.client import HttpClient
from .http.errors import SetupError
from .store import FILE, CheckFields, Store
from .upstream.errors import UpstreamSetupError
from .upstream.server import McpServer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .catalog import Catalog

_log = logging.getLogger(__name__)

Target: TypeAlias = HttpClient | Store | Runner | McpServer
"""One that is open."""


class OpenError(Exception):
    """Why an adapter cannot be served. For the operator."""


def open_targets(
    catalog: Catalog,
    environ: Mapping[str, str],
    data: Path | None,
    check: CheckFields,
) -> dict[str | None, Target]:
    """The targets by the names that calls choose them by; the only one under no name.

    Raises `OpenError`.
    """
    target: Mapping[str, Any] = catalog.target
    chosen: dict[str | None, Mapping[str, Any]] = {**target.get("alternatives", {})} or {None: target}
    name = catalog.adapter["name"]
    try:
        return {key: _open(name, one, environ, data, check) for key, one in chosen.items()}
    except (SetupError, CommandSetupError, StoreError, UpstreamSetupError) as error:
        raise OpenError(f"adapter '{name}': {error}") from error


def open_executions(catalog: Catalog, data: Path | None) -> Executions | None:
    """Somewhere to keep what runs in the background, where anything does.

    Raises `OpenError`.
    """
    if not catalog.has_executions:
        return None
    name = catalog.adapter["name"]
    if data is None:
        _log.warning("neither --data nor HOME says where to keep executions; they are lost when the server ends")
    try:
        return Executions(data, name)
    except StoreError as error:
        raise OpenError(f"adapter '{name}': {error}") from error


def _open(
    adapter: str,
    target: Mapping[str, Any],
    environ: Mapping[str, str],
    data: Path | None,
    check: CheckFields,
) -> Target:
    match target["protocol"]:
        case "http":
            return HttpClient(_http(target), environ)
        case "command":
            return Runner(_command(target), environ)
        case "mcp":
            return McpServer(_mcp(target), environ)
        case "store":
            if data is None:
                raise OpenError(f"adapter '{adapter}' keeps data, and neither --data nor HOME says where")
            return Store(data / FILE, adapter, _store(target), check)
        case other:
            raise OpenError(f"adapter '{adapter}': targets of the kind '{other}' are not known here")


def _http(target: Mapping[str, Any]) -> HttpTarget:
    return HttpTarget(
        base_url=target["base_url"],
        headers=target["headers"],
        auth=auth_of(target["auth"]),
        allow_http=target["allow_http"],
        connect_timeout_ms=target["connect_timeout_ms"],
        timeout_ms=target["timeout_ms"],
        retries=target["retries"],
        max_response_bytes=target["max_response_bytes"],
    )


def _command(target: Mapping[str, Any]) -> CommandTarget:
    return CommandTarget(
        cwd=target["cwd"],
        env=tuple(target["env"]),
        set_env=target["set_env"],
        timeout_ms=target["timeout_ms"],
        max_output_bytes=target["max_output_bytes"],
    )


def _mcp(target: Mapping[str, Any]) -> McpTarget:
    link: Mapping[str, Any] = target["link"]
    return McpTarget(
        link=McpAddress(link["url"], link["headers"], link["allow_http"])
        if "url" in link
        else McpProgram(tuple(link["command"]), link["cwd"], tuple(link["env"]), link["set_env"]),
        auth=auth_of(target["auth"]),
        caller_headers=tuple(target["caller_headers"]),
        eager=target["eager"],
        start_timeout_ms=target["start_timeout_ms"],
        timeout_ms=target["timeout_ms"],
        max_response_bytes=target["max_response_bytes"],
    )


def _store(target: Mapping[str, Any]) -> StoreTarget:
    return StoreTarget({name: _resource(resource) for name, resource in target["resources"].items()})


def _resource(resource: Mapping[str, Any]) -> Resource:
    fields: Mapping[str, Mapping[str, Any]] = resource["fields"]
    free_text = (name for name, schema in fields.items() if schema.get("type") == "string" and "enum" not in schema)
    return Resource(
        plural=resource["plural"],
        fields=tuple(fields),
        search=tuple(resource["search"] or free_text),
        filters=tuple(name for name, schema in fields.items() if _is_scalar(schema) and name not in ("first", "after")),
        flat=tuple(name for name in fields if name not in ("id", "input", "if_match")),
    )


def _is_scalar(schema: Mapping[str, Any]) -> bool:
    """Whether a list can compare the field for equality: one string, number or boolean."""
    kinds = schema.get("type")
    if kinds is None:
        literals = schema.get("enum")
        return isinstance(literals, list) and not any(isinstance(one, (dict, list)) for one in literals)
    several = kinds if isinstance(kinds, list) else [kinds]
    return all(kind in ("string", "integer", "number", "boolean", "null") for kind in several)


def auth_of(auth: Mapping[str, Any] | None) -> Auth:
    """How calls are authenticated."""
    if auth is None:
        return NoAuth()
    match auth["type"]:
        case "bearer":
            return Bearer(auth["token_env"], auth["header"], auth["prefix"])
        case "api_key":
            return ApiKey(auth["key_env"], auth["in"], auth["name"], auth["prefix"])
        case "basic":
            return Basic(auth["username_env"], auth["password_env"])
        case "oauth2":
            return OAuth2(
                auth["token_url"],
                auth["client_id_env"],
                auth["client_secret_env"],
                auth["refresh_token_env"],
                tuple(auth["scopes"]),
            )
        case "all":
            return AllOf(tuple(map(auth_of, auth["of"])))
        case _:
            return AnyOf(tuple(map(auth_of, auth["of"])))


def default_data(environ: Mapping[str, str]) -> Path | None:
    """Where stores and executions are kept unless the operator says otherwise."""
    home, local = environ.get("HOME"), environ.get("LOCALAPPDATA")
    base = Path(environ["XDG_DATA_HOME"]) if environ.get("XDG_DATA_HOME") else None
    if base is None and sys.platform == "win32":
        base = Path(local) if local else None
    elif base is None and home:
        base = Path(home, "Library/Application Support" if sys.platform == "darwin" else ".local/share")
    return None if base is None else base / "mcpaql"
