"""Neighbors of records: weighted means as loops have them, for records of any kind."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks.membership.near_records import NearRecords
from tests.attacks.membership.made import records


def test_means_over_neighbors_are_those_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """And no record is its own neighbor, nor is one with another label."""
    rng = np.random.default_rng(2)
    X, y = records(100).rows
    values, weights = rng.normal(size=(3, len(y))), rng.random((3, len(y)))
    weights[1, 5] = 0.0
    points = (X - X.mean(axis=0)) / X.std(axis=0)
    expected = np.zeros(values.shape)
    for row in range(len(y)):
        alike = [other for other in range(len(y)) if y[other] == y[row] and other != row]
        apart = {other: float(((points[row] - points[other]) ** 2).sum()) for other in alike}
        near = sorted(alike, key=lambda other: apart[other])[:4]
        nearness = np.array([np.exp(-3 * apart[other] / apart[near[-1]]) for other in near])
        for own in range(3):
            counts = nearness * weights[own, near]
            expected[own, row] = counts @ values[own, near] / (counts.sum() + 0.02)
    assert np.allclose(NearRecords(X, y, 4).means(values, weights), expected)
    monkeypatch.setattr("discreet.attacks.membership.near_records.BLOCK", 7)
    assert np.allclose(NearRecords(X, y, 4).means(values, weights), expected)


def test_odd_records_have_neighbors_too() -> None:
    """Texts, pictures, missing and enormous values, a label that one record has, and records that are all alike."""
    rng = np.random.default_rng(5)
    y = np.r_[["rare"], rng.choice(["a", "b"], 219)]
    plain = rng.normal(size=(220, 4))
    odd, texts, alike = plain.copy(), plain.astype(object), np.zeros((220, 4))
    odd[:6, 0] = [np.nan, np.inf, -np.inf, 1.7e308, 1.7e308, -1e308]
    texts[:, 1] = rng.choice(["<b>", "", "x"], 220)
    alike[:, 0] = np.arange(220) * 1e-300
    for X in (plain, odd, texts, alike, plain.reshape(220, 2, 2), plain > 0.5 * np.arange(4)):
        assert np.isfinite(NearRecords(X, y, 60).means(rng.normal(size=(2, 220)), np.ones((2, 220)))).all()
