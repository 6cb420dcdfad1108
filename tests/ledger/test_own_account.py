"""A person's own account: what it finds in its file, and what it does where the file is gone or cannot be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.core.errors import ParameterError
from discreet.core.held import exclusive
from discreet.ledger.own_account import OwnAccount


class Purse(OwnAccount):
    """Counts what was taken out of it."""

    taken = 0

    @exclusive
    def take(self) -> int:
        with self._held():
            self._keep(str(self.taken + 1).encode())
            self.taken += 1
        return self.taken

    @property
    def _begun(self) -> bool:
        return self.taken > 0

    def _take(self, data: bytes) -> None:
        self.taken = int(data)


def test_two_that_share_a_file_spend_from_one_account(tmp_path: Path) -> None:
    one, other = Purse(tmp_path / "purse"), Purse(tmp_path / "purse")
    assert [one.take(), other.take(), one.take()] == [1, 2, 3]
    assert Purse(tmp_path / "purse").taken == 3


def test_in_memory_each_is_its_own() -> None:
    assert [Purse().take(), Purse().take()] == [1, 1]


def test_one_that_is_gone_or_damaged_or_cannot_be_written_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "purse"
    purse = Purse(path)
    purse.take()
    path.write_bytes(b"many")
    with pytest.raises(ParameterError, match="not the account of this device"):
        purse.take()
    path.unlink()
    with pytest.raises(ParameterError, match="what was spent with it"):
        purse.take()
    with pytest.raises(ParameterError, match="file that can be written"):
        Purse(tmp_path / "nowhere" / "purse")
