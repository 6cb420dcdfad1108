"""Shares of noise by the event that they keep: found among additive noise."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from discreet.core.errors import NotPermitted
from discreet.core.events import Event
from discreet.core.mechanism import Share
from discreet.mechanisms import additive


@cache
def kinds() -> dict[type[Event], Any]:
    """The kinds of events that shares can keep, and the shares that do."""
    names = [module.name for module in pkgutil.iter_modules(additive.__path__)]
    modules = [importlib.import_module(f"{additive.__name__}.{name}") for name in names]
    found = [kind for module in modules for kind in vars(module).values() if hasattr(kind, "promises")]
    return {kind.promises: kind for kind in found}


def share_of(event: Event, honest: int) -> Share:
    """What each party adds so that the honest ones keep the promise of an event.

    Examples
    --------
    >>> from discreet.core.events import LaplaceLoss
    >>> share_of(LaplaceLoss(2.0), honest=3)
    LaplaceShare(multiplier=2.0, honest=3)
    """
    kind = kinds().get(type(event))
    if kind is None:
        raise NotPermitted(
            "share of noise",
            f"{type(event).__name__} is not the promise of noise that parties can share",
            "Ask with Laplace, Gaussian or binomial noise.",
        )
    share: Share = kind.of(event, honest)
    return share


def is_shared(event: Event) -> bool:
    """Whether there are shares that keep the promise of this event."""
    try:
        share_of(event, 1)
    except NotPermitted:
        return False
    return True
