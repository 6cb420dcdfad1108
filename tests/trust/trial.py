"""What a trust model brings for the trial that all trust models are put through."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from discreet.core.bits import Bits
from discreet.core.grid import Array
from discreet.schema.schema import Schema
from discreet.trust.trust_model import TrustModel

SCHEMA = Schema.numeric(0.0, 1.0, 1)


@dataclass(frozen=True)
class TrustTrial:
    """How a trust model is made.

    Parameters
    ----------
    made : callable
        Rows of one number between 0 and 1, in column x0, and bits in; the trust model out.
    """

    made: Callable[[Array, Bits], TrustModel]
