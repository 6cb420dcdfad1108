"""A private decision tree, grown level by level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.checks import check_one_of, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task
from discreet.learners.trees.grown_tree import GrownTree
from discreet.learners.trees.growth_plan import (
    AtRandom,
    ByChoice,
    FromCounts,
    Growth,
    GrowthPlan,
    LabelledTree,
    labelled_levels,
)
from discreet.questions.columns.box import GUESS
from discreet.questions.tables.domain import MOST_CELLS
from discreet.questions.trees.forest_leaves import leaves_of
from discreet.questions.trees.scores import Criterion
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEEPEST = 10
# Records times epsilon, over the reach of the neighbors, from which so many levels and bins pay, and which criterion.
# From made-up data: `levels` and `deep` in benchmarks/tuning_trees.py.
SIZES: tuple[tuple[float, int, int, Criterion], ...] = (
    (2.5e6, 8, 128, "gini"),
    (3.2e5, 7, 64, "gini"),
    (4e4, 6, 32, "gini"),
    (5e3, 5, 16, "gini"),
    (2.5e3, 4, 16, "gini"),
    (200.0, 3, 8, "max"),
    (60.0, 2, 8, "max"),
    (0.0, 1, 8, "max"),
)
# The same, for each class but one, below which no choice of splits is worth its share of the budget, and how deep
# random trees are that are not chosen: `lots` there.
WORTH, RANDOM_LEVELS = 40.0, 3
METHODS = ("exponential", "counts", "random", "labelled")


class DecisionTreeClassifier(ClassifierMixin, PrivateEstimator):
    """ID3: at each level, each node is split where most is learned about the classes.

    Numbers are cut into cells of equal width between their bounds; a split is between two cells. The splits of a level
    are one release: a choice by the exponential mechanism, which takes a curator, or bounded sums, the noisy counts of
    every cell of every feature and class in all nodes. The tree has `max_depth` levels whatever the data: to stop early
    would take another release. A record with a missing value, or a class that is not listed, does not count for splits;
    in leaves and in predictions a missing value goes left.

    Parameters
    ----------
    max_depth : int, optional
        Public. How many levels of splits; where not given, as many as so many records and this epsilon pay for, 8 at
        most.
    bins : int, optional
        Public. The number of cells of each feature; where not given, 8, and more where records times epsilon are many.
    method : {"exponential", "counts", "random", "labelled"}, optional
        Public. "exponential" chooses splits by the exponential mechanism, and counts once, for the leaves; "counts"
        releases all counts; "random" draws splits without the data, and counts for the leaves alone; "labelled" draws
        many trees, and chooses one of them with a class for each of its leaves. Where neither this nor `max_depth` is
        given, the last for so few records that several choices would share too little; otherwise the first. Where
        nobody holds all records, "random" and "counts", whose noise is greater, take their places.
    criterion : {"max", "gini", "entropy"}, optional
        Public. What makes a split good: the records that are classified right, the Gini index, or the information gain.
        The noise of the exponential mechanism is least for the first, twice as much for the second, and for the third
        grows with the number of records, which has to be public. Where not given, the first, and the second where
        records times epsilon are many: it also finds what tells a rare class apart.
    random_state : int, RandomState instance or None
        Public. Draws random splits.

    Attributes
    ----------
    features_ : array of shape (n_nodes,)
        Released. The feature that each node splits; the children of node i are 2 i + 1 and 2 i + 2.
    cuts_ : array of shape (n_nodes,)
        Released. Where; greater values go right.
    leaf_probabilities_ : array of shape (n_leaves, n_classes)
        Released. The share of each class in each leaf.
    classes_ : array of shape (n_classes,)
        Public. The classes.

    Guarantee
    ---------
    `event_`, for the neighbors and the unit of the data set; add or remove one record for arrays: `max_depth` choices
    by the exponential mechanism and one bounded sum, composed, since a record is in one node of a level (Friedman and
    Schuster 2010, with the sensitivities of `split_scores_of`); or `max_depth` releases of one bounded sum each (the
    SuLQ-based ID3 of Blum, Dwork, McSherry and Nissim 2005, section 5, with the counts of all nodes of a level in one
    vector); or one bounded sum (Jagannathan, Pillaipakkamnatt and Wright 2009, Theorem 1); or one choice by
    permute-and-flip (McKenna and Sheldon 2020, Theorem 1), of scores that a record moves by 1
    (`labelled_tree_scores_of`). Released: `features_`, `cuts_` and `leaf_probabilities_`, post-processing of them.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(-1, 1, (5000, 2))
    >>> y = (X[:, 0] > 0.5).astype(int)
    >>> model = DecisionTreeClassifier(1, classes=[0, 1], bounds=(-1, 1), epsilon=1.0).fit(X, y)
    >>> print(model.export_text())
    x0 < 0.5: 0
    x0 >= 0.5: 1
    """

    purpose: ClassVar[str] = "decision tree"
    supervised: ClassVar[bool] = True
    classes_: NDArray[Any]

    def __init__(
        self,
        max_depth: int | None = None,
        *,
        bins: int | None = None,
        method: str | None = None,
        criterion: Criterion | None = None,
        expected_size: int = GUESS,
        random_state: Any = None,
        target: str | None = None,
        classes: Any = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.max_depth = max_depth
        self.bins = bins
        self.method = method
        self.criterion = criterion
        self.expected_size = expected_size
        self.random_state = random_state
        self.target, self.classes, self.bounds = target, classes, bounds
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        if self.max_depth is not None:
            check_whole(self.purpose, "max_depth", self.max_depth, most=DEEPEST)
        check_whole(self.purpose, "expected_size", self.expected_size)
        if self.bins is not None:
            check_whole(self.purpose, "bins", self.bins, least=2, most=2**10)
        check_one_of(self.purpose, "method", self.method, (*METHODS, None))
        check_one_of(self.purpose, "criterion", self.criterion, (*get_args(Criterion), None))

    def plan(self, task: Task) -> GrowthPlan:
        """Every level is one release, and with choices the leaves are one more; random splits are none."""
        method = self.method or self._method(task)
        growth = self._growth(task, method)
        if method == "random":
            return AtRandom.of(growth, self.random_state)
        if method == "labelled":
            task.data.check_curated(self.purpose)
            return LabelledTree.of(growth, self.random_state)
        growth.check_size()
        if method == "counts":
            return FromCounts.of(growth)
        task.data.check_curated(self.purpose)
        if growth.criterion == "entropy" and task.data.public_size is None:
            raise ParameterError(
                self.purpose,
                "how far a record moves an entropy depends on the number of records, which is secret",
                'Use criterion="max" or "gini", or method="counts", or replace neighbors.',
            )
        return ByChoice.of(growth)

    def _method(self, task: Task) -> str:
        few = self.max_depth is None and self._weight(task) < WORTH * (task.classes - 1)
        if not task.data.curated:
            return "random" if few else "counts"
        return "labelled" if few and labelled_levels(task.classes) else "exponential"

    def _growth(self, task: Task, method: str) -> Growth:
        """As given; else what records times epsilon pay for, with as many cells as can be counted."""
        weight = self._weight(task)
        levels, bins, criterion = next(size[1:] for size in SIZES if weight >= size[0])
        if method == "labelled":
            levels = max(labelled_levels(task.classes), 1)
        elif method == "random":
            levels = RANDOM_LEVELS
        levels = levels if self.max_depth is None else int(self.max_depth)
        room = MOST_CELLS // (2 ** (levels - 1) * len(task.features) * task.classes)
        own = max(min(bins, room), 2) if self.bins is None else int(self.bins)
        return Growth(task, own, levels, self.criterion or criterion)

    def _weight(self, task: Task) -> float:
        """Records times epsilon, over the reach of the neighbors."""
        n = task.data.public_size or self.expected_size
        return n * task.budget.epsilon / task.data.neighbors.reach

    def learn(self, task: Task, plan: GrowthPlan, permit: Permit) -> Artefact:
        """Grow the tree; the less is known of a leaf, the closer it is to the nodes above it."""
        grown = plan.grow(permit)
        return {
            "features_": grown.tree.features[0],
            "cuts_": grown.tree.cuts[0],
            "leaf_probabilities_": grown.shares,
        }

    def predict_proba(self, X: Any) -> Array:
        """The share of each class in the leaf of each row."""
        rows = self._rows(X)
        found = leaves_of(rows, self.features_.astype(np.intp)[None, :], self.cuts_[None, :])
        return np.asarray(self.leaf_probabilities_[found[0]])

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        likeliest = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[likeliest]

    def tree(self) -> GrownTree:
        """The tree by itself: to print its rules, or to draw it."""
        check_is_fitted(self)
        return GrownTree.of(self, self.features_, self.cuts_, self.leaf_probabilities_)

    def export_text(self) -> str:
        """The rules of the tree, one line for each node or leaf."""
        return str(self.tree())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree, on these axes or on new ones."""
        return self.tree().plot(ax)
