"""`discreet sql`: several statistics of a file at one price, or what they would be worth."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.service.cli.command import main
from tests.query.test_tables_file import PEOPLE, ROWS, TABLES, VISITS, WARDS

TEXT = "SELECT sex, count(*) AS n, avg(stay_days) AS stay FROM patients WHERE age >= 18 GROUP BY sex"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["sample"]) == 0
    SqliteLedger.create(tmp_path / "p.ledger", Budget(2.0, 1e-6), name="patients", neighbors=Neighbors.ADD_REMOVE)
    return tmp_path


def test_a_select_is_asked_and_charged_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["sql", "patients.csv", TEXT, "--schema", "patients.toml", "--epsilon", "1", "--ledger", "p.ledger"]
    assert main([*asked, "--key", "k"]) == 0
    first = capsys.readouterr().out
    assert "stay" in first
    assert "epsilon 1" in first
    assert main([*asked, "--key", "k"]) == 0
    assert capsys.readouterr().out.splitlines()[:4] == first.splitlines()[:4]
    with SqliteLedger.open(folder / "p.ledger") as ledger:
        assert len(ledger.entries()) == 1


def test_a_preview_reads_no_record_and_charges_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "patients.csv").unlink()
    asked = ["sql", "patients.csv", TEXT, "--schema", "patients.toml", "--preview"]
    assert main([*asked, "--epsilon", "1", "--n", "5000"]) == 0
    assert "if n is 5,000; nothing was asked" in capsys.readouterr().out
    assert main(asked) == 0
    assert "if n is 10,000; nothing was asked" in capsys.readouterr().out
    with SqliteLedger.open(folder / "p.ledger") as ledger:
        assert not ledger.entries()


def test_ends_of_cells_and_bounds_are_said_beside_the_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "SELECT age, avg(rate) AS rate FROM (SELECT age, stay_days / weight_kg AS rate FROM p) AS q GROUP BY age"
    beside = ["--schema", "patients.toml", "--epsilon", "1", "--edges", "age=18,40,65,95", "--bounds", "rate=0,5"]
    for more in ([], ["--preview"]):
        assert main(["sql", "patients.csv", text, *beside, *more]) == 0
        shown = capsys.readouterr().out
        assert "rate" in shown
        assert ("[18, 40)" in shown) == (not more)
    for wrong in ("age=18,x", "age=18", "=18,40", "age"):
        assert main(["sql", "patients.csv", text, *beside[:4], "--edges", wrong, "--bounds", "rate=0,5"]) == 2
    assert main(["sql", "patients.csv", text, *beside[:4], "--edges", "age=18,40", "age=18,50"]) == 2
    assert "Write --edges age=0,18,65, once for each" in capsys.readouterr().err


def test_the_price_may_be_in_the_text_and_is_somewhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paid = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) count(*) FROM p"
    for text, code in ((paid, 0), ("SELECT count(*) FROM p", 2)):
        assert main(["sql", "patients.csv", text, "--schema", "patients.toml", "--ledger", "p.ledger"]) == code
    assert "Give --epsilon, or --preview" in capsys.readouterr().err
    with SqliteLedger.open(folder / "p.ledger") as ledger:
        assert [entry.epsilon for entry in ledger.entries()] == pytest.approx([1.0])


def test_groups_that_only_the_file_knows_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "SELECT town, count(*) AS n, avg(age) AS age FROM p GROUP BY town ORDER BY n DESC LIMIT 3"
    asked = ["sql", "patients.csv", text, "--schema", "patients.toml", "--epsilon", "1", "--ledger", "p.ledger"]
    assert main([*asked, "--delta", "1e-7"]) == 0
    assert "Alderford" in capsys.readouterr().out
    assert main(asked) == 5
    assert "needs a positive delta" in capsys.readouterr().err
    with SqliteLedger.open(folder / "p.ledger") as ledger:
        assert [entry.epsilon for entry in ledger.entries()] == pytest.approx([1.0], rel=0.01)


def test_what_may_not_be_asked_ends_with_the_code_of_refusals(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["sql", "patients.csv", "SELECT * FROM p", "--schema", "patients.toml", "--epsilon", "1"]
    assert main([*asked, "--ledger", "p.ledger"]) == 5
    assert "would show records" in capsys.readouterr().err
    with SqliteLedger.open(folder / "p.ledger") as ledger:
        assert not ledger.entries()


def test_several_tables_are_joined_as_their_schema_files_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("visits", VISITS + TABLES), ("people", PEOPLE), ("wards", WARDS)):
        Path(f"{name}.toml").write_text(text)
        pd.DataFrame(ROWS[name]).to_csv(f"{name}.csv", index=False)
    unit = Unit("user", "who", 3)
    SqliteLedger.create("v.ledger", Budget(9.0), name="visits", neighbors=Neighbors.ADD_REMOVE, unit=unit)
    text = "SELECT count(*) AS n, avg(beds) AS beds, avg(age) AS age FROM visits JOIN people JOIN wards"
    asked = ["sql", "visits.csv", text, "--schema", "visits.toml", "--epsilon", "9"]
    tables = ["--table", "people=people.csv", "wards=wards.csv"]
    assert main([*asked, *tables, "--preview", "--n", "300"]) == 0
    for wrong in (["--table", "people"], ["--table", "people=people.csv", "beds=wards.csv"], []):
        assert main([*asked, *wrong, "--ledger", "v.ledger"]) in (2, 5)
    with SqliteLedger.open("v.ledger") as ledger:
        assert not ledger.entries()
    assert main([*asked, *tables, "--ledger", "v.ledger"]) == 0
    with SqliteLedger.open("v.ledger") as ledger:
        assert len(ledger.entries()) == 1


def test_a_preview_of_several_tables_reads_the_public_ones_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("visits", VISITS + TABLES), ("people", PEOPLE), ("wards", WARDS)):
        Path(f"{name}.toml").write_text(text)
    pd.DataFrame(ROWS["wards"]).to_csv("wards.csv", index=False)
    text = "SELECT count(*) AS n FROM visits JOIN people JOIN wards"
    asked = ["sql", "visits.csv", text, "--schema", "visits.toml", "--preview", "--n", "300", "--epsilon", "1"]
    assert main([*asked, "--table", "people=people.csv", "wards=wards.csv"]) == 0
    assert "if n is 300; nothing was asked" in capsys.readouterr().out
