"""What is left of a budget finds a constant: by counts that are averaged, or between cuts that close in on a mean."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pytest

from discreet.learners.anova import anova_model, constant_search
from discreet.learners.anova.anova_fit import SizeEstimate, TargetStart
from discreet.learners.anova.anova_regressor import AnovaRegressor
from discreet.learners.anova.constant_search import CLOSEST, CountSearch, MeanSearch
from discreet.questions.columns.total import winsorized_of
from discreet.schema.schema import Number, Schema
from discreet.trust.permit import Permit

FIELDS: dict[str, Any] = {"bounds": (-1.0, 1.0), "target_bounds": (0.0, 40.0), "epsilon": 0.3}


def search(count: float, deviation: float) -> MeanSearch:
    return MeanSearch(Mock(), SizeEstimate(count, deviation**2), told)


def told(place: float, n: float) -> TargetStart:
    return TargetStart((place,), 1.0, n, 1.0, 1.0)


def masses(values: np.ndarray, cuts: tuple[float, float]) -> np.ndarray:
    above = (values.clip(*cuts) - cuts[0]) / (cuts[1] - cuts[0])
    return np.array([(1 - above).sum(), above.sum()])


def test_cuts_close_in_on_the_mean_and_the_number_of_records_is_learned_on_the_way() -> None:
    rng = np.random.default_rng(0)
    values, found = 0.7 + 0.03 * rng.normal(size=200), search(350.0, 130.0)
    widths = []
    for _ in range(6):
        found.add(masses(values, found.cuts) + 10 * rng.normal(size=2), 10.0)
        widths.append(found.cuts[1] - found.cuts[0])
    assert found.found().center == pytest.approx((0.7,), abs=0.02)
    assert found.found().count == pytest.approx(200, abs=25)
    assert widths[0] < 0.7
    assert widths[-1] == pytest.approx(CLOSEST)


def test_each_release_counts_by_its_own_noise() -> None:
    found = search(200.0, 50.0)
    found.add(masses(np.full(200, 0.3), (0.0, 1.0)), 1.0)
    found.add(np.array([-5e5, 9e5]), 1e6)
    assert found.found().center == pytest.approx((0.3,), abs=0.01)
    assert found.found().count == pytest.approx(200, abs=6)


def test_noise_alone_leaves_the_middle_and_cuts_stay_inside_the_bounds() -> None:
    found = search(-40.0, 100.0)
    assert found.found().center == pytest.approx((0.5,))
    for noise in (np.array([900.0, -300.0]), np.array([-300.0, 5000.0]), np.zeros(2)):
        found.add(noise, 1000.0)
        assert 0 <= found.cuts[0] < found.cuts[1] <= 1
        assert 0 <= found.found().center[0] <= 1
    assert found.found().count > 0


def test_no_bounds_and_no_noise_make_cuts_that_are_refused_after_the_charge() -> None:
    rng = np.random.default_rng(3)
    for lower, upper in ((-0.1, 0.2), (1.0, 1 + 2.0**-31), (-1e49, 1e49), (0.0, 1.1e-50), (3.3, 7.7)):
        data = Mock(schema=Schema({"y": Number(lower, upper)}))
        found = MeanSearch(Mock(data=data, target="y"), SizeEstimate(100.0, 1.0), Mock())
        with patch.object(constant_search, "spread", return_value=Mock(stddev=1.0)):
            for _ in range(20):
                permit = Mock(ask=Mock(return_value=rng.normal(0, 200, 2)))
                found.ask(permit, Mock())
                assert permit.ask.call_args.args[0].columns == ("y",)


def test_without_its_size_every_loss_finds_its_constant() -> None:
    rng = np.random.default_rng(4)
    X, y = rng.uniform(-1, 1, (300, 2)), rng.gamma(8.0, 1.25, 300).clip(0, 40)
    for loss, level, exact in (("poisson", 0.5, 10.0), ("gamma", 0.5, 10.0), ("quantile", 0.5, 9.6)):
        model = AnovaRegressor(**FIELDS, loss=loss, quantile=level)  # type: ignore[arg-type]
        with patch.object(anova_model, "HIDDEN", np.inf):
            found = [float(model.fit(X, y).predict(X[:1])[0]) for _ in range(5)]
        assert model.n_iter_ == 0
        assert np.median(found) == pytest.approx(exact, abs=2.5)


def test_the_later_cuts_are_asked_and_make_noise_smaller() -> None:
    """Of 200 records, whose target is within a twentieth of its bounds; between the bounds the error is 3 to 4."""
    rng = np.random.default_rng(1)
    X, y = rng.uniform(-1, 1, (200, 3)), 30 + rng.uniform(-1, 1, 200)
    model = AnovaRegressor(**FIELDS)
    with patch.object(constant_search, "winsorized_of", wraps=winsorized_of) as asked:
        found = [float(model.fit(X, y).predict(X[:1])[0]) for _ in range(15)]
    assert model.n_iter_ == 0
    assert np.median(np.abs(np.array(found) - 30)) < 1.5
    widths = [(call.args[3] - call.args[2]) / 40 for call in asked.call_args_list]
    assert max(widths) == 1.0
    assert np.isclose(widths, CLOSEST).sum() > len(widths) / 4


def test_all_that_the_plan_pays_for_is_asked() -> None:
    """Where noise hides functions at once, and where the first round has shown it."""
    rng = np.random.default_rng(2)
    X, y = rng.uniform(-1, 1, (100, 2)), rng.uniform(10, 30, 100)
    for seen in ([1.0], [20.0, 1.0]):
        for delta in (1e-6, 0.0):
            unspent: list[int] = []

            def asked(permit: Permit, *of: Any, ask: Any = Permit.ask, left: list[int] = unspent) -> Any:
                released = ask(permit, *of)
                left.append(permit._unspent.total())
                return released

            with (
                patch.object(AnovaRegressor, "_seen", side_effect=seen),
                patch.object(Permit, "ask", autospec=True, side_effect=asked),
            ):
                assert AnovaRegressor(**FIELDS, delta=delta).fit(X, y).n_iter_ == 0
            assert unspent == list(range(len(unspent)))[::-1]


def test_counts_are_averaged_with_those_before() -> None:
    counts = Mock(counts=np.array([1.0, 2.0]), stddev=3.0)
    found = CountSearch(counts, lambda known, stddev: told(float(known[1]), stddev))
    permit, noise = Mock(), Mock()
    found.ask(permit, noise)
    counts.ask.assert_called_once_with(permit, noise)
    assert (found.found().center, found.found().count) == ((2.0,), 3.0)
