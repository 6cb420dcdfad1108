"""What smooth ANOVA models have in common: functions of features and pairs, found in rounds of noisy residual sums."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import isotonic_regression

from discreet.core.checks import check_whole
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.anova.anova_fit import (
    AnovaFit,
    ResidualPull,
    SizeEstimate,
    TargetCounts,
    TargetStart,
    groups_of,
)
from discreet.learners.anova.anova_form import AnovaForm
from discreet.learners.anova.anova_posterior import LAST, AnovaPosterior, independent_products, shrunk_products
from discreet.learners.anova.constant_search import ConstantSearch
from discreet.learners.anova.smooth_bases import ColumnBasis, bases_of, mean_squares
from discreet.questions.columns.column_trees import ColumnTrees, column_trees_of
from discreet.questions.gradients.anova_features import (
    AnovaFeatures,
    Bases,
    anova_products_of,
    first_functions,
    typical_length,
)
from discreet.questions.gradients.anova_gradients import anova_gradients_of
from discreet.questions.gradients.anova_scores import Loss
from discreet.questions.question import BoundedSum
from discreet.questions.vectors.second_moments import CROSS, unfolded
from discreet.releases.joint_plan import Stage, StagedPlan, staged, vector_noise
from discreet.releases.spread import Spread, spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# From made-up data: benchmarks/tuning_anova.py.
COUNTS, PRODUCTS, START, STEPS = 0.1, 0.06, 0.02, 0.82  # shares of the budget
ROUNDS, PURE_ROUNDS = 6, 3
REACH = 0.9  # of the typical length of features, to which they are shrunk
# Standard deviations of noise by which a function would be seen that all scores follow. Below the one, all that is left
# looks for a constant; below the other the first round asks about the target: an unknown middle hides functions.
HIDDEN, DIM = 12.0, 24.0


class AnovaModel(AnovaForm):
    """Scores that are sums of one smooth function of each feature, and one of each pair of features.

    Parameters
    ----------
    interactions : bool, optional
        Public. Whether pairs of features have functions. Where not given, they do if a delta is paid and there are few
        enough features: 29 at most.
    monotonic_cst : array of int or dict, optional
        Public. 1 for a feature whose function must not fall, -1 for one whose function must not rise, else 0; by place,
        or by name. The nearest such function replaces the one that was found, and the feature has no pairs.
    max_iter : int, optional
        Public. The number of rounds; where not given, 6, and 3 where no delta is paid. Where noise is large for so many
        records, the first of them asks about the target alone; where it hides every function, all that is left of the
        budget does: then predictions are constant, and `n_iter_` is 0.
    expected_size : int, optional
        Public. The number of records, about, where it is secret. If noise hides every function of so many, as it does
        of 200 records at epsilon 0.3, the whole budget is for one release about the target, in the noise that is least
        for it: predictions are the best constant. Of as many as are there, if their number is public.
    """

    supervised: ClassVar[bool] = True
    categories: ClassVar[bool] = True
    max_iter: int | None
    expected_size: int | None
    start_share: ClassVar[float] = START

    @abstractmethod
    def target_counts(self, task: Task) -> BoundedSum:
        """How many records have which target."""

    def size_stages(self, task: Task) -> list[Stage]:
        """What is asked about the sizes of residuals."""
        return []

    @abstractmethod
    def start(self, task: Task, columns: SizeEstimate, counts: Array, stddev: float) -> TargetStart:
        """What counts of the target with this noise say, beside what the columns say about the number of records."""

    @abstractmethod
    def typical_start(self, task: Task, count: float) -> TargetStart:
        """What is known of the target of so many records before any release."""

    @abstractmethod
    def first_pull(self, task: Task, begun: TargetStart) -> ResidualPull:
        """How residuals pull where no function is known."""

    @abstractmethod
    def pull(self, fit: AnovaFit, sizes: Spread | None) -> ResidualPull:
        """How residuals pull in a round."""

    @abstractmethod
    def constant_search(self, task: Task, columns: SizeEstimate, target: TargetCounts) -> ConstantSearch:
        """What looks for a constant with what is left of the budget, after these releases."""

    @abstractmethod
    def constant_sums(self, task: Task) -> BoundedSum:
        """What is asked where nothing but a constant is to be found."""

    @abstractmethod
    def constant_of(self, task: Task, sums: Array, stddev: float) -> TargetStart:
        """The constant that these sums say, with this noise."""

    @abstractmethod
    def directions(self, task: Task) -> Array:
        """What makes scores of those that residuals are computed in: of shape (n_scores, outputs)."""

    @property
    def kind(self) -> Loss:
        """The loss."""
        return "logistic"

    @property
    def level(self) -> float:
        """Of the quantile, for that loss."""
        return 0.5

    def check(self) -> None:
        check_whole(self.purpose, "max_iter", self._rounds())
        if self.expected_size is not None:
            check_whole(self.purpose, "expected_size", self.expected_size)

    def plan(self, task: Task) -> StagedPlan:
        """Trees of all columns, products of features, what the target is alone, and `max_iter` residual sums.

        Of what the target is alone, where that is all that so many records show.
        """
        self._check_columns(task)
        form, outputs = self._form(task), len(self.directions(task).T)
        asked: dict[str, Any] = {
            **form.given,
            "reach": 1.0,
            "norm": self._norm,
            "coefficients": np.zeros((outputs, form.size)),
            "loss": self.kind,
            "center": (0.0,) * outputs,
            "unit": 1.0,
            "quantile": self.level,
            "residual": 1.0,
        }
        gradients = anova_gradients_of(task.schema, task.features, str(task.target), **asked)
        stages = [Stage(column_trees_of(task.schema, task.features, self._norm), COUNTS)]
        if self.delta > 0:
            question = anova_products_of(task.schema, task.features, **{**form.given, "reach": 1.0})
            stages.append(Stage(question, PRODUCTS))
        stages += [Stage(self.target_counts(task), self.start_share), *self.size_stages(task)]
        stages.append(Stage(gradients, STEPS, self._rounds()))
        plan = staged(task.data, stages, task.budget, vector_noise)
        count = task.data.public_size or self.expected_size
        if count is None or self._seen_of(task, float(count), plan.spreads[-1].stddev) >= HIDDEN:
            return plan
        return staged(task.data, [Stage(self.constant_sums(task), 1.0)], task.budget)

    def learn(self, task: Task, plan: StagedPlan, permit: Permit) -> Artefact:
        """Find the functions of columns, what products of them are over the records, and the coefficients."""
        if len(plan.spreads) == 1:
            return self._learn_constant(task, plan.spreads[0], permit)
        counts, steps = plan.spreads[0], plan.spreads[-1]
        trees = ColumnTrees.of(task.schema, task.features, self._norm)
        released = permit.ask(column_trees_of(task.schema, task.features, self._norm), counts.noise)
        found, form = self._columns(task, trees, released, counts.stddev), self._form(task)
        bases = bases_of(found, form.paired, form.products)
        squares = mean_squares(found, bases)
        reach = REACH * typical_length(squares, self._norm)
        columns, target = SizeEstimate.of(trees, released, counts.stddev), TargetCounts(task, self.target_counts(task))
        rest, rounds = list(plan.mechanisms[1:]), self._rounds()
        target.ask(permit, rest.pop(self.delta > 0))
        begun = self.start(task, columns, target.counts, target.stddev)
        seen = self._seen(task, begun, squares, reach * steps.stddev)
        if rounds > 1 and HIDDEN <= seen < DIM:
            target.ask(permit, rest.pop())
            begun, rounds = self.start(task, columns, target.counts, target.stddev), rounds - 1
            seen = self._seen(task, begun, squares, reach * steps.stddev)
        if seen < HIDDEN:
            search = self.constant_search(task, columns, target)
            for noise in rest:
                search.ask(permit, noise)
            return self._constant(task, permit, found, search.found())
        products = self._products(task, bases, squares, reach, begun.count, plan.spreads[1], permit)
        posterior = AnovaPosterior(products, groups_of(bases), len(self.directions(task).T))
        fit = AnovaFit(task, permit, self.kind, self.level, self._norm, bases, reach, begun, posterior)
        for _ in range(rounds):
            fit.advance(self.pull(fit, plan.spreads[-2]), steps)
        posterior.fit(begun.variance, LAST)
        return {**self._artefact(task, fit, found), "n_iter_": fit.turns}

    def _columns(self, task: Task, trees: ColumnTrees, released: Array, stddev: float) -> list[ColumnBasis]:
        """The functions of each column, from noisy counts."""
        every = zip(trees.counts(released), self._form(task).sizes, trees.sizes, trees.variances, strict=True)
        return [
            ColumnBasis.of_category(own, size)
            if values
            else ColumnBasis.of_number(own, size, stddev * math.sqrt(variance))
            for own, size, values, variance in every
        ]

    def _seen(self, task: Task, begun: TargetStart, squares: Array, stddev: float) -> float:
        """By how many standard deviations of noise one function would be seen that all scores follow.

        The sum of residuals times this function is compared with the noise on all rounds together: so it depends on
        noise, and on the number of records and what else is known of the target, but not on what functions there are.
        """
        pull, score = self.first_pull(task, begun), math.sqrt(float(squares[1:].max()) * begun.variance)
        return begun.count * pull.bend * score * math.sqrt(self._rounds()) / (pull.residual * stddev)

    def _seen_of(self, task: Task, count: float, stddev: float) -> float:
        """The same for so many records, spread evenly, with this noise on features that have length 1: it is public."""
        form, even = self._form(task), self._even(task)
        squares = mean_squares(even, bases_of(even, form.paired, form.products))
        reach = REACH * typical_length(squares, self._norm)
        return self._seen(task, self.typical_start(task, count), squares, reach * stddev)

    def _learn_constant(self, task: Task, spread: Spread, permit: Permit) -> Artefact:
        """From a single release."""
        begun = self.constant_of(task, permit.ask(self.constant_sums(task), spread.noise), spread.stddev)
        return self._constant(task, permit, self._even(task), begun)

    def _constant(self, task: Task, permit: Permit, found: list[ColumnBasis], begun: TargetStart) -> Artefact:
        """A model of this constant, and of functions that are 0, of which nothing is known."""
        form = self._form(task)
        bases = bases_of(found, form.paired, form.products)
        posterior = AnovaPosterior(np.zeros((bases.size, bases.size)), groups_of(bases), len(self.directions(task).T))
        posterior.covariance = begun.variance * np.eye(bases.size)
        fit = AnovaFit(task, permit, self.kind, self.level, self._norm, bases, 1.0, begun, posterior)
        return {**self._artefact(task, fit, found), "n_iter_": 0}

    def _products(
        self, task: Task, bases: Bases, squares: Array, reach: float, count: float, noisy: Spread, permit: Permit
    ) -> Array:
        """The sum of products of features, as far as it is known; without a delta, noise would hide it."""
        if self.delta == 0:
            return independent_products(squares, count)
        question = anova_products_of(task.schema, task.features, **bases.given, reach=reach)
        released = permit.ask(question, noisy.noise)
        features = AnovaFeatures(task.schema, task.features, bases, reach, "l2")
        stddev = spread(task.data, question, noisy.noise).stddev
        return shrunk_products(unfolded(released, features), squares, count, stddev, CROSS)

    def _rounds(self) -> int:
        usual = ROUNDS if self.delta > 0 else PURE_ROUNDS
        return usual if self.max_iter is None else self.max_iter

    def _artefact(self, task: Task, fit: AnovaFit, found: list[ColumnBasis]) -> Artefact:
        """What was fitted, in scores of the classes or units of the target."""
        bases, mean, covariance = fit.bases, fit.posterior.mean, fit.posterior.covariance
        directions, (constant, single, half) = self.directions(task) * self._unit(fit.begun), bases.scales
        parts = np.cumsum([1, *bases.sizes])
        shapes, errors = [], []
        lengths = np.linalg.norm(directions, axis=1)
        for own, start, end, sign in zip(found, parts[:-1], parts[1:], self._signs(task), strict=True):
            shape = directions @ mean[start:end].T @ own.functions * single
            shapes.append(monotone(shape, own.shares, int(sign)))
            variances = np.einsum("ac,ab,bc->c", own.functions, covariance[start:end, start:end], own.functions)
            errors.append(np.outer(lengths, single * np.sqrt(np.maximum(variances, 0.0))))
        k, first = bases.products, int(parts[-1])
        blocks = [slice(first + place * k * k, first + (place + 1) * k * k) for place in range(len(bases.pairs))]
        pairs = np.array([directions @ mean[block].T * half**2 for block in blocks]).reshape(-1, len(lengths), k, k)
        spreads = np.array([covariance[block, block] for block in blocks]).reshape(-1, k * k, k * k)
        return {
            "intercept_": directions @ mean[0] * constant + self._level_of(task, fit.begun),
            "shapes_": np.stack(shapes, axis=1),
            "shape_errors_": np.stack(errors, axis=1),
            "pair_coef_": np.swapaxes(pairs, 0, 1),
            "pair_covariance_": spreads * (half**2 * lengths[0]) ** 2,
            "functions_": np.array([first_functions(own.functions, k) for own in found]),
            "cell_shares_": np.array([own.shares for own in found]),
            "edges_": np.array([self._edges(task, place, own) for place, own in enumerate(found)]),
            "pairs_": np.array(bases.pairs, dtype=np.intp).reshape(-1, 2),
        }

    def _unit(self, begun: TargetStart) -> float:
        return 1.0

    @abstractmethod
    def _level_of(self, task: Task, begun: TargetStart) -> Array:
        """The scores before the first round."""


def monotone(shapes: Array, shares: Array, sign: int) -> Array:
    """The nearest functions that do not fall, or do not rise, by the records in each cell; as they are for 0."""
    if sign == 0:
        return shapes
    weights = np.maximum(shares, 1e-9)
    rising = [isotonic_regression(sign * own, weights=weights).x for own in shapes]
    return sign * np.array(rising)
