"""Any function, in private: near the truth where blocks are, and refused where nobody holds all records."""

from __future__ import annotations

import inspect
import threading
import time
from typing import Any

import numpy as np
import pytest

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import KeyReused, NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.mechanisms.additive.laplace import Laplace
from discreet.releases.table import Table
from discreet.schema.schema import Schema
from discreet.statistics.fits.sample_and_aggregate import sample_and_aggregate
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from tests.statistics.trial import StatisticTrial
from tests.trust.isolation.unfiltered import unfiltered

TRIAL = StatisticTrial(
    {"function": np.mean, "lower": 0.0, "upper": 1.0, "blocks": 2, "seconds": 0.6},
    {"blocks": [0], "deals": [0], "seconds": [0.0, -1.0], "lower": [float("nan"), 5.0, "low"]},
    elsewhere="functions of others run in processes of their own, for as long as they may",
    replayed=False,
)

__all__ = ["unfiltered"]
SCHEMA = Schema.numeric(0.0, 10.0, 2)
RNG = np.random.default_rng(0)
PEOPLE = RNG.normal([3.0, 6.0], 1.0, (4000, 2))


def data(epsilon: float = 5.0) -> PrivateData:
    return PrivateData.of(PEOPLE, SCHEMA, Budget(epsilon))


def half(found: Table) -> Array:
    low, high = found.interval
    return (high - low) / 2


@pytest.mark.parametrize("deals", [1, 2])
def test_the_average_of_medians_is_near_the_median(deals: int) -> None:
    """Six half-widths are 18 scales of noise."""
    options: dict[str, Any] = {"lower": [0, 0], "upper": [10, 10], "epsilon": 500.0, "deals": deals}
    found = sample_and_aggregate(
        data(500.0), lambda rows: np.median(rows, axis=0), ["x0", "x1"], blocks=4, seconds=0.6 * deals, **options
    )
    np.testing.assert_allclose(found.values, [3, 6], atol=6 * half(found).max() + 0.2)
    assert found.receipt.event == calibrate(Laplace(), Budget(500.0)).event
    assert found.name == f"average over {4 * deals} blocks"
    assert "±" in str(found)


def test_more_deals_make_no_more_noise() -> None:
    options: dict[str, Any] = {"lower": 0, "upper": 10, "epsilon": 5.0, "blocks": 2}
    once = sample_and_aggregate(data(), lambda rows: 1.0, ["x0"], seconds=0.2, **options)
    often = sample_and_aggregate(data(), lambda rows: 1.0, ["x0"], seconds=0.6, deals=3, **options)
    np.testing.assert_allclose(half(once), half(often))


def test_a_function_that_fails_gives_the_middle_of_its_bounds() -> None:
    """With noise of scale 0.02, of which it is fifteen away."""
    how: dict[str, Any] = {"lower": 2, "upper": 4, "blocks": 2, "seconds": 0.3, "epsilon": 50.0}
    found = sample_and_aggregate(data(50.0), lambda rows: 1 / 0, ["x0"], **how)
    assert found.values == pytest.approx(3, abs=0.3)


def test_by_default_it_takes_a_few_seconds() -> None:
    """It takes its time, always: see `isolated`."""
    assert inspect.signature(sample_and_aggregate).parameters["seconds"].default == 5.0


def slow(rows: Array) -> float:
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass
    return 0.0


def test_a_function_that_is_too_slow_is_refused_before_anything_is_spent() -> None:
    private = data()
    with pytest.raises(ParameterError, match=r"more than the .* seconds of a block.*Nothing was released or spent"):
        sample_and_aggregate(private, slow, ["x0"], lower=0, upper=1, blocks=4, seconds=0.4)
    assert private.ledger.balance().certified == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"lower": 1, "upper": 0},
        {"lower": 0, "upper": np.inf},
        {"lower": [0, 0], "upper": 1},
        {"blocks": 0},
        {"deals": 1.5},
        {"seconds": 0.001},
        {"seconds": np.nan},
        {"seconds": np.inf},
        {"isolation": "none"},
        {"population": True},
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_spent(wrong: dict[str, Any]) -> None:
    private = data()
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        sample_and_aggregate(private, np.mean, ["x0"], **{"lower": 0, "upper": 1, **wrong})
    assert private.ledger.balance().certified == 0


def test_a_key_stands_for_one_function() -> None:
    private, options = data(), {"lower": 0, "upper": 10, "blocks": 2, "seconds": 0.3, "key": "q"}
    first = sample_and_aggregate(private, np.median, ["x0"], **options)  # type: ignore[arg-type]
    again = sample_and_aggregate(private, np.median, ["x0"], **options)  # type: ignore[arg-type]
    assert again.values == first.values
    assert again.receipt.replayed
    for other in (np.mean, lambda rows: np.median(rows)):
        with pytest.raises(KeyReused):
            sample_and_aggregate(private, other, ["x0"], **options)  # type: ignore[arg-type]


def test_where_functions_cannot_be_isolated_nothing_is_spent(unfiltered: None) -> None:
    private = data()
    lock: Any = threading.Lock()
    with pytest.raises(NotPermitted, match=r"no filter.*isolation='process'"):
        sample_and_aggregate(private, np.mean, ["x0"], lower=0, upper=1)
    with pytest.raises(ParameterError, match="cannot be sent"):
        sample_and_aggregate(private, lambda rows: lock, ["x0"], lower=0, upper=1, isolation="process")
    assert private.ledger.balance().certified == 0


def test_nobody_holds_all_records_under_a_secure_sum() -> None:
    with SecureSum.rehearsal({f"p{i}": PEOPLE for i in range(3)}, SCHEMA, threshold=2) as trust:
        private = PrivateData(trust, data().ledger)
        with pytest.raises(NotPermitted, match="a curator who holds all records"):
            sample_and_aggregate(private, np.mean, ["x0"], lower=0, upper=1)
