"""How many different values there are: no unit moves the sketch farther than it has rows, and intervals hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import account_of
from discreet.questions.tables.distinct_values import CELLS, DistinctValues
from discreet.statistics.tables.count_distinct import values_in
from discreet.trust.private_data import PrivateData
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial({"column": "x"}, arrays=False)
UNIT = Unit("user", "who", 3)
SCHEMA = {"town": discreet.Text(), "stay": (0, 60), "ward": ["day", "icu", "er"]}


def table(rng: np.random.Generator, size: int) -> dict[str, Any]:
    return {
        "who": rng.choice(list("abcd"), size),
        "town": rng.choice(["Ulm", "Bonn", " Ulm", "", "Bern", "Chur"], size),
        "stay": rng.choice([0.0, -0.0, np.nan, 3.0, 7.5, 90.0, 60.0], size),
        "ward": rng.choice(["day", "icu", "other"], size),
    }


def private(records: dict[str, Any], neighbors: Neighbors = Neighbors.ADD_REMOVE) -> PrivateData:
    return PrivateData.of(records, SCHEMA, account_of(Budget(1e9), neighbors, UNIT), unit=UNIT, neighbors=neighbors)


def full(data: PrivateData, column: str, cells: int = CELLS) -> tuple[int, float]:
    """How many cells are full, and how far a unit moves that."""
    seen: list[Any] = []

    class Listening:
        def release(self, answer: Any, bits: Any) -> None:
            seen.append(answer)

    trust: Any = data._trust
    trust.ask(DistinctValues(column, column == "town", cells), Listening())
    return int(seen[0].steps[0]), seen[0].sensitivity("l1")


def test_missing_values_blanks_and_signs_of_zero_make_no_difference() -> None:
    data = PrivateData.of(table(np.random.default_rng(0), 400), SCHEMA, Budget(1e9))
    assert [full(data, column)[0] for column in SCHEMA] == [4, 4, 2]


@pytest.mark.parametrize("neighbors", Neighbors)
def test_no_unit_moves_it_by_more_than_it_has_rows(neighbors: Neighbors) -> None:
    rng, pairs = np.random.default_rng(1), [farthest(neighbors)]
    for _ in range(6):
        whole, gone = table(rng, int(rng.integers(4, 9))), rng.choice(list("abcd"))
        rest = {name: column[whole["who"] != gone] for name, column in whole.items()}
        new = table(rng, 3 if neighbors is Neighbors.REPLACE else 0)
        new["who"] = np.full(len(new["town"]), gone)
        pairs.append((whole, {name: np.concatenate([rest[name], new[name]]) for name in rest}))
    used = 0.0
    for cells in (CELLS, 3):
        for pair in pairs:
            for column in SCHEMA:
                answers = [full(private(one, neighbors), column, cells) for one in pair]
                moved = abs(answers[0][0] - answers[1][0])
                assert moved <= answers[0][1]
                used = max(used, moved / answers[0][1])
    assert used == pytest.approx(1, rel=1e-6)  # of one number, what goes and what comes cancel out


def farthest(neighbors: Neighbors) -> tuple[dict[str, Any], dict[str, Any]]:
    """A person who alone has three values, and one who has none that others lack, or is not there."""
    rest: dict[str, list[Any]] = {"who": ["b"], "town": ["Ulm"], "stay": [3.0], "ward": ["day"]}
    own: dict[str, list[Any]] = {
        "who": ["a"] * 3,
        "town": ["Bonn", "Bern", "Chur"],
        "stay": [0.0, 7.5, 60.0],
        "ward": ["icu", "er", "day"],
    }
    plain = {name: column * 3 for name, column in rest.items()} | {"who": ["a"] * 3}
    whole = {name: [*rest[name], *own[name]] for name in rest}
    if neighbors is Neighbors.ADD_REMOVE:
        return whole, rest
    return whole, {name: [*rest[name], *plain[name]] for name in rest}


def test_intervals_hold_for_few_values_and_for_many() -> None:
    rng = np.random.default_rng(2)
    for distinct in (5, 20_000):
        held = 0
        for _ in range(12):
            values = rng.integers(0, 2**40, distinct)
            data = PrivateData.of({"x": values.astype(float)}, {"x": (0, 2.0**40)}, Budget(1.0))
            found: Any = discreet.count_distinct(data, "x", epsilon=1.0, confidence=0.8)
            held += found.low <= distinct <= found.high
        assert held >= 6  # 12 of 12 at .8; fewer than 6 once in 3000 runs
    assert values_in(0.63212 * CELLS) == pytest.approx(CELLS, rel=1e-4)


def test_joined_rows_and_pooled_units_are_refused_before_any_charge() -> None:
    data = private(table(np.random.default_rng(3), 50))
    pooled = Unit("user", "who", pooled=True)
    whole = PrivateData.of(table(np.random.default_rng(3), 50), {"stay": (0, 60)}, Budget(1.0), unit=pooled)
    for rows in (data.join(data, "ward", most=2, prefix="other_"), whole):
        with pytest.raises(NotPermitted, match="Nothing was released"):
            discreet.count_distinct(rows, "stay", epsilon=1.0)
        assert rows.ledger.entries() == ()
    each = data.per_unit(town="only of town")
    assert full(each, "town")[1] == pytest.approx(1)


def test_it_shares_the_price_of_a_select() -> None:
    data = PrivateData.of(table(np.random.default_rng(4), 5000), SCHEMA, Budget(1e5))
    text = "SELECT count(*) AS n, count(DISTINCT town) AS towns, count(DISTINCT floor(stay / 10)) AS tens FROM v"
    found = data.sql(text, epsilon=1e4)
    assert [round(float(series.values[0])) for series in found.series] == [5000, 4, 2]
    assert len(data.ledger.entries()) == 1
    assert data.group_by().aggregate("count_distinct of town").release(epsilon=1e4).series[0].values.round() == [4]
