"""Private Gaussian naive Bayes, from one noisy sum."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Norm
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.core.knob import check_one_of, check_whole
from discreet.learners.naive_bayes import NaiveBayes, counts_of, partial_shrinkage, shrinkage
from discreet.learners.task import Task
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.box import GUESS
from discreet.questions.class_moments import class_moments_of
from discreet.questions.coordinates import Coordinates
from discreet.releases.spread import spread
from discreet.releases.sum_plan import SumPlan, planned
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# SQUARE, SHORTER and TYPICAL are from made-up data: `bayes` in benchmarks/tuning_trees.py. The form of the rules for
# shrinkage and for the number of features was settled after scores of the benchmark had been seen.
SQUARE = 0.6  # weight of the squares; the scores hardly depend on it
SHORTER = 0.1  # of d, the squared length that records are shrunk to; that of uniform ones is 1/3, and of most less
TYPICAL = 0.024  # noise on a mean over all records that halves what a feature says
LEAST = 1e-3  # variance of a scaled feature; one that is uniform between its bounds has 1/3


class GaussianNB(NaiveBayes):
    """Gaussian naive Bayes: the counts, means and variances of all classes from one bounded sum.

    Features are scaled from their bounds to [-1, 1]; a record with a missing value, or a class that is not listed,
    counts for nothing. Means and variances are brought closer to those of all classes together by the share of noise
    in them, which is public; the noise that is left in a mean is added to its variance.

    Parameters
    ----------
    method : {"joint", "published"}
        Public. "published" adds independent Laplace noise to each attribute's statistics with an equal share of the
        budget, and estimates from these alone; it is here for comparison and pays no delta.
    radius : float, optional
        Public. The length that a scaled record is shrunk to, here and in predictions; sqrt(n_features) shrinks nothing.
        Where none is given, it is sqrt(0.1 n_features): few records fill the box that their bounds allow, and the noise
        grows with it.
    max_features : int, optional
        Public. How many features are used, chosen at random. Where it is not given, all of them, unless the
        noise would drown each; see `plan`.
    expected_size : int
        Public. The number of records, about; of use where it is secret.
    random_state : int, RandomState instance or None
        Public. Seeds the choice of features; never the noise.
    target : str, optional
        Public. The column to predict, of `PrivateData`.
    classes : sequence, optional
        Public. All classes, in order; not for `PrivateData`, whose schema has them.
    bounds : (lower, upper), optional
        Public. Of the features: two numbers, or two sequences with one number per feature; not for `PrivateData`, whose
        schema has them.
    epsilon, delta : float
        Public. What one fit costs.

    Attributes
    ----------
    theta_ : array of shape (n_classes, n_features)
        Released. The mean of each feature in each class.
    var_ : array of shape (n_classes, n_features)
        Released. Its variance, with the noise of the mean.
    class_prior_ : array of shape (n_classes,)
        Released. The probability of each class.
    middle_ : array of shape (n_features,)
        Public. The middle of the bounds of each feature.
    half_ : array of shape (n_features,)
        Public. Half their distance.
    used_ : array of bool, of shape (n_features,)
        Public. The features that are used; the others have the same mean and variance in all classes.
    radius_ : float
        Public. The length that scaled records are shrunk to.
    classes_ : array of shape (n_classes,)
        Public. The classes.
    event_ : Event
        What the fit cost.
    receipt_ : Receipt
        The same, with whom it protects and where it was charged.
    n_features_in_ : int
        Public. The number of features.
    feature_names_in_ : array of str
        Public. Their names, where the data have names.

    Guarantee
    ---------
    `event_`: one release of one bounded sum, for the neighbors and the unit of the data set; add or remove one record
    for arrays. Released: `theta_`, `var_` and `class_prior_`, post-processing of it. The sum is that of
    `class_moments`. The published method is that of Vaidya, Shafiq, Basu and Hong 2013 with noise on sums, since the
    number of records of a class is secret: the means that they divide by it have no smaller sensitivity.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 5000)
    >>> X = rng.normal(np.where(y == 1, 1.0, -1.0)[:, None], 1.0, (5000, 2))
    >>> model = GaussianNB(classes=[0, 1], bounds=(-5, 5), epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    purpose: ClassVar[str] = "naive Bayes"

    def __init__(
        self,
        *,
        method: str = "joint",
        radius: float | None = None,
        max_features: int | None = None,
        expected_size: int = GUESS,
        random_state: Any = None,
        target: str | None = None,
        classes: Any = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.method = method
        self.radius = radius
        self.max_features = max_features
        self.expected_size = expected_size
        self.random_state = random_state
        self.target = target
        self.classes = classes
        self.bounds = bounds
        self.epsilon = epsilon
        self.delta = delta

    def check(self) -> None:
        """Refuse parameters that cannot be, before any data are looked at."""
        check_one_of(self.purpose, "method", self.method, ("joint", "published"))
        for name in ("max_features", "expected_size"):
            if getattr(self, name) is not None:
                check_whole(self.purpose, name, getattr(self, name))

    def plan(self, task: Task) -> SumPlan:
        """One release, of so many features that they say most together.

        Gaussian noise grows with the root of their number, and noise of a pure loss with their number: where that
        drowns each of them, a few say more than all. If noise of the deviation s on the sums of n records leaves each
        of m features 1 / (1 + (s / (n TYPICAL))^2) of what it says, their sum is to be maximal.
        """
        d, n = len(task.features), task.data.public_size or self.expected_size
        sizes = {d, *(2**k for k in range(d.bit_length()))} if self.method == "joint" else {d}
        if self.max_features is not None:
            sizes = {min(int(self.max_features), d)}
        plans = {m: self._plan_of(task, self._chosen(task, m)) for m in sizes}
        return plans[max(plans, key=lambda m: m / (1 + (plans[m].spread.stddev / (n * TYPICAL)) ** 2))]

    def _plan_of(self, task: Task, some: tuple[str, ...]) -> SumPlan:
        """One release about these features, in l1 or l2, whichever needs less noise."""
        assert task.target is not None
        norms: tuple[Norm, ...] = ("l1",) if self.method == "published" else ("l1", "l2")
        radius = self._radius(len(some))
        questions = [class_moments_of(task.schema, some, task.target, radius, SQUARE, norm) for norm in norms]
        if self.method == "joint":
            return planned(task.data, task.budget, *questions)
        noise = calibrate(Laplace(), Budget(task.budget.epsilon))
        return SumPlan(questions[0], spread(task.data, questions[0], noise))

    def learn(self, task: Task, plan: SumPlan, permit: Permit) -> Artefact:
        """Counts, means and variances from the noisy sums."""
        coordinates, d = Coordinates.of(task.schema, task.features, 1.0), len(plan.question.columns) - 1
        sums = permit.ask(plan.question, plan.spread.noise).reshape(-1, 1 + 2 * d)
        stddev = 0.0 if self.method == "published" else plan.spread.stddev
        weight = Coordinates.of(task.schema, plan.question.columns[:-1], self._radius(d)).weight
        n = counts_of(sums[:, :1] / weight, stddev / weight, task.data.public_size)
        used = np.isin(task.features, plan.question.columns)
        means, variances = np.zeros((len(n), len(used))), np.full((len(n), len(used)), 1 / 3)
        means[:, used], left = _shrunk_means(sums[:, 1 : d + 1] / n, n, stddev)
        spreads = sums[:, d + 1 :] / (SQUARE * n) + 1 / 3 - means[:, used] ** 2
        noise = 4 * means[:, used] ** 2 * left
        variances[:, used] = _shrunk_variances(spreads, n, stddev / SQUARE, noise) + left
        middle, half = coordinates.middle[:, 0], coordinates.half[:, 0]
        return {
            "theta_": middle + half * means,
            "var_": np.clip(variances, LEAST, 1.0) * half**2,
            "class_prior_": (n / n.sum())[:, 0],
            "middle_": middle,
            "half_": half,
            "used_": used,
            "radius_": self._radius(d),
        }

    def predict_joint_log_proba(self, X: Any) -> Array:
        """The logarithm of P(class) P(row | class), but for a constant; a missing value says nothing."""
        scaled = np.clip((self._rows(X) - self.middle_) / self.half_, -1.0, 1.0)
        scaled = np.where(self.used_, scaled, 0.0)
        length = np.sqrt(np.nansum(scaled**2, axis=1, keepdims=True))
        rows = self.middle_ + self.half_ * scaled * np.minimum(1.0, self.radius_ / np.maximum(length, 1e-12))
        joint = np.empty((len(rows), len(self.classes_)))
        for k, (mean, variance) in enumerate(zip(self.theta_, self.var_, strict=True)):
            terms = np.square(rows - mean) / variance + np.log(variance)
            joint[:, k] = math.log(self.class_prior_[k]) - 0.5 * np.nansum(terms, axis=1)
        return joint

    def _radius(self, d: int) -> float:
        """Sqrt(d) shrinks nothing; a record that is uniform in the box has a length of sqrt(d / 3), nearly."""
        if self.radius is not None:
            return self.radius
        return math.sqrt(d if self.method == "published" else SHORTER * d)

    def _chosen(self, task: Task, m: int) -> tuple[str, ...]:
        places = check_random_state(self.random_state).permutation(len(task.features))[:m]
        return tuple(task.features[place] for place in sorted(places))


def _shrunk_means(means: Array, n: Array, stddev: float) -> tuple[Array, Array]:
    """Means closer to those of all classes together, and the variance of the noise that is left in them."""
    pooled = (n * means).sum(axis=0) / n.sum()
    noise = np.broadcast_to(np.square(stddev / n), means.shape)
    kept = partial_shrinkage((means - pooled).ravel(), noise.ravel()).reshape(means.shape)
    return np.clip(np.clip(pooled, -1.0, 1.0) + kept * (means - pooled), -1.0, 1.0), kept * noise


def _shrunk_variances(variances: Array, n: Array, stddev: float, more: Array) -> Array:
    """Variances closer to those within all classes together; `more` is the noise that their means bring.

    These are brought closer to their mean over all features first. All are held above twice the noise that is left in
    them: a variance that noise made too small would let its feature decide alone.
    """
    noise = np.square(stddev / n) + more
    pooled, own = (n * variances).sum(axis=0) / n.sum(), (n**2 * noise).sum(axis=0) / n.sum() ** 2
    apart = pooled - pooled.mean()
    pooled = np.clip(pooled.mean() + shrinkage(apart, own) * apart, np.maximum(LEAST, 2 * np.sqrt(own)), 1.0)
    kept = shrinkage((variances - pooled).ravel(), noise.ravel()).reshape(noise.shape)
    least = np.minimum(2 * np.sqrt(kept * noise), pooled)
    return np.maximum(pooled + kept * (variances - pooled), np.maximum(least, pooled / 10))
