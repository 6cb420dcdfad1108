"""RAPPOR clients."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.local.aggregator import Aggregator
from discreet.local.rappor.permanent_memo import GoogleMemo, MemoFile, SecretMemo
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.rappor_client import RapporClient, client_reports, client_secret, cohort_from
from discreet.noise.deterministic import DeterministicBits

TRIAL = {"memo": SecretMemo(b"a secret of more than 16 bytes")}
"""What it needs beside what was agreed: see `tests/conformance/test_clients.py`."""

SECRET = b"a secret of more than 16 bytes"
GOOGLE = Rappor(bits=16, hashes=2, cohorts=64, f=0.5, p=0.5, q=0.75)


class Cycle:
    """Google's mock: uniform numbers 0, 0.6, 0, 0, 0.6, 0, ... of 16 bits."""

    secret = False

    def words(self, count: int) -> NDArray[np.uint64]:
        digits = np.array([0, 0.6 * 2**16, 0], np.uint16)[np.arange(4 * count) % 3]
        return digits.view(np.uint64)

    def integer(self, width: int) -> int:
        raise AssertionError


def test_google_s_reference_vectors_are_met() -> None:
    """Client/python/rappor_test.py, testEncoder; client/cpp/encoder_unittest.cc, the cohort."""
    report = RapporClient(GOOGLE, GoogleMemo(b"secret", f=0.5), cohort=0).report("abc", Cycle())
    assert int.from_bytes(report[2:].tobytes(), "little") == 64493
    assert cohort_from(b"client-secret", 128) == 3


def test_a_client_keeps_its_permanent_response(tmp_path: Path) -> None:
    """Without a second randomisation all its reports are equal; with one, their mean tells the permanent response."""
    frozen = Rappor(bits=64, p=0.0, q=1.0, f=0.5)
    for memo in (SecretMemo(SECRET), MemoFile(tmp_path / "memo")):
        client = RapporClient(frozen, memo, cohort=5)
        assert len({client.report("abc").tobytes() for _ in range(5)}) == 1
        assert (client.report("abc") != client.report("abd")).any()
    noisy = RapporClient(Rappor(bits=64, f=0.5), SecretMemo(SECRET), cohort=5)
    bits, same = DeterministicBits(1), RapporClient(frozen, SecretMemo(SECRET), cohort=5).report("abc")
    mean = np.mean([noisy.rappor.bits_of(noisy.report("abc", bits)[None])[0] for _ in range(1000)], axis=0)
    assert ((mean > 0.625) == frozen.bits_of(same[None])[0]).all()


def test_many_clients_report_as_one_does() -> None:
    rappor = Rappor(bits=40, f=0.45, p=0.0, q=1.0)
    secrets = [client_secret(SECRET, str(number)) for number in range(30)]
    values = [f"v{number % 7}" for number in range(30)]
    whole = np.concatenate(list(client_reports(rappor, values, secrets)))
    for value, secret, report in zip(values, secrets, whole, strict=True):
        assert (RapporClient(rappor, SecretMemo(secret)).report(value) == report).all()


def test_a_message_reaches_the_collector() -> None:
    collector = Aggregator(GOOGLE)
    collector.add_messages(
        [RapporClient(GOOGLE, SecretMemo(b"secret of client %d" % i)).message("abc") for i in range(20)]
    )
    assert collector.n == collector.tally[:, 0].sum() == 20


def test_a_cohort_is_needed_and_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="drawn once"):
        RapporClient(GOOGLE, MemoFile(tmp_path / "memo"))
    with pytest.raises(ParameterError, match="from 0 to 63"):
        RapporClient(GOOGLE, SecretMemo(SECRET), cohort=64)


def test_the_owner_and_not_the_collector_says_what_reports_of_a_value_may_cost() -> None:
    for dear in (Rappor(f=0.0, p=0.25), Rappor(f=0.125), Rappor(f=0.5, hashes=6)):
        with pytest.raises(ParameterError, match="Nothing was reported"):
            RapporClient(dear, SecretMemo(SECRET))
        with pytest.raises(ParameterError, match="Nothing was reported"):
            next(client_reports(dear, ["abc"], [SECRET]))
    assert RapporClient(Rappor(f=0.125), SecretMemo(SECRET), budget=11.0).message("abc")
    for wrong in (float("inf"), float("nan"), -1.0):
        with pytest.raises(ParameterError, match="budget is"):
            RapporClient(GOOGLE, SecretMemo(SECRET), budget=wrong)


def test_parameters_without_noise_are_refused_by_everybody() -> None:
    for p, q in ((0.0, 1.0), (0.0, 0.5), (0.5, 1.0), (1.0, 0.0)):
        with pytest.raises(ParameterError, match="costs epsilon"):
            Rappor(f=0.0, p=p, q=q)


def test_what_is_no_text_is_reported_as_one_and_the_same() -> None:
    frozen = RapporClient(Rappor(bits=64, p=0.0, q=1.0, f=0.5), SecretMemo(SECRET))
    sent: set[bytes] = {frozen.message(odd) for odd in (3, None, b"abc", ["abc"], "\ud800")}  # type: ignore[arg-type]
    assert len(sent) == 1


def test_a_master_secret_that_can_be_guessed_is_refused() -> None:
    for short in (b"", b"15 bytes only.."):
        with pytest.raises(ParameterError, match="random bytes"):
            client_secret(short, "client 1")
