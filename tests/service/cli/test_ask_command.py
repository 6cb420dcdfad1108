"""`discreet ask`: any statistic from the shell, mistakes before any charge, and exit codes that say what happened."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.query.words import sayable
from discreet.service.cli.command import MISTAKE, NO_LEDGER, OVER_BUDGET, UNWRITTEN, main, parser
from tests.service.cli.test_ledger_command import leaves

SCHEMA = """
[columns.age]
kind = "number"
lower = 0
upper = 120
[columns.sex]
kind = "category"
values = ["f", "m"]
[columns.day]
kind = "date"
lower = 2020-01-01
upper = 2020-12-31
"""


@pytest.fixture
def people(tmp_path: Path) -> list[str]:
    rows = [f"{n % 90},{'fm'[n % 2]},2020-{1 + n % 12:02}-15" for n in range(4000)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,day", *rows]))
    (tmp_path / "schema.toml").write_text(SCHEMA)
    return [str(tmp_path / "people.csv"), "--schema", str(tmp_path / "schema.toml"), "--epsilon", "5"]


def asked(people: list[str], *words: str) -> list[str]:
    return ["ask", people[0], *words, *people[1:]]


def test_statistics_are_printed_or_written_as_json(people: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(asked(people, "mean", "age", "--where", "sex == 'f' and age < 50")) == 0
    assert capsys.readouterr().out.startswith("mean of age where sex == 'f' and age < 50: 2")
    assert main(asked(people, "count", "--json", "--by", "sex", "age", "--edges", "18", "45", "90")) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["labels"]["age"] == ["[18, 45)", "[45, 90]"] * 2
    assert found["receipt"]["purpose"] == "count of records by sex and age"
    assert main(asked(people, "histogram", "day", "--edges", "2020-01-01", "2020-07-01", "2020-12-31", "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["labels"]["day"] == ["[2020-01-01, 2020-07-01)", "[2020-07-01, 2020-12-31]"]
    assert main(asked(people, "quantile", "age", "--q", "0.1", "0.9", "--json")) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == {"q": [0.1, 0.9]}
    assert main(asked(people, "mean of age")) == 0
    assert capsys.readouterr().out.startswith("mean of age: ")
    assert main(asked(people, "contingency", "sex", "age", "--bins", "2")) == 0
    assert "[60, 120)" in capsys.readouterr().out


def test_options_with_several_values_add_up(people: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(asked(people, "count", "--json", "--by", "sex", "--by", "age", "--edges", "18", "45", "--edges", "90"))
        == 0
    )
    assert json.loads(capsys.readouterr().out)["labels"]["age"] == ["[18, 45)", "[45, 90]"] * 2
    assert main(asked(people, "quantile", "age", "--q", "0.1", "--q", "0.9", "--json")) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == {"q": [0.1, 0.9]}


class FullDisk(io.StringIO):
    """Where nothing can be written."""

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_an_answer_that_cannot_be_written_stays_under_its_key(
    people: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = str(tmp_path / "ledger")
    assert main(["ledger", "create", ledger, *people[1:3], "--epsilon", "20"]) == 0
    own = ["--ledger", ledger, "--json"]
    sql = ["sql", people[0], "SELECT avg(age) FROM people", *people[1:], *own]
    for command in (asked(people, "mean", "age", *own), ["report", *people, *own], sql):
        capsys.readouterr()
        with monkeypatch.context() as full:
            full.setattr(sys, "stdout", FullDisk())
            assert main(command) == UNWRITTEN
        said = capsys.readouterr().err
        assert "No space left on device. It was charged, and stays in the ledger under the key" in said
        key = said.partition("--key ")[2].partition(",")[0]
        with SqliteLedger.open(ledger) as before:
            charged = len(before.entries())
        assert main([*command, "--key", key]) == 0
        assert json.loads(capsys.readouterr().out)["receipt"]["replayed"] is True
        with SqliteLedger.open(ledger) as after:
            assert len(after.entries()) == charged


PAYING = {"ask", "report", "sql", "synthesize", "anonymize", "fit"}
"""The commands whose answer a ledger keeps. Of each there is a test that it is not lost on a full disk: the first three
here, the others in their own files."""


def test_every_command_whose_answer_a_ledger_keeps_is_tried_with_a_full_disk() -> None:
    found = {leaf.prog for leaf in leaves(parser()) if {"file", "ledger", "key"} <= {one.dest for one in leaf._actions}}
    assert found == {f"discreet {name}" for name in PAYING}


def test_what_was_done_to_a_ledger_is_said_where_nobody_hears_of_it(
    people: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = str(tmp_path / "ledger")
    assert main(["ledger", "create", ledger, *people[1:3], "--epsilon", "20"]) == 0
    monkeypatch.setattr(sys, "stdout", FullDisk())
    assert main(["ledger", "raise", ledger, "--epsilon", "30", "--reason", "more people"]) == UNWRITTEN
    said = capsys.readouterr().err
    assert "It was done, and is on record" in said
    assert "Nothing" not in said


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_a_full_device_is_told_from_an_answer(people: list[str]) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "discreet", *asked(people, "mean", "age")]
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == UNWRITTEN
    assert "no ledger remembers it" in run.stderr
    assert "Exception ignored" not in run.stderr


def test_a_mistake_is_explained_and_costs_nothing(people: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ("nothing", "age"),
        ("PrivateData", "age"),
        ("mean",),
        ("mean", "age", "sex"),
        ("mean", "absent"),
        ("mean", "age", "--where", "age >"),
        ("mean", "age", "--bins", "3"),
        ("mean", "age", "--by", "age"),
        ("mean", "age", "--by", "age", "--edges", "a", "b"),
        ("mean", "age", "--key", "k"),
    ):
        assert main(asked(people, *words)) == MISTAKE, words
        assert "Nothing was released or spent" in capsys.readouterr().err
    assert main(asked(people, "mean", "age", "--ledger", "absent")) == NO_LEDGER


def test_an_account_pays_until_it_is_empty(people: list[str], tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger")
    assert main(["ledger", "create", ledger, *people[1:3], "--epsilon", "6"]) == 0
    assert main(asked(people, "mean", "age", "--ledger", ledger, "--key", "a")) == 0
    assert main(asked(people, "mean", "age", "--ledger", ledger, "--key", "a")) == 0
    assert main(asked(people, "median", "age", "--ledger", ledger)) == OVER_BUDGET


def test_every_statistic_can_be_asked() -> None:
    assert {"mean", "histogram", "t_test", "covariance", "key_counts", "grouped"} <= set(sayable())
    assert not {"PrivateData", "plan", "sample_and_aggregate"} & set(sayable())


def test_what_is_missing_is_named(people: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in ((["key_counts"], "column is missing"), (["grouped", "age"], "Give --by")):
        assert main(asked(people, *words)) == 2
        assert said in capsys.readouterr().err


def test_a_misspelled_statistic_is_named(people: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(asked(people, "mediann", "age")) == MISTAKE
    assert capsys.readouterr().err.endswith("Did you mean median?\n")
    assert main(asked(people, "everything", "age")) == MISTAKE
    assert "discreet ask people.csv mean age --by sex" in capsys.readouterr().err
