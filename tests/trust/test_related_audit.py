"""An audit of related tables: neighbors that differ most, judged by the price; a smaller reach is refuted."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from discreet.audit.trial import Verdict, judged
from discreet.core.answer import Answer
from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import account_of
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.columns.total import total_of
from discreet.trust.private_data import PrivateData
from discreet.trust.public_table import PublicTable

UNIT = Unit("user", "who", 2)
RUNS = 60_000
SCHEMA = {"stay": (0, 60), "ward": ["day", "icu"]}
ALONE = {"who": ["b", "b"], "stay": [0.0, 0.0], "ward": ["day", "day"]}
BOTH = {"who": ["a", "a", "b", "b"], "stay": [60.0, 60.0, 0.0, 0.0], "ward": ["day"] * 4}
WARDS = PublicTable({"ward": ["day"] * 3}, {"ward": ["day", "icu"]})


def related(kind: str, records: dict[str, Any]) -> PrivateData:
    data = PrivateData.of(records, SCHEMA, account_of(Budget(1.0), Neighbors.ADD_REMOVE, UNIT), unit=UNIT)
    match kind:
        case "public":
            return data.join(WARDS, "ward")
        case "unit":
            return data.join(data, prefix="other_")
        case "groups":
            return data.per_unit(by="ward", groups=1, stay="max of stay")
        case _:
            return data.per_unit(stay="max of stay")


def answers(pair: list[PrivateData]) -> list[Answer]:
    """The exact totals of both."""
    found: list[Answer] = []

    class Listening:
        def release(self, answer: Answer, bits: Any) -> None:
            found.append(answer)

    for data in pair:
        trust: Any = data._trust
        trust.ask(total_of(data.schema, "stay", 0.0), Listening())
    return found


def moved(pair: list[Answer]) -> float:
    return float(np.abs(pair[0].grid.values(pair[0].steps - pair[1].steps)).max())


def audited(pair: list[Answer], part: float) -> Verdict:
    noise, sides = Laplace(1.0), []
    for seed, answer in enumerate(pair):
        bound = dataclasses.replace(answer.bound, radius=answer.bound.radius * part)
        many = dataclasses.replace(answer, steps=np.tile(answer.steps, (RUNS, 1)), bound=bound)
        sides.append(np.asarray(noise.release(many, DeterministicBits(seed))).reshape(RUNS, -1)[:, 0])
    return judged(noise.event, *sides)


@pytest.mark.parametrize(("kind", "rows"), [("public", 6), ("unit", 4), ("groups", 1), ("each", 1)])
def test_the_price_covers_the_neighbors_that_differ_most(kind: str, rows: int) -> None:
    pair = answers([related(kind, records) for records in (BOTH, ALONE)])
    assert moved(pair) == pytest.approx(60 * rows)
    assert pair[0].sensitivity("l1") == pytest.approx(60 * rows, rel=1e-6)
    assert audited(pair, 1.0).holds
    assert not audited(pair, 0.5).holds


def test_the_rows_of_a_unit_alone_would_be_refuted_where_units_share_a_key() -> None:
    records: dict[str, Any] = {"who": list("aabbcc"), "stay": [60.0, 60.0, 0.0, 0.0, 0.0, 0.0], "ward": ["day"] * 6}
    without = {name: column[2:] for name, column in records.items()}
    joined = []
    for each in (records, without):
        data = PrivateData.of(each, SCHEMA, Budget(1.0), unit=UNIT)
        joined.append(data.join(data, "ward", most=6, prefix="other_"))
    pair = answers(joined)
    assert moved(pair) == 2 * 6 * 60  # two rows that meet six
    assert not audited(pair, UNIT.rows / joined[0].unit.rows).holds
