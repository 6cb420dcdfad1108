"""An audit from a single run: guess which records were in."""

from __future__ import annotations

import math

from discreet.audit.proportion import at_least
from discreet.core.errors import ParameterError


def one_run_epsilon(right: int, guesses: int, *, confidence: float = 0.95) -> float:
    """The least pure epsilon that is compatible with this number of right guesses in one run.

    Every candidate record is put in or left out by a fair coin of its own; the mechanism runs once on those that are
    in; then somebody who sees the output, and not the coins, guesses as many of the coins as they like.

    Parameters
    ----------
    right : int
        How many guesses were right.
    guesses : int
        How many were made, not counting the coins that were left alone.
    confidence : float
        One minus the risk that the result is above the true epsilon.

    Guarantee
    ---------
    For add/remove neighbors: with probability at least `confidence` the mechanism is not e-private for any e below the
    result. Steinke, Nasr and Jagielski 2023, pure case: the number of right guesses is stochastically at most
    Binomial(guesses, 1 / (1 + exp(-epsilon))), since each coin, given the output and all the coins before it, has odds
    of at most exp(epsilon). Clopper and Pearson's lower bound on that probability, as log-odds, is the result.

    Examples
    --------
    >>> round(one_run_epsilon(90, 100), 3)
    1.631
    >>> one_run_epsilon(50, 100)
    0.0
    """
    if not 0 <= right <= guesses:
        raise ParameterError("one-run audit", f"{right} of {guesses} guesses are right", "Give 0 <= right <= guesses.")
    if not 0.5 <= confidence < 1:
        raise ParameterError("one-run audit", f"confidence is {confidence}", "Give a confidence in [0.5, 1).")
    chance = float(at_least(right, guesses, 1 - confidence))
    return max(0.0, math.log(chance / (1 - chance))) if chance > 0 else 0.0
