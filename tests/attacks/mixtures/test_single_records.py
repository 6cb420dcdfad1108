"""Exact models keep records that are alone in a part or a leaf; private and pruned ones do not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from discreet.attacks import LeafOfOne, MembershipData, SingletonCluster
from discreet.core.errors import ParameterError
from discreet.learners import GaussianMixture as PrivateMixture
from tests.attacks.trial import AttackTrial

SHE = [20.0, -15.0]


def _rows(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return np.r_[rng.normal(0, 1, (150, 2)), rng.normal(8, 1, (150, 2)), [SHE]]


def _parts(seen: int, number: int) -> list[tuple[SingletonCluster, Any]]:
    """So many clusters of the first rows, of which the last five are far from all others."""
    far = [[90.0, 3.0], [-50.0, 70.0], [4.0, -80.0], [-60.0, -60.0]]
    rows = np.r_[_rows(6), far]
    return [(SingletonCluster(rows), KMeans(number, n_init=20, random_state=0).fit(rows[:seen]))]


TRIALS = {"SingletonCluster": AttackTrial(lambda: _parts(305, 7), lambda: _parts(300, 7))}


def test_the_mean_of_a_part_of_one_is_the_record() -> None:
    rows = _rows(0)
    for model in (GaussianMixture(3, n_init=3, random_state=0), KMeans(3, n_init=3, random_state=0)):
        result = SingletonCluster(rows).run(model.fit(rows))
        assert (result.right, result.wrong, result.worst) == (1, 0, (300,))
        assert result.beats_chance
        assert result.details["smallest part, in records"] == pytest.approx(1.0, abs=0.01)


def test_models_without_such_a_part_give_nothing_away() -> None:
    rows = _rows(1)
    private = PrivateMixture(3, bounds=([-25.0, -25.0], [25.0, 25.0]), epsilon=1.0).fit(rows)
    constant = SimpleNamespace(weights_=np.full(3, 1 / 3), means_=np.zeros((3, 2)))
    lying = SimpleNamespace(weights_=np.full(3, 1e-9), means_=np.array([[1.0, 1.0], [30.0, 3.0], [-9.0, 4.0]]))
    for model in (private, constant, lying, KMeans(2, n_init=3, random_state=0).fit(rows[:300])):
        assert not SingletonCluster(rows).run(model).beats_chance
    assert SingletonCluster(rows).run(lying).wrong == 3


def test_a_leaf_of_one_has_the_label() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(400, 4)), rng.normal(size=400)
    known = MembershipData.of(X[:200], y[:200], X[200:], y[200:])
    grown = LeafOfOne(known).run(DecisionTreeRegressor(random_state=0).fit(X[:200], y[:200]))
    assert (grown.success, grown.details["leaves of one"], grown.details["rate on others"]) == (1.0, 200, 0.0)
    pruned = LeafOfOne(known).run(DecisionTreeRegressor(min_samples_leaf=5).fit(X[:200], y[:200]))
    assert (pruned.right, pruned.wrong) == (0, 0)
    assert (
        not LeafOfOne(known)
        .run(DecisionTreeRegressor(random_state=0).fit(rng.normal(size=(200, 4)), y[200:]))
        .beats_chance
    )


def test_labels_that_follow_from_attributes_are_not_the_trees_fault() -> None:
    """Classes 0 and 1 by the sign of the first attribute, with some of them turned: who turned is given away."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(800, 4))
    clean = (X[:, 0] > 0).astype(int)
    turned = np.where(rng.random(800) < 0.3, 1 - clean, clean)
    for labels, gives in ((clean, False), (turned, True)):
        known = MembershipData.of(X[:400], labels[:400], X[400:], labels[400:])
        result = LeafOfOne(known).run(DecisionTreeClassifier(random_state=0).fit(X[:400], labels[:400]))
        assert result.beats_chance == gives


def test_leaves_of_one_that_others_reach_with_the_same_label_give_nobody_away() -> None:
    """Twenty classes, each a range of the one attribute, and thirty records to learn them from."""
    rng = np.random.default_rng(5)
    X = rng.random((230, 1))
    y = (X[:, 0] * 20).astype(int)
    known = MembershipData.of(X[:30], y[:30], X[30:], y[30:])
    result = LeafOfOne(known).run(DecisionTreeClassifier(random_state=0).fit(X[:30], y[:30]))
    assert result.right > 1
    assert not result.beats_chance


def test_what_has_no_parts_or_leaves_is_refused() -> None:
    rows = _rows(4)
    known = MembershipData.of(rows[:100], np.zeros(100), rows[100:200], np.zeros(100))
    for make in (
        lambda: SingletonCluster(rows).run("<b>"),
        lambda: SingletonCluster([[1.0]]).run(None),
        lambda: SingletonCluster(rows[:, :1]).run(KMeans(2, n_init=1, random_state=0).fit(rows)),
        lambda: SingletonCluster(rows, tolerance=0.0),
        lambda: LeafOfOne(known).run(KMeans(2)),
        lambda: LeafOfOne(known).run(DecisionTreeRegressor()),
    ):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            make()
