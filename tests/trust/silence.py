"""Noise that is zero: a switch for tests, which the package itself does not have.

All additive noise, whole or shared, is drawn in four places, and zeros are put there. A report on the sphere is no sum
of a contribution and noise, so it cannot be silenced.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from discreet.core.bits import Bits
from discreet.core.grid import Steps
from discreet.mechanisms.additive import binomial
from discreet.mechanisms.vectors import spherical_laplace
from discreet.noise.polya import _Walks
from discreet.noise.rejection_table import RejectionTable


@contextmanager
def silence() -> Iterator[None]:
    """No noise in this process, as long as the block lasts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RejectionTable, "fill", lambda strips, bits, out: _zero(out))
        patch.setattr(_Walks, "fill", lambda walks, out: _zero(out))
        patch.setattr(binomial, "coin_sums", lambda bits, size, coins: np.zeros(size, dtype=np.int64))
        patch.setattr(spherical_laplace, "radial_exponential", _no_vectors)
        yield


def _no_vectors(bits: Bits, count: int, dimension: int, scale: float) -> Steps:
    return np.zeros((count, dimension), dtype=np.int64)


def _zero(out: Steps) -> None:
    out[:] = 0
