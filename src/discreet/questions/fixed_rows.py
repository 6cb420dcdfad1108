"""What is sent along with an untrusted function of records: it loads nothing but numpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class FixedRows:
    """A function of one record as one of a block, which always gives so many rows: it runs where the function does."""

    function: Callable[[Any], Any]
    rows: int
    width: int

    def __call__(self, block: Any) -> Any:
        given = np.asarray(self.function(block[0]), dtype=np.float64).reshape(-1, self.width)[: self.rows]
        out = np.full((self.rows, self.width), np.nan)
        out[: len(given)] = given
        return out
