"""What a ledger keeps of a plan: small results whole, large ones as a digest that says where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import KeyReused, LedgerBroken, LedgerError, ParameterError, UncommittedCharge
from discreet.core.events import Repeated, written
from discreet.core.neighbors import Neighbors
from discreet.ledger import ledger_file
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.columns.total import count_of
from discreet.schema.schema import Schema
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData
from discreet.trust.stored import KeptArtefact, Stored

SCHEMA = Schema.numeric(0.0, 1.0, 1)
NOISE = Laplace(10.0)


def data_at(folder: Path) -> PrivateData:
    ledger = SqliteLedger.create(folder / "ledger", Budget(10.0, 1e-6), name="a", neighbors=Neighbors.ADD_REMOVE)
    return PrivateData.of(np.ones((100, 1)), SCHEMA, ledger)


def counts(permit: Permit, times: int = 3) -> np.ndarray:
    return np.array([permit.ask(count_of(SCHEMA, "x0"), NOISE)[0] for _ in range(times)])


def test_releases_read_back_to_the_same_values() -> None:
    values = [np.array([1.5, np.nan]), np.int64(3), {"Bern": 3}, np.array([[1, 2]])]
    again = Stored.read(Stored([(str(place), value) for place, value in enumerate(values)]).written())
    for place, before in enumerate(values):
        np.testing.assert_equal(again.taken(str(place)), before)
    assert not again.holds("0")


def test_many_floats_are_written_in_few_bytes_where_not_a_bit_is_lost() -> None:
    rng, size = np.random.default_rng(1), 4000
    places = rng.integers(0, 50, (size // 4, 4)).astype(float)
    some = np.array([np.nan, -0.0, *places.ravel()[2:]])
    halves, thirds = rng.integers(0, 10**6, size) / 8, np.arange(size) / 3
    odd = np.r_[np.array([0x7FF8000000000001], np.uint64).view(np.float64), np.zeros(size)]  # a nan like no other
    for values, each in ((places, 2), (some, 2), (halves, 4), (thirds, 8), (odd, 8), (some[:9], 8), (1e300 * some, 8)):
        kept = KeptArtefact.of({"a": values})
        assert kept.values is not None
        found = kept.given("a", "key")["a"]
        assert found.dtype == np.float64
        assert found.shape == values.shape
        assert found.tobytes() == values.tobytes()
        assert len(kept.values["a"]["array"]) < 1.34 * each * values.size + 200


def test_an_artefact_is_stored_in_place_of_the_releases_and_given_again(tmp_path: Path) -> None:
    made: dict[str, Any] = {"mean": np.array([1.5]), "names": ["a", None], "n": 3, "parts": {"w": np.eye(2)}}
    calls = 0

    def make() -> dict[str, Any]:
        nonlocal calls
        calls += 1
        counts(permit)
        return made

    data = data_at(tmp_path)
    for _ in range(2):
        with data.permit(Repeated(NOISE.event, 3), "model", key="monday") as permit:
            found = permit.artefact(make, "model")
        np.testing.assert_equal(dict(found), made)
    assert calls == 1
    assert permit.receipt.replayed
    assert len(data.ledger.entries()) == 1
    assert len(stored(data)) < 1500


def test_a_retry_that_asks_for_something_else_is_refused(tmp_path: Path) -> None:
    data = data_at(tmp_path)
    for about in ("three", "four"):
        with data.permit(Repeated(NOISE.event, 3), "model", key="monday") as permit:
            if about == "three":
                permit.artefact(lambda: {"n": counts(permit)}, about)
            else:
                with pytest.raises(KeyReused, match="belongs to another question"):
                    permit.artefact(dict, about)
                with pytest.raises(KeyReused, match="belongs to another question"):
                    counts(permit)


def stored(data: PrivateData) -> bytes:
    again = data.ledger.reserve(Repeated(NOISE.event, 3), "model", request=_request(), key="monday")
    result: bytes = again.result  # type: ignore[union-attr]
    return result


def _request() -> str:
    return f"model\n{written(Repeated(NOISE.event, 3))}"


def test_of_a_large_one_the_ledger_keeps_a_digest_and_a_retry_is_told_where_it_is(tmp_path: Path) -> None:
    data, large = data_at(tmp_path), {"weights": np.zeros(10**6)}
    with data.permit(Repeated(NOISE.event, 3), "model", key="monday") as permit:
        permit.artefact(lambda: (counts(permit), large)[1], "model", where="model.npz")
    assert len(stored(data)) < 500
    digest = KeptArtefact.of(large).digest
    with (
        pytest.raises(KeyReused, match=rf"written to model.npz.*{digest}.*Nothing more was released or spent"),
        data.permit(Repeated(NOISE.event, 3), "model", key="monday") as permit,
    ):
        permit.artefact(lambda: large, "model")
    assert digest != KeptArtefact.of({"weights": np.ones(10**6)}).digest


@pytest.mark.parametrize("durable", [True, False])
def test_a_large_one_is_kept_beside_the_ledger_and_given_again_to_the_last_byte(tmp_path: Path, durable: bool) -> None:
    large = {"rows": np.random.default_rng(1).normal(size=2**18)}
    ledger = data_at(tmp_path).ledger if durable else MemoryLedger(Budget(10.0))
    for _ in range(2):
        data = PrivateData.of(np.ones((100, 1)), SCHEMA, ledger)
        with data.permit(Repeated(NOISE.event, 3), "table", key="monday") as permit:
            found = permit.artefact(lambda: (counts(permit), large)[1], "table")
        assert found["rows"].tobytes() == large["rows"].tobytes()
    assert permit.receipt.replayed


def test_what_was_kept_is_checked_and_what_is_gone_is_said_to_be(tmp_path: Path) -> None:
    data, large = data_at(tmp_path), {"rows": np.zeros(2**20)}

    def asked() -> Any:
        with data.permit(Repeated(NOISE.event, 3), "table", key="monday") as permit:
            return permit.artefact(lambda: (counts(permit), large)[1], "table")

    asked()
    (kept,) = next(tmp_path.glob("*.kept")).iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    data.ledger.verify()  # type: ignore[attr-defined]
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1])
    for look in (asked, data.ledger.verify):  # type: ignore[attr-defined]
        with pytest.raises(LedgerBroken, match="it is not what was kept under its digest"):
            look()
    kept.unlink()
    with pytest.raises(KeyReused, match="too large for the ledger"):
        asked()


def test_a_full_disk_hands_nothing_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, large = data_at(tmp_path), {"rows": np.zeros(2**20)}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ledger_file, "replace_own", full)
    with (
        pytest.raises(LedgerError, match=r"cannot be written.*No space left"),
        data.permit(Repeated(NOISE.event, 3), "table", key="monday") as permit,
    ):
        permit.artefact(lambda: (counts(permit), large)[1], "table")
    monkeypatch.undo()
    with pytest.raises(UncommittedCharge), data.permit(Repeated(NOISE.event, 3), "table", key="monday"):
        pass


def test_a_failure_while_it_is_made_commits_nothing_and_keeps_the_charge(tmp_path: Path) -> None:
    data = data_at(tmp_path)

    def fail() -> dict[str, Any]:
        counts(permit)
        raise ValueError("no model")

    with pytest.raises(ValueError, match="no model"), data.permit(Repeated(NOISE.event, 3), "model", key="a") as permit:
        permit.artefact(fail, "model")
    assert data.ledger.balance().certified > 0


def test_what_cannot_be_stored_is_refused() -> None:
    with pytest.raises(ParameterError, match="a object cannot be stored"):
        KeptArtefact.of({"what": object()})


def test_without_a_key_nothing_is_stored(tmp_path: Path) -> None:
    """A plan that no retry can come for leaves nothing but its price."""
    data = data_at(tmp_path)
    with data.permit(Repeated(NOISE.event, 3), "counts") as permit:
        counts(permit)
    size = (tmp_path / "ledger").stat().st_size
    for _ in range(3):
        with data.permit(Repeated(NOISE.event, 3), "counts") as permit:
            counts(permit)
    assert (tmp_path / "ledger").stat().st_size - size < 2**14
