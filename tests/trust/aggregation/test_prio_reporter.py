"""A device: which promises it takes part in, and records that become reports; the rest is tried over HTTP."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import EngineFailure, NotPermitted
from discreet.core.events import GaussianLoss, LaplaceLoss
from discreet.trust.aggregation.aggregator_line import AggregatorLine, _refusal
from discreet.trust.aggregation.prio_reporter import PrioReporter
from tests.trust.aggregation.surveyed import published, task

PLAIN = {"PrioReporter": "the name of a task in quotation marks, and an address that was checked"}


def test_only_a_promise_that_is_strong_enough_is_taken_part_in() -> None:
    for event, most in ((LaplaceLoss(0.5), Budget(1.9)), (GaussianLoss(1.0), Budget(2.0, 1e-6))):
        with pytest.raises(NotPermitted, match="takes part in"):
            PrioReporter(published(task(noise=event)), most)
    PrioReporter(published(task(noise=LaplaceLoss(0.5))), Budget(2.0))
    PrioReporter(published(task(noise=GaussianLoss(4.0))), Budget(2.0, 1e-6))


def test_records_become_rows_whatever_they_hold() -> None:
    phone = PrioReporter(published(task(noise=LaplaceLoss(1.0))))
    rows = phone.rows({"x0": [1.5, None, float("inf")]})
    assert rows.shape == (3, 1)
    assert np.isin(phone.published.task.measurements(rows), range(5)).all()


def test_nobody_who_answers_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)

    def refused(self: Any, *_: Any) -> Any:
        raise ConnectionRefusedError

    monkeypatch.setattr(AggregatorLine, "_once", refused)
    phone = PrioReporter(published(task(noise=LaplaceLoss(1.0))))
    with pytest.raises(EngineFailure, match="Send it again later"):
        phone.report({"x0": 1.0})
    assert pauses == [0.2, 0.4, 0.8]
    for status in (429, 502, 503, 504):
        monkeypatch.setattr(AggregatorLine, "_once", lambda *_, status=status: (status, b""))
        with pytest.raises(EngineFailure, match=f"status {status}"):
            phone.send([])


def test_what_an_aggregator_answers_is_bounded_and_not_believed() -> None:
    for answer in (b"", b"{", b"[]", b"3", b'{"type": 3}', b"[" * 10**5, b"\xff"):
        assert "status 500" in str(_refusal(500, answer))
    long = _refusal(400, b'{"type": "' + b"x" * 99 + b'", "detail": "' + b"y" * 9999 + b'"}')
    assert len(long.kind) == 40  # type: ignore[attr-defined]
    assert len(str(long)) < 1000
