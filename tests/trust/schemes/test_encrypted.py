"""Encrypted sums as a scheme: time series as under a curator, refusals before any charge, liars named, the law."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import discreet
from discreet.audit.trial import judged
from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, NotPermitted, ParameterError, SchemaError
from discreet.core.events import LaplaceLoss, PureLoss
from discreet.core.neighbors import Neighbors
from discreet.crypto.encrypted_sum.sealing_party import SealingParty
from discreet.crypto.paillier import public_key
from discreet.crypto.paillier.threshold_key import dealt
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.laplace import LaplaceShare
from discreet.noise.deterministic import DeterministicBits
from discreet.query.federation_file import read_federation, written_federation
from discreet.questions.series.fourier import FourierBasis, fourier_of_people
from discreet.schema.schema import Schema
from discreet.sequential.series.fourier import series_of_people
from discreet.sequential.series.fourier_series import FourierSeries
from discreet.trust.federation import Federation
from discreet.trust.private_data import PrivateData
from discreet.trust.schemes import encrypted
from discreet.trust.schemes.encrypted import Encrypted
from discreet.trust.schemes.sum_scheme import Quorum, scheme_named
from discreet.trust.secure_sum import SecureSum
from tests.crypto.encrypted_sum.test_encrypted_sum import FalsePart
from tests.crypto.paillier.small_keys import deal_small_keys

PERIODS = 24
SCHEMA = Schema.numeric(0.0, 1.0, PERIODS)
PEOPLE = {f"u{i}": np.random.default_rng(i).uniform(0, 1, (1, PERIODS)) for i in range(5)}


@pytest.fixture(autouse=True, scope="module")
def short_keys() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        deal_small_keys(patch)
        yield


def parties(records: Any = PEOPLE, threshold: int = 4, **options: Any) -> SecureSum:
    return SecureSum.rehearsal(records, SCHEMA, threshold=threshold, scheme="paillier", **options)


def of(trust: SecureSum, budget: Budget = Budget(1e6, 1e-5)) -> PrivateData:  # noqa: B008
    return PrivateData(trust, MemoryLedger(budget))


def test_a_series_is_asked_as_under_a_curator() -> None:
    rows = np.vstack(list(PEOPLE.values()))
    asked: Any = {"coefficients": 4, "epsilon": 5000.0}
    with parties() as trust:
        data = of(trust, Budget(1e6))
        found = series_of_people(data, **asked)
        assert trust.participants is not None
        assert trust.participants.parties == tuple(sorted(PEOPLE))
        spent = data.ledger.balance().used
    alone = PrivateData.of(rows, SCHEMA, Budget(1e6))
    curated = series_of_people(alone, **asked)
    assert isinstance(found, FourierSeries)
    assert type(found) is type(curated)
    assert found.basis == curated.basis
    assert found.receipt.event == curated.receipt.event
    assert spent == alone.ledger.balance().used
    smooth = FourierBasis(PERIODS, 4)
    np.testing.assert_allclose(found.values, smooth.waves.T @ (smooth.waves @ rows.sum(axis=0)), atol=0.2)


def test_other_sums_run_as_they_stand() -> None:
    with parties() as trust:
        data = of(trust)
        assert (
            abs(discreet.mean(data, "x0", epsilon=500.0).value - np.mean([one[0, 0] for one in PEOPLE.values()])) < 0.1
        )
        assert abs(discreet.count(data, epsilon=50.0, delta=1e-6).value - 5) < 2


def test_what_cannot_be_asked_is_refused_before_any_charge() -> None:
    with parties() as trust:
        data = of(trust)
        spent = data.ledger.head
        with pytest.raises(NotPermitted, match="cannot keep the promise"):
            data.permit(PureLoss(1.0), "a choice")
        with pytest.raises(BudgetExceeded):
            series_of_people(data, coefficients=2, epsilon=1e7)
        assert data.ledger.head == spent


def test_a_liar_is_named_and_does_no_harm(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    honest = SealingParty

    def seated(identity: Any, *rest: Any) -> Any:
        return (FalsePart if identity.name == "u1" else honest)(identity, *rest)

    monkeypatch.setattr(encrypted, "SealingParty", seated)
    with parties() as trust, caplog.at_level(logging.WARNING):
        found = discreet.total(of(trust), "x0", epsilon=5000.0)
    assert abs(found.value - sum(one[0, 0] for one in PEOPLE.values())) < 0.1
    assert "u1 gave false shares" in caplog.text


def test_what_a_party_puts_in_has_its_share_of_the_noise() -> None:
    """By the law of its own scale: of 4,000 numbers, the variance of a share of four is a fourth of the whole."""
    share = LaplaceShare(1.0, 4)
    empty = Answer(np.zeros(4_000, np.int64), one_series().grid, Bound("l1", 1.0), Neighbors.ADD_REMOVE)
    put_in = Encrypted().vector(share, empty, DeterministicBits(0), 1).astype(float)
    expected = 2 * share.own_scale(share.prepared(empty)) ** 2 / 4
    fourth = 2 * 12 * share.own_scale(share.prepared(empty)) ** 4 / 4 + 3 * expected**2
    assert np.mean(put_in**2) == pytest.approx(expected, abs=5 * math.sqrt(fourth / 4_000))


def test_a_federation_has_the_key_that_was_dealt_to_it(tmp_path: Path) -> None:
    with parties() as trust:
        agreed = trust.federation
    assert "kept no copy" in agreed.protocol.hides
    assert agreed.key.hex() not in repr(agreed)
    path = tmp_path / "all.federation"
    path.write_text(written_federation(agreed))
    assert read_federation(path) == agreed
    assert read_federation(path).digest == agreed.digest
    path.write_text(written_federation(agreed).replace('key = "', 'key = "zz'))
    with pytest.raises(SchemaError, match="key is not of the right kind"):
        read_federation(path)
    with parties() as trust:
        other = trust.federation
    assert dataclasses.replace(agreed, key=other.key).digest != agreed.digest
    for change, words in (
        ({"key": b""}, "the key is missing"),
        ({"key": agreed.key[:-1]}, "cannot be read"),
        ({"threshold": 5}, "another threshold"),
        ({"parties": agreed.parties[:4]}, "dealt to others"),
        ({"parties": agreed.parties[:4], "threshold": 3}, "dealt to others"),
        ({"scheme": "masks"}, "has no key"),
        ({"scheme": "odo"}, "has no key"),
        ({"neighbors": Neighbors.REPLACE}, "number of records is public"),
    ):
        with pytest.raises(ParameterError, match=words):
            dataclasses.replace(agreed, **change)


def test_colluders_are_counted_apart_from_those_who_leave() -> None:
    scheme = scheme_named("paillier")
    assert isinstance(scheme, Encrypted)
    assert scheme.honest(Quorum(5, 4, 2)) == 2
    scheme.check(Quorum(5, 4, 2))
    with pytest.raises(ParameterError, match="At most 2 may"):
        scheme.check(Quorum(5, 4, 3))


def totals(honest: int, users: int, own: Answer, multiplier: float, runs: int, seed: int = 0) -> np.ndarray:
    """The sums of what all users put in, many times, where the first has a record and the others have none."""
    share, bits = LaplaceShare(multiplier, honest), DeterministicBits(seed)
    empty = dataclasses.replace(own, steps=np.zeros_like(own.steps))
    found = share.masked(own.stacked(runs), bits)
    for _ in range(users - 1):
        found = found + share.masked(empty.stacked(runs), bits)
    return found


def one_series() -> Answer:
    """The coefficients of one person whose series tells most: all of it in the constant."""
    schema = Schema.numeric(-1.0, 1.0, 9)
    question = fourier_of_people(schema, schema.features, 1, 0.0, None)
    steps = np.rint(question.of(np.ones((1, 9)))[0] / question.grid.step).astype(np.int64)
    return Answer(steps, question.grid, question.bound, Neighbors.ADD_REMOVE)


def test_an_audit_of_users_stands_and_refutes_less_noise_and_an_fft_that_is_not_normalised() -> None:
    """Two honest users, one of whom has a person's series or nothing; all that others add is known."""
    answer = one_series()
    prepared = LaplaceShare(1.0, 2).prepared(answer)
    empty = dataclasses.replace(prepared, steps=np.zeros_like(prepared.steps))

    def evidence(noises: list[np.ndarray], times: float) -> list[np.ndarray]:
        """The logarithm of how much likelier the series makes each total; a twin's is so many times as long."""
        moved = np.rint(prepared.steps * times).astype(np.int64)
        both = (noises[0], noises[1] + moved)
        return [(np.abs(many) - np.abs(many - moved)).sum(axis=1).astype(float) for many in both]

    claim = LaplaceLoss(1.0)
    noises, less = ([totals(2, 2, empty, one, 24_000, seed) for seed in (0, 1)] for one in (1.0, 2 / 3))
    assert judged(claim, *evidence(noises, 1.0)).holds
    assert not judged(claim, *evidence(less, 1.0)).holds
    assert not judged(claim, *evidence(noises, math.sqrt(9))).holds


@pytest.mark.slow
def test_the_law_of_the_total_of_a_hundred_users_is_the_curators() -> None:
    """100 users and 19 coefficients: 1e5 totals against the law that a curator would draw from, by a chi-square test.

    The curator's noise is Laplace, rounded to the grid; shares add up to the discrete law of (nearly) the same scale,
    on a grid of 2**-30 of the bound. So both are compared in 200 bins of equal probability.
    """
    users, size, runs = 100, 19, 5264
    basis = FourierBasis(64, 10)
    assert basis.size == size
    schema = Schema.numeric(0.0, 1.0, 64)
    question = fourier_of_people(schema, schema.features, 10, 0.0, None)
    empty = Answer(np.zeros(size, np.int64), question.grid, question.bound, Neighbors.ADD_REMOVE)
    share = LaplaceShare(1.0, users)
    scale = share.own_scale(share.prepared(empty))
    noise = totals(users, users, empty, 1.0, runs, 7).ravel()
    assert noise.size >= 100_000
    uniform = stats.laplace(scale=scale).cdf(noise.astype(float))
    counts = np.histogram(uniform, bins=200, range=(0, 1))[0]
    assert stats.chisquare(counts).pvalue > 1e-6
    assert stats.kstest(uniform, "uniform").pvalue > 1e-6
    assert abs(np.mean(noise)) < 5 * math.sqrt(2 / noise.size) * scale


@pytest.mark.slow
def test_a_hundred_users_send_one_ciphertext_each_for_nineteen_coefficients(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a key of 2048 bits."""
    monkeypatch.setattr(public_key, "LEAST", 2048)
    monkeypatch.setattr(encrypted, "dealt", dealt)
    people = {f"u{i}": np.random.default_rng(i).uniform(0, 1, (1, PERIODS)) for i in range(100)}
    agreed: Federation
    with parties(people, 60) as trust:
        agreed = trust.federation
        terms = agreed.protocol.terms(agreed.terms("r1", 19, b""), LaplaceShare(1.0, 60), 1, one_series())
        assert isinstance(agreed.protocol, Encrypted)
        assert agreed.protocol.held.public.key_bits == 2048
        assert terms.ciphertexts == 1  # type: ignore[attr-defined]
        found = series_of_people(of(trust), coefficients=10, epsilon=5000.0)
    smooth = FourierBasis(PERIODS, 10)
    rows = np.vstack(list(people.values()))
    np.testing.assert_allclose(found.values, smooth.waves.T @ (smooth.waves @ rows.sum(axis=0)), atol=1.0)
