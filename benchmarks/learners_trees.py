"""Naive Bayes, forests and trees beside the figures of diffprivlib 0.6.6, on the same data, bounds and epsilons.

    python -m benchmarks.learners_trees

Replace neighbors, so that the number of records is public; delta 1e-6, and 0 for the rows that say so. Features are
scaled to [-1, 1] by the ends of the data, which are taken to be public for all. Means over ten seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.ensemble import AdaBoostClassifier
from sklearn.ensemble import RandomForestClassifier as ExactForest
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB as ExactNB
from sklearn.tree import DecisionTreeClassifier as ExactTree

from benchmarks.rows import Row, at_least, at_most, cpu_seconds, report
from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors
from discreet.core.schema import Category, Schema
from discreet.learners.additive_classifier import AdditiveClassifier
from discreet.learners.boosted_stumps import BoostedStumps
from discreet.learners.decision_tree import DecisionTreeClassifier
from discreet.learners.gaussian_nb import GaussianNB
from discreet.learners.random_forest import RandomForestClassifier
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix

SEEDS, DELTA = 10, 1e-6
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
PEER = {  # accuracy of diffprivlib at these epsilons
    ("naive Bayes", "breast_cancer"): (0.562, 0.560, 0.641, 0.799, 0.834),
    ("naive Bayes", "wine"): (0.331, 0.382, 0.433, 0.593, 0.742),
    ("naive Bayes", "digits"): (0.097, 0.108, 0.149, 0.300, 0.556),
    ("naive Bayes", "made 10000"): (0.556, 0.654, 0.676, 0.772, 0.843),
    ("forest", "breast_cancer"): (0.718, 0.828, 0.854, 0.862, 0.863),
    ("forest", "wine"): (0.407, 0.536, 0.756, 0.818, 0.827),
    ("forest", "digits"): (0.157, 0.283, 0.452, 0.468, 0.474),
    ("forest", "made 10000"): (0.744, 0.752, 0.753, 0.754, 0.754),
    ("tree", "made 10000"): (0.618, 0.619, 0.619, 0.619, 0.619),
}
GOALS = {("naive Bayes", "made 10000"): 0.838, ("forest", "made 10000"): 0.855}  # at epsilon 1
LEARNERS: dict[str, Callable[..., Any]] = {
    "naive Bayes": GaussianNB,
    "forest": RandomForestClassifier,
    "tree": lambda random_state, **fields: DecisionTreeClassifier(**fields),
}


@dataclass(frozen=True)
class Split:
    """Records to learn from and others to predict."""

    X: np.ndarray
    y: np.ndarray
    others: np.ndarray
    theirs: np.ndarray

    def private(self, epsilon: float, delta: float) -> PrivateData:
        """The records to learn from, for one fit."""
        classes = tuple(range(int(self.y.max()) + 1))
        schema = Schema({**Schema.numeric(-1.0, 1.0, self.X.shape[1]).columns, "target": Category(classes)})
        source = Matrix(np.column_stack([self.X, self.y]).astype(np.float64), schema)
        return PrivateData.of(source, schema, Budget(epsilon, delta), neighbors=Neighbors.REPLACE)


def split(name: str, seed: int) -> Split:
    """A data set of scikit-learn with a fresh split, or a made-up one that is always the same."""
    if name.startswith("made"):
        n = int(name.split()[1])
        X, y = datasets.make_classification(
            n + n // 4, 20, n_informative=8, n_redundant=4, class_sep=1.0, flip_y=0.03, random_state=7
        )
        X = np.clip(X / 6, -1, 1)
        return Split(X[:n], y[:n], X[n:], y[n:])
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    low, high = (X.min(axis=0), X.max(axis=0)) if name != "digits" else (np.zeros(64), np.full(64, 16.0))
    X = 2 * (X - low) / (high - low) - 1
    mine, others, y_mine, theirs = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
    return Split(mine, y_mine, others, theirs)


def accuracy(learner: str, name: str, epsilon: float, delta: float) -> float:
    """The mean over all seeds."""
    scores = []
    for seed in range(SEEDS):
        data = split(name, seed)
        model = LEARNERS[learner](target="target", epsilon=epsilon, delta=delta, random_state=seed)
        found = model.fit(data.private(epsilon, delta)).predict(data.others)
        scores.append(np.mean(found.astype(np.float64) == data.theirs))
    return float(np.mean(scores))


def accuracies() -> list[Row]:
    """Ours, with its goal or that of the peer."""
    rows = []
    for (learner, name), theirs in PEER.items():
        for delta in (DELTA, 0.0):
            for epsilon, peer in zip(EPSILONS, theirs, strict=True):
                goal = GOALS.get((learner, name), 0.0) if (epsilon, delta) == (1.0, DELTA) else 0.0
                claim = f"{learner}, {name}, epsilon {epsilon:g}, delta {delta:g}: accuracy"
                rows.append(at_least(claim, accuracy(learner, name, epsilon, delta), max(peer, goal)))
    return rows


def boosting() -> list[Row]:
    """Boosted stumps on made-up data, beside other learners; together they are to be better than the best by itself."""
    data, found = split("made 10000", 0), {}
    for kind in (BoostedStumps, AdditiveClassifier):
        scores = []
        for _ in range(SEEDS):
            model = kind(target="target", epsilon=1.0, delta=DELTA).fit(data.private(1.0, DELTA))
            scores.append(np.mean(model.predict(data.others).astype(np.float64) == data.theirs))
        found[kind] = float(np.mean(scores))
    exact, stump = (
        model.fit(data.X, data.y).score(data.others, data.theirs)
        for model in (AdaBoostClassifier(random_state=0), ExactTree(max_depth=1))
    )
    peers = f"{found[AdditiveClassifier]:.3f} additive, {exact:.3f} AdaBoost without privacy"
    claim = f"boosted stumps, made 10000, epsilon 1, delta {DELTA:g}: accuracy, beside {peers}"
    return [at_least(claim, found[BoostedStumps], stump)]


def times() -> list[Row]:
    """The processor time of a fit on 100,000 records, in units of scikit-learn's."""
    data, rows = split("made 100000", 0), []
    exact = {"naive Bayes": ExactNB(), "forest": ExactForest(random_state=0)}
    for learner, theirs in exact.items():
        ours = LEARNERS[learner](target="target", random_state=0)

        def private(model: Any = ours) -> Any:
            return model.fit(data.private(1.0, DELTA))

        def plain(model: Any = theirs) -> Any:
            return model.fit(data.X, data.y)

        mine, other = cpu_seconds(private, plain, rounds=3)
        rows.append(at_most(f"{learner}, made 100000: time of a fit, in scikit-learn's", mine / other, 2.0))
    return rows


def rows() -> list[Row]:
    """All rows of this family."""
    return [*accuracies(), *boosting(), *times()]


if __name__ == "__main__":
    report("learners_trees", rows())
