"""Decides whether a call may run. A confirmation token lets one call run once: the call that it was issued for."""

import hmac
import secrets
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, TypeAlias

from .errors import OpError
from .styles import json_text

Token: TypeAlias = tuple[bytes, bytes, float, float]  # hashes of the token and of the call, the start and the end
_MAX_PENDING = 1000


def _hash(value: Any) -> bytes:
    return sha256(json_text(value, sort_keys=True).encode(errors="replace")).digest()


def _refused(code: str, why: str, other: str = "") -> OpError:
    return OpError(code, f"The confirmation token {why}. Send {other}the call without a token to get a new one.")


class Confirmations:
    """The tokens that were issued. Only hashes of them are kept, and they are compared in constant time."""

    def __init__(self) -> None:
        self._pending, self._used = list[Token](), list[Token]()  # used ones are known until they expire

    def check(self, row: Mapping[str, Any], args: Mapping[str, Any], token: str | None) -> None:
        """Raises `OpError` unless the call may run. `token` is None if the caller sent none."""
        if (gate := row.get("gate")) is None:
            return
        refusal = OpError(gate["code"], gate["message"], **gate["details"])
        if "seconds" not in gate:
            raise refusal
        call, now = _hash([row["name"], args]), time.time()
        if token is None:
            issued, end = f"conf_{secrets.token_urlsafe(32)}", int(now) + gate["seconds"]
            self._pending = [*self._pending, (_hash(issued), call, now, end)][-_MAX_PENDING:]
            expires_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end))
            refusal.details |= {"confirmation_token": issued, "expires_at": expires_at}
            raise refusal
        digest = _hash(token)
        found = [one for one in (*self._used, *self._pending) if hmac.compare_digest(one[0], digest)]
        if not found:
            raise _refused("TOKEN_INVALID", "is unknown")
        if found[0] in self._used:
            raise _refused("TOKEN_ALREADY_USED", "was already used")
        _, confirmed, start, end = found[0]
        if not start <= now < end:  # a clock that goes back makes no token valid for longer
            raise _refused("TOKEN_EXPIRED", "has expired")
        if confirmed != call:
            raise _refused("TOKEN_SCOPE_MISMATCH", "belongs to another call", "exactly the confirmed call, or ")
        self._pending.remove(found[0])
        self._used = [*(one for one in self._used if now < one[3]), found[0]]
