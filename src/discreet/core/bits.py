"""Where randomness comes from: a stream of secret bits."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Bits(Protocol):
    """A stream of independent, uniform bits.

    `secret` is whether the stream may carry a promise: it is False for a stream that somebody could replay, and
    then every receipt says that what was released is not private.
    """

    @property
    def secret(self) -> bool: ...

    def words(self, count: int) -> NDArray[np.uint64]:
        """`count` fresh 64-bit words; the caller owns the array only until the next call."""

    def integer(self, width: int) -> int:
        """A fresh integer in [0, 2**width)."""
