"""An audit from a single run: guess which records were in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

from discreet.accounting import accountant
from discreet.audit.lower_bound import CONFIDENCE
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.display.notebook import carded, safe

ASKED = "one-run audit"
SHARES = (1.0, 0.5, 0.2, 0.05)  # of the candidates: how many are guessed
FAR = 50.0  # an epsilon that no number of guesses shows
SAFE = 1 + 1e-9  # far above the error of scipy's binomial tail


def one_run_epsilon(
    right: int, guesses: int, *, candidates: int | None = None, delta: float = 0.0, confidence: float = 0.95
) -> float:
    """The least epsilon that is compatible with this number of right guesses in one run.

    Every candidate record is put in or left out by a fair coin of its own; the mechanism runs once on those that are
    in; then somebody who sees the output, and not the coins, guesses as many of the coins as they like.

    Parameters
    ----------
    right : int
        How many guesses were right.
    guesses : int
        How many were made, not counting the coins that were left alone. Chosen without a look at the coins.
    candidates : int, optional
        How many coins there were; by default all were guessed.
    delta : float
        The delta that the epsilon goes with; a small part of 1 / candidates.
    confidence : float
        One minus the risk that the result is above the true epsilon.

    Guarantee
    ---------
    For add/remove neighbors: with probability at least `confidence` the mechanism is not (e, delta)-private for any e
    below the result. Steinke, Nasr and Jagielski 2023 for delta 0; for other deltas the proof is beside this file.

    Examples
    --------
    >>> round(one_run_epsilon(90, 100), 3)
    1.631
    >>> one_run_epsilon(50, 100)
    0.0
    >>> round(one_run_epsilon(90, 100, delta=1e-5), 3)
    1.628
    """
    candidates = guesses if candidates is None else candidates
    if not 0 <= right <= guesses <= candidates:
        obstacle = f"{right} of {guesses} guesses are right, of {candidates} candidates"
        raise ParameterError(ASKED, obstacle, "Give 0 <= right <= guesses <= candidates.")
    if not 0.5 <= confidence < 1:
        raise ParameterError(ASKED, f"confidence is {confidence}", "Give a confidence in [0.5, 1).")
    if not 0 <= delta < 1:
        raise ParameterError(ASKED, f"delta is {delta}", "Give a delta in [0, 1).")
    low, high = 0.0, FAR
    if chance_of(right, guesses, candidates, low, delta) > 1 - confidence:
        return 0.0
    while (middle := (low + high) / 2) not in (low, high):
        refuted = chance_of(right, guesses, candidates, middle, delta) <= 1 - confidence
        low, high = (middle, high) if refuted else (low, middle)
    return low


def chance_of(right: int, guesses: int, candidates: int, epsilon: float, delta: float) -> float:
    """How probable so many right guesses are at most, whatever (epsilon, delta)-private mechanism ran.

    The least over j of P[Binomial(guesses, e^epsilon / (1 + e^epsilon)) >= right - j] + candidates delta / (j + 1); the
    proof is beside this file.

    Examples
    --------
    >>> round(chance_of(9, 10, 10, 1.0, 0.0), 4), round(chance_of(9, 10, 10, 1.0, 1e-3), 4)
    (0.204, 0.214)
    """
    missed = np.arange(right + 1) if delta > 0 else np.zeros(1, dtype=np.int64)
    tail = stats.binom.sf(right - missed - 1, guesses, special.expit(epsilon)) * SAFE
    return min(1.0, float((tail + candidates * delta / (missed + 1)).min()))


@dataclass(frozen=True)
class OneRun:
    """What one run shows about a claim.

    Parameters
    ----------
    epsilon : float
        No smaller one is true, at `delta`.
    claimed : float
        What the claim allows at `delta`.
    delta : float
        The delta of both.
    right, guesses, candidates : int
        The guesses that show most, of how many candidates.
    confidence : float
        One minus the risk that `epsilon` is above the truth.
    """

    epsilon: float
    claimed: float
    delta: float
    right: int
    guesses: int
    candidates: int
    confidence: float

    @property
    def holds(self) -> bool:
        """Whether the run leaves the claim possible. That is no proof of it: other records may show more."""
        return self.epsilon <= self.claimed

    def __str__(self) -> str:
        return (
            f"{'Not refuted' if self.holds else 'REFUTED'} with confidence {self.confidence:.10g}: at delta"
            f" {self.delta:.3g}, epsilon is claimed to be at most {self.claimed:.4g} and shown to be at least"
            f" {self.epsilon:.4g}.\n{self.right} of {self.guesses} guesses were right, of {self.candidates} candidates."
        )

    def _repr_html_(self) -> str:
        return carded("".join(f"<p>{safe(line)}</p>" for line in str(self).splitlines()))


def one_run(claim: Event, scores: ArrayLike, included: ArrayLike, *, confidence: float = CONFIDENCE) -> OneRun:
    """Hold one run against a claim, by guesses at which candidates were in.

    Those with the highest scores are guessed to be in, and those with the lowest to be out: all, half, or fewer; and
    also the highest alone. All of these are looked at, and the risk is shared among them.

    Parameters
    ----------
    claim : Event
        What the run is said to cost, for add/remove neighbors.
    scores : array of numbers, shape (candidates,)
        What the output says about each candidate, computed without the coins: higher if it seems to have been in.
    included : array of bool, shape (candidates,)
        The coins: fair, and independent.
    confidence : float
        One minus the risk that a true claim is refuted.

    Guarantee
    ---------
    A true claim is refuted with probability at most 1 - `confidence`; see `one_run_epsilon`.

    Examples
    --------
    >>> from discreet.core.events import GaussianLoss
    >>> generator = np.random.default_rng(0)
    >>> coins = generator.random(1000) < 0.5
    >>> noisy = coins + generator.normal(size=1000) * 0.1
    >>> one_run(GaussianLoss(0.1), noisy, coins).holds, one_run(GaussianLoss(2.0), noisy, coins).holds
    (True, False)
    """
    values, coins = np.asarray(scores, dtype=float), np.asarray(included, dtype=bool)
    if values.ndim != 1 or values.shape != coins.shape or not len(values):
        obstacle = f"scores have shape {values.shape} and coins {coins.shape}"
        raise ParameterError(ASKED, obstacle, "Give one of each for every candidate.")
    counts = _counts(np.argsort(values, kind="stable"), coins)
    risk = (1 - confidence) / len(counts)
    delta = risk / (2 * len(coins))  # the candidates' deltas together take half of the risk
    shown = [
        one_run_epsilon(right, guesses, candidates=len(coins), delta=delta, confidence=1 - risk)
        for right, guesses in counts
    ]
    best = int(np.argmax(shown))
    return OneRun(shown[best], accountant.epsilon(claim, delta), delta, *counts[best], len(coins), confidence)


def _counts(order: NDArray[np.intp], coins: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Right guesses and guesses: of the highest and the lowest alike, and of the highest alone."""
    counts = []
    for share in SHARES:
        k = max(1, int(share * len(coins) / 2))
        inside, outside = int(coins[order[-k:]].sum()), int(k - coins[order[:k]].sum())
        counts += [(inside, k), (inside + outside, 2 * k)] if len(coins) > 1 else [(inside, k)]
    return counts
