"""One account above several tables of the same people: every charge counts everywhere that it must, or nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, KeyReused, LedgerBroken, NotPermitted, ParameterError
from discreet.core.events import NoPromise, PureLoss
from discreet.core.ledger import Committed, Reservation
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.account import AccountPart, Scope, read_account, written_account
from discreet.ledger.chain import Chain, sealed
from discreet.ledger.ledger_view import show, verify
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.trust.private_data import PrivateData

PERSON = Unit("user", column="id")
VISITOR = Unit("user", column="patient", rows=20)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people"


@pytest.fixture
def people(path: Path) -> SqliteLedger:
    """A population with two tables, two projects and two analysts."""
    ledger = SqliteLedger.create(path, Budget(2.0), name="people", neighbors=Neighbors.ADD_REMOVE, unit=PERSON)
    ledger.add_table("patients", Budget(1.5), PERSON)
    ledger.add_table("visits", Budget(1.0), VISITOR)
    ledger.add_project("flu", Budget(1.25))
    ledger.add_project("gout", Budget(0.5))
    ledger.admit("ann", Budget(1.0))
    ledger.admit("bob", Budget(0.75))
    return ledger


def asked(ledger: SqliteLedger, epsilon: float, key: str | None = None) -> Reservation | Committed:
    return ledger.reserve(PureLoss(epsilon), "count", request="count", key=key)


def stands(ledger: SqliteLedger) -> list[float]:
    return [state.balance().certified for state in ledger.accounts.values()]


def test_a_charge_counts_with_everybody_the_table_the_project_and_the_analyst(people: SqliteLedger) -> None:
    asked(people.within(table="visits", project="flu", analyst="ann"), 0.5)
    assert stands(people) == [0.5, 0, 0.5, 0.5, 0, 0.5, 0]
    assert people.balance(table="visits").certified == people.balance(project="flu").certified == 0.5
    assert people.balance("ann").certified == people.balance().certified == 0.5
    (entry,) = people.entries()
    assert (entry.table, entry.project, entry.analyst) == ("visits", "flu", "ann")


@pytest.mark.parametrize(
    ("scope", "short", "epsilon"),
    [
        (Scope("ann", "visits", "gout"), "project gout", 0.625),
        (Scope("bob", "patients", "flu"), "bob", 0.875),
        (Scope("ann", "visits", "flu"), "table visits", 0.875),
    ],
)
def test_whichever_is_short_refuses_for_all_and_nothing_is_charged(
    people: SqliteLedger, scope: Scope, short: str, epsilon: float
) -> None:
    asked(people.within(table="visits", project="flu", analyst="ann"), 0.25)
    before, head = stands(people), people.head
    asking = people.within(table=scope.table, project=scope.project, analyst=scope.analyst)
    assert not asking.affords(PureLoss(epsilon))
    with pytest.raises(BudgetExceeded, match=f"account of {short}") as refusal:
        asked(asking, epsilon)
    assert refusal.value.values["account"] == short
    assert (stands(people), people.head) == (before, head)


def test_tables_together_are_held_to_the_budget_of_the_people(people: SqliteLedger) -> None:
    for table, analyst in (("patients", "ann"), ("visits", "bob")):
        asked(people.within(table=table, project="flu", analyst=analyst), 0.5)
    people.raise_cap(Budget(2.0), "no limit of its own", project="gout")
    people.raise_cap(Budget(2.0), "no limit of its own", analyst="ann")
    asked(people.within(table="patients", project="gout", analyst="ann"), 0.75)
    with pytest.raises(BudgetExceeded, match="account of the data set"):
        asked(people.within(table="visits", project="gout", analyst="ann"), 0.375)
    asked(people.within(table="visits", project="gout", analyst="ann"), 0.25)
    assert people.balance().remaining == 0
    assert people.verify().entries == 13


def test_where_there_are_tables_or_projects_a_charge_names_one_that_is_there(people: SqliteLedger) -> None:
    for scope in ({"project": "flu"}, {"table": "visits"}):
        with pytest.raises(NotPermitted, match=r"none is named|nobody is named"):
            asked(people.within(analyst="ann", **scope), 0.1)
    for scope in ({"table": "wards"}, {"project": "cold"}):
        with pytest.raises(NotPermitted, match="has no account"):
            people.within(**scope)
    with pytest.raises(NotPermitted, match="eve has no account"):
        asked(people.within(table="visits", project="flu", analyst="eve"), 0.1)
    assert stands(people) == [0] * 7


def test_a_key_of_one_table_is_not_answered_for_another(people: SqliteLedger) -> None:
    visits = people.within(table="visits", project="flu", analyst="ann")
    paid = asked(visits, 0.25, key="k")
    assert isinstance(paid, Reservation)
    visits.commit(paid, b"7")
    for other in ({"table": "patients"}, {"project": "gout"}, {"analyst": "bob"}):
        with pytest.raises(KeyReused):
            asked(visits.within(**other), 0.25, key="k")
    again = asked(visits, 0.25, key="k")
    assert isinstance(again, Committed)
    assert again.result == b"7"


def test_a_table_has_its_own_unit_of_the_same_kind(people: SqliteLedger) -> None:
    assert (people.unit, people.within(table="visits").unit) == (PERSON, VISITOR)
    with pytest.raises(ParameterError, match="protects a user in all tables together"):
        people.add_table("wards", Budget(0.5), Unit())
    with pytest.raises(ParameterError, match="open already"):
        people.add_table("visits", Budget(0.5), VISITOR)
    with pytest.raises(ParameterError, match="smaller"):
        people.add_project("dear", Budget(2.5))


def test_a_table_is_asked_under_its_own_unit_alone(people: SqliteLedger) -> None:
    visits = people.within(table="visits", project="flu", analyst="ann")
    records = {"patient": [1, 1, 2], "id": [1, 1, 2], "x": [0.5, 0.5, 0.5]}
    schema = {"patient": (0, 10), "id": (0, 10), "x": (0.0, 1.0)}
    PrivateData.of(records, schema, visits, unit=VISITOR)
    with pytest.raises(ParameterError, match="its unit is"):
        PrivateData.of(records, schema, visits, unit=PERSON)


def test_a_project_that_expired_is_over_and_others_go_on(people: SqliteLedger, path: Path) -> None:
    people.expire("the study is over", project="gout")
    with pytest.raises(NotPermitted, match="project gout has expired"):
        asked(people.within(table="visits", project="gout", analyst="ann"), 0.1)
    asked(people.within(table="visits", project="flu", analyst="ann"), 0.1)
    with SqliteLedger.open(path) as again:
        assert again.accounts == people.accounts
        assert again.accounts[AccountPart("project", "gout")].expired == "the study is over"
        assert again.within(table="visits").unit == VISITOR
    assert verify(path).entries == 9
    assert "ann, flu, visits" in show(path)


def test_a_release_without_a_promise_is_on_record_for_its_project(people: SqliteLedger) -> None:
    people.within(table="visits", project="flu", analyst="ann").reserve(
        NoPromise("none"), "table", request="t", waiver="approved by the board"
    )
    assert people.entries()[0].project == "flu"


def test_an_account_is_read_as_it_was_written_and_nothing_else_is_one() -> None:
    for account in (None, "ann", AccountPart("table", "t"), AccountPart("project", "p")):
        assert read_account(written_account(account)) == account
    for wrong in ({}, {"table": 1}, {"table": "t", "project": "p"}, {"folder": "f"}, ["t"], 1):
        with pytest.raises(ValueError, match="no account"):
            read_account(wrong)


def test_a_forged_charge_that_spares_the_people_is_found(people: SqliteLedger) -> None:
    asked(people.within(table="visits", project="flu", analyst="ann"), 0.25)
    chain = Chain()
    *links, last = people.chain()
    for link in links:
        chain.follow(link)
    fields = {name: value for name, value in last.fields.items() if name not in ("number", "kind", "key")}
    fields["charges"] = [charge for charge in fields["charges"] if charge["account"] is not None]
    with pytest.raises(LedgerBroken, match="not charged to"):
        chain.follow(sealed(chain.head, last.number, "reserve", last.key, **fields), anew=True)
