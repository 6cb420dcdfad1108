"""Aggregators: files of other randomisers, versions and sizes; the conformance tests have the rest."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from discreet.core.errors import ParameterError
from discreet.local import aggregator
from discreet.local.aggregator import MAGIC, Aggregator
from discreet.local.oracles.randomized_response import KaryResponse
from discreet.noise.deterministic import DeterministicBits

SURVEY = KaryResponse(1.0, ("no", "yes"))


def filled(n: int = 10) -> Aggregator[KaryResponse]:
    made = Aggregator(SURVEY)
    made.add(SURVEY.reports(["yes"] * n, DeterministicBits(1)))
    return made


def test_files_that_are_not_this_tally_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tally"
    filled().save(path)
    for other in (KaryResponse(2.0, ("no", "yes")), KaryResponse(1.0, ("yes", "no")), KaryResponse(1.0, 2)):
        with pytest.raises(ParameterError, match="and not of"):
            Aggregator.load(path, other)
    body = path.read_bytes()[:-32]
    longer, older = body + bytes(8), body.replace(MAGIC, b"discreet tally 0\n")
    for wrong, words in ((longer, "3 numbers and not 2"), (older, "not a tally"), (b"", "not a tally")):
        path.write_bytes(wrong + hashlib.sha256(wrong).digest())
        with pytest.raises(ParameterError, match=words):
            Aggregator.load(path, SURVEY)


def test_a_file_that_cannot_be_replaced_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tally"
    filled(10).save(path)

    def broken(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(OSError, match="full"):
        filled(20).save(path)
    monkeypatch.undo()
    assert Aggregator.load(path, SURVEY).n == 10
    assert [one.name for one in tmp_path.iterdir()] == ["tally"]


def test_reports_are_tallied_in_parts_and_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = filled(100)
    monkeypatch.setattr(aggregator, "BATCH", 7)
    assert filled(100).tally.tolist() == whole.tally.tolist()
    monkeypatch.setattr(aggregator, "MOST_REPORTS", 150)
    with pytest.raises(ParameterError, match="200 reports are more than 150"):
        whole.merge(filled(100))
    assert whole.n == 100
