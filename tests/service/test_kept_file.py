"""Files that one process writes again and again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import NotPermitted, ParameterError
from discreet.crypto.gelu_net.server_weights import ServerWeights
from discreet.service.kept_file import KeptFile
from discreet.service.key_file import read_kept_secret, write_secret_key
from tests.crypto.gelu_net.two_sides import SMALL


def test_the_second_of_two_processes_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "counts"
    one, other = KeptFile.there(path, b"{}"), KeptFile.there(path, b"[]")
    assert other.data == b"{}"
    one.replace(b"1")
    with pytest.raises(NotPermitted, match="another process has written it"):
        other.replace(b"2")
    one.replace(b"3")
    assert (path.read_bytes(), one.data, KeptFile(path).data) == (b"3", b"3", b"3")
    assert path.stat().st_mode & 0o077 == 0


def test_what_cannot_be_read_by_its_owner_alone_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "counts"
    with pytest.raises(ParameterError, match="Check the path"):
        KeptFile(path)
    with pytest.raises(ParameterError, match="Choose another place"):
        KeptFile.there(tmp_path / "nowhere" / "counts", b"{}")
    path.write_bytes(b"{}")
    path.chmod(0o644)
    with pytest.raises(ParameterError, match="others on this machine can read it"):
        KeptFile(path)


def test_a_secret_stays_under_its_passphrase_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, words = tmp_path / "w.secret", "correct horse battery"
    drawn = ServerWeights(SMALL, SMALL.fresh(np.random.default_rng(1)))
    write_secret_key(path, drawn, words)
    with pytest.raises(ParameterError):
        read_kept_secret(path, ServerWeights)
    monkeypatch.setenv("DISCREET_PASSPHRASE", words)
    own = read_kept_secret(path, ServerWeights)
    own.move([np.ones((17, 8)), np.ones((9, 4))])
    again = read_kept_secret(path, ServerWeights)
    assert again.to_bytes() == own.to_bytes() != drawn.to_bytes()
    assert own.to_bytes() not in path.read_bytes()
