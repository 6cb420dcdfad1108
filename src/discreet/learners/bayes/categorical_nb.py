"""Private naive Bayes on categories, and on numbers cut into cells, from one noisy sum of marks."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from discreet.core.bound import Norm
from discreet.core.checks import check_positive, check_whole
from discreet.core.grid import Array
from discreet.fitting.task import Task, encoded
from discreet.learners.bayes.naive_bayes import NaiveBayes, counts_of, shrinkage
from discreet.questions.columns.box import GUESS
from discreet.questions.tables.contingency import class_marginals_of
from discreet.questions.tables.domain import MOST_BINS, Domain
from discreet.releases.least_noise import SumPlan, planned
from discreet.schema.schema import Category, Schema
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# Records times epsilon, over the reach of the neighbors, and cells that they pay for. From made-up data: `cells` in
# benchmarks/tuning_bayes.py.
SIZES = ((4e4, 32), (4e3, 16), (0.0, 8))


class CategoricalNB(NaiveBayes):
    """Naive Bayes that counts the values of each feature in each class; the schema decides how each is read.

    A category is counted by its values, a number by cells of equal width between its bounds. A value that is missing or
    not listed counts for nothing, and so does a record without a class that is listed. Shares of values are brought
    closer to those of all classes together by the share of noise in them, which is public.

    Parameters
    ----------
    bins : int, optional
        Public. The number of cells of each number; where not given, 8, or 16 or 32 where records times epsilon are
        many.
    alpha : float
        Public. Records that are added to each value in each class (Laplace smoothing).
    bounds : (lower, upper), or Schema, optional
        Public. Of the features: two numbers, or two sequences with one number per feature, or a schema of the features
        in order, which may have categories; not for `PrivateData`, whose schema has them.

    Attributes
    ----------
    feature_log_prob_ : array of shape (n_values, n_classes)
        Released. The logarithm of the probability of each value in each class: those of the first feature, of the
        second, and so on.
    bins_ : int
        Public. The number of cells of each number.
    columns_ : tuple of Number or Category
        Public. What is known of each feature.

    Guarantee
    ---------
    `event_`: one release of one bounded sum, for the neighbors and the unit of the data set; add or remove one record
    for arrays. Released: `feature_log_prob_` and `class_prior_`, post-processing of it. A record has one mark for each
    of d features: d in l1, sqrt(d) in l2. Vaidya, Shafiq, Basu and Hong 2013, with all counts in one vector.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 5000)
    >>> X = np.column_stack([np.where(rng.random(5000) < 0.9, y, 1 - y), rng.integers(0, 3, 5000)])
    >>> schema = Schema({"test": Category((0, 1)), "ward": Category((0, 1, 2))})
    >>> model = CategoricalNB(classes=[0, 1], bounds=schema, epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.85)
    True
    """

    purpose: ClassVar[str] = "naive Bayes on categories"
    categories: ClassVar[bool] = True
    bins_: int

    def __init__(
        self,
        *,
        bins: int | None = None,
        alpha: float = 1.0,
        expected_size: int = GUESS,
        target: str | None = None,
        classes: Any = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.bins = bins
        self.alpha = alpha
        self.expected_size = expected_size
        self.target, self.classes, self.bounds = target, classes, bounds
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        if self.bins is not None:
            check_whole(self.purpose, "bins", self.bins, most=MOST_BINS)
        check_whole(self.purpose, "expected_size", self.expected_size)
        check_positive(self.purpose, "alpha", self.alpha)

    def plan(self, task: Task) -> SumPlan:
        """One release, in l1 or l2, whichever needs less noise."""
        assert task.target is not None
        norms: tuple[Norm, ...] = ("l1", "l2")
        bins = _domain(task.schema, task.features, self._cells(task)).bins
        questions = [class_marginals_of(task.schema, task.features, bins, task.target, norm) for norm in norms]
        return planned(task.data, task.budget, *questions)

    def learn(self, task: Task, plan: SumPlan, permit: Permit) -> Artefact:
        """Shares of values in each class from the noisy counts."""
        cells, stddev = self._cells(task), plan.spread.stddev
        sizes = _domain(task.schema, task.features, cells).shape
        noisy = permit.ask(plan.question, plan.spread.noise).reshape(sum(sizes), -1)
        tables = np.split(noisy, np.cumsum(sizes)[:-1])
        # Every table adds up to the classes: the fewer cells it has, the less noise is in them.
        weights = 1 / np.array(sizes)
        counts = np.average([table.sum(axis=0) for table in tables], axis=0, weights=weights)
        noise = stddev / np.sqrt(weights.sum())
        n = counts_of(counts[:, None], noise, task.data.public_size)[:, 0]
        shares = [self._shares(table, n, stddev) for table in tables]
        return {"feature_log_prob_": np.log(np.vstack(shares)), "class_prior_": n / n.sum(), "bins_": cells}

    def predict_joint_log_proba(self, X: Any) -> Array:
        """The logarithm of P(class) P(row | class), but for a constant; a missing value says nothing."""
        check_is_fitted(self)
        values = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=False)
        schema = Schema({f"x{i}": column for i, column in enumerate(self.columns_)})
        rows, domain = encoded(values, schema), _domain(schema, tuple(schema.columns), self.bins_)
        joint = np.tile(np.log(self.class_prior_), (len(rows), 1))
        starts = np.cumsum((0, *domain.shape))
        for name, start, own in zip(domain.columns, starts, rows.T, strict=False):
            there = np.isfinite(own)
            places = domain.project((name,)).codes(own[there][:, None])
            joint[there] += self.feature_log_prob_[start + places]
        return joint

    def _cells(self, task: Task) -> int:
        """Of each number: as given; else as many as records times epsilon pay for."""
        weight = (task.data.public_size or self.expected_size) * task.budget.epsilon / task.data.neighbors.reach
        return next(bins for least, bins in SIZES if weight >= least) if self.bins is None else int(self.bins)

    def _shares(self, table: Array, n: Array, stddev: float) -> Array:
        """The share of each value in each class; none so small that noise alone would let it decide."""
        own = np.square(stddev / n) * np.ones_like(table)
        pooled = np.maximum(table.sum(axis=1, keepdims=True) + self.alpha, self.alpha) / (n.sum() + self.alpha)
        apart = table / n - pooled
        kept = shrinkage(apart.ravel(), own.ravel()).reshape(own.shape)
        least = np.maximum(self.alpha / (n + self.alpha * len(table)), np.minimum(np.sqrt(kept * own), 1 / len(table)))
        shares = np.maximum(pooled + kept * apart, least)
        return np.asarray(shares / shares.sum(axis=0))


def _domain(schema: Schema, features: tuple[str, ...], cells: int) -> Domain:
    bins = tuple(0 if isinstance(schema.columns[name], Category) else cells for name in features)
    return Domain.of(schema, features, bins)
