"""A question that kills the process which answers it, if that process is on a list."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np

from discreet.core.bound import Bound
from discreet.core.grid import Array
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.schema.schema import Schema


@recipe("tests.trust.network.lightning:lightning")
def lightning(schema: Schema, doomed: str) -> BoundedSum:
    """How many records there are; whose process number is in the file dies while it counts."""

    def of(records: Array) -> Array:
        if len(records) and str(os.getpid()) in Path(doomed).read_text().split():
            os.kill(os.getpid(), signal.SIGKILL)
        return np.ones((len(records), 1))

    return BoundedSum(of, Bound("l2", 1.0), ("x0",))
