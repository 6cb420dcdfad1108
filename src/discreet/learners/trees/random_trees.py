"""What forests of public random trees have in common: only the counts in their leaves come from the data."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Norm
from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.events import Composed, Event, Repeated
from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task
from discreet.learners.trees.grown_tree import GrownTree
from discreet.mechanisms.selection.exponential import PermuteAndFlip
from discreet.questions.question import BoundedSum
from discreet.questions.trees.forest_leaves import DEEPEST, forest_leaves_of, leaves_of
from discreet.questions.trees.scores import tree_scores_of
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import Spread
from discreet.trust.permit import Permit

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MIDDLE = 0.7  # of the width of a feature, in the middle, where cuts are
MOST_TREES = 2**12
# From made-up data: `chosen` in benchmarks/tuning_trees.py. It says that FEW is between 140 and 400, and
# `afresh`, on fresh sets, finds none better than 300.
CANDIDATES = 512
SHALLOW = 3  # levels, and as many as there are classes need
FEW = 300.0  # records times epsilon, over the reach of the neighbors, below which a single tree is best
SOME = 4  # trees, beyond that
SHARE = 0.5  # of epsilon, for the choice


@dataclass(frozen=True)
class ForestPlan:
    """How many trees, how deep, in which norm, and the noise on the counts in their leaves."""

    trees: int
    depth: int
    norm: Norm
    spread: Spread

    @property
    def event(self) -> Event:
        """What the fit costs."""
        return self.spread.noise.event


@dataclass(frozen=True)
class Trees:
    """What the nodes of several trees split, and where; both of shape (trees, nodes)."""

    features: Array
    cuts: Array


class RandomTrees(ClassifierMixin, PrivateEstimator):
    """A classifier that adds up what the leaves of random trees say.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        Public. Seeds the trees; never the noise.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Public. The classes.
    """

    supervised: ClassVar[bool] = True
    classes_: NDArray[Any]
    features_: Array
    cuts_: Array
    leaf_values_: Array

    def check(self) -> None:
        for name, most in (("n_estimators", MOST_TREES), ("max_depth", DEEPEST), ("expected_size", None)):
            if getattr(self, name) is not None:
                check_whole(self.purpose, name, getattr(self, name), most=most)

    def _counted(self, task: Task, plan: ForestPlan, permit: Permit, trees: Trees) -> Array:
        """The noisy counts of classes in the leaves of these trees, of shape (trees, leaves, classes)."""
        assert task.target is not None
        question = forest_leaves_of(task.schema, task.features, task.target, trees.features, trees.cuts, plan.norm)
        return permit.ask(question, plan.spread.noise).reshape(plan.trees, 2**plan.depth, -1)

    def decision_values(self, X: Any) -> Array:
        """The sum of what the leaves of each row say about each class."""
        rows = self._rows(X)
        found = leaves_of(rows, self.features_.astype(np.intp), self.cuts_)
        sums = np.zeros((len(rows), len(self.classes_)))
        for values, leaves in zip(self.leaf_values_, found, strict=True):
            sums += values[leaves]
        return sums

    @abstractmethod
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row."""
        likeliest = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[likeliest]

    def tree(self, place: int = 0) -> GrownTree:
        """One of the trees by itself, each leaf with the class that it speaks for most: to print or to draw it."""
        check_is_fitted(self)
        return GrownTree.of(self, self.features_[place], self.cuts_[place], self.leaf_values_[place])

    def plot(self, ax: Axes | None = None, place: int = 0) -> Axes:
        """Draw one of the trees, on these axes or on new ones."""
        return self.tree(place).plot(ax)


def drawn_trees(task: Task, rng: np.random.RandomState, trees: int, depth: int, width: float = MIDDLE) -> Trees:
    """Random trees: any feature at each node, cut in the middle of its bounds: in so much of its width."""
    shape = (trees, 2**depth - 1)
    places, heights = rng.randint(len(task.features), size=shape), rng.uniform(-width, width, size=shape)
    numbers = [task.schema.number(name) for name in task.features]
    middle = np.array([0.5 * number.lower + 0.5 * number.upper for number in numbers])
    half = np.array([0.5 * number.upper - 0.5 * number.lower for number in numbers])
    return Trees(places.astype(np.float64), middle[places] + half[places] * heights)


def sample_question(task: Task, trees: int, depth: int, norm: Norm) -> BoundedSum:
    """The question as it is priced, before its trees are drawn: these do not matter for its bound and size."""
    nodes = np.zeros((trees, 2**depth - 1))
    assert task.target is not None
    return forest_leaves_of(task.schema, task.features, task.target, nodes, nodes, norm)


@dataclass(frozen=True)
class ChosenPlan:
    """How many trees are chosen, from how many each, and what their leaves are filled from; no delta is paid."""

    candidates: int  # public: the number of random trees that each is chosen from
    choice: PermuteAndFlip  # public: it chooses a tree, and the class of each leaf of a single tree
    counts: ForestPlan  # public: the noise on the counts in the leaves of several trees

    @property
    def trees(self) -> int:
        return self.counts.trees

    @property
    def event(self) -> Event:
        """What the fit costs: a choice for each tree, and what fills the leaves."""
        if self.trees == 1:
            return Repeated(self.choice.event, 2)
        return Composed((Repeated(self.choice.event, self.trees), self.counts.event))


def chosen_plan(task: Task, n: int, trees: int | None, depth: int | None, candidates: int | None) -> ChosenPlan:
    """As many trees as are given; else one, or some where n records and epsilon allow to choose several well."""
    several = n * task.budget.epsilon >= FEW * task.data.neighbors.reach
    trees = (SOME if several else 1) if trees is None else int(trees)
    classes = task.classes
    depth = max(SHALLOW, (classes - 1).bit_length()) if depth is None else int(depth)
    choice = calibrate(PermuteAndFlip(), Budget(SHARE * task.budget.epsilon), trees)
    filling = Budget((1 - SHARE) * task.budget.epsilon)
    counts = least_noise(task.data, sample_question(task, trees, depth, "l1"), filling)
    return ChosenPlan(int(candidates or CANDIDATES), choice, ForestPlan(trees, depth, "l1", counts))


def chosen_trees(task: Task, plan: ChosenPlan, permit: Permit, rng: np.random.RandomState) -> Trees:
    """The trees that are chosen, one after the other, each from candidates of its own."""
    chosen = []
    for _ in range(plan.trees):
        drawn = drawn_trees(task, rng, plan.candidates, plan.counts.depth)
        scores = tree_scores_of(task.schema, task.features, str(task.target), drawn.features, drawn.cuts)
        best = permit.ask(scores, plan.choice)
        chosen.append(np.stack([drawn.features[best], drawn.cuts[best]]))
    features, cuts = np.concatenate(chosen, axis=1)
    return Trees(features, cuts)
