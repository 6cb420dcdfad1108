"""A curator of related rows: every promise kept, nothing but sums where a row may come when a unit goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.answer import Answer
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.ledger.memory_ledger import account_of
from discreet.questions.question import AllRecords
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.relation.stored_rows import StoredRows
from discreet.trust.private_data import PrivateData
from discreet.trust.related_trust import RelatedTrust, SignedSum
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.related_rows import RelatedRows
from tests.trust import trial
from tests.trust.trial import TrustTrial


def related(rows: Any) -> RelatedRows:
    node = StoredRows("records", trial.SCHEMA, RECORD)
    return RelatedRows(node, {node: Matrix(rows, trial.SCHEMA)})


TRIAL = TrustTrial(lambda rows, bits: RelatedTrust(related(rows), Neighbors.ADD_REMOVE, bits=bits))
UNIT = Unit("user", "who", 2)
RNG = np.random.default_rng(5)
VISITS = {"who": RNG.integers(0, 60, 300), "stay": RNG.uniform(0, 60, 300), "ward": RNG.choice(["day", "icu"], 300)}
DESCRIBED = {"stay": (0, 60), "ward": ["day", "icu"]}


def opened(neighbors: Neighbors = Neighbors.ADD_REMOVE) -> PrivateData:
    ledger = account_of(Budget(1e6, 1e-3), neighbors, UNIT)
    return PrivateData.of(VISITS, DESCRIBED, ledger, unit=UNIT, neighbors=neighbors)


def test_where_rows_come_when_a_unit_goes_sums_alone_are_asked() -> None:
    data = opened()
    joined = data.join(data, "ward", most=3, prefix="other_")
    assert not joined.curated
    assert discreet.mean(joined, "stay", epsilon=1e3).receipt.unit.rows == 24
    before = data.ledger.entries()
    with pytest.raises(NotPermitted):
        joined._trust.ask(AllRecords(("stay",)), None)  # type: ignore[arg-type]
    with pytest.raises(NotPermitted, match="a curator who reads the records again"):
        joined.listing({})
    assert data.ledger.entries() == before


def test_an_answer_of_joined_rows_may_move_either_way() -> None:
    data = opened()
    question = contingency_of(data.schema, ("ward",), (0,))
    every = (data.join(data, "ward", most=3, prefix="other_"), data.join(data, prefix="other_"), data)
    seen = [heard(one, question) for one in every]
    assert [answer.monotone for answer in seen] == [False, True, True]
    assert [answer.sensitivity("l1") for answer in seen] == pytest.approx([24, 4, 2])
    assert SignedSum(question).columns == question.columns


def test_of_replaced_units_sums_alone_are_asked_and_no_number_of_rows_is_public() -> None:
    data = opened(Neighbors.REPLACE)
    each = data.per_unit(longest="max of stay")
    assert not each.curated
    assert each.public_size is None
    assert 20 < discreet.mean(each, "longest", epsilon=1e4).value < 60
    for joined, rows in ((data.join(data, "ward", most=3, prefix="other_"), 24), (weighted(data), 4)):
        question = contingency_of(joined.schema, ("ward",), (0,))
        answer = heard(joined, question)
        assert not answer.monotone
        assert answer.sensitivity("l1") == pytest.approx(2 * rows)
        with pytest.raises(NotPermitted):
            joined._trust.ask(AllRecords(("stay",)), None)  # type: ignore[arg-type]


def test_replaced_records_meet_public_rows_and_how_many_do_is_secret() -> None:
    """A record that is replaced may meet one where the other met none."""
    wards = discreet.PublicTable({"ward": ["day"], "beds": [9]}, {"ward": ["day", "icu"], "beds": (0, 20)})
    data = PrivateData.of(VISITS, DESCRIBED, Budget(1e5), neighbors=Neighbors.REPLACE)
    assert data.public_size == 300
    joined = data.join(wards, "ward")
    assert joined.unit == Unit()
    assert joined.public_size is None
    assert heard(joined, contingency_of(joined.schema, ("ward",), (0,))).sensitivity("l1") == pytest.approx(2)
    assert discreet.count(joined, epsilon=1e4).value == (VISITS["ward"] == "day").sum()
    assert not joined.curated


@pytest.mark.parametrize("neighbors", Neighbors)
def test_keys_of_joined_rows_are_counted_and_weights_are_refused_before_any_charge(neighbors: Neighbors) -> None:
    ledger = account_of(Budget(1e6, 1e-3), neighbors, UNIT)
    described = {**DESCRIBED, "ward": discreet.Text()}
    data = PrivateData.of(VISITS, described, ledger, unit=UNIT, neighbors=neighbors)
    joined = data.join(data, "ward", most=30, prefix="other_")
    for rows in (joined, joined.where("stay > 0").derive(hours="stay * 24")):
        assert discreet.key_counts(rows, "ward", epsilon=1e4, delta=1e-6).counts == {"day": 900, "icu": 900}
    before = data.ledger.entries()
    with pytest.raises(NotPermitted, match="Nothing was released"):
        discreet.key_counts(weighted(data), "ward", epsilon=1.0, delta=1e-6)
    assert data.ledger.entries() == before


def weighted(data: PrivateData) -> PrivateData:
    return data.join(data, "ward", how="weighted", prefix="other_")


def heard(data: PrivateData, question: Any) -> Answer:
    """The exact answer."""
    seen: list[Answer] = []

    class Listening:
        def release(self, answer: Answer, bits: Any) -> None:
            seen.append(answer)

    trust: Any = data._trust
    trust.ask(question, Listening())
    return seen[0]


def test_pooled_units_are_brought_together_before_they_are_joined() -> None:
    """The sums of joined rows are not clipped unit by unit: so a unit with any number of rows is refused there."""
    unit = Unit("user", "who", pooled=True)
    data = PrivateData.of(VISITS, DESCRIBED, account_of(Budget(1e3), Neighbors.ADD_REMOVE, unit), unit=unit)
    wards = discreet.PublicTable({"ward": ["day"]}, {"ward": ["day", "icu"]})
    with pytest.raises(NotPermitted, match="any number of rows"):
        data.join(wards, "ward")
    node = StoredRows("visits", data.schema, unit)
    with pytest.raises(NotPermitted, match="any number of rows"):
        RelatedRows(node, {})
    each = data.per_unit(ward="only of ward", longest="max of stay").join(wards, "ward")
    assert each.unit == Unit("user", "who", 1)


def test_a_record_that_meets_several_public_rows_is_protected_as_all_of_them() -> None:
    wards = discreet.PublicTable({"ward": ["day", "icu", "icu"]}, {"ward": ["day", "icu"]})
    data = PrivateData.of(VISITS, DESCRIBED, Budget(1e5)).join(wards, "ward")
    found = discreet.count(data, epsilon=1e4)
    assert found.value == (VISITS["ward"] == "day").sum() + 2 * (VISITS["ward"] == "icu").sum()
    assert found.receipt.unit == Unit("record", rows=2)
    assert type(found.receipt).read(found.receipt.to_json()) == found.receipt
    assert data.public_size is None
    with pytest.raises(ParameterError, match="a record is one row"):
        PrivateData.of(VISITS, DESCRIBED, Budget(1.0), unit=Unit(rows=2))
