"""`discreet synthesize`: a table in a file, paid once; a page that is not private only where it is asked for."""

from __future__ import annotations

import csv
import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import discreet.microdata.published_table as published_table
import discreet.service.cli.out_file as out_file
from discreet.service.cli.command import NOT_PERMITTED, OVER_BUDGET, UNWRITTEN, main
from tests.service.cli.tables.table_folder import HOSTILE, SCHEMA, charges, made_folder, refused
from tests.service.cli.test_ask_command import FullDisk

ASKED = ("synthesize", "people.csv", "--schema", "s.toml", "--epsilon", "4")
PAID = (*ASKED, "--ledger", "l.ledger", "--out", "t.csv")

Out = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> Path:
    made = made_folder(tmp_path, monkeypatch)
    capsys.readouterr()
    return made


def rows(path: str = "t.csv") -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_table_is_written_and_its_price_printed(folder: Path, capsys: Out) -> None:
    assert main(PAID) == 0
    out = capsys.readouterr().out
    assert out.startswith("synthetic table: ")
    assert "epsilon " in out
    assert out.endswith(f"Wrote {folder.resolve() / 't.csv'}\n")
    assert set(rows()[0]) == {"start", "end", "sex", "ill"}
    assert 200 < len(rows()) < 600
    assert sorted(path.name for path in folder.iterdir() if path.suffix in (".html", ".part")) == []


def test_options_reach_the_table(folder: Path, capsys: Out) -> None:
    given = ("--columns", "start", "--columns", "end", "--rows", "60", "--bins", "8", "--constraint", "end >= start")
    assert main([*PAID, *given, "--constraint", "end <= 12", "--delta", "0", "--distances", "0.1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["columns"], found["rows"]) == (["start", "end"], len(rows()))
    assert found["receipt"]["delta"] == 0
    assert len(rows()) <= 60
    assert all(int(row["start"]) <= int(row["end"]) <= 12 for row in rows())
    for more in (("--method", "contingency", "--degree", "1"), ("--method", "diffgen", "--target", "ill")):
        assert main([*PAID, *more]) == 0


def test_a_parquet_file_says_the_same_under_the_same_key(folder: Path, capsys: Out) -> None:
    pandas = pytest.importorskip("pandas")
    assert main([*PAID, "--key", "k"]) == 0
    assert main([*PAID[:-1], "t.parquet", "--key", "k"]) == 0
    assert "(paid earlier)" in capsys.readouterr().out
    assert charges() == 1
    frame = pandas.read_parquet("t.parquet")
    assert frame["ill"].tolist() == [row["ill"] for row in rows()]
    assert frame["start"].tolist() == [int(row["start"]) for row in rows()]


def test_the_page_of_utility_takes_a_waiver_and_says_that_it_is_not_private(folder: Path, capsys: Out) -> None:
    said = refused(capsys, *PAID, "--report", "u.html", code=NOT_PERMITTED)
    assert "NOT PRIVATE" in said
    assert "NOT PRIVATE" in refused(capsys, *PAID, "--report", "u.html", "--waiver", " ", code=NOT_PERMITTED)
    assert "keeps its promise without" in refused(capsys, *PAID, "--waiver", "why")
    needs = refused(capsys, *ASKED, "--out", "t.csv", "--report", "u.html", "--waiver", "why")
    assert "only a ledger keeps one" in needs
    assert not (folder / "u.html").exists()
    assert main([*PAID, "--report", "u.html", "--waiver", "they are made up"]) == 0
    assert "warning: NOT PRIVATE" in capsys.readouterr().out
    assert "NOT PRIVATE" in (folder / "u.html").read_text()
    assert (folder / "u.html").stat().st_mode & 0o077 == 0
    assert charges() == 2
    assert main(["ledger", "show", "l.ledger"]) == 0
    assert "waived: they are made up" in capsys.readouterr().out


def test_a_page_that_cannot_be_made_is_refused_before_the_table_is_paid(folder: Path, capsys: Out) -> None:
    pooled = '[unit]\nkind = "user"\ncolumn = "end"\npooled = true\n'
    (folder / "s.toml").write_text(pooled + SCHEMA)
    assert main(["ledger", "create", "p.ledger", "--schema", "s.toml", "--epsilon", "20", "--delta", "1e-5"]) == 0
    asked = (*ASKED, "--columns", "sex", "ill", "--ledger", "p.ledger", "--out", "t.csv")
    refused(capsys, *asked, "--report", "u.html", "--waiver", "made up", code=NOT_PERMITTED, ledger="p.ledger")
    assert main(asked) == 0


def test_the_page_is_named_in_json(folder: Path, capsys: Out) -> None:
    assert main([*PAID, "--report", "u.html", "--waiver", "made up", "--json", "--key", "k"]) == 0
    first = (folder / "u.html").read_text()
    found = json.loads(capsys.readouterr().out)
    assert found["report"] == str(folder.resolve() / "u.html")
    assert found["warning"].startswith("NOT PRIVATE")
    assert main([*PAID, "--report", "u.html", "--waiver", "made up", "--key", "k"]) == 0
    assert ((folder / "u.html").read_text(), charges()) == (first, 2)


def test_a_table_that_cannot_be_written_stays_under_its_key(
    folder: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as disk:
        disk.setattr(published_table, "replace_own", full)
        assert main(PAID) == UNWRITTEN
    said = capsys.readouterr().err
    assert "No space left on device. It was charged, and stays in the ledger under the key" in said
    key = said.partition("--key ")[2].partition(",")[0]
    assert not (folder / "t.csv").exists()
    with monkeypatch.context() as disk:
        disk.setattr(sys, "stdout", FullDisk())
        assert main([*PAID, "--key", key]) == UNWRITTEN
    assert "It was charged, and the table is in " in capsys.readouterr().err
    assert rows()
    assert main([*PAID, "--key", key]) == 0
    assert charges() == 1
    with monkeypatch.context() as disk:
        disk.setattr(published_table, "replace_own", full)
        assert main([*ASKED, "--out", "t.csv"]) == UNWRITTEN
    assert "no ledger remembers it" in capsys.readouterr().err


def test_a_page_that_cannot_be_written_leaves_the_table(
    folder: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as disk:
        disk.setattr(out_file, "replace_own", full)
        assert main([*PAID, "--report", "u.html", "--waiver", "made up", "--key", "k"]) == 2
    out, err = capsys.readouterr()
    assert "synthetic table" in out
    assert "NOT PRIVATE" not in out
    assert "The table was charged, and is written. Ask again with --key k." in err
    assert rows()
    assert os.listdir(folder).count("u.html") == 0


def test_mistakes_are_named_before_anything_is_paid(folder: Path, capsys: Out) -> None:
    assert "Did you mean 'adaptive'?" in refused(capsys, *PAID, "--method", "adaptve")
    assert "Give tree or" in refused(capsys, *PAID, "--method", HOSTILE)
    for more in (
        ("--columns", "absent"),
        ("--columns", HOSTILE),
        ("--constraint", "end >"),
        ("--constraint", "absent > 1"),
        ("--rows", "-1"),
        ("--rows", "many"),
        ("--bins", "1"),
        ("--distances", "nan"),
        ("--distances", "0.9"),
        ("--degree", "0", "--method", "mwem"),
        ("--target", "absent"),
        ("--delimiter", "ab"),
        ("--out", "u.csv"),
        ("--report", "people.csv", "--waiver", "w"),
        ("--report", "t.csv", "--waiver", "w"),
        ("--report", "", "--waiver", "w"),
    ):
        refused(capsys, *PAID, *more)
    for out in ("t.xlsx", "t", "t.csv.gz", "people.csv", "/dev/full", "."):
        refused(capsys, *PAID[:-1], out)
    for epsilon in ("0", "-1", "nan", "inf"):
        refused(capsys, *PAID[:4], "--epsilon", epsilon, *PAID[6:])
    assert main([*PAID[:4], "--epsilon", "60", *PAID[6:]]) == OVER_BUDGET
    assert charges() == 0
    assert not (folder / "t.csv").exists()


def test_files_that_are_missing_are_named(folder: Path, capsys: Out) -> None:
    for place, name in ((1, "absent.csv"), (3, "absent.toml")):
        asked = [*PAID[:place], name, *PAID[place + 1 :]]
        assert name in refused(capsys, *asked)
    (folder / "data").mkdir()
    (folder / "people.csv").rename(folder / "data" / "people.csv")
    within = ["synthesize", "data", *PAID[2:-1]]
    for data in ("data", "data/p*.csv"):
        assert "that folder has the data" in refused(capsys, "synthesize", data, *PAID[2:-1], "data/t.csv")
    assert main([*within, "t.csv"]) == 0


def test_an_account_without_a_delta_pays_without(folder: Path, capsys: Out) -> None:
    assert main(["ledger", "create", "pure.ledger", "--schema", "s.toml", "--epsilon", "9"]) == 0
    capsys.readouterr()
    assert main([*ASKED, "--ledger", "pure.ledger", "--out", "t.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["receipt"]["delta"] == 0


def test_names_of_columns_rewrite_neither_page_nor_terminal(folder: Path, capsys: Out) -> None:
    named = HOSTILE.replace("\x1b", "\\u001b")
    (folder / "people.csv").write_text("\n".join([f"{HOSTILE},ill", *(["1,flu", "2,cold"] * 100)]))
    kinds = 'kind = "number"\nlower = 0\nupper = 9\n[columns.ill]\nkind = "category"\nvalues = ["flu", "cold"]'
    (folder / "s.toml").write_text(f'[columns."{named}"]\n{kinds}')
    assert main([*PAID, "--report", "u.html", "--waiver", HOSTILE]) == 0
    assert "\x1b" not in capsys.readouterr().out
    page = (folder / "u.html").read_text()
    assert "<script" not in page
    assert "&lt;script" in page
