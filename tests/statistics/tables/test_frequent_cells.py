"""Frequent cells: found among more cells than could ever be counted, and no empty one named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import ApproximateLoss, Composed, Repeated
from discreet.core.neighbors import Neighbors
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.spread import Spread
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.statistics.tables.frequent_cells import FrequentCells, frequent_cells, threshold_of
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.source_of import source_of
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial({"bins": 4})

NAMES = tuple(f"c{i}" for i in range(14))
SCHEMA = Schema({**dict.fromkeys(NAMES, Category(tuple("0123456789"))), "x": Number(0, 1), "note": Text()})
rng = np.random.default_rng(9)
COMMON = {"12345678901234": 900, "12345678909999": 400, "55555555555555": 200}
ROWS = [word for word, count in COMMON.items() for _ in range(count)]
ROWS += ["".join(rng.choice(list("0123456789"), 14)) for _ in range(1500)]
TABLE: dict[str, Any] = {name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)}
TABLE["x"], TABLE["note"] = np.full(len(ROWS), 0.55), [""] * len(ROWS)
SOURCE = source_of(TABLE, SCHEMA)  # opened once for all
COLUMNS = (*NAMES, "x")


def codes(seed: int, budget: Budget, **options: Any) -> PrivateData:
    return PrivateData.of(SOURCE, SCHEMA, budget, bits=DeterministicBits(seed), **options)


def released(seed: int, budget: Budget, **options: Any) -> FrequentCells:
    return frequent_cells(codes(seed, budget, **options), COLUMNS, epsilon=budget.epsilon, delta=budget.delta)


@pytest.mark.parametrize("budget", [Budget(1.0), Budget(1.0, 1e-6)], ids=["pure", "approximate"])
def test_they_are_found_among_a_thousand_million_million(budget: Budget) -> None:
    found = released(0, budget)
    words = {"".join(label[:-1]): count for label, count in zip(found.labels, found.counts, strict=True)}
    assert list(words) == list(COMMON)
    for word, count in words.items():
        assert abs(count - COMMON[word]) <= 3 * found.half_width
    assert {label[-1] for label in found.labels} == {"[0.5, 0.6)"}
    assert (found.counts >= found.threshold).all()


def test_the_price_is_that_of_all_steps() -> None:
    event = released(0, Budget(1.0)).receipt.event
    assert isinstance(event, Repeated)
    assert event.times == 1 + 5  # five columns first, then two at a time
    assert pure_epsilon(event) <= 1.0


def test_a_curator_with_a_delta_selects_keys_and_names_rarer_cells() -> None:
    steps, keys = released(0, Budget(1.0)), released(0, Budget(1.0, 1e-6))
    assert isinstance(keys.receipt.event, Composed)
    assert keys.receipt.event.events[1] == ApproximateLoss(0.0, 5e-7)
    assert keys.threshold < steps.threshold / 2
    assert keys.half_width < steps.half_width / 2


def test_few_cells_are_counted_in_one_step() -> None:
    found = frequent_cells(codes(0, Budget(1.0)), ("c0", "c1"), epsilon=1.0)
    assert not isinstance(found.receipt.event, Repeated)
    assert found.labels[0] == ("1", "2")


def test_of_nobody_nothing_is_named() -> None:
    """A name would have chance 1/20 in each of 20 cases; more than 6 of them one of 3000."""
    named = 0
    for seed in range(20):
        nobody = PrivateData.of({name: [] for name in TABLE}, SCHEMA, Budget(1.0), bits=DeterministicBits(seed))
        named += bool(frequent_cells(nobody, COLUMNS, epsilon=1.0).labels)
    assert named <= 6


@pytest.mark.parametrize("noise", [Laplace(), Gaussian()])
def test_noise_passes_the_threshold_in_one_of_twenty_cases(noise: Laplace | Gaussian) -> None:
    spread, cells = Spread(noise, 20.0), 500
    draws = rng.laplace(scale=20 / 2**0.5, size=(4000, cells))
    if isinstance(noise, Gaussian):
        draws = rng.normal(scale=20, size=(4000, cells))
    passed = (np.rint(draws).max(axis=1) >= threshold_of(spread, cells)).mean()
    assert 0.025 <= passed <= 0.06


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_bars_hold_the_exact_counts(neighbors: Neighbors) -> None:
    """20 releases of one cell far above the threshold: fewer than 15 hits have probability below 1e-4."""
    hits = 0
    for seed in range(20):
        found = frequent_cells(codes(seed, Budget(1.0), neighbors=neighbors), NAMES[:8], epsilon=1.0)
        assert "".join(found.labels[0]) == "12345678"
        hits += abs(found.counts[0] - 1300) <= found.half_width
    assert hits >= 15


def test_parties_find_them_without_showing_their_records() -> None:
    halves = {f"p{i}": {name: column[i::3] for name, column in TABLE.items()} for i in range(3)}
    with SecureSum.rehearsal(halves, SCHEMA, threshold=2) as trust:
        found = frequent_cells(PrivateData(trust, MemoryLedger(Budget(2.0))), NAMES[:7], epsilon=2.0)
    assert "".join(found.labels[0]) == "1234567"


def test_they_are_listed_for_a_reader() -> None:
    found = released(0, Budget(1.0))
    assert str(found).startswith("3 cells of c0 by c1 by ")
    assert len(str(found).splitlines()) == 5
    assert "<table class=" in found._repr_html_()
    assert list(found.to_pandas().index.get_level_values("c13")) == ["4", "9", "5"]


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    data = codes(0, Budget(2.0))
    mistakes: list[Callable[[PrivateData], Any]] = [
        lambda data: frequent_cells(data, ("c0", "c0"), epsilon=1.0),
        lambda data: frequent_cells(data, 7, epsilon=1.0),  # type: ignore[arg-type]
        lambda data: frequent_cells(data, ("c0", "note"), epsilon=1.0),
        lambda data: frequent_cells(data, ("c0", "shoe"), epsilon=1.0),
        lambda data: frequent_cells(data, ("c0", "x"), bins=0, epsilon=1.0),
        lambda data: frequent_cells(data, ("c0", "x"), bins=1000, epsilon=1.0),
        lambda data: frequent_cells(data, ("c0", "x"), epsilon=3.0),
    ]
    for wrong in mistakes:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            wrong(data)
    frequent_cells(data, ("c0",), epsilon=2.0)
