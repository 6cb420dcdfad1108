"""The account of a device: one report to each task, and a limit for all tasks together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, EngineFailure, NotPermitted, ParameterError
from discreet.core.events import LaplaceLoss
from discreet.noise.deterministic import DeterministicBits
from discreet.trust.aggregation.device_account import DeviceAccount
from discreet.trust.aggregation.prio_reporter import PrioReporter
from discreet.trust.aggregation.published_task import PublishedTask
from discreet.trust.aggregation.sealed_report import SealedReport
from tests.trust.aggregation.surveyed import SUMS, published, task

PLAIN = {"DeviceAccount": "a number of tasks, and one of the budget"}
ROW = np.array([[1.5]])


def asked(name: str) -> PublishedTask:
    return published(task(noise=LaplaceLoss(1.0), recipe=SUMS, name=name))


def made(account: DeviceAccount, name: str = "t", row: Any = ROW) -> Any:
    return account.report(asked(name), row, DeterministicBits(len(name)))


@pytest.fixture(params=[False, True], ids=["memory", "file"])
def account(request: pytest.FixtureRequest, tmp_path: Path) -> DeviceAccount:
    return DeviceAccount(Budget(2.0), tmp_path / "device" if request.param else None)


def test_all_tasks_together_cost_what_the_owner_lets_them_and_one_more_is_refused(account: DeviceAccount) -> None:
    """An asker who publishes a hundred tasks would have a hundred times what a device promised its owner."""
    for name in ("first", "second"):
        assert made(account, name) is not None
    assert account.spent == pytest.approx(2.0)
    with pytest.raises(BudgetExceeded, match="3 tasks cost epsilon 3"):
        made(account, "third")
    assert account.spent == pytest.approx(2.0)


def test_a_report_that_is_made_again_is_the_same_until_it_has_arrived(account: DeviceAccount) -> None:
    first, again = made(account), made(account)
    assert (first.nonces == again.nonces).all()
    for one, other in zip(first.shares.inputs, again.shares.inputs, strict=True):
        assert one.tobytes() == other.tobytes()
    account.arrived(asked("t"))
    assert made(account) is None
    assert account.spent == pytest.approx(1.0)


def test_another_record_is_not_reported_to_the_same_task(account: DeviceAccount) -> None:
    made(account, row=np.array([[np.nan]]))
    assert made(account, row=np.array([[-np.nan]])) is not None
    with pytest.raises(NotPermitted, match="another record"):
        made(account)


def test_it_outlives_the_process_and_is_nobody_elses(tmp_path: Path) -> None:
    path = tmp_path / "device"
    first = made(DeviceAccount(Budget(1.0), path))
    assert path.stat().st_mode & 0o077 == 0
    again = DeviceAccount(Budget(1.0), path)
    assert made(again).shares.public.tobytes() == first.shares.public.tobytes()
    with pytest.raises(BudgetExceeded):
        made(again, "another")
    path.unlink()
    with pytest.raises(ParameterError, match="is gone"):
        made(again)


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"version": 2}', b'{"version": 1, "tasks": {"a": 3}}'])
def test_a_damaged_one_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "device"
    path.write_bytes(data)
    path.chmod(0o600)
    with pytest.raises(ParameterError, match="not the account of this device"):
        DeviceAccount(Budget(1.0), path)


def test_a_device_that_tries_again_sends_the_same_report_and_no_second_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report that arrived unheard counted beside the one that was sent after it: twice the price, for one record."""
    sent: list[bytes] = []

    def unheard(_: PrioReporter, reports: list[SealedReport]) -> None:
        sent.extend(bytes(one.metadata.nonce) for one in reports)
        if len(sent) == 1:
            raise EngineFailure("send", "nobody answers", "Send it again later.")

    monkeypatch.setattr(PrioReporter, "sealed", lambda self, made: [_Sealed(bytes(one)) for one in made.nonces])
    monkeypatch.setattr(PrioReporter, "send", unheard)
    phone = PrioReporter(asked("t"))
    with pytest.raises(EngineFailure):
        phone.report({"x0": 1.5})
    phone.report({"x0": 1.5})
    phone.report({"x0": 1.5})
    assert len(sent) == 2
    assert len(set(sent)) == 1
    with pytest.raises(NotPermitted, match="another record"):
        phone.report({"x0": 2.5})


class _Sealed:
    def __init__(self, nonce: bytes) -> None:
        self.metadata = self
        self.nonce = nonce
