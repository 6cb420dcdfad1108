"""From an empty folder to an answer by commands alone; what they refuse; backups that cannot undo charges."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import joblib
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.service.cli.command import MISTAKE, NO_LEDGER, UNWRITTEN, main
from discreet.service.cli.sites import fit_command
from discreet.service.server.serving_site import served
from discreet.service.server.site import Site
from tests.service.cli.tables.test_synthesize_command import full
from tests.service.cli.test_ask_command import FullDisk


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["site", "init", str(tmp_path / "site"), "--epsilon", "100"]) == 0
    path = tmp_path / "site" / "site.toml"
    path.write_text(path.read_text().replace("8400", "0").replace("above = 1.0", "above = 50"))
    capsys.readouterr()
    return tmp_path / "site"


def drawn(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["user", *words, "--site", str(folder / "site.toml"), "--json"]) == 0
    return str(json.loads(capsys.readouterr().out.splitlines()[-1])["key"])


def test_ask_and_fit_of_a_site_that_was_made_by_commands(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = drawn(folder, capsys, "add", "ann", "--role", "analyst", "--data", "patients")
    monkeypatch.setenv("DISCREET_KEY", key)
    with Site.open(folder / "site.toml") as site, served(site) as there:
        asked = ["patients", "mean", "age", "--site", there.address, "--epsilon", "1", "--key", "k", "--json"]
        assert main(["ask", *asked]) == 0
        first = json.loads(capsys.readouterr().out)
        assert main(["ask", *asked]) == 0
        again = json.loads(capsys.readouterr().out)
        assert again["value"] == first["value"]
        receipt, card = folder / "receipt.json", str(folder / "site.card")
        for found in (first, again):
            receipt.write_text(json.dumps(found))
            assert main(["receipt", "verify", str(receipt), "--card", card]) == 0
        first["receipt"]["epsilon"] = 0.5
        receipt.write_text(json.dumps(first))
        assert main(["receipt", "verify", str(receipt), "--card", card]) == NO_LEDGER
        model = str(folder / "model.joblib")
        fitted = ["KMeans n_clusters=2 columns=['age']", "--site", there.address, "--epsilon", "1", "--out", model]
        assert main(["fit", "patients", *fitted]) == 0
        assert joblib.load(model).cluster_centers_.shape == (2, 1)
        assert main(["ask", *asked, "--schema", "x.toml"]) == MISTAKE
        late = drawn(folder, capsys, "add", "eve", "--role", "auditor")
        monkeypatch.setenv("DISCREET_KEY", late)  # somebody who was added while it is served
        capsys.readouterr()
        assert main(["ask", *asked]) == 5  # an auditor asks nothing
        assert "auditor" in capsys.readouterr().err
        assert main(["user", "revoke", "ann", "--site", str(folder / "site.toml")]) == 0
        monkeypatch.setenv("DISCREET_KEY", key)
        assert main(["ask", *asked]) == MISTAKE
        monkeypatch.delenv("DISCREET_KEY")
        assert main(["ask", *asked]) == MISTAKE
        assert "DISCREET_KEY" in capsys.readouterr().err


def test_a_learner_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["sample", "--folder", str(tmp_path)])
    table, schema, model = tmp_path / "patients.csv", tmp_path / "patients.toml", tmp_path / "model.joblib"
    found = [*map(str, (table, schema))]
    words = ["fit", found[0], "KMeans n_clusters=2 columns=['age']", "--epsilon", "1", "--out", str(model)]
    assert main([*words, "--schema", found[1]]) == 0
    assert joblib.load(model).n_clusters == 2
    capsys.readouterr()
    for wrong in (words, [*words[:2], "mean of age", *words[3:], "--schema", found[1]]):
        assert main(wrong) == MISTAKE
    assert main([*words[:-1], "model.pkl", "--schema", found[1]]) == MISTAKE


def test_a_model_that_cannot_be_written_stays_under_its_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["sample", "--folder", str(tmp_path)])
    table, schema, model, ledger = (str(tmp_path / name) for name in ("patients.csv", "patients.toml", "m.joblib", "l"))
    own = ["--schema", schema, "--epsilon", "1"]
    fitted = ["fit", table, "KMeans n_clusters=2 columns=['age']", *own, "--out", model]
    paid = [*fitted, "--ledger", ledger]
    assert main(["ledger", "create", ledger, *own]) == 0
    capsys.readouterr()
    with monkeypatch.context() as disk:
        disk.setattr(fit_command, "replace_own", full)
        assert main(paid) == UNWRITTEN
        said = capsys.readouterr().err
        assert main(fitted) == UNWRITTEN
        assert "no ledger remembers it" in capsys.readouterr().err
    assert "It was charged, and stays in the ledger under the key" in said
    key = said.partition("--key ")[2].partition(",")[0]
    with monkeypatch.context() as disk:
        disk.setattr(sys, "stdout", FullDisk())
        assert main([*paid, "--key", key]) == UNWRITTEN
    assert "It was charged, and the model is in " in capsys.readouterr().err
    assert joblib.load(model).cluster_centers_.shape == (2, 1)
    with SqliteLedger.open(ledger) as opened:
        assert len(opened.entries()) == 1


def test_files_that_would_be_read_otherwise_than_they_were_meant_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, text = folder / "site.toml", (folder / "site.toml").read_text()
    wrong = {
        "limit": text.replace("[limits]", "[limit]"),
        "cheep": text.replace("cheap =", "cheep ="),
        "0.0.0.0": text.replace("127.0.0.1", "0.0.0.0"),
        "king": f'{text}\n[users.bob]\nrole = "king"\n',
        "nowhere": f'{text}\n[users.bob]\nrole = "analyst"\ndata = ["nowhere"]\n',
        "../x": f'{text}\n[users."../x"]\nrole = "curator"\n',
        "sauce": text.replace("source =", "sauce ="),
        "above": text.replace("above = 50", 'above = "dear"'),
    }
    for word, other in wrong.items():
        path.write_text(other)
        assert main(["serve", str(path)]) == MISTAKE, word
        assert word in capsys.readouterr().err
    path.write_text(text)
    assert main(["serve"]) == MISTAKE
    assert main(["user", "add", "bob", "--role", "king", "--site", str(path)]) == MISTAKE
    assert path.read_text() == text
    assert main(["user", "key", "bob", "--site", str(path)]) == MISTAKE


def test_data_sets_about_the_same_people_share_an_account(tmp_path: Path) -> None:
    """Two tables of one population: what is asked of one is charged to the people and the project of both."""
    path = tmp_path / "site.toml"
    about = {"name": "people", "neighbors": Neighbors.ADD_REMOVE, "unit": Unit("user", "id", 1)}
    with SqliteLedger.create(tmp_path / "people.ledger", Budget(2.0), **about) as people:  # type: ignore[arg-type]
        for table in ("visits", "bills"):
            people.add_table(table, Budget(1.5), Unit("user", "id", 1))
        people.add_project("survey", Budget(1.8))
    (tmp_path / "t.csv").write_text("id,x\n" + "\n".join(f"p{n},{n % 9}" for n in range(200)) + "\n")
    schema = '[unit]\nkind = "user"\ncolumn = "id"\nrows = 1\n[columns.x]\nkind = "number"\nlower = 0\nupper = 9\n'
    (tmp_path / "t.toml").write_text(schema)
    one = '[data.{0}]\nschema = "t.toml"\nsource = "t.csv"\naccount = "people.ledger"\ntable = "{0}"\n'
    one += 'project = "survey"\n'
    path.write_text(one.format("visits") + one.format("bills") + '[users.cara]\nrole = "curator"\n')
    with Site.open(path) as site:
        cara = site.file.users["cara"]
        site.ask(cara, "visits", "mean of x", epsilon=1.2)
        for more in (1.2, 0.7):  # the table has 1.5 left, the people 0.8 and the project 0.6
            with pytest.raises(BudgetExceeded):
                site.ask(cara, "bills", "mean of x", epsilon=more)
        site.ask(cara, "bills", "mean of x", epsilon=0.5)
    with SqliteLedger.open(tmp_path / "people.ledger") as people:
        assert people.balance(project="survey").certified == people.balance().certified == pytest.approx(1.7)
        assert people.balance(table="bills").certified == pytest.approx(0.5)


@pytest.fixture
def asked(folder: Path) -> Path:
    """A site with one charge, a backup of it, and then another charge."""
    path = str(folder / "site.toml")
    main(["user", "add", "ann", "--role", "analyst", "--data", "patients", "--site", path])
    for key in ("first", "second"):
        with Site.open(path) as site:
            site.ask(site.file.users["ann"], "patients", "count", epsilon=1.0, key=key)
        if key == "first":
            assert main(["site", "backup", path, "--out", str(folder / "copy")]) == 0
    return folder


def test_a_backup_that_would_undo_a_charge_is_not_put_back(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(asked / "site.toml")
    assert main(["site", "restore", path, "--from", str(asked / "copy")]) == NO_LEDGER
    assert "what was charged since would be forgotten" in capsys.readouterr().err
    (asked / "patients.ledger").unlink()
    assert main(["site", "restore", path, "--from", str(asked / "copy")]) == NO_LEDGER
    assert "--head patients=HEX" in capsys.readouterr().err
    assert main(["site", "restore", path, "--from", str(asked / "copy"), "--head", f"patients={'0' * 64}"]) == NO_LEDGER
    assert not (asked / "patients.ledger").exists()


def test_a_backup_of_all_charges_is_put_back_and_answers_are_there(
    asked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(asked / "site.toml")
    assert main(["site", "backup", path, "--out", str(asked / "whole"), "--json"]) == 0
    head = json.loads(capsys.readouterr().out.splitlines()[-1])["heads"]["patients"]
    for name in ("patients.ledger", "patients.ledger.head", "site.state"):
        (asked / name).unlink()
    assert main(["site", "restore", path, "--from", str(asked / "whole"), "--head", f"patients={head}"]) == 0
    with Site.open(path) as site:
        assert main(["site", "restore", path, "--from", str(asked / "whole")]) == MISTAKE
        assert "another process serves this site" in capsys.readouterr().err
        again = site.ask(site.file.users["ann"], "patients", "count", epsilon=1.0, key="second")
        assert again.replayed
        assert site.data_set(site.file.users["ann"], "patients").balances["data set"].certified == pytest.approx(2.0)


def test_serve_prints_one_address_and_ends_when_told(folder: Path) -> None:
    program = [sys.executable, "-m", "discreet", "serve", "--demo"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert out == ""
    assert "guest, analyst: discreet_" in err
    assert process.returncode in (0, -signal.SIGTERM)
