"""What a holder of records brings for the trial of `tests/conformance/test_door.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.bound import Bound
from discreet.core.events import PureLoss
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.question import BoundedSum
from discreet.trust.holder import Holder

MARK = 8191.0  # in the records, and nowhere else


@dataclass(frozen=True)
class HolderTrial:
    """How a holder is made.

    Parameters
    ----------
    made : callable
        Makes a holder of records that have `MARK` in them, if it holds any.
    given : mapping
        What its public methods are called with, beside a plan and a purpose.
    """

    made: Callable[[], Holder]
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def calls(self) -> dict[str, Any]:
        """What public methods are called with: what those of all holders take, and its own."""
        counted = BoundedSum(lambda records: np.ones((len(records), 1)), Bound("l1", 1.0), ("x0",))
        price = {"plan": PureLoss(1.0), "event": PureLoss(1.0), "purpose": "a walk"}
        return {**price, "question": counted, "noise": Laplace(), **self.given}
