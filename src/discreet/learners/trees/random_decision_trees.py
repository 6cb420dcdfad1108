"""The random decision trees of 2009, for study."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.trees.random_trees import ForestPlan, RandomTrees, drawn_trees, sample_question
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.columns.box import GUESS
from discreet.questions.trees.forest_leaves import DEEPEST
from discreet.questions.trees.forest_scores import class_shares
from discreet.releases.spread import spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

NOISES = 2.0  # on the sum of counts, that a prediction has as records of all classes


class RandomDecisionTrees(RandomTrees):
    """The random decision trees of 2009, for study; `RandomForestClassifier` is more accurate.

    Trees are random and public. Each pays an equal share of epsilon for Laplace noise on the counts of classes in its
    leaves; a row is given to the class whose counts, added over all trees, are largest, with some records of all
    classes in proportion, by the noise. A record without a class that is listed counts for nothing; a missing value
    goes left.

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
    stddev_ : float
        Public. Of the noise on the sum of the counts of all trees.
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
        self.target, self.classes, self.bounds = target, classes, bounds
        self.epsilon, self.delta = epsilon, delta

    def plan(self, task: Task) -> ForestPlan:
        """One Laplace release of the counts in all leaves."""
        n = max(task.data.public_size or self.expected_size, 4)
        usual = max(min(len(task.features) // 2, int(math.log2(n)) - 1, DEEPEST), 1)
        trees, depth = int(self.n_estimators), usual if self.max_depth is None else int(self.max_depth)
        noise = calibrate(Laplace(), Budget(task.budget.epsilon))
        return ForestPlan(trees, depth, "l1", spread(task.data, sample_question(task, trees, depth, "l1"), noise))

    def learn(self, task: Task, plan: ForestPlan, permit: Permit) -> Artefact:
        """Draw the trees, and count in their leaves."""
        rng = check_random_state(permit.random_state(self.random_state))
        trees = drawn_trees(task, rng, plan.trees, plan.depth)
        noisy = self._counted(task, plan, permit, trees)
        return {
            "features_": trees.features,
            "cuts_": trees.cuts,
            "leaf_values_": noisy,
            "stddev_": plan.spread.stddev * math.sqrt(plan.trees),
        }

    def predict_proba(self, X: Any) -> Array:
        """The counts in proportion, with as many records in the proportions of all as there is noise in the counts."""
        sums = np.maximum(self.decision_values(X), 0.0)
        sums += (NOISES * self.stddev_ + 1e-3) * class_shares(self.leaf_values_)
        return np.asarray(sums / sums.sum(axis=1, keepdims=True))
