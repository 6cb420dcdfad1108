"""What a ledger keeps of a plan: small results whole, large ones as a digest that says where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import KeyReused, ParameterError
from discreet.core.events import Repeated, written
from discreet.core.neighbors import Neighbors
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
