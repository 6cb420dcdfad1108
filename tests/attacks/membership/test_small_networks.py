"""Small networks, many at a time: gradients, halves that are kept apart, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

from discreet.attacks import SmallNetworks
from discreet.attacks.membership import small_networks
from discreet.attacks.membership.small_networks import _first_weights, _forward, _gradients
from discreet.core.errors import ParameterError


def _loss(layers: list[np.ndarray], rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
    scores = _forward(layers, rows)[-1]
    own = (scores * targets).sum(axis=-1) - np.log(np.exp(scores).sum(axis=-1))
    return np.asarray(-own.mean(axis=-1))


def test_gradients_are_those_of_finite_differences() -> None:
    rng = np.random.default_rng(0)
    layers = [own.astype(np.float64) for own in _first_weights(2, (3, 4, 5, 2), rng)]
    rows, targets = rng.normal(size=(2, 6, 3)), np.eye(2)[rng.integers(0, 2, (2, 6))]
    found = _gradients(layers, rows, targets)  # type: ignore[arg-type]
    for own, gradient in zip(layers, found, strict=True):
        for place in np.ndindex(own.shape[1:]):
            for network in range(2):
                own[network][place] += 1e-6
                above = _loss(layers, rows, targets)[network]
                own[network][place] -= 2e-6
                below = _loss(layers, rows, targets)[network]
                own[network][place] += 1e-6
                assert gradient[network][place] == pytest.approx((above - below) / 2e-6, abs=1e-6)


def test_networks_are_as_good_as_those_of_scikit_learn() -> None:
    X, y = load_digits(return_X_y=True)
    train = np.random.default_rng(1).random(len(y)) < 0.3
    ours = SmallNetworks((32,), max_iter=30).trained(X[train] / 16, y[train])
    theirs = MLPClassifier((32,), max_iter=30, learning_rate_init=0.01, random_state=0)
    with pytest.warns(UserWarning, match="converge"):
        theirs.fit(X[train] / 16, y[train])
    right = (ours.predict(X[~train] / 16) == y[~train]).mean()
    assert right > theirs.score(X[~train] / 16, y[~train]) - 0.02


def test_each_network_learns_its_own_records_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random labels can only be learnt by heart: in one group, or in groups of one."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(80, 20)), rng.choice(["a", "b"], 80)
    inside = np.array([[True] * 40 + [False] * 40, [False] * 37 + [True] * 43])
    for limit in (small_networks.BYTES, 1):
        monkeypatch.setattr(small_networks, "BYTES", limit)
        for network, own in zip(SmallNetworks((32,)).trained_on(X, y, inside), inside, strict=True):
            right = network.predict(X) == y
            assert right[own].mean() > 0.97
            assert right[~own].mean() < 0.75


def test_rows_that_are_no_numbers_and_sizes_without_meaning_are_refused() -> None:
    for rows in ([["a"]], [[np.nan]], [1.0], [[[1.0]]]):
        with pytest.raises(ParameterError, match="finite numbers"):
            SmallNetworks().trained(rows, [0])
    for wrong in ({"hidden": (0,)}, {"max_iter": 0}, {"batch_size": 1.5}, {"learning_rate": -1}, {"random_state": -1}):
        with pytest.raises(ParameterError):
            SmallNetworks(**wrong)
