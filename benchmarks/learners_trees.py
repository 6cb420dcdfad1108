"""Naive Bayes, forests and trees beside the figures of diffprivlib, on the same data, bounds and epsilons.

Replace neighbors, so that the number of records is public, except for single trees; delta 1e-6, and 0 for the rows that
say so. Goals at epsilon 1 and delta 1e-6 are those that were promised.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.ensemble import AdaBoostClassifier
from sklearn.ensemble import RandomForestClassifier as ExactForest
from sklearn.naive_bayes import GaussianNB as ExactNB
from sklearn.tree import DecisionTreeClassifier as ExactTree

from benchmarks.cells import EPSILONS, Cell, peer
from benchmarks.learning_data import ADULT, classified
from benchmarks.rows import Row, at_most, cpu_seconds
from discreet.core.neighbors import Neighbors
from discreet.learners.bayes.gaussian_nb import GaussianNB
from discreet.learners.trees.additive_classifier import AdditiveClassifier
from discreet.learners.trees.boosted_stumps import BoostedStumps
from discreet.learners.trees.decision_tree import DecisionTreeClassifier
from discreet.learners.trees.random_forest import RandomForestClassifier

DELTA = 1e-6
SETS = ("breast_cancer", "wine", "digits", "1e4", "1e5", *(["adult"] if ADULT.exists() else []))
PROMISED = {"naive Bayes 1e4": 0.838, "forest 1e4": 0.855}
LEARNERS: dict[str, Callable[..., Any]] = {
    "naive Bayes": GaussianNB,
    "forest": RandomForestClassifier,
    "tree": DecisionTreeClassifier,
}
JOINING = ("tree",)  # the peer's monotonic choice of a label is for records that join or leave


def accuracy(learner: str, name: str, epsilon: float, delta: float, seed: int) -> float:
    """Of one fit."""
    data, model = classified(name, seed), LEARNERS[learner](random_state=seed)
    if learner in JOINING:
        model.set_params(expected_size=10 ** round(math.log10(len(data.y))))
        return data.score(model, epsilon, delta, Neighbors.ADD_REMOVE)
    return data.score(model, epsilon, delta)


def boosted(kind: Callable[..., Any], epsilon: float, delta: float, seed: int) -> float:
    """The accuracy of one fit on made-up data."""
    return classified("1e4", seed).score(kind(), epsilon, delta)


def cells() -> list[Cell]:
    """Ours, with its goal or that of the peer; boosted stumps are to be better than the best of them by itself."""
    found = []
    for learner in LEARNERS:
        for name in SETS:
            for delta in (DELTA, 0.0):
                promised = {1.0: PROMISED.get(f"{learner} {name}")} if delta > 0 else {}
                for epsilon in EPSILONS:
                    claim = f"{learner} {name}, epsilon {epsilon:g}, delta {delta:g}"
                    goal = promised.get(epsilon) or peer(learner, name, epsilon)
                    found.append(Cell(claim, partial(accuracy, learner, name, epsilon, delta), goal))
    data = classified("1e4")
    exact, stump = (
        model.fit(data.X, data.y).score(data.others, data.theirs)
        for model in (AdaBoostClassifier(random_state=0), ExactTree(max_depth=1))
    )
    claim = f"boosted stumps 1e4, epsilon 1, delta {DELTA:g}, beside the best stump; AdaBoost without noise {exact:.3f}"
    additive = Cell("additive 1e4, epsilon 1, replace", partial(boosted, AdditiveClassifier, 1.0, DELTA), None)
    return [*found, Cell(claim, partial(boosted, BoostedStumps, 1.0, DELTA), float(stump)), additive]


def rows() -> list[Row]:
    """The processor time of a fit on 100,000 records, in units of scikit-learn's."""
    data, found = classified("1e5"), []
    exact = {"naive Bayes": ExactNB(), "forest": ExactForest(random_state=0)}
    for learner, theirs in exact.items():
        ours = LEARNERS[learner](random_state=0).set_params(target="target")

        def private(model: Any = ours) -> Any:
            return model.fit(data.private(1.0, DELTA))

        def plain(model: Any = theirs) -> Any:
            return model.fit(data.X, data.y)

        mine, other = cpu_seconds(private, plain, rounds=1 if learner == "forest" else 3)
        found.append(at_most(f"{learner} 1e5: time of a fit, in scikit-learn's", mine / other, 2.0))
    return found
