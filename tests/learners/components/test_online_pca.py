"""Components that follow the records through time: few are lost, and none before its time is told."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.learners.components.online_pca import OnlinePCA
from tests.learners import trial
from tests.learners.audited_fit import check_releases
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(OnlinePCA(1, steps=4, bounds=trial.BOUNDS))
BOUNDS = ([0.0] + [-1.0] * 4, [1.0] + [1.0] * 4)


def people(n: int = 40_000) -> Array:
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    return np.column_stack([rng.uniform(0, 1, n), rng.normal(0, [0.3, 0.2, 0.05, 0.05], (n, 4)) @ turn.T])


def test_the_regret_grows_slowly_once_the_leader_is_found() -> None:
    """The last three quarters of the time lose less than the first quarter, and all of it a small share."""
    X = people()
    model = OnlinePCA(2, steps=32, bounds=BOUNDS, epsilon=2.0).fit(X)
    regret = model.regret(X)
    assert regret[-1] < 0.05 * np.square(X[:, 1:]).sum()
    assert regret[-1] - regret[7] < 0.5 * regret[7]
    np.testing.assert_allclose(model.components_[-1] @ model.components_[-1].T, np.eye(2), atol=1e-9)


def test_a_step_knows_only_the_records_before_it() -> None:
    """With hardly any noise: what comes later than a step changes nothing that it starts with."""
    X = people(2000)
    later = X.copy()
    later[X[:, 0] > 0.5, 1:] = later[X[:, 0] > 0.5, 1:][:, ::-1]
    first, second = (
        OnlinePCA(1, steps=4, bounds=BOUNDS, epsilon=1e5, delta=0.0).fit(some).components_ for some in (X, later)
    )
    np.testing.assert_allclose(first[:3], second[:3], atol=1e-3)
    assert np.abs(first[4] - second[4]).max() > 0.1
    half = X[X[:, 0] < 0.5, 1:]
    exact = np.linalg.eigh(half.T @ half)[1][:, -1]
    assert abs(exact @ first[2, 0]) > 0.999


def test_time_is_a_column_by_its_name_or_its_place() -> None:
    X = people(500)
    moved = X[:, [1, 2, 0, 3, 4]]
    model = OnlinePCA(1, time=2, steps=2, bounds=(np.array(BOUNDS)[:, [1, 2, 0, 3, 4]])).fit(moved)
    assert model.time_ == 2
    assert model.transform(moved).shape == (500, 1)
    assert OnlinePCA(1, time="x0", steps=2, bounds=BOUNDS).fit(X).time_ == 0


def test_the_fit_costs_what_it_says() -> None:
    model = OnlinePCA(1, steps=4, bounds=BOUNDS, epsilon=0.7).fit(people(50))
    assert 0.99e-6 < delta(model.event_, 0.7) <= 1e-6
    pure = OnlinePCA(1, steps=4, bounds=BOUNDS, epsilon=0.7, delta=0.0).fit(people(50))
    assert 0.699 < pure_epsilon(pure.event_) <= 0.7 + 1e-12


def test_no_release_is_refuted_on_the_worst_record_and_each_is_with_two_thirds_of_the_noise() -> None:
    check_releases(OnlinePCA(1, steps=4, bounds=(-1, 1), epsilon=2.0, delta=0.05))


def test_the_regret_is_drawn() -> None:
    X = people(500)
    ax = OnlinePCA(1, steps=4, bounds=BOUNDS).fit(X).plot_regret(X, Figure().add_subplot())
    assert ax.lines[0].get_xydata().shape == (4, 2)  # type: ignore[union-attr]


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    for fields in ({"n_components": 5}, {"steps": 3}, {"time": 5}, {"time": "when"}, {"radius": 0.0}, {"bounds": None}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            OnlinePCA(**{"bounds": BOUNDS, "steps": 4, **fields}).fit(people(10))  # type: ignore[arg-type]
