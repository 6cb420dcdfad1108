"""Files of keys, secrets and accounts: whole or not there, and nobody else's."""

from __future__ import annotations

import contextlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from discreet.core.errors import ParameterError
from discreet.ledger.own_file import create_own, read_own, replace_own


def test_of_many_who_create_a_file_one_does_and_all_read_the_same(tmp_path: Path) -> None:
    path = tmp_path / "key"

    def created(number: int) -> bytes:
        with contextlib.suppress(FileExistsError):
            create_own(path, bytes([number]) * 32)
        return read_own(path, "read", 32, 32)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(created, range(64)))) == 1
    assert [one.name for one in tmp_path.iterdir()] == ["key"]


@pytest.mark.parametrize("stop", ["fsync", "link", "replace"])
def test_a_crash_leaves_the_old_file_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: str) -> None:
    path = tmp_path / "key"
    write = create_own if stop == "link" else replace_own
    if write is replace_own:
        replace_own(path, b"old")

    def stopped(*_: object) -> None:
        raise OSError("the power is gone")

    monkeypatch.setattr(os, stop, stopped)
    with pytest.raises(OSError, match="power"):
        write(path, b"new")
    assert (path.read_bytes() if path.exists() else None) == (None if stop == "link" else b"old")


def test_bytes_are_on_disk_before_they_have_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    for name in ("fsync", "link"):

        def recorded(*given: Any, name: str = name, real: Any = getattr(os, name)) -> None:  # noqa: B008
            done.append(name)
            real(*given)

        monkeypatch.setattr(os, name, recorded)
    create_own(tmp_path / "key", b"new")
    assert done == ["fsync", "link", "fsync"]


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_a_file_of_others_or_of_another_length_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, before = tmp_path / "key", os.umask(0)
    try:
        create_own(path, bytes(32))
    finally:
        os.umask(before)
    assert read_own(path, "read", 32, 32) == bytes(32)
    for least, most, words in ((33, 64, "it has 32 bytes"), (1, 31, "more than 31 bytes")):
        with pytest.raises(ParameterError, match=words):
            read_own(path, "read", least, most)
    for mode in (0o640, 0o604, 0o602, 0o610):
        path.chmod(mode)
        with pytest.raises(ParameterError, match=f"mode {mode:o}"):
            read_own(path, "read", 32, 32)
    path.chmod(0o600)
    found = SimpleNamespace(st_mode=0o600, st_uid=os.geteuid() + 4242)
    with pytest.raises(ParameterError, match="belongs to somebody else"), monkeypatch.context() as other:  # noqa: PT012
        other.setattr(os, "stat", lambda _: found)
        read_own(path, "read", 32, 32)
