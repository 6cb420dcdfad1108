"""Counts among parties some of whom lie: the same lines as under masks, refusals before any charge, liars named."""

from __future__ import annotations

import dataclasses
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.neighbors import Neighbors, Unit
from discreet.crypto.odo import odo_party
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.binomial import Binomial, BinomialShare
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.query.federation_file import read_federation, written_federation
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.schemes import odo
from discreet.trust.schemes.sum_scheme import Quorum, scheme_named
from discreet.trust.secure_sum import SecureSum
from tests.crypto.odo.cheats import FalseSum, NotABit

SCHEMA = Schema({"age": Number(0, 100), "sex": Category(("f", "m")), "user": Number(0, 1000)})
NAMES = ("north", "east", "south", "west")
WARDS = {
    name: {"age": rng.uniform(0, 100, 300), "sex": rng.choice(["f", "m"], 300), "user": np.arange(300.0) + 300 * i}
    for i, name in enumerate(NAMES)
    for rng in [np.random.default_rng(i)]
}
PRICE: Any = {"epsilon": 1.0, "delta": 1e-6}


def parties(**options: object) -> SecureSum:
    return SecureSum.rehearsal(WARDS, SCHEMA, threshold=3, scheme="odo", largest=511, **options)  # type: ignore[arg-type]


def of(trust: SecureSum, budget: Budget = Budget(10.0, 1e-5)) -> PrivateData:  # noqa: B008
    return PrivateData(trust, MemoryLedger(budget))


def test_counts_run_as_they_stand_and_what_is_no_count_is_refused_before_any_charge() -> None:
    with parties() as trust:
        data = of(trust)
        found = discreet.count(data, **PRICE)
        assert abs(found.value - 1200) < 40
        table = discreet.histogram(data, "sex", **PRICE)
        truth = [sum((ward["sex"] == sex).sum() for ward in WARDS.values()) for sex in ("f", "m")]
        assert np.abs(np.asarray(table.counts) - truth).max() < 40
        older = discreet.count(data, where="age >= 50", **PRICE)
        assert abs(older.value - sum((ward["age"] >= 50).sum() for ward in WARDS.values())) < 40
        spent = data.ledger.head
        with pytest.raises(NotPermitted, match=r'no count of records.*Nothing was released or spent.*"masks"'):
            discreet.mean(data, "age", **PRICE)
        with pytest.raises(ParameterError, match=r"Nothing was released or spent\. Give the budget a delta"):
            discreet.count(data, epsilon=1.0)
        assert data.ledger.head == spent


def test_the_error_that_is_stated_is_that_of_all_coins_that_are_tossed() -> None:
    """Of 400 cells. Each of three honest parties tosses an even number of coins, and a fourth one is there."""
    cells = {name: {"age": np.full(5, 0.5)} for name in NAMES}
    with SecureSum.rehearsal(cells, Schema({"age": Number(0, 400)}), threshold=3, scheme="odo", largest=7) as trust:
        counts = discreet.histogram(of(trust, Budget(1000.0, 0.5)), "age", bins=400, epsilon=3.0, delta=0.01)
    errors = np.asarray(counts.counts, dtype=float) - np.r_[20, np.zeros(399)]
    tossed = 4 * calibrate(Binomial, Budget(3.0, 0.01)).share(3).coins
    assert counts.stddev == pytest.approx(np.sqrt(tossed / 4 + 1 / 12))  # as if it were rounded
    assert errors.std() == pytest.approx(counts.stddev, rel=6 / np.sqrt(800))
    assert (errors == np.rint(errors)).all()
    assert (BinomialShare(80, 1, 7).excess, BinomialShare(84, 1, 7).excess) == (1.05, 1.0)


@pytest.mark.parametrize("cheat", [FalseSum, NotABit])
def test_a_liar_is_named_and_does_no_harm(
    cheat: type, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    honest = odo_party.OdoParty

    def seated(identity: object, *rest: object) -> object:
        kind = cheat if identity.name == "east" else honest  # type: ignore[attr-defined]
        return kind(identity, *rest)

    monkeypatch.setattr(odo, "OdoParty", seated)
    with parties() as trust, caplog.at_level(logging.WARNING):
        found = discreet.count(of(trust), **PRICE)
        assert trust.participants is not None
    assert abs(found.value - (1200 if cheat is FalseSum else 900)) < 40
    assert "east gave false shares" in caplog.text


def test_other_relations_units_and_noise_are_refused() -> None:
    with parties() as trust, pytest.raises(NotPermitted, match="cannot keep the promise"):
        of(trust).permit(Gaussian(3.0).event, "sum")
    with parties(unit=Unit("user", "user", 2)) as trust, pytest.raises(NotPermitted, match="no count of records"):
        discreet.count(of(trust), **PRICE)
    scheme = scheme_named("odo")
    for coins, moves, kept in ((80, 1, True), (80, 2, False)):
        assert scheme.keeps(Binomial.of_coins(coins, moves).event) is kept
    with pytest.raises(ParameterError, match="number of records is public"):
        parties(neighbors=Neighbors.REPLACE)


def test_a_third_of_liars_is_refused_with_the_most_that_holds() -> None:
    scheme = scheme_named("odo")
    assert scheme.honest(Quorum(10, 7, 2)) == 5
    for quorum, words in (
        (Quorum(10, 6), "Let 7 to 9"),
        (Quorum(3, 2), "four parties"),
        (Quorum(10, 7, 4), "At most 3"),
    ):
        with pytest.raises(ParameterError, match=words):
            scheme.check(quorum)


def test_counts_out_of_range_are_moved_into_it() -> None:
    """A party that has more records than the federation says counts as if it had as many as it may."""
    with SecureSum.rehearsal(WARDS, SCHEMA, threshold=3, scheme="odo", largest=127) as trust:
        assert abs(discreet.count(of(trust), **PRICE).value - 4 * 127) < 40


def test_files_name_the_scheme_and_those_of_masks_do_not(tmp_path: Path) -> None:
    path = tmp_path / "four.federation"
    with parties() as trust:
        agreed = trust.federation
    path.write_text(written_federation(agreed))
    assert read_federation(path) == agreed
    assert 'scheme = "odo"\nlargest = 511' in path.read_text()
    masks = dataclasses.replace(agreed, scheme="masks")
    assert masks.digest != agreed.digest
    assert dataclasses.replace(agreed, largest=1).digest != agreed.digest
    path.write_text(written_federation(masks))
    assert "scheme" not in path.read_text()
    assert read_federation(path).digest == masks.digest
