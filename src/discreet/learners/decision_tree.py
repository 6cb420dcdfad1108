"""A private decision tree, grown level by level from noisy counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Norm
from discreet.core.events import Event, Repeated
from discreet.core.grid import Array
from discreet.core.knob import check_whole
from discreet.core.mechanism import Noise
from discreet.learners.private_estimator import PrivateEstimator
from discreet.learners.task import Task
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.domain import Domain
from discreet.questions.forest_leaves import leaves_of
from discreet.questions.node_marginals import node_marginals_of
from discreet.releases.spread import spread
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

DEEPEST = 10


@dataclass(frozen=True)
class LevelsPlan:
    """One release for each level of a tree, all with the same noise, and the norm in which marks are bounded."""

    noise: Noise
    norm: Norm
    levels: int

    @property
    def event(self) -> Event:
        """What all of them cost."""
        return Repeated(self.noise.event, self.levels)


class DecisionTreeClassifier(ClassifierMixin, PrivateEstimator):
    """ID3 on noisy counts: at each level, each node is split where the noisy counts say that most is learned.

    Numbers are cut into cells of equal width between their bounds; a split is between two cells. Each level is one
    bounded sum, the counts of every cell of every feature and class in all nodes; the last also fills the leaves. The
    tree has `max_depth` levels whatever the data: to stop early would take another release. A record with a missing
    value, or a class that is not listed, counts for nothing; in predictions a missing value goes left.

    Parameters
    ----------
    max_depth : int
        Public. How many levels of splits.
    bins : int
        Public. The number of cells of each feature.
    target : str, optional
        Public. The column to predict, of `PrivateData`.
    classes : sequence, optional
        Public. All classes, in order; not for `PrivateData`, whose schema has them.
    bounds : (lower, upper), optional
        Public. Of the features: two numbers, or two sequences with one number per feature; not for `PrivateData`, whose
        schema has them.
    epsilon, delta : float
        Public. What one fit costs.

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
    event_ : Event
        What the fit cost.
    receipt_ : Receipt
        The same, with whom it protects and where it was charged.
    n_features_in_ : int
        Public. The number of features.
    feature_names_in_ : array of str
        Public. Their names, where the data have names.

    Guarantee
    ---------
    `event_`: `max_depth` releases of one bounded sum each, composed, for the neighbors and the unit of the data set;
    add or remove one record for arrays. Released: `features_`, `cuts_` and `leaf_probabilities_`, post-processing of
    them. The SuLQ-based ID3 of Blum, Dwork, McSherry and Nissim 2005, section 5, with the counts of all nodes of a
    level in one vector.

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
        max_depth: int = 3,
        *,
        bins: int = 8,
        target: str | None = None,
        classes: Any = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.max_depth = max_depth
        self.bins = bins
        self.target = target
        self.classes = classes
        self.bounds = bounds
        self.epsilon = epsilon
        self.delta = delta

    def check(self) -> None:
        """Refuse parameters that cannot be, before any data are looked at."""
        check_whole(self.purpose, "max_depth", self.max_depth, most=DEEPEST)
        check_whole(self.purpose, "bins", self.bins, least=2, most=2**10)

    def plan(self, task: Task) -> LevelsPlan:
        """Every level is one release, in l1 or l2, whichever needs less noise."""
        levels = int(self.max_depth)
        last, root = np.zeros((1, 2 ** (levels - 1) - 1)), np.zeros((1, 0))
        self._question(task, last, last, "l1")  # which refuses what is too large
        plans = [LevelsPlan(calibrate(Laplace(), task.budget, levels), "l1", levels)]
        if task.budget.delta > 0:
            plans.append(LevelsPlan(calibrate(Gaussian(), task.budget, levels), "l2", levels))
        questions = {norm: self._question(task, root, root, norm) for norm in ("l1", "l2")}
        return min(plans, key=lambda plan: spread(task.data, questions[plan.norm], plan.noise).stddev)

    def learn(self, task: Task, plan: LevelsPlan, permit: Permit) -> Artefact:
        """Split all nodes of a level, then those of the next."""
        d, bins = len(task.features), int(self.bins)
        edges = np.array([own for own in Domain.of(task.schema, task.features, bins).edges if own is not None])
        features, cuts, leaves = np.zeros((1, 0)), np.zeros((1, 0)), np.zeros((0, 0))
        for level in range(plan.levels):
            noisy = permit.ask(self._question(task, features, cuts, plan.norm), plan.noise)
            sides = _sides(noisy.reshape(2**level, d, bins, -1))
            best = np.argmin(_entropies(sides).reshape(2**level, -1), axis=1)
            chosen, cell = np.divmod(best, bins - 1)
            leaves = sides[np.arange(2**level), chosen, cell].reshape(2 ** (level + 1), -1)
            features = np.append(features, chosen)[None, :]
            cuts = np.append(cuts, np.nextafter(edges[chosen, cell + 1], -np.inf))[None, :]
        shares = leaves + 1.0
        return {
            "features_": features[0],
            "cuts_": cuts[0],
            "leaf_probabilities_": shares / shares.sum(axis=1, keepdims=True),
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

    def export_text(self) -> str:
        """The rules of the tree, one line for each node or leaf."""
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(self.n_features_in_)])
        nodes = len(self.features_)

        def lines(node: int, indent: str) -> list[str]:
            name, cut = names[int(self.features_[node])], np.nextafter(self.cuts_[node], np.inf) + 0.0
            found = []
            for child, sign in ((2 * node + 1, "<"), (2 * node + 2, ">=")):
                rule = f"{indent}{name} {sign} {cut:.4g}"
                leaf = child - nodes
                said = "" if leaf < 0 else f": {self.classes_[np.argmax(self.leaf_probabilities_[leaf])]}"
                found += [rule + said, *(lines(child, indent + "|   ") if leaf < 0 else [])]
            return found

        return "\n".join(lines(0, ""))

    def _question(self, task: Task, features: Array, cuts: Array, norm: Norm) -> Any:
        assert task.target is not None
        return node_marginals_of(task.schema, task.features, int(self.bins), task.target, features, cuts, norm)


def _sides(counts: Array) -> Array:
    """Counts of classes left and right of every cut, of shape (nodes, features, cuts, 2, classes); none below 0."""
    left = np.cumsum(counts, axis=2)[:, :, :-1]
    right = counts.sum(axis=2, keepdims=True) - left
    return np.maximum(np.stack([left, right], axis=3), 0.0)


def _entropies(sides: Array) -> Array:
    """The entropy of the class after every split, times the number of records: ID3 takes the least."""
    whole = sides.sum(axis=-1, keepdims=True)
    shares = sides / np.maximum(whole, 1e-12)
    return np.asarray(-(sides * np.log2(np.maximum(shares, 1e-12))).sum(axis=(-1, -2)))
