"""Records as a mechanism gives them away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.core.bits import Bits
from discreet.core.grid import Array
from discreet.noise.uniform import permutation


@dataclass(frozen=True)
class ChangedRows:
    """Rows that are given away, in no order, and what is said of them.

    Parameters
    ----------
    values : array of shape (n, columns)
        The rows.
    notes : mapping of str to numbers, texts, arrays, or lists of them
        What else is released, such as how many rows were left out.
    """

    values: Array = field(repr=False)
    notes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def shuffled(cls, values: Array, bits: Bits, **notes: Any) -> ChangedRows:
        """The rows in a random order that nobody knows: where a record stood in the original is lost.

        Examples
        --------
        >>> import numpy as np
        >>> from discreet.noise.deterministic import DeterministicBits
        >>> ChangedRows.shuffled(np.arange(4.0)[:, None], DeterministicBits(1)).values.ravel()
        array([0., 3., 1., 2.])
        """
        return cls(values.take(permutation(bits, len(values)), axis=0), notes)
