"""No unit moves the sums of a SELECT, all of them together, by more than their noise was priced for."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.answer import Answer
from discreet.core.bound import ORDER
from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import account_of
from discreet.mechanisms.additive.laplace import DiscreteLaplace, Laplace
from discreet.query.select.selection import Selection
from discreet.query.select.sql import read_sql
from discreet.trust.private_data import PrivateData
from discreet.trust.public_table import PublicTable

WARDS = ["day", "icu", "er"]
SCHEMA: dict[str, Any] = {"stay": (0, 60), "age": (-5, 100), "ward": WARDS, "ill": discreet.Boolean()}
BEDS = PublicTable({"ward": ["day", "icu", "icu"], "beds": [1, 2, 3]}, {"ward": WARDS, "beds": (0, 40)}, name="beds")
STAYS = [0.0, 60.0, 30.0, -5.0, 99.0, np.nan, np.inf, 17.25, 59.999999, 1e-300, -0.0]
EPSILON, PERSON = 2.0, "d"
ASKED = ["count(*)", "count(stay)", "sum(stay)", "sum(age)", "avg(stay)", "variance(stay)", "stddev(age)", "avg(age)"]
ASKED += ["sum(stay * age)", "avg(CASE WHEN ill THEN age ELSE stay END)", "median(age)", "min(age)"]
Table = dict[str, list[Any]]


def rows_of(rng: np.random.Generator, people: Sequence[str], size: int) -> Table:
    return {
        "who": rng.choice(people, size).tolist(),
        "stay": rng.choice(STAYS, size).tolist(),
        "age": [None if one > 104 else float(one) for one in rng.integers(-9, 110, size)],
        "ward": rng.choice([*WARDS, "unknown"], size).tolist(),
        "ill": rng.choice([True, False], size).tolist(),
    }


def query(source: random.Random, neighbors: Neighbors) -> str:
    """A query of up to five numbers, with or without a condition, groups and a join."""
    distinct = ["count(DISTINCT age)"] if neighbors is Neighbors.ADD_REMOVE else []
    asked = ", ".join(f"{one} AS n{i}" for i, one in enumerate(source.sample(ASKED + distinct, source.randrange(1, 6))))
    rows = source.choice(["visits", "visits", "visits JOIN beds USING (ward)", "(SELECT * FROM visits WHERE age < 90)"])
    where = source.choice(["", " WHERE age >= 50", " WHERE ill OR stay IS NULL", " WHERE NOT stay BETWEEN 10 AND 50"])
    by = source.choice(["", "ward", "ward, ill", "ill"])
    if neighbors is Neighbors.ADD_REMOVE and source.random() < 0.2:
        return "SELECT count(*) AS n, avg(a.stay) AS s, sum(b.age) AS t FROM visits a JOIN visits b ON a.ward = b.ward"
    return f"SELECT {by + ', ' if by else ''}{asked} FROM {rows}{where}{' GROUP BY ' + by if by else ''}"


def selection(table: Table, text: str, neighbors: Neighbors, most: int) -> Selection:
    unit = Unit("user", "who", most)
    data = PrivateData.of(table, SCHEMA, account_of(Budget(9.0), neighbors, unit), unit=unit, neighbors=neighbors)
    return read_sql({"visits": data, "beds": BEDS}, text, epsilon=EPSILON, most=2).selection


def exact(found: Selection) -> list[Answer]:
    """The answers to all that it asks."""
    seen: list[Answer] = []

    class Listening:
        def release(self, answer: Answer, bits: Any) -> None:
            seen.append(answer)

    trust: Any = found.data._trust
    trust.check_ready()
    trust.ask_each([(stage.question, Listening()) for stage in found.stages])
    return seen


def lost(found: Selection, one: list[Answer], other: list[Answer]) -> float:
    """The privacy loss between two tables, of all sums together; the farthest that each moves is checked."""
    loss = 0.0
    for noise, first, second in zip(found.plan.mechanisms, one, other, strict=True):
        assert isinstance(noise, Laplace | DiscreteLaplace)
        apart = (first.steps - second.steps).astype(float) * first.grid.step
        moved, reach = float(np.linalg.norm(apart, ORDER["l1"])), first.sensitivity("l1")
        assert moved <= reach
        assert not first.monotone or (apart >= 0).all() or (apart <= 0).all()
        loss += moved / (noise.multiplier * reach)
    return loss


def pair(rng: np.random.Generator, neighbors: Neighbors) -> tuple[Table, Table]:
    """A table, and the same without a person, or with other rows of theirs; in any order."""
    rest, own = rows_of(rng, ["a", "b", "c"], int(rng.integers(0, 12))), rows_of(rng, [PERSON], int(rng.integers(1, 6)))
    new = rows_of(rng, [PERSON], int(rng.integers(1, 6)) if neighbors is Neighbors.REPLACE else 0)
    return shuffled(rng, rest, own), shuffled(rng, rest, new)


def shuffled(rng: np.random.Generator, one: Table, other: Table) -> Table:
    order = rng.permutation(len(one["who"]) + len(other["who"])).tolist()
    return {name: [[*column, *other[name]][place] for place in order] for name, column in one.items()}


def farthest(neighbors: Neighbors, first: int, pairs: int) -> float:
    """The greatest loss between so many pairs of small tables, as a share of the price."""
    worst = 0.0
    for seed in range(first, first + pairs):
        rng, source = np.random.default_rng(seed), random.Random(seed)
        text, most = query(source, neighbors), source.randrange(1, 4)
        one, other = (selection(table, text, neighbors, most) for table in pair(rng, neighbors))
        share = lost(one, exact(one), exact(other)) / EPSILON
        assert share <= 1 + 1e-9, (text, most, seed)
        worst = max(worst, share)
    return worst


@pytest.mark.parametrize("neighbors", Neighbors)
def test_no_unit_moves_all_sums_together_by_more_than_was_paid(neighbors: Neighbors) -> None:
    assert farthest(neighbors, 0, 30) > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("neighbors", Neighbors)
def test_no_unit_of_two_thousand_tables_moves_more(neighbors: Neighbors) -> None:
    assert farthest(neighbors, 100, 1000) > 0.9
