"""Which of many hypotheses are rejected, with few false rejections."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import check_one_of, check_positive
from discreet.core.grid import Array

Correction = Literal["benjamini-hochberg", "bonferroni"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)


def discoveries(p_values: Array, hypotheses: int, level: float, correction: Correction) -> NDArray[np.bool_]:
    """Which null hypotheses are rejected.

    Parameters
    ----------
    p_values : array
        Of those hypotheses that could be rejected.
    hypotheses : int
        How many there are in all; those without a p-value count as if it were 1.
    level : float
        Of Bonferroni's correction: the probability of any false rejection. Of Benjamini and Hochberg's: the expected
        part of false ones among the rejections (Benjamini and Hochberg 1995, Theorem 1, for independent p-values).
    correction : {"benjamini-hochberg", "bonferroni"}
        Which of the two.

    Examples
    --------
    >>> p_values = np.array([0.001, 0.02, 0.03, 0.9])
    >>> discoveries(p_values, 4, 0.05, "bonferroni"), discoveries(p_values, 4, 0.05, "benjamini-hochberg")
    (array([ True, False, False, False]), array([ True,  True,  True, False]))
    """
    check_one_of("discoveries", "correction", correction, CORRECTIONS)
    check_positive("discoveries", "level", level, 1e-12, 0.5)
    if correction == "bonferroni":
        return np.asarray(p_values <= level / max(hypotheses, 1))
    order = np.argsort(p_values)
    below = np.flatnonzero(p_values[order] <= level * np.arange(1, p_values.size + 1) / max(hypotheses, 1))
    rejected = np.zeros(p_values.size, bool)
    rejected[order[: below[-1] + 1 if below.size else 0]] = True
    return rejected
