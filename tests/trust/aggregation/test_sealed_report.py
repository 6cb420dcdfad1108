"""Sealed reports: opened by whom they are for, about what they were made for, and by nobody else."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.system_bits import system_bits
from discreet.trust.aggregation.dap import HpkeConfig, whole
from discreet.trust.aggregation.sealed_report import (
    TAG,
    SealedReport,
    ShareKey,
    about_input,
    opened_shares,
    sealed_reports,
)
from discreet.trust.aggregation.share_aggregator import Reports
from tests.trust.aggregation.surveyed import NOW, ROWS, SUMS, published, task

TASK = published(task(recipe=SUMS))
KEYS = [ShareKey.drawn(DeterministicBits(k)) for k in range(2)]
PUBLIC = [HpkeConfig(1, key.public) for key in KEYS]
MADE = Reports.of(TASK.task, ROWS, DeterministicBits(9))
SENT = sealed_reports(TASK, MADE, PUBLIC, NOW)


def opened(number: int, key: int, sent: list[SealedReport], of: Any = TASK) -> Any:
    return opened_shares(of, number, {1: KEYS[key]}, [(one.metadata, one.public, one.shares[number]) for one in sent])


def test_a_report_travels_and_is_opened_by_its_aggregators_alone() -> None:
    for one in SENT:
        assert whole(one.written(), lambda reader: SealedReport.read(reader, TASK)) == one
    for number in (0, 1):
        mine = opened(number, number, SENT)
        assert (mine.inputs == MADE.shares.inputs[number]).all()
        assert (mine.nonces == MADE.nonces).all()
        assert mine.readable.all()
        other = opened(number, 1 - number, SENT)
        assert not other.readable.any()
        assert not other.inputs.any()
    assert [len(one.payload) for one in SENT[0].shares] == [TASK.task.vdaf.input(k) + TAG + 6 for k in (0, 1)]


def test_a_share_opens_for_its_own_task_time_nonce_public_share_and_aggregator_alone() -> None:
    first, second = SENT[:2]
    moved = [
        dataclasses.replace(first, metadata=second.metadata),
        dataclasses.replace(first, metadata=dataclasses.replace(first.metadata, time=NOW + 3600)),
        dataclasses.replace(first, public=second.public),
        dataclasses.replace(first, shares=second.shares),
        dataclasses.replace(first, shares=first.shares[::-1]),
    ]
    for one in moved:
        assert not opened(0, 0, [one]).readable.any()
    for other in (
        published(task(recipe=SUMS, name="u")),
        published(TASK.task, precision=60),
        published(TASK.task, start=NOW - 1),
    ):
        assert not opened(0, 0, SENT, other).readable.any()
    unknown = dataclasses.replace(first.shares[0], number=2)
    assert not opened(0, 0, [dataclasses.replace(first, shares=(unknown, first.shares[1]))]).readable.any()
    for number, wanted in ((1, True), (0, False)):  # the helper's, taken for the leader's
        about = about_input(TASK, number, first.metadata, first.public)
        assert (KEYS[1].opened(first.shares[1], about) is not None) == wanted
    assert sealed_reports(TASK, MADE, PUBLIC, NOW)[0].shares[0] != first.shares[0]  # a fresh key each time


def test_lengths_that_are_not_the_tasks_are_refused_and_changed_bytes_do_not_open() -> None:
    data = SENT[0].written()
    draw = np.random.default_rng(0)
    for place in draw.integers(0, len(data), 300).tolist():
        changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        try:
            one = whole(changed, lambda reader: SealedReport.read(reader, TASK))
        except Malformed:
            continue
        assert not (opened(0, 0, [one]).readable & opened(1, 1, [one]).readable).any()


def test_keys_are_one_for_each_aggregator_and_shown_to_nobody() -> None:
    for keys in (PUBLIC[:1], PUBLIC[:1] * 2, PUBLIC * 2):
        with pytest.raises(ParameterError):
            sealed_reports(TASK, MADE, keys, NOW)
    with pytest.raises(ParameterError):
        ShareKey(b"short")
    assert KEYS[0].secret.hex() not in repr(KEYS[0])
    assert len({ShareKey.drawn(system_bits()).public for _ in range(3)}) == 3
    assert "shares" not in repr(SENT[0])
    assert opened(0, 0, []).nonces.shape == (0, 16)
