"""How much each client may still ask: counted in slots, since a message can have one or many."""

from __future__ import annotations

import json
from collections.abc import Callable

from discreet.core.checks import check_whole
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.held import Held, exclusive

ASKED = "inference"
MOST = 2**40


class SlotAllowance(Held):
    """Counts the slots that each client has asked of each layer, and refuses those beyond the limit before any work.

    Parameters
    ----------
    limit : int
        Public. How many slots a client may ask of each layer, over all its sessions.
    used : str, optional
        Public. What was counted before, in the form that `keep` was given.
    keep : callable, optional
        Given the counts as a line of JSON before what was counted is answered: so that a restart forgets nothing.

    Examples
    --------
    >>> allowance = SlotAllowance(100)
    >>> allowance.spend("ann", 0, 56)
    >>> allowance.left("ann")
    44
    >>> allowance.spend("ann", 0, 56)
    Traceback (most recent call last):
    discreet.core.errors.NotPermitted: inference: 56 slots are asked, and 'ann' has 44 left of 100. \
Nothing was released or spent. Ask whoever runs the service for more.
    """

    def __init__(self, limit: int, used: str = "{}", keep: Callable[[str], object] = len) -> None:
        check_whole(ASKED, "limit", limit, 0, MOST)
        self.limit, self._keep = int(limit), keep
        try:
            found = json.loads(used)
            self._used = {name: {int(place): int(count) for place, count in own.items()} for name, own in found.items()}
        except (ValueError, TypeError, AttributeError) as why:
            remedy = "Give the file that was written, or an empty one to begin anew."
            raise ParameterError(ASKED, "its counts cannot be read", remedy) from why

    @exclusive
    def left(self, client: str) -> int:
        """How many slots a client may still ask of every layer."""
        return self.limit - max(self._used.get(client, {}).values(), default=0)

    @exclusive
    def spend(self, client: str, place: int, slots: int) -> None:
        """Count these slots of a layer, or refuse them."""
        own = self._used.get(client, {})
        left = self.limit - own.get(place, 0)
        if slots > left:
            raise NotPermitted(
                ASKED,
                f"{slots} slots are asked, and {client!r} has {left} left of {self.limit}",
                "Ask whoever runs the service for more.",
                left=left,
            )
        counted = {**self._used, client: {**own, place: own.get(place, 0) + slots}}
        self._keep(json.dumps(counted, sort_keys=True))
        self._used = counted
