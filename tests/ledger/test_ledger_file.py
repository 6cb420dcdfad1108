"""The file of a ledger, before anything is asked of it; the others of this folder hold what it keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.core.errors import LedgerMissing
from discreet.ledger.ledger_file import LedgerFile

PLAIN = {"LedgerFile": "its path is the owner's own"}
"""Why it prints no texts of others: see `tests/conformance/test_plain_text.py`."""


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "none.ledger"
    with pytest.raises(LedgerMissing), LedgerFile(path).reading():
        pass
    assert list(tmp_path.iterdir()) == []
