"""A receipt with a checkpoint shows by itself, and its server's card, what its ledger holds."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet import count
from discreet.core.budget import Budget
from discreet.core.checkpoint import Checkpoint
from discreet.core.errors import LedgerError
from discreet.core.events import NoPromise, PureLoss
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.receipt import Participants, Receipt
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Identity
from discreet.ledger.checkpoints import check_signed
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.service.cli.command import main
from discreet.trust.private_data import PrivateData

SERVER, OTHER = (Identity.drawn("clinic", DeterministicBits(seed)) for seed in (1, 2))


@pytest.fixture
def ledger(tmp_path: Path) -> SqliteLedger:
    made = SqliteLedger.create(tmp_path / "l", Budget(2.0, 1e-9), name="patients", neighbors=Neighbors.ADD_REMOVE)
    return made.signed_by(SERVER)


def data(ledger: SqliteLedger) -> PrivateData:
    return PrivateData.of({"age": [20.0, 30.0, 40.0]}, {"age": (18, 100)}, ledger)


def receipt(ledger: SqliteLedger) -> Receipt:
    return count(data(ledger), epsilon=0.5, key="k").receipt


def test_a_receipt_is_verified_by_the_card_alone(ledger: SqliteLedger, tmp_path: Path, capsys: Any) -> None:
    made = receipt(ledger)
    assert check_signed(Receipt.read(made.to_json()), SERVER.name, SERVER.public).number == 2
    (tmp_path / "card").write_bytes(PartyCertificate.of(SERVER).certificate)
    (tmp_path / "r.json").write_text(made.to_json())
    ledger.close()
    (tmp_path / "l").unlink()
    assert main(["receipt", "verify", str(tmp_path / "r.json"), "--card", str(tmp_path / "card")]) == 0
    assert "clinic signed it: count" in capsys.readouterr().out


FORGERIES: dict[str, Callable[[Receipt], Receipt]] = {
    "purpose": lambda one: replace(one, purpose="mean of age"),
    "event": lambda one: replace(one, event=PureLoss(0.25)),
    "epsilon": lambda one: replace(one, epsilon=0.25),
    "delta": lambda one: replace(one, delta=1e-12),
    "neighbors": lambda one: replace(one, neighbors=Neighbors.REPLACE),
    "unit": lambda one: replace(one, unit=Unit("user", column="id")),
    "secret": lambda one: replace(one, secret=not one.secret),
    "key": lambda one: replace(one, key="other"),
    "head": lambda one: replace(one, head="0" * 64),
    "participants": lambda one: replace(one, participants=Participants(("a", "b"))),
    "where": lambda one: replace(one, where="age > 30"),
}


@pytest.mark.parametrize("field", [*FORGERIES])
def test_no_figure_of_it_can_be_changed(ledger: SqliteLedger, field: str) -> None:
    with pytest.raises(LedgerError, match=r"not what was signed|not of what it says"):
        check_signed(FORGERIES[field](receipt(ledger)), SERVER.name, SERVER.public)


@pytest.mark.parametrize(
    "name", ["ledger", "number", "head", "at", "result", "purpose", "epsilon", "delta", "signature"]
)
def test_no_figure_of_the_checkpoint_can_be_changed(ledger: SqliteLedger, name: str) -> None:
    made = receipt(ledger)
    assert isinstance(made.checkpoint, Checkpoint)
    before = getattr(made.checkpoint, name)
    other = {str: "0" * 64, int: 7, float: 0.125}[type(before)]
    changes: dict[str, Any] = {name: other}
    forged = replace(made, checkpoint=replace(made.checkpoint, **changes))
    both: dict[str, Any] = dict.fromkeys({"epsilon", "delta", "head", "purpose"} & {name}, other)
    for one in (forged, replace(forged, **both)):
        with pytest.raises(LedgerError):
            check_signed(one, SERVER.name, SERVER.public)


def test_another_key_another_name_or_no_signature_is_refused(ledger: SqliteLedger) -> None:
    made = receipt(ledger)
    with pytest.raises(LedgerError, match="not of this key"):
        check_signed(made, SERVER.name, OTHER.public)
    with pytest.raises(LedgerError, match="the card is of 'other'"):
        check_signed(made, "other", SERVER.public)
    with pytest.raises(LedgerError, match="no checkpoint"):
        check_signed(replace(made, checkpoint=None), SERVER.name, SERVER.public)
    unsigned = SqliteLedger(ledger._book)
    assert count(data(unsigned), epsilon=0.5).receipt.checkpoint is None


def test_a_replay_has_the_same_checkpoint_whatever_was_raised_meanwhile(ledger: SqliteLedger) -> None:
    first = receipt(ledger)
    ledger.raise_cap(Budget(3.0, 1e-6), "more delta")
    again = receipt(ledger)
    assert again.replayed
    assert again.checkpoint == first.checkpoint
    check_signed(again, SERVER.name, SERVER.public)


def test_who_asks_for_one_table_signs_as_the_whole_ledger_does_and_a_copy_does_not_sign(ledger: SqliteLedger) -> None:
    ledger.add_project("flu", Budget(1.0))
    check_signed(receipt(ledger.within(project="flu")), SERVER.name, SERVER.public)
    stored = pickle.dumps(ledger)
    assert SERVER.secret not in stored
    assert pickle.loads(stored).signer is None


def test_a_waived_release_is_signed_as_one_without_a_promise(ledger: SqliteLedger) -> None:
    paid: Any = ledger.reserve(NoPromise("none"), "table", request="t", waiver="the board")
    done = ledger.commit(paid, b"t", {"neighbors": "add_remove"})
    assert done.checkpoint is not None
    assert (done.checkpoint.epsilon, done.checkpoint.delta) == (None, 0.0)


def test_a_receipt_without_a_checkpoint_has_the_form_that_it_had(ledger: SqliteLedger) -> None:
    made = replace(receipt(ledger), checkpoint=None)
    assert "checkpoint" not in made.to_dict()
    assert "checkpoint" not in json.loads(made.to_json())
    assert Receipt.read(made.to_json()) == made
