"""Files that are written whole or not at all, and tried before anything is paid."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from discreet.core.errors import UNTOUCHED, ParameterError
from discreet.service.cli.out_file import OutFile


def test_a_missing_folder_is_made(tmp_path: Path) -> None:
    with OutFile(str(tmp_path / "a" / "b" / "r.html")) as out:
        out.write("done")
    assert (tmp_path / "a" / "b" / "r.html").read_text() == "done"


def test_what_was_there_stays_until_the_new_file_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    path.write_text("old")
    with OutFile(str(path)):
        assert path.read_text() == "old"
    assert path.read_text() == "old"
    with OutFile(str(path)) as out:
        out.write("new")
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["r.html"]


def test_what_is_not_private_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    path.write_text("old")
    path.chmod(0o644)
    with OutFile(str(path)) as out:
        out.write_own("new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o600)
    assert os.listdir(tmp_path) == ["r.html"]


def test_a_folder_a_device_and_a_place_below_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, "/dev/null", tmp_path / "file" / "r.html"):
        with pytest.raises(ParameterError) as refusal:
            OutFile(str(path))
        assert UNTOUCHED in str(refusal.value)
    assert os.listdir(tmp_path) == ["file"]


def test_the_data_are_never_overwritten(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a\n1\n")
    (tmp_path / "link").symlink_to(data)
    for path in (data, tmp_path / "link"):
        with pytest.raises(ParameterError, match="needed"):
            OutFile(str(path), keep=[None, data])
    assert data.read_text() == "a\n1\n"


def test_a_full_disk_is_told_with_what_was_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(ParameterError, match=r"No space.*It was charged.*Run again"),
        OutFile(str(tmp_path / "r")) as out,
    ):
        out.write("x", "It was charged.", "Run again.")
    assert os.listdir(tmp_path) == []
