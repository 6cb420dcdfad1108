"""Score against epsilon, on public or synthetic data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import train_test_split

from discreet.core.budget import Budget
from discreet.core.checks import check_seed, check_whole
from discreet.core.errors import ParameterError
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.releases.drawing import drawn_on
from discreet.trust.private_data import PrivateData

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ASKED = "privacy against utility"
HELD_OUT = 0.25  # of the rows, that scores are computed on
BAND = (0.1, 0.9)  # quantiles of the scores between which the band lies
Scoring = Callable[[Any, Any, Any], float]


def plot_privacy_utility(
    learner: PrivateEstimator,
    X: Any,
    y: Any = None,
    epsilons: Sequence[float] = (0.1, 0.3, 1.0, 3.0, 10.0),
    *,
    repeats: int = 10,
    scoring: Scoring | None = None,
    random_state: Any = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw how the score of a learner grows with epsilon: on public or synthetic data, before anything is spent.

    Scores are exact numbers about the rows that are given, and nobody pays for drawing them: so these rows must be
    public, or synthetic: made to be like the private ones in number and kind. The figure says so. A line joins the
    medians of all fits with one epsilon, each to another random three quarters of the rows and with fresh noise, scored
    on the rest; about four of five scores lie in the band.

    Parameters
    ----------
    learner : PrivateEstimator
        Public. With all parameters but epsilon.
    X : array of shape (n, n_features), or data frame
        Public. Rows that may be shown; never private records.
    y : array of shape (n,), optional
        Public. Their targets.
    epsilons : sequence of float
        Public. For which the learner is fitted, ascending.
    repeats : int
        Public. How many fits there are for each.
    scoring : callable, optional
        Public. Takes a fitted learner, held-out rows and their targets, and gives a number; by default the learner's
        own `score`, which is accuracy for classifiers and R2 for regressors. Learners without one need it.
    random_state : int, RandomState instance or None
        Public. Seeds the splits, never the noise.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure, which a notebook shows.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from discreet.learners import GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 2000)
    >>> X = rng.normal(np.where(y == 1, 1.0, -1.0)[:, None], 1.0, (2000, 2))
    >>> learner = GaussianNB(classes=[0, 1], bounds=(-5, 5))
    >>> ax = plot_privacy_utility(learner, X, y, [0.1, 1.0], repeats=3, ax=Figure().add_subplot())
    >>> ax.get_title()
    'GaussianNB on public or synthetic data: 1,500 rows'

    What components capture of the squares, as a share:

    >>> from discreet.learners import PCA
    >>> def captured(model, rows, _):
    ...     return np.square(model.transform(rows)).sum() / np.square(rows - model.mean_).sum()
    >>> ax = plot_privacy_utility(
    ...     PCA(1, bounds=(-5, 5)), X, epsilons=[0.1, 1.0], repeats=3, scoring=captured, ax=Figure().add_subplot()
    ... )
    >>> ax.get_ylabel()
    'captured on held-out rows'
    """
    check_whole(ASKED, "repeats", repeats, 2)
    check(learner, X, scoring)
    if not isinstance(random_state, np.random.RandomState):
        check_seed(ASKED, random_state)
    every = np.array([Budget(float(one), learner.delta).epsilon for one in np.atleast_1d(epsilons)])
    if not len(every) or (np.diff(every) <= 0).any():
        raise ParameterError(ASKED, f"the epsilons are {every.tolist()}", "Give at least one, in ascending order.")
    scorer = own_score if scoring is None else scoring
    scores = np.array(
        [scored(learner, X, y, epsilon, int(repeats), scorer, random_state) for epsilon in every.tolist()]
    )
    low, high = np.quantile(scores, BAND, axis=1)
    ax = drawn_on(ASKED, ax)
    ax.fill_between(every, low, high, alpha=0.2, label=f"{BAND[1] - BAND[0]:.0%} of {repeats} fits")
    ax.plot(every, np.median(scores, axis=1), marker="o", label="median")
    ax.set_xscale("log")
    ax.set_xlabel(f"epsilon, at delta {learner.delta:g}")
    ax.set_ylabel(f"{score_name(learner, scoring)} on held-out rows")
    fitted = len(X) - int(np.ceil(HELD_OUT * len(X)))
    ax.set_title(f"{type(learner).__name__} on public or synthetic data: {fitted:,} rows")
    ax.legend()
    return ax


def check(learner: Any, X: Any, scoring: Scoring | None) -> None:
    """Refuse what is no private learner, has no score, or would show private records."""
    if not isinstance(learner, PrivateEstimator):
        obstacle = f"{learner!r} is no private learner with parameters"
        raise ParameterError(ASKED, obstacle, "Give one of discreet.learners, such as GaussianNB(classes=[0, 1]).")
    if isinstance(X, PrivateData):
        remedy = "Give public or synthetic rows, and private data to `fit` and `evaluate`."
        raise ParameterError(ASKED, "the scores are exact, and would give private records away", remedy)
    if scoring is None and not hasattr(learner, "score"):
        remedy = "Pass scoring, a function of a fitted learner, rows and targets that gives a number."
        raise ParameterError(ASKED, f"{type(learner).__name__} has no score of its own", remedy)


def own_score(model: Any, X: Any, y: Any) -> float:
    """The score that the learner itself has."""
    return float(model.score(X) if y is None else model.score(X, y))


def score_name(learner: PrivateEstimator, scoring: Scoring | None) -> str:
    if scoring is not None:
        return getattr(scoring, "__name__", "score").replace("_", " ")
    return "accuracy" if is_classifier(learner) else "R2" if is_regressor(learner) else "score"


def scored(
    learner: PrivateEstimator, X: Any, y: Any, epsilon: float, repeats: int, scoring: Scoring, random_state: Any
) -> list[float]:
    """The scores of several fits with one epsilon, on the same splits as with any other if the seed is a number."""
    rng = np.random.RandomState(int(random_state)) if isinstance(random_state, Integral) else random_state
    found: list[float] = []
    given = [X] if y is None else [X, y]
    for _ in range(repeats):
        parts = train_test_split(*given, test_size=HELD_OUT, random_state=rng)
        model = clone(learner).set_params(epsilon=epsilon).fit(*parts[::2])
        found.append(float(scoring(model, parts[1], None if y is None else parts[3])))
    return found
