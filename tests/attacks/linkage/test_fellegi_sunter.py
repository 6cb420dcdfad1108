"""Errors and gaps do not hide people, weights are those of the pairs, and memory does not grow with these."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from discreet.attacks import FellegiSunter, QuasiIdentifiers
from discreet.attacks.linkage import fellegi_sunter
from discreet.attacks.linkage.agreement_weights import AgreementWeights
from discreet.core.errors import ParameterError
from tests.attacks.linkage.made import Rng, chosen, people
from tests.attacks.trial import AttackTrial

NEAR = {"income": 2.0}


def _with_errors(known: dict[str, Any], rng: Rng) -> dict[str, Any]:
    """A fifth of births and towns wrong, works missing, incomes off by one."""
    size = len(known["born"])
    wrong = {**known, "income": known["income"] + rng.uniform(-1, 1, size)}
    wrong["born"] = np.where(rng.random(size) < 0.2, rng.integers(0, 20_000, size), known["born"])
    wrong["zip"] = np.where(rng.random(size) < 0.2, "99", known["zip"])
    wrong["work"] = np.where(rng.random(size) < 0.2, np.nan, known["work"])
    return wrong


def _linked(strangers: bool) -> list[tuple[FellegiSunter, Any]]:
    """What is known, with errors, of people in the table, or of others."""
    rng = np.random.default_rng(6)
    table, elsewhere, rows = people(rng, 500), people(rng, 500), list(range(100))
    known = _with_errors(chosen(elsewhere if strangers else table, rows), rng)
    return [(FellegiSunter(known, rows, tolerances=NEAR), table)]


TRIALS = {"FellegiSunter": AttackTrial(lambda: _linked(strangers=False), lambda: _linked(strangers=True))}


def test_people_are_found_though_much_is_wrong() -> None:
    rng = np.random.default_rng(0)
    table = people(rng)
    rows = rng.choice(2000, 300, replace=False)
    known = _with_errors(chosen(table, rows), rng)
    result = FellegiSunter(known, rows.tolist(), tolerances=NEAR).run(table)
    assert result.success >= 0.9
    assert (result.wrong or 0) <= 0.03 * 300
    assert QuasiIdentifiers(known, rows.tolist(), ["born", "zip", "sex"]).run(table).success < 0.7
    blocked = FellegiSunter(known, rows.tolist(), tolerances=NEAR, blocking=["sex"]).run(table)
    assert blocked.success >= 0.9
    assert blocked.details["pairs"] < 0.6 * result.details["pairs"]


def test_strangers_are_not_found_and_silence_is_kept() -> None:
    rng = np.random.default_rng(1)
    table, elsewhere, rows = people(rng), people(rng), list(range(200))
    result = FellegiSunter(chosen(elsewhere, rows), rows, tolerances=NEAR).run(table)
    assert not result.beats_chance
    assert (result.wrong or 0) <= 10
    assert FellegiSunter(chosen(elsewhere, rows), [-1] * 200).run(table).right == 0
    constant = {name: [values[0]] * 100 for name, values in table.items()}
    assert FellegiSunter(chosen(table, rows), [0] * 200).run(constant).details["answered"] == 0


def test_a_person_with_two_rows_alike_is_not_answered() -> None:
    rng = np.random.default_rng(2)
    table = people(rng, 200)
    twice = {name: np.r_[values, values] for name, values in table.items()}
    assert FellegiSunter(table, range(200)).run(twice).details["answered"] == 0


def test_rates_of_agreement_are_those_that_pairs_were_drawn_with() -> None:
    """Four columns: 5,000 matches of 100,000 pairs; three would be as many equations as unknowns."""
    rng = np.random.default_rng(3)
    own, others = np.array([0.95, 0.9, 0.8, 0.85]), np.array([0.02, 0.1, 0.3, 0.05])
    match = np.arange(100_000) < 5000
    alike = (rng.random((100_000, 4)) < np.where(match[:, None], own, others)).astype(int)
    counts = np.bincount(alike @ [27, 9, 3, 1], minlength=81).astype(float)
    weights = AgreementWeights.of(counts, 4, 6000)
    for place, step in enumerate((27, 9, 3, 1)):
        agreed, differed = weights.ratios[80 - step], weights.ratios[80 - 2 * step]
        assert agreed == pytest.approx(own[place] / others[place], rel=0.2)
        assert differed == pytest.approx((1 - own[place]) / (1 - others[place]), rel=0.3)
    assert weights.ratios[80] == 1.0
    assert weights.share == pytest.approx(5000 / 6000, rel=0.1)


def test_parts_of_the_pairs_give_what_all_at_once_give(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    table, rows = people(rng, 300), list(range(100))
    attack = FellegiSunter(_with_errors(chosen(table, rows), rng), rows, tolerances=NEAR)
    whole = attack.run(table)
    monkeypatch.setattr(fellegi_sunter, "PAIRS", 777)
    parts = attack.run(table)
    assert (whole.right, whole.wrong, whole.worst) == (parts.right, parts.wrong, parts.worst)


@pytest.mark.slow
def test_a_million_rows_are_searched_in_bounded_memory() -> None:
    """Columns are 8 MB each; all pairs at once would be more than 1 GB."""
    rng = np.random.default_rng(5)
    table = {name: rng.integers(0, 2000, 1_000_000).astype(float) for name in ("a", "b", "c")}
    rows = np.arange(0, 1_000_000, 50)
    tracemalloc.start()
    result = FellegiSunter(chosen(table, rows), rows.tolist(), blocking=["a"]).run(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.success > 0.99
    assert peak < 150e6


def test_what_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"a": [1.0, 2.0], "b": ["x", "y"]}
    wrong: list[dict[str, Any]] = [
        {"tolerances": {"b": 1.0}},
        {"tolerances": {"a": -1.0}},
        {"threshold": 0.2},
        {"blocking": ["a", "b"]},
        {"columns": ["c"]},
        {"blocking": ["c"]},
    ]
    for options in wrong:
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            FellegiSunter(known, [0, 1], **options).run(known)
    with pytest.raises(ParameterError, match="Block on other columns"):
        FellegiSunter(known, [0, 1], blocking=["a"]).run({"a": [8.0, 9.0], "b": ["x", "y"]})
    monkeypatch.setattr(fellegi_sunter, "MOST_PAIRS", 3)
    with pytest.raises(ParameterError, match="Name columns in `blocking`"):
        FellegiSunter(known, [0, 1]).run(known)
