"""RAPPOR from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from discreet.local.rappor.permanent_memo import SecretMemo
from discreet.local.rappor.rappor_client import RapporClient, client_secret
from discreet.service.cli.command import main
from discreet.service.cli.parties.rappor_command import read_params


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20,000 clients of 10 strings, and their reports."""
    folder = tmp_path_factory.mktemp("rappor")
    assert main(["rappor", "simulate", str(folder), "--clients", "20000", "--strings", "10"]) == 0
    assert encoded(folder) == 0
    return folder


def encoded(folder: Path, params: str = "params.csv") -> int:
    given = ["--params", str(folder / params), "--secret", str(folder / "secret"), "--out", str(folder / "reports.csv")]
    return main(["rappor", "encode", str(folder / "values.csv"), "--json", *given])


def decode(folder: Path, *more: str) -> int:
    given = ["--params", str(folder / "params.csv"), "--candidates", str(folder / "candidates.txt"), *more]
    return main(["rappor", "decode", str(folder / "reports.csv"), *given])


def test_what_was_encoded_is_decoded_and_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert decode(folder, "--json", "--plot", str(folder / "plot.svg")) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["labels"]["string"]) >= {"v1", "v2"}
    assert (folder / "plot.svg").read_text().count("<svg") == 1
    assert decode(folder, "--bonferroni", "--split") == 0
    assert "RAPPOR" in capsys.readouterr().out


def test_reports_are_those_of_clients_and_their_permanent_responses_stay(folder: Path) -> None:
    frozen = folder / "frozen.csv"
    frozen.write_text("k,h,m,p,q,f\n128,2,16,0,1,0.5\n")
    lines = []
    for _ in range(2):
        assert encoded(folder, "frozen.csv") == 0
        lines.append((folder / "reports.csv").read_text().splitlines())
    assert lines[0] == lines[1]
    value = (folder / "values.csv").read_text().splitlines()[1].split(",")[1]
    memo = SecretMemo(client_secret((folder / "secret").read_bytes(), "c0"))
    client = RapporClient(read_params(str(frozen)), memo)
    bits = client.rappor.bits_of(client.report(value)[None])[0]
    assert lines[0][1] == f"{client.cohort},{''.join(map(str, bits[::-1]))}"
    assert np.bincount(bits).sum() == 128
    assert encoded(folder) == 0


def test_mistakes_are_named_and_nothing_is_half_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong, kept = folder / "wrong.csv", (folder / "reports.csv").read_text()
    for text, words in (("k,h\n8,2\n", "no parameters"), ("k,h,m,p,q,f\n8,2,4,0.5,0.5,0.5\n", "say nothing")):
        wrong.write_text(text)
        assert encoded(folder, "wrong.csv") == 2
        assert words in capsys.readouterr().err
    assert (folder / "reports.csv").read_text() == kept
    for text, words in (
        ("cohort,irr\n0,0110\n", "128 bits"),
        ("a,b\n", "no columns"),
        ("cohort,irr\n3\n", "too short"),
    ):
        (folder / "reports.csv").write_text(text)
        assert decode(folder) == 2
        assert words in capsys.readouterr().err
    (folder / "reports.csv").write_text(f"cohort,irr\n99,{'0' * 128}\n")
    assert decode(folder) == 2
    (folder / "reports.csv").write_text("cohort,irr\n")
    assert decode(folder) == 2
    assert "no reports" in capsys.readouterr().err
    (folder / "reports.csv").write_text(kept)
    assert main(["rappor", "simulate", str(folder)]) == 2
    assert (folder / "secret").stat().st_mode & 0o077 == 0


def test_a_secret_is_whole_long_and_its_owners_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret, kept = folder / "secret", (folder / "secret").read_bytes()
    assert len(kept) == 32
    for data, mode, words in (
        (b"", 0o600, "has 0 bytes"),
        (kept[:31], 0o600, "has 31 bytes"),
        (bytes(5000), 0o600, "more than 4096"),
        (kept, 0o640, "others on this machine"),
    ):
        secret.write_bytes(data)
        secret.chmod(mode)
        assert encoded(folder) == 2
        assert words in capsys.readouterr().err
    secret.write_bytes(kept)
    secret.chmod(0o600)


def test_the_owner_says_what_reports_of_a_value_may_cost(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "once.csv").write_text("k,h,m,p,q,f\n128,2,16,0.25,0.75,0\n")
    (folder / "dear.csv").write_text("k,h,m,p,q,f\n128,2,16,0.25,0.75,0.125\n")
    for params in ("once.csv", "dear.csv"):
        assert encoded(folder, params) == 2
        assert "the device pays 10 at most" in capsys.readouterr().err
    given = ["--params", str(folder / "dear.csv"), "--secret", str(folder / "secret"), "--out", str(folder / "dear")]
    assert main(["rappor", "encode", str(folder / "values.csv"), "--budget", "11", *given]) == 0
