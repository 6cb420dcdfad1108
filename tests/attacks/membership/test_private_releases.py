"""Private twins of what gives its members away: no attack shows more than their epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from discreet import mean
from discreet.attacks import (
    RMIA,
    AttackResult,
    DensityRatio,
    MeansLikelihoodRatio,
    MembershipData,
    NearestDistance,
    References,
    ThresholdAttack,
)
from discreet.learners import RandomDecisionTrees
from discreet.microdata import synthesize

EPSILON = 0.5


def _both(attacks: list[Any], exact: Any, private: Any) -> None:
    """The exact release shows more than the epsilon of the private one, by some attack; the private one by none."""
    shown: list[list[AttackResult]] = [[attack.run(target) for attack in attacks] for target in (exact, private)]
    assert max(result.epsilon for result in shown[0]) > EPSILON
    assert max(result.epsilon for result in shown[1]) <= EPSILON


def test_trees() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (800, 6)), rng.integers(0, 2, 800)
    data = MembershipData.of(X[:400], y[:400], X[400:], y[400:])
    private = RandomDecisionTrees(bounds=(-1, 1), classes=[0, 1], epsilon=EPSILON, random_state=0)
    plain = DecisionTreeClassifier(random_state=0)
    attacks = [ThresholdAttack(data), *(RMIA(data, References.fitted(one, X, y, number=4)) for one in (plain, private))]
    _both(attacks, plain.fit(X[:400], y[:400]), private.fit(X[:400], y[:400]))


def test_tables() -> None:
    rng = np.random.default_rng(1)
    rows = np.empty((900, 3), dtype=object)
    rows[:, :2], rows[:, 2] = rng.uniform(0, 100, (900, 2)), rng.choice(["a", "b"], 900)
    data = MembershipData.of_rows(rows[:300], rows[300:600])
    bounds: dict[str, Any] = {"x": (0, 100), "y": (0, 100), "kind": ["a", "b"]}
    private = synthesize(dict(zip(bounds, rows[:300].T, strict=True)), bounds=bounds, epsilon=EPSILON, random_state=0)
    _both([NearestDistance(data), DensityRatio(data, rows[600:])], rows[:300], private)


def test_means() -> None:
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2, (700, 200)).astype(float)
    data = MembershipData.of_rows(rows[:100], rows[100:200])
    private = [mean(column, bounds=(0, 1), epsilon=EPSILON / 200).value for column in rows[:100].T]
    _both([MeansLikelihoodRatio(data, rows[200:])], rows[:100].mean(axis=0), private)
