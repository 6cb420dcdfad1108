"""Different values of every group: a unit moves all of them together by no more than it has rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet
from discreet.audit.trial import Verdict, judged
from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.core.neighbors import Neighbors, Unit
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.tables.cells import cut
from discreet.questions.tables.distinct_values import CELLS, DistinctByGroup, DistinctValues
from discreet.trust.private_data import PrivateData
from tests.statistics.tables.test_count_distinct import SCHEMA, UNIT, farthest, private, table

RUNS = 60_000
EDGES = {"stay": [0, 3, 7.5, 60]}
BY = [("ward",), ("stay",), ("ward", "stay")]


def answer_of(data: PrivateData, column: str, by: tuple[str, ...], cells: int = CELLS) -> Answer:
    """The exact numbers of full cells, and how far a unit moves them."""
    seen: list[Answer] = []

    class Listening:
        def release(self, answer: Answer, bits: Any) -> None:
            seen.append(answer)

    groups = cut(data.schema, by, edges=EDGES if "stay" in by else None)
    trust: Any = data._trust
    trust.ask(DistinctValues(column, column == "town", cells).in_groups(groups), Listening())
    return seen[0]


@pytest.mark.parametrize("by", BY, ids=str)
def test_each_group_has_the_values_of_its_own_records(by: tuple[str, ...]) -> None:
    records = table(np.random.default_rng(0), 300)
    ends: dict[str, Any] = {"who": "a", "town": "at the last end", "stay": 60.0, "ward": "day"}
    records = {name: np.append(column, ends[name]) for name, column in records.items()}
    data = PrivateData.of(records, SCHEMA, Budget(1e9))
    stays = np.clip(records["stay"], 0, 60) + 0.0
    towns = np.array([town.strip() for town in records["town"]])
    cells = {"ward": records["ward"], "stay": np.digitize(stays, [3, 7.5])}
    places: dict[str, list[Any]] = {"ward": ["day", "icu", "er"], "stay": [0, 1, 2]}
    for column, own in (("town", towns), ("stay", stays)):
        there = (own != "") if column == "town" else ~np.isnan(own)
        if "stay" in by:
            there &= ~np.isnan(stays)
        expected = [
            len(
                set(
                    own[
                        there & np.logical_and.reduce([cells[name] == one for name, one in zip(by, group, strict=True)])
                    ]
                )
            )
            for group in _product([places[name] for name in by])
        ]
        assert answer_of(data, column, by).steps.tolist() == expected


def _product(axes: list[list[Any]]) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = [()]
    for axis in axes:
        found = [(*one, value) for one in found for value in axis]
    return found


def random_pair(rng: np.random.Generator, neighbors: Neighbors) -> tuple[dict[str, Any], dict[str, Any]]:
    """A table, and the same without one person, or with other rows of theirs."""
    whole, gone = table(rng, int(rng.integers(4, 9))), rng.choice(list("abcd"))
    rest = {name: column[whole["who"] != gone] for name, column in whole.items()}
    new = table(rng, 3 if neighbors is Neighbors.REPLACE else 0)
    new["who"] = np.full(len(new["town"]), gone)
    return whole, {name: np.concatenate([rest[name], new[name]]) for name in rest}


def worst(neighbors: Neighbors) -> tuple[dict[str, Any], dict[str, Any]]:
    """A person with three values in three groups, who comes or goes; or one whose three values change the group."""
    if neighbors is Neighbors.ADD_REMOVE:
        return farthest(neighbors)
    own: dict[str, Any] = {"who": ["b", "a", "a", "a"], "town": ["Ulm", "Bonn", "Bern", "Chur"], "stay": [3.0] * 4}
    return own | {"ward": ["er", "day", "day", "day"]}, own | {"ward": ["er", "icu", "icu", "icu"]}


@pytest.mark.parametrize("neighbors", Neighbors)
def test_no_unit_moves_all_groups_together_by_more_than_it_has_rows(neighbors: Neighbors) -> None:
    rng, used = np.random.default_rng(1), 0.0
    for pair in [worst(neighbors), *(random_pair(rng, neighbors) for _ in range(8))]:
        for column in SCHEMA:
            for by in BY:
                for cells in (CELLS, 3):
                    one, other = (answer_of(private(each, neighbors), column, by, cells) for each in pair)
                    moved = float(np.abs(one.steps - other.steps).sum())
                    assert moved <= one.sensitivity("l1")
                    used = max(used, moved / one.sensitivity("l1"))
    assert used == pytest.approx(1.0, rel=1e-6)


def audited(neighbors: Neighbors, part: float, runs: int) -> Verdict:
    """What noise for this part of the sensitivity tells."""
    noise, pair = Laplace(1.0), worst(neighbors)
    answers = [answer_of(private(records, neighbors), "town", ("ward",)) for records in pair]
    first, second = (answer.steps.astype(float) for answer in answers)
    assert np.abs(first - second).sum() == pytest.approx(answers[0].sensitivity("l1"))
    seen = []
    for side, answer in enumerate(answers):
        bound = Bound(answer.bound.norm, answer.bound.radius * part)
        stacked = Answer(np.tile(answer.steps, (runs, 1)), answer.grid, bound, neighbors)
        noisy = noise.release(stacked, DeterministicBits(side))
        seen.append(np.clip(noisy, np.minimum(first, second), np.maximum(first, second)) @ np.sign(first - second))
    return judged(noise.event, *seen)


@pytest.mark.parametrize("neighbors", Neighbors)
def test_the_price_covers_a_person_with_rows_in_several_groups(neighbors: Neighbors) -> None:
    verdict = audited(neighbors, 1.0, RUNS)
    assert verdict.holds, str(verdict)


@pytest.mark.parametrize("neighbors", Neighbors)
@pytest.mark.parametrize("part", [1 / UNIT.rows, 2 / 3], ids=["one row is enough", "two thirds of the noise"])
def test_the_noise_for_one_group_of_a_person_is_refuted(part: float, neighbors: Neighbors) -> None:
    """The broken twin: who has rows in three groups moves three numbers, and not one."""
    verdict = audited(neighbors, part, 4 * RUNS)
    assert not verdict.holds, str(verdict)


def test_it_is_asked_of_groups_in_words_in_sql_and_step_by_step() -> None:
    data = PrivateData.of(table(np.random.default_rng(4), 5000), SCHEMA, Budget(1e6, 1e-3))
    by_function: Any = discreet.count_distinct(data, "town", by="ward", epsilon=1e4)
    assert by_function.values.round().tolist() == [4, 4, 0]
    text = "SELECT ward, count(*) AS n, count(DISTINCT town) AS towns, count(DISTINCT floor(stay / 10)) AS tens FROM v"
    found = data.sql(f"{text} WHERE stay > 2 GROUP BY ward", epsilon=1e4)
    assert found["towns"].values.round().tolist() == [4, 4, 0]
    assert found["tens"].values.round().tolist() == [2, 2, 0]
    assert len(data.ledger.entries()) == 2
    step = data.group_by("ward").aggregate("count_distinct of town").release(epsilon=1e4)
    assert step.series[0].values.round().tolist() == [4, 4, 0]
    named = data.sql("SELECT town, count(DISTINCT ward) AS wards FROM v GROUP BY town", epsilon=1e4, delta=1e-6)
    assert named["wards"].values.round().tolist() == [2] * 4
    assert len(data.ledger.entries()) == 4


def test_a_forecast_says_how_wide_the_intervals_are() -> None:
    rng = np.random.default_rng(4)
    records = table(rng, 5000) | {"stay": rng.uniform(0, 60, 5000)}
    data = PrivateData.of(records, SCHEMA, Budget(1e6))
    text = "SELECT ward, count(DISTINCT stay) AS stays FROM v GROUP BY ward"
    (expected,) = discreet.plan(data, text, n=5000, epsilon=1.0).expectations
    low, high = data.sql(text, epsilon=1.0)["stays"].interval
    assert expected.low / 1.15 <= float(np.median(high - low)) / 2 <= expected.high * 1.15


def test_parties_and_pooled_units_are_refused_before_any_charge() -> None:
    listed = {"stay": (0, 60), "ward": ["day", "icu", "er"]}
    whole = PrivateData.of(
        table(np.random.default_rng(3), 50), listed, Budget(1.0), unit=Unit("user", "who", pooled=True)
    )
    with pytest.raises(NotPermitted, match="Nothing was released"):
        whole.sql("SELECT ward, count(DISTINCT stay) FROM v GROUP BY ward")
    assert whole.ledger.entries() == ()


def test_the_number_of_numbers_is_that_of_groups() -> None:
    groups = cut(PrivateData.of(table(np.random.default_rng(0), 9), SCHEMA, Budget(1.0)).schema, ("ward",))
    question = DistinctValues("town", True).in_groups(groups)
    assert isinstance(question, DistinctByGroup)
    assert (question.size, question.columns) == (3, ("town", "ward"))
