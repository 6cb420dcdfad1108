"""Sealed reports: opened by whom they are for, about what they were made for, and by nobody else."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import DiscreetError, ParameterError
from discreet.crypto.errors import Malformed
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.system_bits import system_bits
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.aggregation.sealed_report import (
    SEALED,
    SealedReport,
    ShareKey,
    opened_shares,
    sealed_reports,
)
from discreet.trust.aggregation.share_aggregator import Batch
from tests.trust.aggregation.test_share_aggregator import ROWS, opened, pair, reports, task

KEYS = [ShareKey.drawn(DeterministicBits(k)) for k in range(2)]
TASK = task()
SENT = sealed_reports(TASK, reports(TASK), [key.public for key in KEYS])


def added_up(sent: list[SealedReport], asked: AggregationTask = TASK) -> list[float] | Batch:
    """The sum of what two aggregators make of sealed reports; what is said of the batch, where none is left."""
    those = pair(asked)
    shares = [opened_shares(asked, k, KEYS[k], sent) for k in (0, 1)]
    said = [one.begin(mine.nonces, mine.public, mine.inputs) for one, mine in zip(those, shares, strict=True)]
    accepted = [one.decide(said) for one in those]
    for one in those:
        one.count(accepted)
    return opened(those) if those[0].batch.accepted else those[0].batch


def test_what_is_sealed_is_added_up_as_what_is_not() -> None:
    travelled = [SealedReport.read(one.written(), TASK) for one in SENT]
    assert travelled == SENT
    assert added_up(travelled) == [1.0, 2.0, 0.0, 1.0]
    assert [len(share) for share in SENT[0].shares] == [TASK.vdaf.input(k) + SEALED for k in (0, 1)]


def test_an_aggregator_opens_its_own_shares_alone() -> None:
    plain = reports(TASK).shares.inputs
    for number in (0, 1):
        assert (opened_shares(TASK, number, KEYS[number], SENT).inputs == plain[number]).all()
        assert not opened_shares(TASK, number, KEYS[1 - number], SENT).inputs.any()


def test_a_share_opens_for_its_own_task_nonce_public_share_and_aggregator_alone() -> None:
    first, second = SENT[:2]
    moved = [
        dataclasses.replace(first, nonce=second.nonce),
        dataclasses.replace(first, public=second.public),
        dataclasses.replace(first, shares=second.shares),
    ]
    for one in moved:
        assert not opened_shares(TASK, 0, KEYS[0], [one]).inputs.any()
    assert not opened_shares(task(name="u"), 0, KEYS[0], SENT).inputs.any()
    same = sealed_reports(TASK, reports(TASK), [KEYS[0].public, KEYS[1].public])
    assert same[0].shares[0] != first.shares[0]  # a fresh key each time


def test_a_share_that_does_not_open_counts_for_nothing() -> None:
    for number in (0, 1):
        shares = list(SENT[0].shares)
        shares[number] = bytes(len(shares[number]))
        spoilt = dataclasses.replace(SENT[0], shares=tuple(shares))
        assert added_up([spoilt, *SENT[1:]]) == [0.0, 2.0, 0.0, 1.0]
    nothing = dataclasses.replace(SENT[0], shares=tuple(bytes(len(one)) for one in SENT[0].shares))
    assert added_up([nothing]) == Batch(0, 1, 0)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 10**6))
def test_fuzzed_bytes_are_refused_or_count_for_nothing(data: bytes, place: int) -> None:
    with pytest.raises(DiscreetError):
        SealedReport.read(data, TASK)
    whole = bytearray(SENT[0].written())
    whole[place % len(whole)] ^= 1
    try:
        changed = SealedReport.read(bytes(whole), TASK)
    except Malformed:
        return
    shares = [opened_shares(TASK, k, KEYS[k], [changed]).inputs for k in (0, 1)]
    assert sum(one.any() for one in shares) < 2


def test_keys_are_one_for_each_aggregator_and_shown_to_nobody() -> None:
    honest = reports(TASK, ROWS[:1])
    for keys in ([KEYS[0].public], [KEYS[0].public] * 2, [key.public for key in KEYS] * 2):
        with pytest.raises(ParameterError):
            sealed_reports(TASK, honest, keys)
    with pytest.raises(ParameterError):
        ShareKey(b"short")
    assert KEYS[0].secret.hex() not in repr(KEYS[0])
    assert len({ShareKey.drawn(system_bits()).public for _ in range(3)}) == 3
    assert "shares" not in repr(SENT[0])
    assert np.array_equal(opened_shares(TASK, 0, KEYS[0], []).nonces, np.empty((0, 16), np.uint8))
