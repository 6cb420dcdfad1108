"""Whether the time that a mechanism takes tells two data sets apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

RISK = 1e-4
APART = 1.2  # times the other's median, at least


def slower(first: Sequence[float], second: Sequence[float]) -> str | None:
    """A warning, where the seconds of one data set are longer: by ranks (Mann and Whitney 1947), and by a fifth.

    The seconds must have been taken by turns, so that a busy machine hits both alike.

    Examples
    --------
    >>> slower([1.0, 1.1, 1.2] * 7, [2.0, 2.1, 2.2] * 7)
    'On the second data set it takes 1.91 times as long: time tells them apart.'
    >>> slower([1.0, 1.1] * 7, [1.0, 1.1] * 7) is None
    True
    """
    one, other = float(np.median(first)), float(np.median(second))
    longer = max(one, other) / max(min(one, other), 1e-12)
    if longer < APART or stats.mannwhitneyu(first, second).pvalue > RISK:
        return None
    side = "first" if one > other else "second"
    return f"On the {side} data set it takes {longer:.3g} times as long: time tells them apart."
