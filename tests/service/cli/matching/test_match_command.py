"""`discreet match` as a newcomer meets it: the walk in both roles, the mistakes, and the cap."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.service.cli.command import main
from tests.crypto.matching.made_galleries import made_templates

Out = pytest.CaptureFixture[str]
ROWS = made_templates(5, 12)
OTHERS = made_templates(100, 12, 8)
ENROL: tuple[str, ...] = (
    "match",
    "enrol",
    "faces",
    "--templates",
    "people.npy",
    "--names",
    "names.txt",
    "--key",
    "faces.key",
)
ENROL += ("--register", "faces.register", "--reduction", "reduction")
ASK = ("match", "ask", "near.npy", "--identity", "desk.key", "--keeper", "keeper.card", "--reduction", "reduction")
SERVICE = ("--asker", "desk.card", "--waiver", "a test", "--listen", "127.0.0.1:0")


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("match")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        np.save("people.npy", ROWS)
        np.save("others.npy", OTHERS)
        np.save("near.npy", ROWS[3] + 0.02)
        np.save("far.npy", -ROWS.sum(axis=0))
        Path("names.txt").write_text("ann\nbob\neve\njoe\nkim\n")
        for name in ("keeper", "judge", "desk"):
            assert main(["identity", name, "--out", f"{name}.key", "--card", f"{name}.card"]) == 0
        reduce = ["match", "reduce", "others.npy", "--dimensions", "8", "--learned-on", "made-up vectors"]
        assert main([*reduce, "--out", "reduction"]) == 0
        key = ["match", "key", "--dimensions", "8", "--out", "faces.key", "--public", "faces.public"]
        assert main(key) == 0
        assert main(list(ENROL)) == 0
        for name in ("keeper", "judge"):
            assert main(["match", "ledger", f"{name}.ledger"]) == 0
    return folder


@contextmanager
def running(*words: str) -> Iterator[str]:
    """A service in a process of its own, and where it listens."""
    command = [sys.executable, "-m", "discreet", "match", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"listens at (\S+)", line)
            assert found, line
            yield found[1]
        finally:
            process.terminate()
            process.communicate(timeout=60)


def test_the_walk_in_both_roles(walked: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    monkeypatch.chdir(walked)
    keeper = ("serve", "faces", "--public", "faces.public", "--identity", "keeper.key", "--ledger", "keeper.ledger")
    judge: tuple[str, ...] = (
        "judge",
        "--key",
        "faces.key",
        "--identity",
        "judge.key",
        "--ledger",
        "judge.ledger",
        "--most",
        "9",
    )
    judge += ("--keeper", "keeper.card", "--threshold", "0.9", "--register", "faces.register")
    with running(*keeper, *SERVICE, "--most", "7") as at, running(*judge, *SERVICE) as judge_at:
        owner = ["--at", at, "--key", "faces.key", "--register", "faces.register", "--threshold", "0.9"]
        stranger = ["--at", at, "--public", "faces.public", "--judge", "judge.card", "--judge-at", judge_at]
        capsys.readouterr()
        assert main([*ASK, *owner, "--confirm", "--json"]) == 0
        (match,) = json.loads(capsys.readouterr().out)["matches"]
        assert match["name"] == "joe"
        assert 0.9 < match["score"] <= 1
        assert main(["match", "ask", "far.npy", *ASK[3:], *owner]) == 0
        assert capsys.readouterr().out == "no match\n"
        assert main([*ASK, *owner, "--name", "joe"]) == 0
        assert capsys.readouterr().out.startswith("joe: 0.9")
        assert main([*ASK, *stranger]) == 0
        assert main([*ASK, *stranger, "--number", "3"]) == 0
        assert main([*ASK, *stranger, "--number", "2"]) == 0
        assert capsys.readouterr().out == "yes\nyes\nno\n"
        assert main([*ASK, *stranger]) == 5
        assert "7 answers were given, and 7 are the most" in capsys.readouterr().err
    with SqliteLedger.open("keeper.ledger") as ledger:
        assert len(ledger.entries()) == 7
        assert {entry.waiver for entry in ledger.entries()} == {"a test"}


def test_a_plan_says_what_it_will_take(capsys: Out) -> None:
    assert main(["match", "plan", "--dimensions", "64", "--templates", "1000000", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["enrolment"]["ciphertexts"] == 489 * 64
    assert found["enrolment"]["bytes"] < 2_000 * 10**6
    assert main(["match", "plan", "--dimensions", "64", "--templates", "1000"]) == 0
    assert capsys.readouterr().out.startswith("enrolment: 64 ciphertexts")


def test_secret_files_are_their_owners_alone(walked: Path) -> None:
    for name in ("faces.key", "faces.register", "faces"):
        assert (walked / name).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (ENROL, "a name comes twice"),
        (("match", "key", "--dimensions", "1", "--out", "x", "--public", "y"), "dimensions"),
        (("match", "key", "--dimensions", "8", "--out", "faces.key", "--public", "y"), "faces.key"),
        ((*ENROL[:-2],), "a name comes twice|have type"),
        ((*ENROL[:2], "new", *ENROL[3:]), "a register and no gallery"),
        ((*ASK, "--at", "127.0.0.1:1", "--key", "faces.key"), "needs --register"),
        ((*ASK, "--at", "127.0.0.1:1", "--public", "faces.public"), "needs --judge"),
        (("match", "ask", "names.txt", *ASK[3:], "--at", "127.0.0.1:1", "--key", "faces.key"), "no .npy file"),
        (("match", "reduce", "others.npy", "--dimensions", "8", "--learned-on", " ", "--out", "r"), "Never learn on a"),
        (
            (
                "match",
                "serve",
                "faces",
                "--public",
                "names.txt",
                "--identity",
                "keeper.key",
                "--ledger",
                "keeper.ledger",
            ),
            "message",
        ),
    ],
)
def test_mistakes_are_said(
    words: tuple[str, ...], said: str, walked: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    monkeypatch.chdir(walked)
    if "serve" in words:
        words = (*words, *SERVICE, "--most", "7")
    assert main(list(words)) in (2, 5)
    told = capsys.readouterr().err
    assert told.startswith("discreet: ")
    assert re.search(said, told)


def test_a_register_of_less_than_the_gallery_has_is_refused_before_anything_is_enrolled(
    walked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    """As after an enrolment that was interrupted between the two files."""
    shutil.copytree(walked, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    before = Path("faces.register").read_bytes()
    for batch in ("dan", "lea"):
        Path("names.txt").write_text("".join(f"{batch} {place}\n" for place in range(5)))
        expected = 0 if batch == "dan" else 2
        size = Path("faces").stat().st_size
        assert main(list(ENROL)) == expected
        assert (Path("faces").stat().st_size == size) == bool(expected)
        Path("faces.register").write_bytes(before)
    assert "has 10 templates for 5 names" in capsys.readouterr().err


def test_what_is_no_gallery_is_not_served(walked: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    monkeypatch.chdir(walked)
    words = ["match", "serve", "names.txt", "--public", "faces.public", "--identity", "keeper.key"]
    assert main([*words, "--ledger", "keeper.ledger", *SERVICE, "--most", "7"]) == 2
    assert "another version, or is none" in capsys.readouterr().err


def test_pickles_are_not_read(walked: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    monkeypatch.chdir(walked)
    np.save("pickled.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    words = ["match", "ask", "pickled.npy", *ASK[3:], "--at", "127.0.0.1:1", "--key", "faces.key"]
    assert main(words) == 2
    assert "no .npy file of numbers" in capsys.readouterr().err


def test_nobody_listens(walked: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    monkeypatch.chdir(walked)
    owner = ["--key", "faces.key", "--register", "faces.register", "--threshold", "0.9"]
    assert main([*ASK, "--at", "127.0.0.1:1", *owner]) == 2
    assert "nobody" in capsys.readouterr().err
