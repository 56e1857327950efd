"""Errors that several steps of a request share."""

from __future__ import annotations

from ..errors import Code, OpError


class SetupError(Exception):
    """Why a client cannot be made. Written for the operator."""


def unusable_document(cause: str) -> OpError:
    """What the document says about a request cannot be sent."""
    return OpError(
        Code.INTERNAL,
        "This operation cannot be sent as its document describes it; tell the operator to check the document.",
    ).because(cause)


def not_yours(what: str, param: str, wire: str) -> OpError:
    """The name belongs to the credentials or to the connection."""
    message = f"Leave out parameter '{param}': the {what} '{wire}' is set by the server alone."
    return OpError(Code.INVALID_VALUE, message).detail("param_name", param)
