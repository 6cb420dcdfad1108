"""The command line: what each command does, what it refuses, and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import discreet.service.cli.report_command as report_command
from discreet.core.errors import UNTOUCHED
from discreet.core.progress_bar import ProgressBar
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.service.cli.command import main

SCHEMA = """
[columns.age]
kind = "number"
lower = 0
upper = 100

[columns.sex]
kind = "category"
values = ["f", "m"]
"""
WITH_TEXT = SCHEMA + '[columns.town]\nkind = "text"\n'

Out = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and schemas, in which the commands run."""
    lines = [f"{20 + i % 60},{'f' if i % 3 else 'm'},{'Rome' if i % 2 else 'Oslo'}" for i in range(600)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,town", *lines]) + "\n")
    (tmp_path / "s.toml").write_text(SCHEMA)
    (tmp_path / "text.toml").write_text(WITH_TEXT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys: Out, *argv: str, code: int = 2) -> str:
    """The message of a command that must fail with this code, and print nothing else."""
    assert main(argv) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err


REPORT = ("report", "people.csv", "--schema", "s.toml", "--epsilon", "1")
CREATE = ("ledger", "create", "l.ledger", "--schema", "s.toml", "--epsilon", "3", "--delta", "1e-5")


def test_a_report_is_printed_and_written(folder: Path, capsys: Out) -> None:
    assert main([*REPORT, "--out", "new/folder/report.html"]) == 0
    out = capsys.readouterr().out
    for part in ("Private profile of people.csv", "mean", "median", "Receipt", "Wrote"):
        assert part in out
    page = (folder / "new" / "folder" / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "people.csv" in page


def test_json_is_all_that_is_printed_when_asked_for(folder: Path, capsys: Out) -> None:
    assert main([*REPORT, "--json", "--out", "r.html"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [column["name"] for column in document["columns"]] == ["age", "sex"]
    assert document["receipt"]["secret"] is True
    assert (folder / "r.html").exists()


def test_text_is_named_with_delta(folder: Path, capsys: Out) -> None:
    assert main(["report", "people.csv", "--schema", "text.toml", "--epsilon", "2", "--delta", "1e-4"]) == 0
    assert "Rome" in capsys.readouterr().out


def test_a_plan_reads_no_record_and_charges_nothing(folder: Path, capsys: Out) -> None:
    assert main(CREATE) == 0
    (folder / "people.csv").unlink()
    asked = ("plan", "mean of age", "histogram of sex", "--schema", "s.toml", "--n", "600", "--ledger", "l.ledger")
    assert main([*asked, "--epsilon", "0.5", "1"]) == 0
    assert "mean of age" in capsys.readouterr().out
    assert main([*asked, "--for-error", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["expectations"]
    assert [row["error"] <= 2 and row["times"] > 0 for row in rows] == [True, True]
    assert main([*REPORT, "--ledger", "l.ledger", "--preview", "--n", "600"]) == 0
    assert "counts of sex" in capsys.readouterr().out
    with SqliteLedger.open("l.ledger") as ledger:
        assert ledger.entries() == ()
    assert "is secret" in refused(capsys, *REPORT, "--preview")


def test_the_sample_is_written_where_no_other_file_is(folder: Path, capsys: Out) -> None:
    for _ in range(2):
        assert main(["sample", "--folder", "try", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[1]) == {
        "table": "try/patients.csv",
        "schema": "try/patients.toml",
    }
    (folder / "patients.toml").write_text("mine")
    assert "another file is there" in refused(capsys, "sample")
    assert (folder / "patients.toml").read_text() == "mine"
    assert not (folder / "patients.csv").exists()


def test_the_sample_needs_nothing(folder: Path, capsys: Out) -> None:
    assert main(["report", "--sample", "--out", "r.html"]) == 0
    out = capsys.readouterr().out
    assert "synthetic sample" in out
    assert "Alderford" in out
    assert "epsilon 1, delta 1e-06" in out


def test_a_schema_is_written_filled_in_checked_and_used(folder: Path, capsys: Out) -> None:
    assert main(["schema", "init", "people.csv", "--out", "new.toml"]) == 0
    assert "'age'" in refused_after(capsys, "schema", "check", "new.toml")
    message = refused_after(capsys, "report", "people.csv", "--schema", "new.toml", "--epsilon", "1")
    assert "not filled in" in message
    assert UNTOUCHED in message
    assert "there is a file already" in refused_after(capsys, "schema", "init", "people.csv", "--out", "new.toml")
    assert main(["schema", "check", "s.toml"]) == 0
    assert "age: Number(lower=0.0, upper=100.0)" in capsys.readouterr().out
    assert main(["schema", "init", "people.csv"]) == 0
    assert capsys.readouterr().out == (folder / "new.toml").read_text()


def refused_after(capsys: Out, *argv: str) -> str:
    capsys.readouterr()
    return refused(capsys, *argv)


def test_a_file_is_read_as_it_is_said_to_be_written(folder: Path, capsys: Out) -> None:
    """A quote that is not closed reaches to the end of its line, or of the file."""
    lines = Path("people.csv").read_text().replace(",", ";").splitlines()
    Path("people.csv").write_text("\n".join([*lines[:301], '"40;f;Oslo', *lines[301:]]) + "\n")
    Path("s.toml").write_text('neighbors = "replace"\n' + SCHEMA)
    for dialect, records in (("lines", 601), ("rfc4180", 301)):
        assert main([*REPORT, "--delimiter", ";", "--dialect", dialect]) == 0
        assert f"{records} ± 0" in capsys.readouterr().out
    assert main(["schema", "init", "people.csv", "--delimiter", ";"]) == 0
    assert '[columns."sex"]' in capsys.readouterr().out
    assert "dialect is 'excel'" in refused(capsys, *REPORT, "--dialect", "excel")


def test_a_ledger_is_opened_charged_shown_and_verified(folder: Path, capsys: Out) -> None:
    assert main(CREATE) == 0
    head = capsys.readouterr().out.split()[-1]
    assert main([*REPORT, "--ledger", "l.ledger"]) == 0
    capsys.readouterr()
    assert main(["ledger", "show", "l.ledger"]) == 0
    shown = capsys.readouterr().out
    assert "report on people.csv" in shown
    assert "committed" in shown
    assert main(["ledger", "verify", "l.ledger", "--head", head]) == 0
    assert "Whole" in capsys.readouterr().out
    refused(capsys, "ledger", "verify", "l.ledger", "--head", "0" * 64, code=4)


def test_the_same_key_is_charged_once(folder: Path, capsys: Out) -> None:
    main(CREATE)
    keyed = [*REPORT, "--ledger", "l.ledger", "--key", "monday", "--json"]
    capsys.readouterr()
    assert main(keyed) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(keyed) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["columns"] == first["columns"]
    assert again["receipt"]["replayed"] is True
    with SqliteLedger.open("l.ledger") as ledger:
        assert len(ledger.entries()) == 1
    assert "another request" in refused(capsys, *keyed[:4], "--epsilon", "0.5", *keyed[6:-1], code=4)


def test_over_budget_is_three_charges_nothing_and_says_what_would_fit(folder: Path, capsys: Out) -> None:
    main(CREATE)
    large = ["report", "people.csv", "--schema", "s.toml", "--ledger", "l.ledger", "--epsilon"]
    capsys.readouterr()
    message = refused(capsys, *large, "9", code=3)
    assert UNTOUCHED in message
    assert entries() == 0
    fitting = message.split("Now --epsilon ")[1].split()[0]
    assert main([*large, fitting]) == 0
    assert entries() == 1
    capsys.readouterr()
    assert "Not even a twentieth" in refused(capsys, *large, "200", code=3)


def test_what_would_fit_may_need_a_smaller_delta(folder: Path, capsys: Out) -> None:
    main(["ledger", "create", "l.ledger", "--schema", "s.toml", "--epsilon", "3", "--delta", "1e-5"])
    report = ["report", "people.csv", "--schema", "text.toml", "--ledger", "l.ledger", "--epsilon", "1", "--delta"]
    capsys.readouterr()
    message = refused(capsys, *report, "1e-3", code=3)
    assert "Not even a twentieth" in message
    delta = refused(capsys, *report, "1e-4", code=3).split("--delta ")[1].split()[0]
    assert float(delta) == pytest.approx(1e-5)
    assert main([*report, delta]) == 0


def entries() -> int:
    with SqliteLedger.open("l.ledger") as ledger:
        return len(ledger.entries())


def test_a_missing_or_broken_ledger_is_four(folder: Path, capsys: Out) -> None:
    (folder / "junk").write_text("this is no ledger")
    for path in ("nowhere", "junk"):
        for argv in (["ledger", "show", path], ["ledger", "verify", path], [*REPORT, "--ledger", path]):
            refused(capsys, *argv, code=4)
    assert not (folder / "nowhere").exists()


def test_a_second_account_is_not_opened_over_the_first(folder: Path, capsys: Out) -> None:
    main(CREATE)
    capsys.readouterr()
    refused(capsys, *CREATE, code=4)


def test_a_ledger_for_another_relation_or_unit_is_refused(folder: Path, capsys: Out) -> None:
    main(CREATE)
    capsys.readouterr()
    (folder / "r.toml").write_text('neighbors = "replace"\n' + SCHEMA)
    (folder / "u.toml").write_text('[unit]\nkind = "user"\ncolumn = "town"\n' + SCHEMA)
    for schema in ("r.toml", "u.toml"):
        refused(capsys, "report", "people.csv", "--schema", schema, "--epsilon", "1", "--ledger", "l.ledger")
    assert entries() == 0


MISTAKES = {
    "no epsilon": ("report", "people.csv", "--schema", "s.toml"),
    "no schema": ("report", "people.csv", "--epsilon", "1"),
    "no file": ("report", "--schema", "s.toml", "--epsilon", "1"),
    "nothing": (),
    "unknown command": ("profile",),
    "unknown option": (*REPORT, "--epsilom", "2"),
    "epsilon is a word": ("report", "people.csv", "--schema", "s.toml", "--epsilon", "one"),
    "negative epsilon": ("report", "people.csv", "--schema", "s.toml", "--epsilon=-1"),
    "nan epsilon": ("report", "people.csv", "--schema", "s.toml", "--epsilon", "nan"),
    "delta of one": (*REPORT, "--delta", "1"),
    "missing file": ("report", "nobody.csv", "--schema", "s.toml", "--epsilon", "1"),
    "missing schema": ("report", "people.csv", "--schema", "none.toml", "--epsilon", "1"),
    "a column that is not there": ("report", "s.toml", "--schema", "s.toml", "--epsilon", "1"),
    "text without delta": ("report", "people.csv", "--schema", "text.toml", "--epsilon", "1"),
    "sample and file": (*REPORT, "--sample"),
    "key without ledger": (*REPORT, "--key", "k"),
    "out is a folder": (*REPORT, "--out", "."),
    "out is the data": (*REPORT, "--out", "people.csv"),
    "out is the schema": (*REPORT, "--out", "s.toml"),
    "schema of nothing": ("schema", "init", "nobody.csv"),
    "broken parquet": ("schema", "init", "bad.parquet"),
    "broken gzip": ("schema", "init", "bad.csv.gz"),
    "report on broken parquet": ("report", "bad.parquet", "--schema", "s.toml", "--epsilon", "1"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_two_and_says_that_nothing_happened(mistake: str, folder: Path, capsys: Out) -> None:
    (folder / "bad.parquet").write_text("no parquet")
    (folder / "bad.csv.gz").write_text("no gzip")
    before = sorted(os.listdir(folder))
    message = refused(capsys, *MISTAKES[mistake])
    assert UNTOUCHED in message
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize("mistake", ["out is a folder", "out is the data", "delta of one", "unknown option"])
def test_a_mistake_is_found_before_the_ledger_is_charged(mistake: str, folder: Path, capsys: Out) -> None:
    main(CREATE)
    capsys.readouterr()
    refused(capsys, *MISTAKES[mistake], "--ledger", "l.ledger")
    refused(capsys, *REPORT, "--ledger", "l.ledger", "--out", "l.ledger")
    assert entries() == 0


def test_the_report_is_handed_out_even_if_the_page_cannot_be_written(
    folder: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    main(CREATE)
    capsys.readouterr()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("discreet.service.cli.out_file.os.replace", full)
    assert main([*REPORT, "--ledger", "l.ledger", "--key", "k", "--out", "r.html"]) == 2
    out, err = capsys.readouterr()
    assert "Private profile of people.csv" in out
    assert "was charged" in err
    assert "--key k" in err
    assert UNTOUCHED not in err


def test_a_failure_after_the_charge_says_so_and_quotes_no_row(
    folder: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, progress: ProgressBar, **__: object) -> None:
        progress(0, 3, "mean")
        raise RuntimeError("could not convert SECRET-ROW")

    monkeypatch.setattr(report_command, "profile", failing)
    message = refused(capsys, *REPORT)
    assert "SECRET-ROW" not in message
    assert "charged and stays so" in message


def test_without_a_ledger_one_is_recommended(folder: Path, capsys: Out) -> None:
    main(REPORT)
    assert "ledger create" in capsys.readouterr().err


def test_an_error_cannot_rewrite_the_terminal(folder: Path, capsys: Out) -> None:
    (folder / "x.toml").write_text('[columns."\\u001b[2J"]\nkind = "\\u001b[2J"')
    assert "\x1b" not in refused(capsys, "schema", "check", "x.toml")


def test_help_and_version_end_well(capsys: Out) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"discreet {version('discreet')}\n"
    for words in ("", "report", "ledger create", "schema", "synthesize", "anonymize", "check"):
        assert main([*words.split(), "--help"]) == 0
        assert "usage: discreet" in capsys.readouterr().out


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from discreet.service.cli.command import main; main(['--help']);"
        "print([m for m in ('numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib', 'duckdb') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_the_module_runs_as_a_program(folder: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "discreet", "report", "nobody.csv", "--schema", "s.toml", "--epsilon", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "Nothing was released or spent." in run.stderr
