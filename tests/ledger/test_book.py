"""A book: one entry at a time, whoever writes, and none of a book that was there before."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import PureLoss
from discreet.core.neighbors import Neighbors
from discreet.ledger.sqlite_ledger import SqliteLedger

UNHELD = {"Book": "each transaction holds the lock of its file; a book is created before anybody has it"}
"""Why these change and are not held: see `tests/conformance/test_changing_classes.py`."""


def test_threads_write_one_entry_after_another(tmp_path: Path) -> None:
    with SqliteLedger.create(tmp_path / "l", Budget(1.0), name="l", neighbors=Neighbors.ADD_REMOVE) as ledger:
        threads = [
            threading.Thread(target=ledger.reserve, args=(PureLoss(2.0**-6), "turn"), kwargs={"request": f"{i}"})
            for i in range(8)
        ]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert len(ledger.entries()) == 8
        assert ledger.balance().certified == pytest.approx(8 * 2.0**-6, rel=1e-6)


def test_an_account_is_never_started_over(tmp_path: Path) -> None:
    SqliteLedger.create(tmp_path / "l", Budget(1.0), name="l", neighbors=Neighbors.ADD_REMOVE).close()
    with pytest.raises(DiscreetError, match="there already"):
        SqliteLedger.create(tmp_path / "l", Budget(1.0), name="l", neighbors=Neighbors.ADD_REMOVE)
