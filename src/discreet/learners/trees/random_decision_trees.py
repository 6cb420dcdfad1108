"""Random decision trees as they were published, with Laplace noise on the counts in their leaves."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.trees.random_trees import ForestPlan, RandomTrees, sample_question
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.columns.box import GUESS
from discreet.questions.trees.forest_leaves import DEEPEST
from discreet.releases.spread import spread
from discreet.trust.stored import Artefact


class RandomDecisionTrees(RandomTrees):
    """The random decision trees of 2009, for study; `RandomForestClassifier` is more accurate.

    Trees are random and public. Each pays an equal share of epsilon for Laplace noise on the counts of classes in its
    leaves; a row is given to the class whose counts, added over all trees, are largest. A record without a class that
    is listed counts for nothing; a missing value goes left.

    Parameters
    ----------
    n_estimators : int
        Public. How many trees.
    max_depth : int, optional
        Public. How deep they are; where not given, half the number of features, and log2(n) - 1 at most.
    epsilon, delta : float
        Public. What one fit may cost; no delta is used.

    Attributes
    ----------
    leaf_values_ : array of shape (n_trees, n_leaves, n_classes)
        Released. The noisy counts.
    features_ : array of shape (n_trees, n_nodes)
        Public. The feature that each node splits; the children of node i are 2 i + 1 and 2 i + 2.
    cuts_ : array of shape (n_trees, n_nodes)
        Public. Where; greater values go right.

    Guarantee
    ---------
    Pure: `event_` is the Laplace loss of one bounded sum, for the neighbors and the unit of the data set; add or remove
    one record for arrays. Released: `leaf_values_`. Jagannathan, Pillaipakkamnatt and Wright 2009, Theorem 1; the
    number of records, from which they derive the depth, is public here or expected.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (5000, 4))
    >>> y = (X[:, 0] + X[:, 1] > 0).astype(int)
    >>> model = RandomDecisionTrees(classes=[0, 1], bounds=(-1, 1), epsilon=3.0, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.6)
    True
    """

    purpose: ClassVar[str] = "random decision trees"

    def __init__(
        self,
        n_estimators: int = 10,
        *,
        max_depth: int | None = None,
        expected_size: int = GUESS,
        random_state: Any = None,
        target: str | None = None,
        classes: Any = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.expected_size = expected_size
        self.random_state = random_state
        self.target = target
        self.classes = classes
        self.bounds = bounds
        self.epsilon = epsilon
        self.delta = delta

    def plan(self, task: Task) -> ForestPlan:
        """One Laplace release of the counts in all leaves."""
        n = max(task.data.public_size or self.expected_size, 4)
        usual = max(min(len(task.features) // 2, int(math.log2(n)) - 1, DEEPEST), 1)
        trees, depth = int(self.n_estimators), usual if self.max_depth is None else int(self.max_depth)
        noise = calibrate(Laplace(), Budget(task.budget.epsilon))
        return ForestPlan(trees, depth, "l1", spread(task.data, sample_question(task, trees, depth, "l1"), noise))

    def _values(self, task: Task, plan: ForestPlan, noisy: Array) -> Artefact:
        return {"leaf_values_": np.asarray(noisy)}
