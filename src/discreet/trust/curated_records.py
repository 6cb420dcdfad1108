"""Records that a curator hands to code that keeps the promise itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.core.bits import Bits
from discreet.core.grid import Array
from discreet.core.secret import Secret


@dataclass(frozen=True)
class CuratedRecords(Secret):
    """Records inside their bounds, categories as places, nan where missing; and where noise is to come from."""

    values: Array = field(repr=False)
    bits: Bits = field(repr=False)
