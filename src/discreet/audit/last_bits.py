"""The last bits of floating-point outputs, which can tell what the numbers hide."""

from __future__ import annotations

import numpy as np

from discreet.audit.ratio import Values

NONE = -2000  # below the exponent of every float: of zero, and of what is not finite
LOW = 2**52


def last_bits(values: Values) -> Values:
    """The exponent of the lowest bit that is set in each number; of a row, the lowest of all.

    A sum of a record and floating-point noise is a multiple of the coarser one's last place. So some outputs are
    possible on one data set alone, and no noise hides which. Mironov 2012, "On significance of the least significant
    bits for differential privacy".

    Parameters
    ----------
    values : array of float64, shape (n,) or (n, d)
        Outputs.

    Examples
    --------
    >>> last_bits(np.array([1.0, 0.75, 6.0, 0.1, 0.0])).tolist()
    [0, -2, 1, -55, -2000]
    """
    numbers = np.where(np.isfinite(values), values, 0.0).astype(np.float64)
    mantissas, exponents = np.frexp(numbers)
    whole = np.abs(mantissas * (2 * LOW)).astype(np.int64)
    _, lowest = np.frexp((whole & -whole).astype(np.float64))
    found = np.where(whole > 0, exponents.astype(np.int64) - 54 + lowest, NONE)
    if found.ndim == 1:
        return found
    return np.where((found > NONE).any(axis=1), np.where(found > NONE, found, -NONE).min(axis=1), NONE)
