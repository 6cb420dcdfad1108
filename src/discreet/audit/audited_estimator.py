"""Audit an estimator in one run: made-up records are put in by coins, and guessed from what was learnt."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.audit.audit_report import AuditFinding, AuditReport
from discreet.audit.lower_bound import CONFIDENCE
from discreet.audit.neighboring_records import ASKED, Corners
from discreet.audit.one_run import one_run
from discreet.audit.ratio import Values
from discreet.core.checks import check_seed, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.grid import Array

CANARIES, FEWEST = 2000, 40
Score = Callable[[Any, Values, Values], Array]


def audited_estimator(
    estimator: Any,
    claim: Event,
    *,
    bounds: Any = (0.0, 1.0),
    canaries: int = CANARIES,
    score: Score | None = None,
    confidence: float = CONFIDENCE,
    random_state: int | None = None,
) -> AuditReport:
    """Try to refute what a fit of an estimator is said to cost, by one fit.

    Each of many made-up records, with a label from a fair coin, is put in or left out by another coin. The estimator is
    fitted once to those that are in; whom it fits better is guessed to have been in.

    Parameters
    ----------
    estimator : estimator
        With `fit(X, y)`, as in scikit-learn; a clone of it is fitted.
    claim : Event
        What a fit is said to cost, for add/remove neighbors.
    bounds : (lower, upper)
        Public. Between which the records lie: two lists with a number for each feature. Two numbers are one feature.
    canaries : int
        How many records.
    score : callable, optional
        `score(fitted, X, y)`: higher for records that seem to have been in. By default the logarithm of the probability
        of the label, `score_samples`, the distance to the nearest of `cluster_centers_`, or the error of `predict`.
    confidence : float
        One minus the risk that a true claim is refuted.
    random_state : int, optional
        Seeds records and coins.

    Guarantee
    ---------
    A true claim is refuted with probability at most 1 - `confidence`; see `one_run`.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from discreet.core.events import PureLoss
    >>> report = audited_estimator(
    ...     KNeighborsClassifier(1), PureLoss(0.5), bounds=([0.0, 0.0], [1.0, 1.0]), random_state=1
    ... )
    >>> report.refuted
    True
    """
    check_whole(ASKED, "canaries", canaries, FEWEST, 10**6)
    check_seed(ASKED, random_state)
    started = time.perf_counter()
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if random_state is None else int(random_state)
    rng = np.random.default_rng(seed)
    corners = Corners.of(bounds)
    X = np.array([np.atleast_1d(corners.inside(rng)) for _ in range(int(canaries))])
    y, coins = rng.integers(0, 2, len(X)), rng.random(len(X)) < 1 / 2
    fitted = _fitted(estimator, X[coins], y[coins])
    shown = one_run(claim, (score or _score)(fitted, X, y), coins, confidence=confidence)
    told = f"{shown.right} of {shown.guesses} guesses were right, of {shown.candidates} canaries."
    finding = AuditFinding("guesses", f"epsilon at delta {shown.delta:.3g}", shown.claimed, shown.epsilon, told)
    limits = (corners.lower.tolist(), corners.upper.tolist())
    options = {"bounds": limits, "confidence": confidence, "random_state": seed}
    name, seconds = type(estimator).__name__, time.perf_counter() - started
    return AuditReport(name, claim, (finding,), confidence, 1, 1, seconds, options)


def _fitted(estimator: Any, X: Values, y: Values) -> Any:
    from sklearn.base import clone

    try:
        return clone(estimator).fit(X, y)
    except Exception as why:
        obstacle = f"the fit to {len(X)} made-up records raised {type(why).__name__}"
        remedy = "Give the bounds of its features, as two lists; it is fitted to labels 0 and 1."
        raise ParameterError(ASKED, obstacle, remedy) from why


def _score(fitted: Any, X: Values, y: Values) -> Array:
    if hasattr(fitted, "predict_proba"):
        of_class = np.searchsorted(fitted.classes_, y).clip(0, len(fitted.classes_) - 1)
        return np.log(np.maximum(np.asarray(fitted.predict_proba(X))[np.arange(len(X)), of_class], 1e-300))
    if hasattr(fitted, "score_samples"):
        return np.asarray(fitted.score_samples(X))
    if hasattr(fitted, "cluster_centers_"):
        return -np.linalg.norm(X[:, None] - np.asarray(fitted.cluster_centers_), axis=2).min(axis=1)
    if hasattr(fitted, "predict"):
        return -np.abs(np.asarray(fitted.predict(X), dtype=np.float64) - y)
    obstacle = f"{type(fitted).__name__} has no probabilities, scores, centers or predictions"
    raise ParameterError(ASKED, obstacle, "Give `score`, or call `one_run` with scores of your own.")
