"""However a run is killed, its ledger has paid for every draw."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors
from discreet.ledger.sqlite_ledger import SqliteLedger
from tests.deep.training import killed_runs
from tests.deep.training.test_processes import fresh


@pytest.mark.xdist_group("processes")
@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.parametrize("kills", [5, pytest.param(200, marks=pytest.mark.slow)])
def test_no_draw_is_unpaid_however_the_run_is_killed(kills: int, tmp_path: Path) -> None:
    """In one fresh process, which forks: half of the runs die at a line of the trainer or the ledger, half in time."""
    path = str(tmp_path / "ledger.db")
    SqliteLedger.create(path, Budget(10.0, 1e-5), name="people", neighbors=Neighbors.ADD_REMOVE).close()
    trial = fresh.Process(target=killed_runs.trial, args=(path, str(tmp_path / "notes"), kills, kills))
    trial.start()
    trial.join(60 + 10 * kills)
    assert trial.exitcode == 0
