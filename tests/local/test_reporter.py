"""The device: one report for each value that the budget pays for, the same one ever after."""

from __future__ import annotations

import json
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import BudgetExceeded, NotPermitted, ParameterError
from discreet.local.means.hybrid_report import HybridReport
from discreet.local.means.privunit_vector import DuchiVector, PrivUnitVector
from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
from discreet.local.reporter import Reporter
from discreet.local.subspaces.product_report import GaussianProducts

PLAIN = {
    "Reporter": "it shows numbers, and its path by its repr",
}
"""Why these print no texts of others: see `tests/conformance/test_plain_text.py`."""

SURVEY = GeneralizedRandomizedResponse(0.5, 1000)


def test_a_value_is_reported_once_and_others_within_the_budget() -> None:
    device = Reporter(SURVEY, budget=1.0)
    first, second = device.message(7), device.message(8)
    assert (device.message(7), device.message(8), device.spent) == (first, second, 1.0)
    with pytest.raises(BudgetExceeded, match=r"epsilon 1.5 of 1"):
        device.message(9)
    assert device.spent == 1.0
    with pytest.raises(TypeError, match="neither copied nor pickled"):
        pickle.dumps(device)


def test_ten_tenths_fit_and_no_rounding_lets_an_eleventh_pass() -> None:
    device = Reporter(GeneralizedRandomizedResponse(0.125, 100), budget=1.25)
    for value in range(10):
        device.message(value)
    with pytest.raises(BudgetExceeded):
        device.message(10)


def test_the_account_outlives_the_process_and_one_of_another_survey_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "account"
    message = Reporter(SURVEY, path=path).message(7)
    again = Reporter(SURVEY, path=path)
    assert (again.message(7), again.spent) == (message, 0.5)
    with pytest.raises(BudgetExceeded):
        again.message(8)
    for other in (GeneralizedRandomizedResponse(0.5, 999), GeneralizedRandomizedResponse(0.6, 1000)):
        with pytest.raises(ParameterError, match="not the account of this reporter"):
            Reporter(other, path=path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ParameterError, match="not the account of this reporter"):
        Reporter(SURVEY, path=path)


def test_what_cannot_be_reported_is_answered_by_one_random_report(tmp_path: Path) -> None:
    device = Reporter(SURVEY, path=tmp_path / "account")
    first = device.message(1000)
    assert {device.message(odd) for odd in (-1, 1.5, True, "7", None, [7], {}, float("nan"), object())} == {first}
    assert device.spent == 0.5


def test_fifty_reporters_and_their_threads_on_one_file_send_one_report_for_one_price(tmp_path: Path) -> None:
    path = tmp_path / "account"
    devices = [Reporter(SURVEY, path=path) for _ in range(50)]
    with ThreadPoolExecutor(4) as pool:
        sent = set(pool.map(lambda device: device.message(7), devices * 2))
    assert len(sent) == 1
    assert {device.spent for device in devices} == {0.5}
    for device in devices[:3]:
        with pytest.raises(BudgetExceeded):
            device.message(8)


def test_threads_of_one_reporter_send_one_report_for_one_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever makes a report waits for a second one who does: there is none."""
    device, made = Reporter(GeneralizedRandomizedResponse(0.5, 2**16)), GeneralizedRandomizedResponse.encode
    together = threading.Barrier(2)

    def slowly(self: GeneralizedRandomizedResponse, report: Any) -> bytes:
        with suppress(threading.BrokenBarrierError):
            together.wait(0.5)
        return made(self, report)

    monkeypatch.setattr(GeneralizedRandomizedResponse, "encode", slowly)
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: device.message(7), range(8)))) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_cannot_report_again() -> None:
    device = Reporter(SURVEY)
    child = os.fork()
    if child == 0:
        try:
            device.message(7)
        except NotPermitted:
            os._exit(3)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3


def test_the_account_is_its_owners_alone_and_is_not_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "account"
    device = Reporter(SURVEY, path=path)
    device.message(7)
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    with pytest.raises(ParameterError, match="others on this machine can read it"):
        device.message(7)
    path.chmod(0o600)
    kept = path.read_bytes()
    path.write_bytes(b"")
    with pytest.raises(ParameterError, match="has 0 bytes"):
        Reporter(SURVEY, path=path)
    path.unlink()
    with pytest.raises(ParameterError, match="it is gone"):
        device.message(8)
    path.write_bytes(kept)
    path.chmod(0o600)
    assert device.spent == 0.5
    with pytest.raises(ParameterError, match="open"):
        Reporter(SURVEY, path=tmp_path / "nowhere" / "account")


def test_values_are_known_by_what_their_report_depends_on() -> None:
    vectors = DuchiVector(1.0, 2000, 100.0)
    up = np.zeros(2000)
    up[1000] = 1.0
    device = Reporter(vectors, budget=2.0)
    assert device.message(up) != device.message(-up)
    assert device.message(up.tolist()) == device.message(up)
    assert device.spent == 2.0
    numbers = Reporter(HybridReport(1.0, 0, 10))
    assert numbers.message(10) == numbers.message(np.float32(10.0)) == numbers.message(11)
    assert numbers.spent == 1.0
    labels = Reporter(GeneralizedRandomizedResponse(1.0, ("a", "b")))
    assert labels.message("a") == labels.message(np.str_("a"))
    with pytest.raises(BudgetExceeded):
        labels.message("b")


def test_the_owner_and_not_the_collector_says_what_may_be_spent() -> None:
    dear = GeneralizedRandomizedResponse(11.0, 4)
    with pytest.raises(ParameterError, match="pays 10 at most"):
        Reporter(dear)
    assert Reporter(dear, budget=11.0).message(1)
    for wrong in (float("nan"), float("inf"), 0.0, -1.0):
        with pytest.raises(ParameterError, match="budget is"):
            Reporter(SURVEY, budget=wrong)


def test_whatever_is_pure_is_reported_at_its_largest_loss_and_nothing_else_is() -> None:
    device = Reporter(PrivUnitVector(4.0, 3), budget=8.5)
    for place in range(2):
        device.message(np.eye(3)[place])
    assert device.spent == 8.0
    with pytest.raises(BudgetExceeded, match=r"epsilon 12 of 8\.5"):
        device.message(np.eye(3)[2])
    with pytest.raises(ParameterError, match="is not pure"):
        Reporter(GaussianProducts(2.0), budget=1e6)


def test_accounts_name_no_values(tmp_path: Path) -> None:
    path = tmp_path / "account"
    Reporter(GeneralizedRandomizedResponse(1.0, ("well", "very ill")), path=path).message("very ill")
    assert "ill" not in "".join(json.loads(path.read_bytes())["reports"])
