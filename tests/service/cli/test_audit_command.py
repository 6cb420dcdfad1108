"""`discreet audit`: a module of one's own, a verdict by the exit code, and names that are refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from discreet.service.cli.command import main

MODULE = """
import numpy as np

def mechanism(records, runs, rng):
    return len(records) + np.subtract(*rng.geometric(1 - np.exp(-1.0), (2, runs)))

def columns(records, runs, rng):
    assert records.ndim == 2 and records.dtype.kind == "i"
    return rng.random(runs) < 0.5

class Held:
    mechanism = staticmethod(mechanism)
"""
Out = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "audited_here.py").write_text(MODULE)
    (tmp_path / "leaving_here.py").write_text("raise SystemExit(0)")
    (tmp_path / "secret_here.py").write_text("raise ValueError('a secret')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("audited_here", "leaving_here", "secret_here"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def test_the_exit_code_tells_whether_the_claim_is_refuted(folder: Path, capsys: Out) -> None:
    asked = ("audit", "audited_here:mechanism", "--runs", "20000", "--seed", "1")
    assert main([*asked, "--epsilon", "1"]) == 0
    assert "no proof" in capsys.readouterr().out
    assert main([*asked, "--epsilon", "0.5", "--out", "audit.html"]) == 7
    out = capsys.readouterr().out
    assert out.startswith("REFUTED")
    assert "Wrote audit.html" in out
    assert (folder / "audit.html").read_text().startswith("<!doctype html>")


def test_json_and_whole_columns(folder: Path, capsys: Out) -> None:
    columns = ("--lower", "0", "0", "--upper", "1", "3", "--whole", "--neighbors", "replace")
    assert main(["audit", "audited_here:columns", "--epsilon", "1", "--runs", "1000", *columns, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["holds"] is True
    assert all(isinstance(number, int) for row in document["neighbors"][1] for number in row)
    assert main(["audit", "audited_here:Held.mechanism", "--epsilon", "1", "--runs", "1000"]) == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("os:system", "Python itself"),
        ("builtins:eval", "Python itself"),
        ("../audited_here:mechanism", "no object of a module"),
        ("audited_here:__builtins__", "no object of a module"),
        ("audited_here:mechanism()", "no object of a module"),
        ("audited_here\x1b[2J:m", "no object of a module"),
        ("audited_here", "no object of a module"),
        ("a" * 300 + ":m", "no object of a module"),
        ("audited_here:nothing", "there is no nothing"),
        ("audited_nowhere:m", "ModuleNotFoundError"),
        ("leaving_here:m", "SystemExit"),
        ("secret_here:m", "raised ValueError"),
    ],
)
def test_hostile_names_and_modules_are_refused(folder: Path, capsys: Out, name: str, words: str) -> None:
    assert main(["audit", name, "--epsilon", "1"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert "a secret" not in err
    assert "\x1b" not in err


def test_help_says_that_the_module_is_run(capsys: Out) -> None:
    assert main(["audit", "--help"]) == 0
    assert "its code is run" in " ".join(capsys.readouterr().out.split())
