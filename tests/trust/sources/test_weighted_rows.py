"""A weighted join: its sums are those of fractions, and no unit moves them by more than its rows."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Grid
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import account_of
from discreet.questions.columns.moments import moments_of
from discreet.questions.question import AllRecords, BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.trust.private_data import PrivateData
from discreet.trust.sources import source
from tests.trust.sources.trial import SourceTrial

TRIAL = SourceTrial(None, elsewhere="here: it hands over no rows, and adds weights up")
UNIT = Unit("user", "who", 3)
WARDS = ["day", "icu", "er", "ward"]


def table(rng: np.random.Generator, size: int, people: int) -> dict[str, Any]:
    return {
        "who": rng.integers(0, people, size).astype(str),
        "ward": rng.choice(WARDS, size, p=[0.6, 0.2, 0.15, 0.05]),
        "stay": rng.integers(0, 61, size).astype(float),
    }


def joined(left: dict[str, Any], right: dict[str, Any]) -> PrivateData:
    ledger = account_of(Budget(1e9), Neighbors.ADD_REMOVE, UNIT)
    schema = {"ward": WARDS, "stay": (0, 60)}
    one, other = (PrivateData.of(each, schema, ledger, unit=UNIT) for each in (left, right))
    return one.join(other, "ward", how="weighted", prefix="other_")


def answer_of(data: PrivateData, question: Any) -> Answer:
    seen = []

    class Listening:
        def release(self, answer: Answer, bits: Any) -> None:
            seen.append(answer)

    trust: Any = data._trust
    trust.ask(question, Listening())
    return seen[0]


def test_sums_are_those_of_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    left, right = table(rng, 60, 40), table(rng, 50, 40)
    kept = [Counter(one["who"]).most_common(1)[0][1] for one in (left, right)]
    assert max(kept) > 3
    left, right = ({name: column[_first(one["who"])] for name, column in one.items()} for one in (left, right))
    exact, weight = Fraction(0), Fraction(0)
    sizes = [Counter(one["ward"]) for one in (left, right)]
    for ward, stay in zip(left["ward"], left["stay"], strict=True):
        for other in right["ward"]:
            if ward == other:
                part = Fraction(1, sizes[0][ward] + sizes[1][ward])
                weight, exact = weight + part, exact + part * int(stay)
    for batch in (2**16, 7):
        monkeypatch.setattr(source, "BATCH", batch)
        data = joined(left, right)
        assert abs(discreet.count(data, epsilon=1e8).value - float(weight)) <= 1
        assert abs(discreet.total(data, "stay", epsilon=1e8).value - float(exact)) < 1e-3 * float(exact)


def test_sums_of_many_small_steps_are_exact_however_heavy_a_key_is() -> None:
    """A key's rows add up to more than 2**53 steps, beyond which floats round."""
    stays = np.linspace(1, 60, 101)
    whole = joined(*({"who": np.arange(101).astype(str), "ward": ["day"] * 101, "stay": stays} for _ in range(2)))
    question = BoundedSum(lambda rows: rows / 64, Bound("l1", 1.0), ("stay",), Grid(-50))
    exact = sum(int(step) for step in question.steps(stays[:, None])[:, 0]) * 101 // 202
    assert answer_of(whole, question).steps.tolist() == [exact]


def _first(units: Any) -> list[int]:
    """Up to three rows of each unit."""
    seen: Counter[str] = Counter()
    found = []
    for row, unit in enumerate(units):
        seen[unit] += 1
        if seen[unit] <= 3:
            found.append(row)
    return found


def test_no_unit_moves_the_sum_by_more_than_its_sensitivity() -> None:
    rng, used = np.random.default_rng(1), 0.0
    for _ in range(15):
        left, right = table(rng, int(rng.integers(1, 30)), 6), table(rng, int(rng.integers(1, 30)), 6)
        gone = str(rng.integers(0, 6))
        without = [{name: column[one["who"] != gone] for name, column in one.items()} for one in (left, right)]
        whole, less = joined(left, right), joined(*without)
        for question in (contingency_of(whole.schema, ("ward",), (0,)), moments_of(whole.schema, "stay", 2, False)):
            answers = [answer_of(data, question) for data in (whole, less)]
            moved = answers[0].grid.values(answers[0].steps - answers[1].steps)
            norm = np.linalg.norm(moved, {"l1": 1, "l2": 2, "linf": np.inf}[answers[0].bound.norm])
            assert norm <= answers[0].sensitivity(answers[0].bound.norm)
            used = max(used, float(norm / answers[0].sensitivity(answers[0].bound.norm)))
    assert used > 0.2


def test_a_heavy_key_needs_no_limit() -> None:
    """A hundred rows on each side are ten thousand pairs, and one row moves less than one of them."""
    left = {"who": np.arange(100).astype(str), "ward": ["day"] * 100, "stay": [60.0] * 100}
    whole = joined(left, left)
    assert whole.unit.rows == 6
    assert abs(discreet.count(whole, epsilon=1e8).value - 100 * 100 / 200) <= 1


def test_only_sums_are_asked_and_nothing_is_joined_after_it() -> None:
    rng = np.random.default_rng(2)
    data = joined(table(rng, 30, 9), table(rng, 30, 9))
    trust: Any = data._trust
    with pytest.raises(NotPermitted):
        trust.ask(AllRecords(("stay",)), None)
    with pytest.raises(NotPermitted, match="have weights"):
        list(trust.source.batches(["stay"]))
    with pytest.raises(NotPermitted, match="have weights"):
        trust.source.keys("ward")
    with pytest.raises(NotPermitted, match="no longer one unit's own"):
        data.per_unit(longest="max of stay")
    with pytest.raises(NotPermitted, match="weights from another join"):
        data.join(discreet.PublicTable({"ward": ["day"]}, {"ward": WARDS}), "ward")
    with pytest.raises(ParameterError, match="none is left out"):
        data.join(data, "ward", how="weighted", most=3, prefix="x_")
    assert data.where("stay > 3").unit.rows == 6
    assert data.ledger.entries() == ()
