"""`discreet anonymize`: by a waiver that goes on record, and by roles that somebody gave."""

from __future__ import annotations

import csv
import errno
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import discreet.microdata.published_table as published_table
from discreet.service.cli.command import NOT_PERMITTED, UNWRITTEN, main
from tests.service.cli.tables.table_folder import HOSTILE, SCHEMA, charges, made_folder, refused

ASKED = ("anonymize", "people.csv", "--schema", "s.toml", "--ledger", "l.ledger", "--out", "t.csv")
PAID = (*ASKED, "--waiver", "they are made up")
K = ("--k", "10")

Out = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> Path:
    made = made_folder(tmp_path, monkeypatch)
    capsys.readouterr()
    return made


def rows() -> list[dict[str, str]]:
    with open("t.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_everybody_is_one_of_k_and_the_waiver_is_on_record(folder: Path, capsys: Out) -> None:
    assert main([*PAID, *K, "--l", "2"]) == 0
    out = capsys.readouterr().out
    assert "no promise" in out
    assert "warning: NOT PRIVATE" in out
    assert min(Counter((row["start"], row["sex"]) for row in rows()).values()) >= 10
    assert main(["ledger", "show", "l.ledger"]) == 0
    assert "waived: they are made up" in capsys.readouterr().out


def test_without_a_waiver_the_private_way_is_named(folder: Path, capsys: Out) -> None:
    for more in ((), ("--waiver", " ")):
        assert "discreet synthesize" in refused(capsys, *ASKED, *K, *more, code=NOT_PERMITTED)
    assert not (folder / "t.csv").exists()


def test_roles_of_a_file_come_before_those_of_the_schema(folder: Path, capsys: Out) -> None:
    (folder / "roles.toml").write_text('sex = "identifying"\nend = "quasi-identifier"\n')
    assert main([*PAID, *K, "--roles", "roles.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == ["start", "end", "ill"]
    assert min(Counter((row["start"], row["end"]) for row in rows()).values()) >= 10


def test_the_lattice_takes_levels_and_leaves_a_share_out(folder: Path, capsys: Out) -> None:
    (folder / "h.toml").write_text("start = [5, 10]\n")
    lattice = ("--method", "lattice", "--hierarchies", "h.toml", "--suppression", "0.01")
    assert main([*PAID, "--k", "50", *lattice, "--t", "0.5", "--json", "--key", "k"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["levels"] == {"start": 1, "sex": 0}
    assert found["left_out"] == 0
    assert {row["start"] for row in rows()} == {"[0, 5)", "[5, 10)"}
    before = (folder / "t.csv").read_bytes()
    assert main([*PAID, "--k", "50", *lattice, "--t", "0.5", "--key", "k"]) == 0
    assert ((folder / "t.csv").read_bytes(), charges()) == (before, 1)


def test_a_table_that_cannot_be_written_stays_under_its_key(
    folder: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(published_table, "replace_own", full)
        assert main([*PAID, *K]) == UNWRITTEN
    key = capsys.readouterr().err.partition("--key ")[2].partition(",")[0]
    assert main([*PAID, *K, "--key", key]) == 0
    assert charges() == 1


def test_mistakes_are_named_before_anything_is_on_record(folder: Path, capsys: Out) -> None:
    assert "Did you mean 'mondrian'?" in refused(capsys, *PAID, *K, "--method", "mondrain")
    (folder / "roles.toml").write_text('absent = "quasi-identifier"')
    assert "'absent'" in refused(capsys, *PAID, *K, "--roles", "roles.toml")
    (folder / "roles.toml").write_text('sex = "quasi"')
    assert "Roles are identifying" in refused(capsys, *PAID, *K, "--roles", "roles.toml")
    for more in (
        ("--k", "0"),
        ("--k", "ten"),
        ("--l", "3.5"),
        ("--l", "nan"),
        ("--t", "-1"),
        ("--suppression", "0.1"),
        ("--suppression", "2", "--method", "lattice"),
        ("--diversity", "none", "--l", "2"),
        ("--ordered", HOSTILE),
        ("--roles", "absent.toml"),
        ("--roles", "people.csv"),
        ("--hierarchies", "absent.toml", "--method", "lattice"),
        ("--hierarchies", "s.toml", "--method", "lattice"),
    ):
        refused(capsys, *PAID, *(more if "--k" in more else (*K, *more)))
    refused(capsys, *PAID)
    refused(capsys, *PAID[:5], *PAID[6:], *K)
    (folder / "s.toml").write_text(SCHEMA.replace("quasi-identifier", "other"))
    assert "no column is a quasi-identifier" in refused(capsys, *PAID, *K)


def test_a_table_that_nothing_meets_is_told_without_a_file(folder: Path, capsys: Out) -> None:
    assert main([*PAID, "--k", "401"]) == 2
    assert "no table meets" in capsys.readouterr().err
    assert not (folder / "t.csv").exists()
