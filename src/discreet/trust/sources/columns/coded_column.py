"""A column of a data frame once it is decoded, kept from one question to the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array
from discreet.core.held import Secret
from discreet.schema.schema import Category, Number


@dataclass(frozen=True)
class CodedColumn(Secret):
    """Numbers as they are, and categories as their places in the schema's list, in as few bytes as these take.

    That is never more than the raw column, whose values took at least as many bytes as a reference to each.

    Parameters
    ----------
    stored : array
        One number for each record.
    meanings : array of float64, optional
        What each of them stands for, nan for the last; None where they stand for themselves.

    Examples
    --------
    >>> column = CodedColumn.of([np.array([0.0, np.nan]), np.array([1.0])], Category(("f", "m")))
    >>> column.stored.dtype, column.values(slice(0, 3))
    (dtype('uint8'), array([ 0., nan,  1.]))
    """

    stored: NDArray[Any]
    meanings: Array | None

    @classmethod
    def of(cls, batches: Iterable[Array], kind: Number | Category) -> CodedColumn:
        """A column that comes decoded, batch by batch; see `Batched.batches`."""
        if isinstance(kind, Number):
            return cls(np.concatenate([np.empty(0), *batches]), None)
        missing = len(kind.values)
        least = np.min_scalar_type(missing)
        stored = [np.where(np.isnan(batch), missing, batch).astype(least) for batch in batches]
        return cls(np.concatenate([np.empty(0, least), *stored]), np.append(np.arange(float(missing)), np.nan))

    def values(self, rows: slice | NDArray[np.intp]) -> Array:
        """The decoded values of some records."""
        found: Array = self.stored[rows] if self.meanings is None else self.meanings.take(self.stored[rows])
        return found
