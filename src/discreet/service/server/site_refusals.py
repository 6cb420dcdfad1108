"""What a site refuses beside what the library refuses, and the status that each refusal has on a line."""

from __future__ import annotations

import sqlite3
from http import HTTPStatus
from typing import Any

from discreet.core.errors import (
    BudgetExceeded,
    DiscreetError,
    EngineFailure,
    KeyReused,
    LedgerError,
    MissingExtra,
    UncommittedCharge,
)


class Unrecognised(DiscreetError):
    """Nobody known asks: there is no key, or it is unknown, revoked or expired."""


class NotHere(DiscreetError):
    """There is no such thing for this caller: one that belongs to somebody else does not exist either."""


class TooMany(DiscreetError):
    """Somebody asks too often, or too much at a time."""


class ReadOnlySite(DiscreetError):
    """A ledger cannot be used: nothing is released until somebody has set it right."""


class TooLarge(DiscreetError):
    """A request has more bytes than are read."""


class HungUp(DiscreetError):
    """Whoever sends a request is gone, or too slow, before all of it is there: nobody is told."""


STATUS: tuple[tuple[type[BaseException], HTTPStatus], ...] = (
    (Unrecognised, HTTPStatus.UNAUTHORIZED),
    (NotHere, HTTPStatus.NOT_FOUND),
    (TooMany, HTTPStatus.TOO_MANY_REQUESTS),
    (TooLarge, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    (HungUp, HTTPStatus.BAD_REQUEST),
    (ReadOnlySite, HTTPStatus.SERVICE_UNAVAILABLE),
    (BudgetExceeded, HTTPStatus.PAYMENT_REQUIRED),
    (KeyReused, HTTPStatus.CONFLICT),
    (UncommittedCharge, HTTPStatus.CONFLICT),
    (LedgerError, HTTPStatus.SERVICE_UNAVAILABLE),
    (EngineFailure, HTTPStatus.SERVICE_UNAVAILABLE),
    (MissingExtra, HTTPStatus.UNPROCESSABLE_ENTITY),
    (DiscreetError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (sqlite3.Error, HTTPStatus.SERVICE_UNAVAILABLE),
    (OSError, HTTPStatus.SERVICE_UNAVAILABLE),
)


def status_of(refusal: BaseException) -> HTTPStatus:
    """The status of a refusal, by its kind.

    Examples
    --------
    >>> status_of(NotHere("data set", "there is none")).value, status_of(DiscreetError("mean", "no")).value
    (404, 422)
    """
    return next(status for kind, status in STATUS if isinstance(refusal, kind))


def plain_refusal(refusal: DiscreetError) -> dict[str, Any]:
    """What a refusal says, in its parts; of its values those that are numbers and texts."""
    said = {name: value for name, value in refusal.values.items() if isinstance(value, int | float | str)}
    return {
        "error": type(refusal).__name__,
        "asked": refusal.asked,
        "obstacle": refusal.obstacle,
        "consequence": refusal.consequence,
        "remedy": refusal.remedy,
        **({"values": said} if said else {}),
    }


def no_such(what: str, name: str) -> NotHere:
    """The one refusal for what does not exist and for what belongs to somebody else."""
    return NotHere(f"{what} {name!r:.80}", "there is none for you", f"Ask for the list of what there is: {what}s.")
