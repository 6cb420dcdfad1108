"""`discreet attack`: a model or a table in files, a page for its owner, and refusals that say what would work."""

from __future__ import annotations

import json
import os
import pickle
import stat
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

import discreet
from discreet.learners import LogisticRegression
from discreet.service.cli.command import main
from tests.query.test_page import HOSTILE, read

Out = pytest.CaptureFixture[str]
NAME = HOSTILE.replace("\x1b", "").replace("\u202e", "").replace('"', "")
SCHEMA = '[columns.a]\nkind = "number"\nlower = -9\nupper = 9\n[columns.b]\nkind = "number"\nlower = -9\nupper = 9\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Members, others, a tree that knows its members by heart, a rotated table and its schema."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(240, 3)), columns=["a", "b", NAME])
    frame["y"] = np.where(rng.random(240) < 0.5, "yes", "no")
    frame[:120].to_csv("train.csv", index=False)
    frame[120:].to_csv("rest.csv", index=False)
    model = DecisionTreeClassifier(random_state=0).fit(frame[["a", "b", NAME]][:120], frame["y"][:120])
    joblib.dump(model, "model.joblib")
    Path("model.pkl").write_bytes(pickle.dumps(model))
    original = pd.DataFrame(rng.uniform(-1, 1, size=(500, 2)), columns=["a", "b"])
    original.to_csv("secret.csv", index=False)
    (original @ np.array([[0.6, -0.8], [0.8, 0.6]])).set_axis(["a", "b"], axis=1).to_csv("table.csv", index=False)
    Path("schema.toml").write_text(SCHEMA)
    return tmp_path


MODEL = ("attack", "model.joblib", "--references", "4", "--members", "train.csv", "--others", "rest.csv")
TABLE = ("attack", "table.csv", "--original", "secret.csv", "--schema", "schema.toml")


def mistaken(capsys: Out, *argv: str) -> str:
    assert main(argv) == 2, argv
    out, err = capsys.readouterr()
    assert out == ""
    assert "Nothing was released or spent" in err
    assert not Path("attack.html").exists()
    return err


def test_a_model_is_attacked_and_the_page_is_its_owners(folder: Path, capsys: Out) -> None:
    assert main(MODEL) == 0
    out = capsys.readouterr().out
    assert out.startswith("NOT PRIVATE")
    assert "ThresholdAttack" in out
    assert out.rstrip("\n").endswith("attack.html")
    page = folder / "attack.html"
    assert stat.S_IMODE(os.stat(page).st_mode) == 0o600
    tags = read(page.read_text())
    assert "script" not in {tag for tag, _ in tags.found}
    assert main([*MODEL, "--json", "--target", "y", "--out", "pages/again.html"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["records"] == "120 members, 120 others"
    assert max(one["success"] for one in found["attacks"]) > 0.6
    assert found["worst"]
    assert (folder / "pages" / "again.html").exists()


def test_a_pickle_takes_a_word_of_its_owner(folder: Path, capsys: Out) -> None:
    command = ("attack", "model.pkl", *MODEL[4:])
    assert "--trust-pickle" in mistaken(capsys, *command)
    assert main([*command, "--trust-pickle", "--references", "0"]) == 0
    assert "--references is 0" in capsys.readouterr().out


def test_a_table_is_attacked_by_its_schema(folder: Path, capsys: Out) -> None:
    assert main([*TABLE, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    components = next(one for one in found["attacks"] if one["attack"] == "IndependentComponents")
    assert (components["right"], components["trials"]) == (2, 2)
    assert found["records"] == "500 released, 500 original, none others"
    assert "synthe" in " ".join(found["advice"])


def test_a_receipt_says_what_is_allowed_and_what_goes_beyond_it_is_told(folder: Path, capsys: Out) -> None:
    mean = discreet.mean(np.ones(500), bounds=(0, 1), epsilon=0.01)
    Path("receipt.json").write_text(mean.to_json())
    assert main([*MODEL, "--receipt", "receipt.json"]) == 7
    out = capsys.readouterr().out
    assert "beyond what the receipt allows: ThresholdAttack" in out
    assert "the receipt allows: 1.01 %" in out
    Path("receipt.json").write_text("{}")
    assert main([*MODEL, "--receipt", "receipt.json"]) == 2
    assert "not the JSON" in capsys.readouterr().err


def test_a_private_model_brings_its_receipt(folder: Path, capsys: Out) -> None:
    train = pd.read_csv("train.csv")
    learner = LogisticRegression(bounds=(-4, 4), classes=["no", "yes"], epsilon=1.0)
    joblib.dump(learner.fit(train[["a", "b", NAME]].to_numpy(), train["y"].to_numpy()), "model.joblib")
    assert main([*MODEL, "--target", "y"]) == 0
    assert "receipt: epsilon 1" in capsys.readouterr().out


def test_a_model_without_probabilities_names_what_applies(folder: Path, capsys: Out) -> None:
    train = pd.read_csv("train.csv")
    joblib.dump(RidgeClassifier().fit(train[["a", "b", NAME]], train["y"]), "model.joblib")
    assert main(MODEL) == 0
    assert "not run: ThresholdAttack. The model gives no probabilities" in capsys.readouterr().out


def test_what_cannot_show_anything_is_refused(folder: Path, capsys: Out) -> None:
    pd.read_csv("rest.csv")[:30].to_csv("few.csv", index=False)
    pd.concat([pd.read_csv("rest.csv"), pd.read_csv("train.csv")[5:7]]).to_csv("both.csv", index=False)
    pd.read_csv("rest.csv").drop(columns="b").to_csv("less.csv", index=False)
    for others, words in (
        ("few.csv", "Give at least 100 others"),
        ("both.csv", "2 of the others are members too (rows 120, 121 of the others)"),
        ("less.csv", "differ in columns: 'b'"),
    ):
        assert words in mistaken(capsys, *MODEL[:-1], others)
    assert main([*MODEL[:-1], "few.csv", "--level", "0.05"]) == 0


def test_what_is_not_said_or_said_twice_is_refused(folder: Path, capsys: Out) -> None:
    for argv, words in (
        (("attack",), "what is to be attacked is not said"),
        (("attack", "--demo", "model.joblib"), "said twice"),
        (MODEL[:6], "--others is missing"),
        (TABLE[:4], "--schema is missing"),
        ((*MODEL, "--schema", "schema.toml"), "is taken for a table"),
        ((*TABLE, "--members", "train.csv"), "--members is given, too"),
        ((*TABLE[:2], "--original", "none.csv", *TABLE[4:]), "none.csv"),
        ((*MODEL, "--out", "train.csv"), "needed as it is"),
        (("attack", "rest.csv", *MODEL[2:]), "is taken for a table"),
    ):
        assert words in mistaken(capsys, *argv), argv


def test_a_table_and_a_schema_without_a_column_in_common_are_refused(folder: Path, capsys: Out) -> None:
    Path("schema.toml").write_text(SCHEMA.replace("columns.a", "columns.q").replace("columns.b", "columns.r"))
    assert "no column of the schema is in all files" in mistaken(capsys, *TABLE)


def test_hostile_schemas_are_refused_or_stay_text(folder: Path, capsys: Out) -> None:
    """No schema, one of other kinds, of bounds without a meaning, nested without end, and a name that is a script."""
    for text in (
        "\x00[columns",
        "columns = 3",
        SCHEMA.replace("-9", "nan"),
        SCHEMA.replace("-9", "1e999"),
        SCHEMA.replace('"number"', "\"__import__('os')\""),
        "a = " + "[" * 100_000,
        '[columns.a]\nkind = "category"\nvalues = []\n',
    ):
        Path("schema.toml").write_text(text)
        assert "Traceback" not in mistaken(capsys, *TABLE), text[:40]
    for name in ("secret.csv", "table.csv"):
        frame = pd.read_csv(name)
        frame.set_axis([NAME, "b"], axis=1).to_csv(name, index=False)
    Path("schema.toml").write_text(SCHEMA.replace("columns.a", f"columns.{json.dumps(NAME)}"))
    assert main(TABLE) == 0
    assert not {"script", "img"} & {tag for tag, _ in read(Path("attack.html").read_text()).found}


def test_refusals_quote_no_row(folder: Path, capsys: Out) -> None:
    header = Path("rest.csv").read_bytes().partition(b"\n")[0]
    Path("train.csv").write_bytes(header + b"\n\xff\xfe,31337,4711,31338\n")
    err = mistaken(capsys, *MODEL)
    assert "no label in the column 'y'" in err
    assert "3133" not in err


def test_the_demo_has_a_page_with_both_models(folder: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.attacks.report.demo.SIZE", 120)
    assert main(["attack", "--demo", "--json"]) == 0
    overfitted, private = json.loads(capsys.readouterr().out)["reports"]
    assert max(one["epsilon, at least"] for one in overfitted["attacks"]) > 1
    assert private["beyond the receipt"] == []
    assert private["receipt"]["epsilon"] <= 1
    text = Path("attack.html").read_text()
    assert "learns by heart" in text
    assert "private twin" in text
