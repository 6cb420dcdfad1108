"""Private Gaussian naive Bayes, from one noisy sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from discreet.core.bound import Norm
from discreet.core.checks import check_whole
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.core.mechanism import Noise
from discreet.fitting.task import Task
from discreet.learners.bayes.naive_bayes import NaiveBayes, counts_of
from discreet.learners.bayes.shrunk_moments import NoisyMoments, law_of
from discreet.questions.columns.box import GUESS
from discreet.questions.question import BoundedSum
from discreet.questions.vectors.class_moments import class_moments_of, record_lengths_of
from discreet.questions.vectors.coordinates import Coordinates
from discreet.releases.joint_plan import Stage, staged
from discreet.releases.least_noise import planned
from discreet.releases.spread import Spread, spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# From made-up data: `bayes` and `lengths` in benchmarks/tuning_bayes.py. QUIET, LOUD, CALM and COVERED were settled
# after scores of the benchmark had been seen; on fresh sets, of which nothing was known, `afresh` finds none better.
SQUARE = 0.6  # weight of the squares; the scores hardly depend on it
SHORTER = 0.1  # of d, the squared length that records are shrunk to where most are short; that of uniform ones is 1/3
LONG = 1 / 3  # of d, above which a record is long
LENGTHS = 0.01  # of the information that is paid for, for the lengths
# Noise on a mean over the records of a class, if classes are alike in number, below which long records are not shrunk,
# and below which they are shrunk less than others.
QUIET, LOUD = 0.03, 0.1
LONGER = 0.4  # of d, what they are shrunk to then
# The same noise, below which shrinking costs more than it saves: records are shrunk to the least of some squared
# lengths that most of them have. `covered` there shows why.
CALM, COVERED = 5e-5, 0.75
RADII = (SHORTER, 0.2, LONG, 0.6)  # of d
NORMS: tuple[Norm, ...] = ("l1", "l2")
# Noise on a mean over all records that halves what a feature says: from `bayes` in benchmarks/tuning_bayes.py.
TYPICAL = 0.024


@dataclass(frozen=True)
class MomentsPlan:
    """Of which features, in which norm, and with which noise.

    Parameters
    ----------
    features : tuple of str
        Public. Those that are used.
    radius, long_radius : float
        Public. The length that records are shrunk to, and that where most are found to be long.
    covering : bool
        Public. Whether they are shrunk to the least of `RADII` that nearly all keep within instead.
    norm : {"l1", "l2"}
        Public. In which a record is bounded.
    moments : Spread
        Public. The noise on the moments.
    lengths : Spread or None
        Public. The noise on the number of long records; None where it is not asked.
    event : Event
        Public. What all of it costs.
    """

    features: tuple[str, ...]
    radius: float
    long_radius: float
    covering: bool
    norm: Norm
    moments: Spread
    lengths: Spread | None
    event: Event

    def question(self, task: Task, radius: float) -> BoundedSum:
        """The moments of records that are shrunk to this radius."""
        return moments_of(task, self.features, radius, self.norm)

    def radius_of(self, lengths: Array) -> float:
        """The length to shrink to, from the noisy numbers of records whose length is between those of `RADII`."""
        if not self.covering:
            split = RADII.index(LONG) + 1
            return self.long_radius if lengths[split:].sum() > lengths[:split].sum() else self.radius
        within = np.cumsum(lengths)[:-1] >= COVERED * lengths.sum()
        return math.sqrt((*RADII, 1.0)[int(np.append(within, True).argmax())] * len(self.features))


def moments_of(task: Task, some: tuple[str, ...], radius: float, norm: Norm) -> BoundedSum:
    """The sum of moments of these features, class by class."""
    return class_moments_of(task.schema, some, str(task.target), radius, SQUARE, norm)


def lengths_of(task: Task) -> BoundedSum:
    """How many records are how long, of all features."""
    return record_lengths_of(task.schema, task.features, tuple(math.sqrt(r * len(task.features)) for r in RADII))


def joint_plan(task: Task, some: tuple[str, ...], radius: float | None) -> MomentsPlan:
    """One release about these features, in l1 or l2, whichever needs less noise."""
    radius = math.sqrt(SHORTER * len(some)) if radius is None else radius
    best = planned(task.data, task.budget, *(moments_of(task, some, radius, norm) for norm in NORMS))
    return MomentsPlan(some, radius, radius, False, best.question.bound.norm, best.spread, None, best.event)


def lengths_first(task: Task, n: int) -> MomentsPlan | None:
    """The lengths, and then the moments of all features; None where noise on n records that are whole is too much."""
    whole = joint_plan(task, task.features, math.sqrt(len(task.features)))
    stages = (Stage(lengths_of(task), LENGTHS), Stage(whole.question(task, whole.radius), 1 - LENGTHS))
    plan = staged(task.data, stages, task.budget)
    lengths, moments = plan.spreads
    noise, d = moments.stddev * task.classes / n, len(task.features)
    if noise > LOUD:
        return None
    radius, longer = math.sqrt(SHORTER * d), whole.radius if noise < QUIET else math.sqrt(LONGER * d)
    return MomentsPlan(task.features, radius, longer, noise < CALM, whole.norm, moments, lengths, plan.event)


class GaussianNB(NaiveBayes):
    """Gaussian naive Bayes: the counts, means and variances of all classes from one bounded sum.

    Features are scaled from their bounds to [-1, 1]; a record with a missing value, or a class that is not listed,
    counts for nothing. Means and variances are brought closer to those of all classes together by the share of noise
    in them, which is public. The law of a feature in a class is the one of the greatest entropy between its bounds
    (`BoxLaw`): normal where the bounds are far, and that of two values for a mark.

    Parameters
    ----------
    radius : float, optional
        Public. The length that a scaled record is shrunk to, here and in predictions; sqrt(n_features) shrinks nothing.
        Where none is given, it is sqrt(0.1 n_features), since the noise grows with it; but where the noise is small, a
        hundredth of the budget tells whether most records are longer than uniform ones, as those with many marks are:
        then it is sqrt(0.4 n_features), or nothing is shrunk. Where it is smaller still, the length is one that nearly
        all records keep within.
    max_features : int, optional
        Public. How many features are used, chosen at random. Where it is not given, all of them, unless the
        noise would drown each; see `plan`.
    random_state : int, RandomState instance or None
        Public. Seeds the choice of features; never the noise.

    Attributes
    ----------
    theta_ : array of shape (n_classes, n_features)
        Released. The mean of each feature in each class.
    var_ : array of shape (n_classes, n_features)
        Released. Its variance, with the noise of the mean.
    middle_ : array of shape (n_features,)
        Public. The middle of the bounds of each feature.
    half_ : array of shape (n_features,)
        Public. Half their distance.
    used_ : array of bool, of shape (n_features,)
        Public. The features that are used; the others have the same mean and variance in all classes.
    radius_ : float
        Released, or public where it is given. The length that scaled records are shrunk to.

    Guarantee
    ---------
    `event_`: one release of one bounded sum, or of two, for the neighbors and the unit of the data set; add or remove
    one record for arrays. Released: `theta_`, `var_`, `class_prior_` and `radius_`, post-processing of them. The sums
    are those of `class_moments`, and of `record_lengths` before it. `as_published.PublishedNB` is the
    method of Vaidya, Shafiq, Basu and Hong 2013.

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
        self.radius = radius
        self.max_features = max_features
        self.expected_size = expected_size
        self.random_state = random_state
        self.target, self.classes, self.bounds = target, classes, bounds
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        for name in ("max_features", "expected_size"):
            if getattr(self, name) is not None:
                check_whole(self.purpose, name, getattr(self, name))

    def plan(self, task: Task) -> MomentsPlan:
        """One release, of so many features that they say most together; before it, lengths where that costs little.

        Gaussian noise grows with the root of their number, and noise of a pure loss with their number: where that
        drowns each of them, a few say more than all. If noise of the deviation s on the sums of n records leaves each
        of m features 1 / (1 + (s / (n TYPICAL))^2) of what it says, their sum is to be maximal.
        """
        d, n = len(task.features), task.data.public_size or self.expected_size
        if self.max_features is not None:
            return joint_plan(task, self._chosen(task, min(int(self.max_features), d)), self.radius)
        if self.radius is None and (plan := lengths_first(task, n)) is not None:
            return plan
        sizes = {d, *(2**k for k in range(d.bit_length()))}
        plans = {m: joint_plan(task, self._chosen(task, m), self.radius) for m in sizes}
        return plans[max(plans, key=lambda m: m / (1 + (plans[m].moments.stddev / (n * TYPICAL)) ** 2))]

    def learn(self, task: Task, plan: MomentsPlan, permit: Permit) -> Artefact:
        """Counts, means and variances from the noisy sums."""
        radius, d = plan.radius, len(plan.features)
        if plan.lengths is not None:
            radius = plan.radius_of(permit.ask(lengths_of(task), plan.lengths.noise))
        question, noise = plan.question(task, radius), plan.moments.noise
        sums = permit.ask(question, noise).reshape(-1, 1 + 2 * d)
        stddev = self._stddev(task, question, noise)
        weight = Coordinates.of(task.schema, plan.features, radius).weight
        n = counts_of(sums[:, :1] / weight, stddev / weight, task.data.public_size)
        first, second = sums[:, 1 : d + 1] / n, sums[:, d + 1 :] / (SQUARE * n) + 1 / 3
        found = NoisyMoments(n, first, second, stddev, stddev / SQUARE).shrunk()
        used = np.isin(task.features, plan.features)
        means, variances = np.zeros((len(n), len(used))), np.full((len(n), len(used)), 1 / 3)
        means[:, used], variances[:, used] = found.mean, found.variance
        coordinates = Coordinates.of(task.schema, task.features, 1.0)
        middle, half = coordinates.middle[:, 0], coordinates.half[:, 0]
        return {
            "theta_": middle + half * means,
            "var_": variances * half**2,
            "class_prior_": (n / n.sum())[:, 0],
            "middle_": middle,
            "half_": half,
            "used_": used,
            "radius_": radius,
        }

    def predict_joint_log_proba(self, X: Any) -> Array:
        """The logarithm of P(class) P(row | class), but for a constant; a missing value says nothing."""
        z = np.clip((self._rows(X) - self.middle_) / self.half_, -1.0, 1.0)
        known = np.isfinite(z) & self.used_
        z = np.where(known, z, 0.0)
        length = np.sqrt(np.square(z).sum(axis=1, keepdims=True))
        z *= np.minimum(1.0, self.radius_ / np.maximum(length, 1e-12))
        law = law_of((self.theta_ - self.middle_) / self.half_, self.var_ / self.half_**2)
        joint = z @ law.slope.T + np.square(z) @ law.curve.T - known @ law.log_total.T
        return np.asarray(np.log(self.class_prior_) + joint)

    def _stddev(self, task: Task, question: BoundedSum, noise: Noise) -> float:
        """Of the noise that means and variances are shrunk by."""
        return spread(task.data, question, noise).stddev

    def _chosen(self, task: Task, m: int) -> tuple[str, ...]:
        places = check_random_state(self.random_state).permutation(len(task.features))[:m]
        return tuple(task.features[place] for place in sorted(places))
