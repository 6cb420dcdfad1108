"""Private scalers: by means and variances, or by quantiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from discreet.core.bound import Norm
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.private_transformer import PrivateTransformer, numbers_of, rescaled
from discreet.questions.columns.column_moments import ColumnMoments, column_moments_of
from discreet.questions.tables.tree import Tree, trees
from discreet.questions.transformation import Transformation
from discreet.questions.vectors.coordinates import Coordinates
from discreet.releases.joint_plan import JointPlan, Stage, staged, vector_noise
from discreet.releases.least_noise import SumPlan, planned
from discreet.schema.schema import Number, Schema
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

FLATTEST = 2.0**-12  # the least variance, in units of the square of half the distance between the bounds
CELLS = 64  # between the bounds of a column: a quantile is found to about one of them


class StandardScaler(PrivateTransformer):
    """Numbers less their mean, in units of their standard deviation, from one noisy sum; categories are kept.

    What it gives lies between `-reach` and `reach`, so that whatever follows has public bounds. A record with a missing
    number counts for nothing in the fit, and stays missing in that column. A variance that noise could feign is raised
    to what the noise explains.

    Parameters
    ----------
    reach : float
        Public. How many standard deviations from the mean a value is moved to at most.

    Attributes
    ----------
    mean_ : array of shape (n_numbers,)
        Released. The mean of each numeric feature.
    scale_ : array of shape (n_numbers,)
        Released. Its standard deviation.

    Guarantee
    ---------
    `event_`: one release of one bounded sum, that of `column_moments`, for the neighbors and the unit of the data set;
    add or remove one record for arrays. Released: `mean_` and `scale_`, which follow from it (Dwork, McSherry, Nissim
    and Smith 2006). `transform` computes from rows that the caller already has, and what it gives is not private.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal([30.0, 5.0], [10.0, 1.0], (50_000, 2))
    >>> scaler = StandardScaler(bounds=([0.0, 0.0], [100.0, 10.0]), epsilon=1.0).fit(X)
    >>> scaler.mean_.round(), scaler.scale_.round()
    (array([30.,  5.]), array([10.,  1.]))
    """

    purpose: ClassVar[str] = "standard scaler"

    def __init__(self, reach: float = 4.0, *, bounds: Any = None, epsilon: float = 1.0, delta: float = 1e-6) -> None:
        self.reach = reach
        self.bounds = bounds
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        check_positive(self.purpose, "reach", self.reach, 2.0**-6, 2.0**12)

    def plan(self, task: Task) -> SumPlan:
        """One sum of the values and their squares."""
        names = numbers_of(task.schema, task.features)
        if not names:
            raise ParameterError(self.purpose, "there is no numeric feature", "Leave it out, or describe numbers.")
        return planned(task.data, task.budget, column_moments_of(task.schema, names))

    def learn(self, task: Task, plan: SumPlan, permit: Permit) -> Artefact:
        names = numbers_of(task.schema, task.features)
        moments = ColumnMoments.of(permit.ask(plan.question, plan.spread.noise), plan.spread.stddev)
        box = Coordinates.of(task.schema, names, 1.0)
        middle, half = box.middle[:, 0], box.half[:, 0]
        least = np.clip(moments.error, FLATTEST, 1.0)  # squares have half of the noise, and squared means at most twice
        variances = np.clip(moments.squares - moments.means**2, least, 1.0)
        return {"mean_": middle + half * moments.means, "scale_": half * np.sqrt(variances)}

    def transformation(
        self, schema: Schema, features: tuple[str, ...], fitted: Mapping[str, Any] | None
    ) -> Transformation:
        """Numbers less their mean, over their standard deviation."""
        weights = 1.0 if fitted is None else 1 / fitted["scale_"]
        offsets = 0.0 if fitted is None else -fitted["mean_"] * weights
        return rescaled(schema, features, weights, offsets, Number(-float(self.reach), float(self.reach)))


class MinMaxScaler(PrivateTransformer):
    """Numbers moved between the ends of a range, from their noisy quantiles or their public bounds.

    What is beyond the quantiles is moved to the nearer end. Categories are kept; a missing value is not counted, and
    stays missing.

    Parameters
    ----------
    feature_range : (float, float)
        Public. The ends of the range.
    q : (float, float), optional
        Public. The levels of the quantiles that become the ends of the range. Without them the public bounds do, and
        nothing is asked or paid.

    Attributes
    ----------
    data_min_ : array of shape (n_numbers,)
        Released. What becomes the lower end, for each numeric feature.
    data_max_ : array of shape (n_numbers,)
        Released. What becomes the upper end.

    Guarantee
    ---------
    `event_`: one release of a tree of counts for each numeric feature, composed, for the neighbors and the unit of the
    data set; add or remove one record for arrays. Released: `data_min_` and `data_max_`, which follow from these.
    `transform` computes from rows that the caller already has, and what it gives is not private.
    Hay, Rastogi, Miklau and Suciu 2010.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(20, 60, (50_000, 1))
    >>> scaler = MinMaxScaler(bounds=(0, 120), epsilon=1.0).fit(X)
    >>> abs(scaler.data_min_ - 20) < 3, abs(scaler.data_max_ - 60) < 3
    (array([ True]), array([ True]))
    """

    purpose: ClassVar[str] = "min-max scaler"

    def __init__(
        self,
        feature_range: tuple[float, float] = (0.0, 1.0),
        *,
        q: tuple[float, float] | None = (0.01, 0.99),
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.feature_range = feature_range
        self.q = q
        self.bounds = bounds
        self.epsilon, self.delta = epsilon, delta

    @property
    def free(self) -> bool:  # type: ignore[override]
        return self.q is None

    def check(self) -> None:
        Number(*self.feature_range)
        if self.q is not None and not (len(self.q) == 2 and 0 <= self.q[0] < self.q[1] <= 1):
            raise ParameterError(self.purpose, f"q is {self.q}", "Give two levels in [0, 1], the lower one first.")

    def plan(self, task: Task) -> JointPlan:
        """A tree of counts for each number, with the same noise; nothing where the bounds are the ends."""
        names = numbers_of(task.schema, task.features)
        if not names:
            raise ParameterError(self.purpose, "there is no numeric feature", "Leave it out, or describe numbers.")
        if self.free:
            return JointPlan(())
        questions = [self._tree(task).question(task.schema, name, CELLS) for name in names]
        stages = [Stage(question, 1.0) for question in questions]
        return staged(task.data, stages, task.budget, vector_noise)

    def learn(self, task: Task, plan: JointPlan, permit: Permit) -> Artefact:
        names, tree = numbers_of(task.schema, task.features), self._tree(task)
        numbers = [task.schema.number(name) for name in names]
        ends = np.array([[number.lower, number.upper] for number in numbers])
        if self.q is not None:
            asked = [tree.question(task.schema, name, CELLS) for name in names]
            released = [permit.ask(question, noise) for question, noise in zip(asked, plan.mechanisms, strict=True)]
            found = np.array([between(tree.leaves_of(one)[:CELLS], self.q) for one in released])
            ends = ends[:, :1] + (ends[:, 1:] - ends[:, :1]) * found
        return {"data_min_": ends[:, 0], "data_max_": ends[:, 1]}

    def transformation(
        self, schema: Schema, features: tuple[str, ...], fitted: Mapping[str, Any] | None
    ) -> Transformation:
        """Numbers from their quantiles to the ends of the range."""
        low, high = map(float, self.feature_range)
        if fitted is None:
            return rescaled(schema, features, 1.0, 0.0, Number(low, high))
        weights = (high - low) / (fitted["data_max_"] - fitted["data_min_"])
        return rescaled(schema, features, weights, low - fitted["data_min_"] * weights, Number(low, high))

    def _tree(self, task: Task) -> Tree:
        """The one that sums from the left have least noise in."""
        norm: Norm = "l2" if self.delta > 0 else "l1"
        return min(trees(CELLS, norm), key=lambda tree: tree.error(CELLS) * tree.bound.radius**2)


def between(counts: Array, q: tuple[float, float]) -> Array:
    """Where two quantiles lie between the ends of all cells, as shares of their distance: at least a cell apart."""
    below = np.concatenate([[0.0], np.maximum.accumulate(np.maximum(np.cumsum(counts), 0.0))])
    shares = below / max(float(below[-1]), 1.0)
    places = [int(np.searchsorted(shares, q[0], side="right")) - 1, int(np.searchsorted(shares, q[1], side="left"))]
    first = min(max(places[0], 0), len(counts) - 1)
    return np.array([first, min(max(places[1], first + 1), len(counts))]) / len(counts)
