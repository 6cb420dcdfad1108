"""Private principal components, from noisy products of records around a noisy center."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from discreet.core.checks import check_one_of, check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task
from discreet.learners.components.components import AnalyzeGauss, ComponentSearch, LocationSearch, OneByOne, Power, Sulq
from discreet.questions.transformation import ColumnTerm, Computed, KeptColumn, Transformation
from discreet.questions.vectors.coordinates import SHORTEST
from discreet.releases.joint_plan import JointPlan
from discreet.schema.schema import Number, Schema
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

Method = Literal["analyze_gauss", "sulq", "power", "exponential"]
METHODS: tuple[Method, ...] = ("analyze_gauss", "sulq", "power", "exponential")


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):
    """Principal components of records around their noisy mean, which are shrunk to a noisy radius.

    Records are scaled from their bounds to [-1, 1] in every feature and the noise is added there; components and
    variances are those of records in their own units. A record with a missing value counts for nothing.

    Parameters
    ----------
    n_components : int, optional
        Public. How many components; all where none is given.
    method : {"analyze_gauss", "sulq", "power", "exponential"}
        Public. What is released after the center and the radius: the sum of each product of two features, once; each
        product of two different features twice, with noise of its own, as in SuLQ, which is for study (its noise
        under replace is greater by a factor of sqrt(2)); `max_iter` times, products with the coordinates along the
        components of the step before, which is for many features and few components; or one component after another
        by the exponential mechanism, each orthogonal to those before, and then the variances along them, which is for
        few components without a delta, and only under a curator.
    radius : float, optional
        Public. The distance from the center that a scaled record is shrunk to; without one, a part of the budget is
        spent on a radius within which 80% of the records lie.
    max_iter : int
        Public. How many steps the power method takes.
    random_state : int, RandomState instance or None
        Public. Seeds the directions that the power method starts with; never the noise.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Released. The components, orthonormal, those of greatest variance first.
    mean_ : array of shape (n_features,)
        Released. The mean.
    explained_variance_ : array of shape (n_components,)
        Released. The variance along each component, of records as they were shrunk; around the center, if it is not
        from products of all features.
    explained_variance_ratio_ : array of shape (n_components,) or None
        Released. Its share in the variance of all features; None for the power method, which does not release that.
        By the exponential mechanism, variance across the components counts as if all bounds were alike.
    n_components_ : int
        Public. The number of components.
    n_iter_ : int
        Public. The number of steps: `max_iter` for the power method, else 1.

    Guarantee
    ---------
    `event_`: the composed releases of bounded sums, for the neighbors and the unit of the data set; add or remove one
    record for an array. Released: what is called so above, post-processing of them. `transform` computes from records
    that the caller already has, and what it gives is not private.
    Dwork, Talwar, Thakurta and Zhang 2014, Algorithm 1 (Analyze Gauss), with the noise of `second_moments`; Blum,
    Dwork, McSherry and Nissim 2005 (SuLQ); Hardt and Price 2014, Algorithm 1 (noisy power method); Chaudhuri, Sarwate
    and Sinha 2013 and Kapralov and Talwar 2013 (exponential mechanism): see `mechanisms.Bingham`, also for what
    floating point leaves open there.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(0, [0.3, 0.1, 0.02], (30_000, 3))
    >>> model = PCA(2, bounds=(-1, 1), epsilon=1.0).fit(X)
    >>> np.abs(model.components_).round(1)
    array([[1., 0., 0.],
           [0., 1., 0.]])
    >>> model.transform(X[:5]).shape
    (5, 2)
    """

    purpose: ClassVar[str] = "principal components"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        method: Method = "analyze_gauss",
        radius: float | None = None,
        max_iter: int = 4,
        columns: Sequence[str] | None = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.radius = radius
        self.max_iter = max_iter
        self.columns, self.bounds = columns, bounds
        self.epsilon, self.delta = epsilon, delta
        self.random_state = random_state

    def check(self) -> None:
        check_one_of(self.purpose, "method", self.method, METHODS)
        check_whole(self.purpose, "max_iter", self.max_iter)
        if self.n_components is not None:
            check_whole(self.purpose, "n_components", self.n_components)
        if self.radius is not None:
            check_positive(self.purpose, "radius", self.radius, least=SHORTEST)

    def plan(self, task: Task) -> JointPlan:
        """The center, the radius if it is not given, and what the method asks."""
        n = len(task.features)
        if self.n_components is not None and self.n_components > n:
            obstacle = f"there are {n} features, and {self.n_components} components"
            raise ParameterError(self.purpose, obstacle, "Ask for at most as many as there are features.")
        task.check_enough(self.purpose, self.n_components or 1)
        return self._search(task).plan(LocationSearch(task, self.radius).shares())

    def learn(self, task: Task, plan: JointPlan, permit: Permit) -> Artefact:
        """Ask for the location of the records, then for the components around it."""
        noises, search = iter(plan.mechanisms), self._search(task)
        location = LocationSearch(task, self.radius).found(permit, noises)
        found, origin = search.found(location, permit, noises), search.origin(location)
        total = None if found.total is None else max(found.total, np.finfo(float).tiny)
        return {
            "components_": found.vectors,
            "mean_": origin.middle[:, 0] + origin.half[:, 0] * found.shift,
            "explained_variance_": found.variances,
            "explained_variance_ratio_": None if total is None else found.variances / total,
            "n_components_": search.size,
            "n_iter_": int(self.max_iter) if self.method == "power" else 1,
        }

    def transform(self, X: Any) -> Array:
        """The coordinates of each row along the components."""
        return np.asarray((self._rows(X) - self.mean_) @ self.components_.T)

    def transformation(
        self, schema: Schema, features: tuple[str, ...], fitted: Mapping[str, Any] | None
    ) -> Transformation:
        """What a pipeline does to each record: coordinates, inside half the diagonal of the box; all else is kept.

        The parameters are those of `PrivateTransformer.transformation`.
        """
        numbers = [schema.number(name) for name in features]
        reach = 0.5 * math.hypot(*(number.upper - number.lower for number in numbers))
        size = len(features) if self.n_components is None else min(int(self.n_components), len(features))
        components = np.eye(len(features))[:size] if fitted is None else fitted["components_"]
        offsets = np.zeros(size) if fitted is None else -components @ fitted["mean_"]
        outputs: list[KeptColumn | Computed] = [KeptColumn(name) for name in schema.columns if name not in features]
        for location, (weights, offset) in enumerate(zip(components, offsets, strict=True)):
            terms = tuple(ColumnTerm(name, float(weight)) for name, weight in zip(features, weights, strict=True))
            outputs.append(Computed(f"pca{location}", terms, float(offset), Number(-reach, reach)))
        return Transformation(schema, tuple(outputs))

    def inverse_transform(self, X: Any) -> Array:
        """Rows with these coordinates along the components."""
        return np.asarray(X, dtype=np.float64) @ self.components_ + self.mean_

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def _search(self, task: Task) -> ComponentSearch:
        size = len(task.features) if self.n_components is None else int(self.n_components)
        if self.method == "power":
            return Power(task, size, int(self.max_iter), self.random_state)
        if self.method == "exponential":
            return OneByOne(task, size)
        return Sulq(task, size) if self.method == "sulq" else AnalyzeGauss(task, size)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags
