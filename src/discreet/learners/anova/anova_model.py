"""What smooth ANOVA models have in common: functions of features and pairs, found in rounds of noisy residual sums."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from discreet.core.bound import Norm
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
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
from discreet.learners.anova.anova_posterior import LAST, AnovaPosterior, independent_products, shrunk_products
from discreet.learners.anova.anova_shapes import AnovaShapes
from discreet.learners.anova.smooth_bases import CELLS, ColumnBasis, bases_of, mean_squares
from discreet.questions.columns.column_trees import LEAVES, ColumnTrees, column_trees_of
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
from discreet.schema.schema import Category
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# From made-up data: benchmarks/tuning_anova.py.
COUNTS, PRODUCTS, START, STEPS = 0.1, 0.06, 0.02, 0.82  # shares of the budget
ROUNDS, PURE_ROUNDS = 6, 3
REACH = 0.9  # of the typical length of features, to which they are shrunk
FUNCTIONS, FEWEST, ALL = 10, 3, 300  # of a column at most and at least, and of all columns together
PURE = 60  # functions of all columns together, where no delta is paid
MARKS = 16  # functions of a category at most
# Standard deviations of noise by which a function would be seen that all scores follow. Below the one, all rounds ask
# about the target, and predictions are constant; below the other the first does: an unknown middle hides functions.
HIDDEN, DIM = 8.0, 24.0
PAIRED, FEW = 420, 10  # products of pairs at most, and columns up to which a pair has nine of them


class AnovaModel(AnovaShapes):
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
        records, the first of them asks about the target alone; and all do where noise hides every function: then
        predictions are constant, and `n_iter_` is 0.
    """

    supervised: ClassVar[bool] = True
    categories: ClassVar[bool] = True
    interactions: bool | None
    monotonic_cst: Any
    max_iter: int | None
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
    def pull(self, fit: AnovaFit, sizes: Spread | None) -> ResidualPull:
        """How residuals pull in a round."""

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

    def plan(self, task: Task) -> StagedPlan:
        """Trees of all columns, products of features, what the target is alone, and `max_iter` residual sums."""
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
        return staged(task.data, stages, task.budget, vector_noise)

    def learn(self, task: Task, plan: StagedPlan, permit: Permit) -> Artefact:
        """Find the functions of columns, what products of them are over the records, and the coefficients."""
        counts, *others = plan.spreads
        trees = ColumnTrees.of(task.schema, task.features, self._norm)
        released = permit.ask(column_trees_of(task.schema, task.features, self._norm), counts.noise)
        form = self._form(task)
        found = [
            ColumnBasis.of_category(own, size)
            if values
            else ColumnBasis.of_number(own, size, counts.stddev * math.sqrt(variance))
            for own, size, values, variance in zip(
                trees.counts(released), form.sizes, trees.sizes, trees.variances, strict=True
            )
        ]
        *before, steps = others
        columns, target = SizeEstimate.of(trees, released, counts.stddev), TargetCounts(task, self.target_counts(task))
        target.ask(permit, before[self.delta > 0].noise)
        begun = self.start(task, columns, target.counts, target.stddev)
        bases = bases_of(found, form.paired, form.products)
        squares = mean_squares(found, bases)
        reach = REACH * typical_length(squares, self._norm)
        products = self._products(task, bases, squares, reach, begun.count, others[0], permit)
        posterior = AnovaPosterior(products, groups_of(bases), len(self.directions(task).T))
        fit = AnovaFit(task, permit, self.kind, self.level, self._norm, bases, reach, begun, posterior)
        for turn in range(self._rounds()):
            seen = math.inf if fit.turns else self._seen(fit, squares, reach * steps.stddev)
            if seen < (HIDDEN if turn else DIM):
                target.ask(permit, steps.noise)
                fit.restart(self.start(task, columns, target.counts, target.stddev))
            else:
                fit.advance(self.pull(fit, before[-1]), steps)
        if fit.turns:
            posterior.fit(fit.begun.variance, LAST)
        return {**self._artefact(task, fit, found), "n_iter_": fit.turns}

    def _seen(self, fit: AnovaFit, squares: Array, stddev: float) -> float:
        """By how many standard deviations of noise one function would be seen that all scores follow.

        The sum of residuals times this function is compared with the noise on all rounds together: so it depends on
        noise, and on the number of records and what else is known of the target, but not on what functions there are.
        """
        pull = self.pull(fit, None)
        score = math.sqrt(float(squares[1:].max()) * fit.begun.variance)
        return fit.begun.count * pull.bend * score * math.sqrt(self._rounds()) / (pull.residual * stddev)

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

    def _form(self, task: Task) -> Bases:
        """The bases of these columns, with functions that are 0: their form is public."""
        kinds = [task.schema.columns[name] for name in task.features]
        d = len(kinds)
        waves = int(np.clip(ALL // d, FEWEST, FUNCTIONS) if self.delta > 0 else np.clip(PURE // d, 1, FUNCTIONS))
        sizes = tuple(min(len(kind.values), MARKS) if isinstance(kind, Category) else waves for kind in kinds)
        free = tuple(np.flatnonzero(self._signs(task) == 0).tolist())
        pairs, products = len(free) * (len(free) - 1) // 2, 3 if d <= FEW else 2
        products = products if products**2 * pairs <= PAIRED else 1
        wanted = self.delta > 0 and pairs <= PAIRED if self.interactions is None else self.interactions
        paired = free if wanted and len(free) > 1 else ()
        scales = (1.0, 1.0, 1.0)
        return Bases(sizes, np.zeros((d, CELLS)), np.zeros((sum(sizes), CELLS)), scales, paired, products)

    def _signs(self, task: Task) -> NDArray[np.intp]:
        """What `monotonic_cst` says of each feature."""
        given, names = self.monotonic_cst, task.features
        if given is None:
            return np.zeros(len(names), dtype=np.intp)
        known = isinstance(given, dict) and set(given) <= set(names)
        signs = (
            [given.get(name, 0) for name in names] if known else np.atleast_1d(np.asarray(given, dtype=object)).tolist()
        )
        if len(signs) != len(names) or not all(sign in (-1, 0, 1) for sign in signs):
            obstacle = f"monotonic_cst is {given}, for {len(names)} features"
            raise ParameterError(self.purpose, obstacle, "Give -1, 0 or 1 for each, or a dict of names.")
        return np.asarray(signs, dtype=np.intp)

    def _check_columns(self, task: Task) -> None:
        """Refuse categories of more values than a feature has cells, or that are to be monotone."""
        for name, sign in zip(task.features, self._signs(task), strict=True):
            column = task.schema.columns[name]
            if isinstance(column, Category) and (len(column.values) > CELLS or sign):
                obstacle = f"{name} has {len(column.values)} values" + (" and cannot be monotone" if sign else "")
                raise ParameterError(self.purpose, obstacle, f"Give categories of at most {CELLS} values, or numbers.")

    @property
    def _norm(self) -> Norm:
        return "l2" if self.delta > 0 else "l1"

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

    def _edges(self, task: Task, place: int, found: ColumnBasis) -> Array:
        """The edges of the cells of a feature, in its own units."""
        column, starts = task.schema.columns[task.features[place]], np.append(found.starts, LEAVES)
        if isinstance(column, Category):
            return np.arange(len(starts), dtype=np.float64)
        number = task.schema.number(task.features[place])
        return number.lower + (number.upper - number.lower) * (starts / LEAVES)


def monotone(shapes: Array, shares: Array, sign: int) -> Array:
    """The nearest functions that do not fall, or do not rise, by the records in each cell; as they are for 0."""
    if sign == 0:
        return shapes
    weights = np.maximum(shares, 1e-9)
    rising = [isotonic_regression(sign * own, weights=weights).x for own in shapes]
    return sign * np.array(rising)
