"""The form of a smooth ANOVA model: which columns and pairs have functions, and how many; all of it public."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Norm
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.anova.anova_shapes import AnovaShapes
from discreet.learners.anova.smooth_bases import CELLS, ColumnBasis
from discreet.questions.columns.column_trees import LEAVES, ColumnTrees
from discreet.questions.gradients.anova_features import Bases
from discreet.schema.schema import Category

# From made-up data: benchmarks/tuning_anova.py.
FUNCTIONS, FEWEST, ALL = 10, 3, 300  # of a column at most and at least, and of all columns together
PURE = 60  # functions of all columns together, where no delta is paid
MARKS = 16  # functions of a category at most
PAIRED, FEW = 420, 10  # products of pairs at most, and columns up to which a pair has nine of them


class AnovaForm(AnovaShapes):
    """What of a smooth ANOVA model is known before any release."""

    interactions: bool | None
    monotonic_cst: Any

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

    def _even(self, task: Task) -> list[ColumnBasis]:
        """The functions of columns of which nothing is known."""
        trees = ColumnTrees.of(task.schema, task.features, self._norm)
        return [
            ColumnBasis.of_category(np.zeros(values), size)
            if values
            else ColumnBasis.of_number(np.ones(LEAVES), size, 0.0)
            for size, values in zip(self._form(task).sizes, trees.sizes, strict=True)
        ]

    def _edges(self, task: Task, place: int, found: ColumnBasis) -> Array:
        """The edges of the cells of a feature, in its own units."""
        column, starts = task.schema.columns[task.features[place]], np.append(found.starts, LEAVES)
        if isinstance(column, Category):
            return np.arange(len(starts), dtype=np.float64)
        number = task.schema.number(task.features[place])
        return number.lower + (number.upper - number.lower) * (starts / LEAVES)

    @property
    def _norm(self) -> Norm:
        return "l2" if self.delta > 0 else "l1"
