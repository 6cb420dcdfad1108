"""Private data: paid first, then asked, and only what was paid for."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import (
    BudgetExceeded,
    KeyReused,
    NotPermitted,
    ParameterError,
    SchemaError,
    Unaccountable,
    UncommittedCharge,
    UnplannedRelease,
)
from discreet.core.events import Composed, Event, GaussianLoss, LaplaceLoss, NoPromise, Parallel, Repeated, Sampled
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.key_selection import KeySelection
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.question import BoundedSum
from discreet.questions.tables.key_counts import KeyCounts
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.curator import Curator
from discreet.trust.permit import releases
from discreet.trust.private_data import PrivateData
from discreet.trust.public_table import PublicTable
from tests.trust.holding import MARK, HolderTrial

HEADS = BoundedSum(lambda records: np.ones((len(records), 1)), Bound("l1", 1.0), ("x0",))
TRIAL = HolderTrial(
    lambda: PrivateData.of(np.full((9, 1), MARK), Schema.numeric(0.0, 1e4, 1), Budget(1.0)),
    {
        "condition": "x0 > 1",
        "lists": {"x0": Category(("a", "b"))},
        "columns": {"twice": "2 * x0"},
        "text": "SELECT avg(x0), max(x0) FROM given",
        "other": PublicTable({"x0": [MARK]}, {"x0": (0, 1e4)}),
        "function": lambda row: row,
        "bounds": {"made": (0, 1e4)},
    },
)

PEOPLE = np.zeros((1000, 1))
SCHEMA = Schema.numeric(0.0, 1.0, 1)
BUDGET = Budget(1.0, 1e-6)


def opened(path: Path, budget: Budget = BUDGET) -> PrivateData:
    ledger = SqliteLedger.create(path / "people.ledger", budget, name="people", neighbors=Neighbors.ADD_REMOVE)
    return PrivateData.of(PEOPLE, SCHEMA, ledger)


def heads(data: PrivateData, **options: Any) -> Array:
    with data.permit(Laplace(10.0).event, "count", **options) as permit:
        return permit.ask(HEADS, Laplace(10.0))


def test_a_permit_answers_what_was_paid_for_and_no_more(tmp_path: Path) -> None:
    with opened(tmp_path).permit(Repeated(Laplace(10.0).event, 2), "counts") as permit:
        for _ in range(2):
            assert permit.ask(HEADS, Laplace(10.0))[0] == pytest.approx(1000, abs=400)
        with pytest.raises(UnplannedRelease, match="does not pay for another"):
            permit.ask(HEADS, Laplace(10.0))


def test_less_noise_than_planned_is_not_paid_for(tmp_path: Path) -> None:
    with opened(tmp_path).permit(Laplace(10.0).event, "count") as permit, pytest.raises(UnplannedRelease):
        permit.ask(HEADS, Laplace(9.0))


def test_a_permit_answers_inside_its_block_only(tmp_path: Path) -> None:
    permit = opened(tmp_path).permit(Laplace(10.0).event, "count")
    with pytest.raises(NotPermitted, match="is not open"):
        permit.ask(HEADS, Laplace(10.0))


def test_over_budget_nothing_is_asked_and_nothing_spent(tmp_path: Path) -> None:
    data = opened(tmp_path, Budget(0.05))
    head = data.ledger.head
    with pytest.raises(BudgetExceeded, match="Nothing was released or spent"):
        heads(data)
    assert data.ledger.head == head


def test_a_retry_with_the_key_gives_the_same_release_and_charges_nothing(tmp_path: Path) -> None:
    data = opened(tmp_path)
    first = heads(data, key="monday")
    spent = data.ledger.balance().certified
    again = heads(data, key="monday")
    np.testing.assert_array_equal(first, again)
    assert data.ledger.balance().certified == spent
    assert len(data.ledger.entries()) == 1


def test_the_key_of_another_request_is_refused(tmp_path: Path) -> None:
    data = opened(tmp_path)
    heads(data, key="monday")
    with pytest.raises(KeyReused), data.permit(Laplace(10.0).event, "another count", key="monday"):
        pass


def test_the_same_question_twice_without_a_key_is_charged_twice(tmp_path: Path) -> None:
    data = opened(tmp_path)
    assert heads(data)[0] != heads(data)[0]
    assert len(data.ledger.entries()) == 2


def test_a_failure_after_the_charge_leaves_it_spent_and_dangling(tmp_path: Path) -> None:
    data = opened(tmp_path)

    def fails() -> None:
        with data.permit(Laplace(10.0).event, "count", key="k") as permit:
            permit.ask(HEADS, Laplace(10.0))
            raise RuntimeError("the power went")

    with pytest.raises(RuntimeError):
        fails()
    assert [entry.committed for entry in data.ledger.entries()] == [False]
    assert data.ledger.balance().certified > 0
    with pytest.raises(UncommittedCharge):
        heads(data, key="k")


def test_a_receipt_tells_the_price_and_whom_it_protects(tmp_path: Path) -> None:
    data = opened(tmp_path)
    with data.permit(Laplace(10.0).event, "count") as permit:
        permit.ask(HEADS, Laplace(10.0))
    receipt = permit.receipt
    assert (receipt.event, receipt.neighbors, receipt.unit) == (Laplace(10.0).event, Neighbors.ADD_REMOVE, RECORD)
    assert receipt.secret
    assert receipt.head == data.ledger.head
    assert "one record that is added or removed" in str(receipt)
    assert "<table" in receipt._repr_html_()


def test_what_was_released_with_replayable_bits_says_so() -> None:
    data = PrivateData.of(PEOPLE, SCHEMA, Budget(1.0), bits=DeterministicBits(1))
    with data.permit(Laplace(10.0).event, "count") as permit:
        permit.ask(HEADS, Laplace(10.0))
    assert not permit.receipt.secret
    assert "NOT PRIVATE" in str(permit.receipt)


@pytest.mark.parametrize(
    ("neighbors", "plan"),
    [
        (Neighbors.REPLACE, Sampled(GaussianLoss(1.0), 0.1, "poisson")),
        (Neighbors.ADD_REMOVE, Repeated(Sampled(GaussianLoss(1.0), 0.1, "fixed_size"), 2)),
        (Neighbors.REPLACE, Composed((Parallel((GaussianLoss(9.0), GaussianLoss(9.0))),))),
    ],
)
def test_a_discount_that_the_relation_does_not_allow_is_refused(neighbors: Neighbors, plan: Event) -> None:
    data = PrivateData.of(PEOPLE, SCHEMA, Budget(10.0, 1e-6), neighbors=neighbors)
    with pytest.raises(Unaccountable, match="Nothing was released or spent"):
        data.permit(plan, "training")


def test_a_ledger_opened_for_another_relation_or_unit_is_refused(tmp_path: Path) -> None:
    ledger = SqliteLedger.create(
        tmp_path / "l", Budget(1.0), name="people", neighbors=Neighbors.REPLACE, unit=Unit("user", column="who")
    )
    with pytest.raises(ParameterError, match="one relation and one unit"):
        PrivateData.of(PEOPLE, SCHEMA, ledger)


def test_a_release_without_a_promise_needs_a_waiver(tmp_path: Path) -> None:
    data = opened(tmp_path)
    with pytest.raises(NotPermitted):
        data.permit(NoPromise("k-anonymity"), "table")
    data.permit(NoPromise("k-anonymity"), "table", waiver="the board agreed on 3 May")


def test_the_number_of_records_is_public_under_replace_alone() -> None:
    assert PrivateData.of(PEOPLE, SCHEMA, Budget(1.0)).public_size is None
    assert PrivateData.of(PEOPLE, SCHEMA, Budget(1.0), neighbors=Neighbors.REPLACE).public_size == 1000
    visits = {"who": ["a", "a", "b"], "x0": [0.0, 0.0, 0.0]}
    unit = Unit("user", column="who", rows=2)
    by_user = PrivateData.of(visits, SCHEMA, Budget(1.0), neighbors=Neighbors.REPLACE, unit=unit)
    assert by_user.public_size is None


def test_the_noise_covers_all_rows_of_a_unit() -> None:
    visits = {"who": np.repeat(np.arange(50), 4).astype(str), "x0": np.zeros(200)}
    spreads = {}
    for rows in (1, 4):
        unit = Unit("user", column="who", rows=rows)
        data = Curator(PrivateData.of(visits, SCHEMA, Budget(1.0), unit=unit)._trust._source)  # type: ignore[attr-defined]
        spreads[rows] = np.std([data.ask(HEADS, Laplace(1.0))[0] for _ in range(300)])
    assert spreads[4] / spreads[1] == pytest.approx(4, rel=0.5)  # five standard errors


def test_keys_that_only_the_data_know_can_be_asked_for() -> None:
    data = PrivateData.of({"town": ["Bern"] * 300 + ["Zug"]}, Schema({"town": Text()}), Budget(5.0, 1e-3))
    selection = KeySelection(multiplier=0.5, delta=1e-4)
    with data.permit(selection.event, "towns") as permit:
        assert list(permit.ask(KeyCounts("town"), selection)) == ["Bern"]


def test_a_curator_is_neither_pickled_nor_printed_with_its_records() -> None:
    data = PrivateData.of(np.full((3, 1), 0.123456), SCHEMA, Budget(1.0))
    assert "0.123456" not in repr(data) + repr(data._trust) + data._repr_html_()
    with pytest.raises(TypeError, match="neither copied nor pickled"):
        pickle.dumps(data._trust)


def test_a_plan_is_the_multiset_of_its_releases() -> None:
    plan = Composed((Repeated(Composed((GaussianLoss(1.0), GaussianLoss(2.0))), 3), GaussianLoss(1.0)))
    assert releases(plan) == {GaussianLoss(1.0): 4, GaussianLoss(2.0): 3}


def test_a_gaussian_release_of_a_numeric_column_follows_the_schema() -> None:
    data = PrivateData.of(
        {"a": np.full(100, 50.0), "b": np.ones(100)},
        Schema({"b": Number(0, 1), "a": Number(0, 10)}),
        Budget(50.0, 1e-3),
    )
    question = BoundedSum(lambda records: records, Bound("l2", 20.0), ("b", "a"))
    with data.permit(Gaussian(0.5).event, "sums") as permit:
        sums = permit.ask(question, Gaussian(0.5))
    np.testing.assert_allclose(sums, [100, 1000], atol=60)


def test_a_plan_for_the_other_relation_is_refused_by_an_account_that_knows_none() -> None:
    trust = PrivateData.of(
        np.zeros((5, 1)), Schema.numeric(0.0, 1.0, 1), Budget(1.0), neighbors=Neighbors.REPLACE
    )._trust
    data = PrivateData(trust, MemoryLedger(Budget(1.0)))
    with pytest.raises(Unaccountable, match="add_remove"):
        data.permit(Parallel((LaplaceLoss(2.0), LaplaceLoss(3.0))), "parts")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"ledger": 1.0}, r"account: it is 1.0.*Give a Budget\(epsilon, delta\)"),
        ({"neighbors": "replace"}, "neighbors is 'replace'.*Give Neighbors.ADD_REMOVE"),
        ({"unit": "user"}, r"the unit is 'user'.*Give a Unit, such as Unit\("),
    ],
)
def test_names_and_numbers_are_no_account_relation_or_unit(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        PrivateData.of(np.ones((1, 1)), Schema.numeric(0, 1, 1), **({"ledger": Budget(1.0)} | wrong))


def test_what_data_do_not_have_is_said_with_what_to_ask_instead() -> None:
    data = PrivateData.of(np.ones((1, 1)), Schema.numeric(0, 1, 1), Budget(1.0))
    with pytest.raises(AttributeError, match="PrivateData has no attribute 'head'; statistics are functions"):
        _ = data.head  # type: ignore[attr-defined]
    assert not hasattr(data, "_secret")


def test_a_missing_column_is_named_with_what_there_is() -> None:
    with pytest.raises(SchemaError, match=r"it has no column 'Age'.*Did you mean 'age'"):
        PrivateData.of({"age": [1.0]}, {"Age": (0, 1)}, Budget(1.0))
