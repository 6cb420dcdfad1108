"""Aggregators: files of other randomisers, versions and sizes; the conformance tests have the rest."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local import aggregator
from discreet.local.aggregator import MAGIC, Aggregator
from discreet.local.attributes.fake_data import FakeData
from discreet.local.attributes.sampled_attribute import SampledAttribute
from discreet.local.means.hybrid_report import PiecewiseReport
from discreet.local.means.privunit_vector import DuchiVector
from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
from discreet.local.oracles.sketch import CountMeanSketch, HadamardSketch
from discreet.local.oracles.subset_selection import SubsetSelection
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.walk import for_each, randomizers

READ_ELSEWHERE = {
    "Aggregator": "takes reports",
}
"""Why odd values are not handed over to these: see `tests/conformance/test_odd_values.py`."""

BITS = DeterministicBits(3)
SURVEY = GeneralizedRandomizedResponse(1.0, ("no", "yes"))


def filled(n: int = 10) -> Aggregator[GeneralizedRandomizedResponse]:
    made = Aggregator(SURVEY)
    made.add(SURVEY.reports(["yes"] * n, DeterministicBits(1)))
    return made


def test_files_that_are_not_this_tally_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tally"
    filled().save(path)
    for other in (
        GeneralizedRandomizedResponse(2.0, ("no", "yes")),
        GeneralizedRandomizedResponse(1.0, ("yes", "no")),
        GeneralizedRandomizedResponse(1.0, 2),
    ):
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


def written(path: Path, of: Any, tally: Any, reports: Any, **more: Any) -> Path:
    """A file with the right sum, whatever it says."""
    about = {"randomizer": of.parameters, "n": reports, "simulated": False, **more}
    body = MAGIC + json.dumps(about).encode() + b"\n" + np.asarray(tally).astype("<i8").tobytes()
    path.write_bytes(body + hashlib.sha256(body).digest())
    return path


@for_each(randomizers())
def test_a_tally_is_loaded_only_if_reports_may_add_up_to_it(kind: Any) -> None:
    """Of a tally that is right, and of the same with one number changed, or of other numbers of reports."""
    with tempfile.TemporaryDirectory() as folder:
        path, made = Path(folder) / "tally", Aggregator(kind())
        made.add(np.array([kind().report(kind().stand_in(BITS), BITS) for _ in range(40)]))
        assert Aggregator.load(written(path, kind(), made.tally, 40), kind()).tally.tolist() == made.tally.tolist()
        for far in (2**62, -(2**62), -(2**63)):
            tally = made.tally.copy()
            tally.flat[0] = far
            with pytest.raises(ParameterError, match="no 40 reports add up to it"):
                Aggregator.load(written(path, kind(), tally, 40), kind())
        with pytest.raises(ParameterError, match="no 0 reports add up to it"):
            Aggregator.load(written(path, kind(), made.tally, 0), kind())


@pytest.mark.parametrize(
    ("randomizer", "tally"),
    [
        (GeneralizedRandomizedResponse(1.0, 3), [1, 1, 1]),
        (SubsetSelection(1.0, 4), [2, 0, 0, 1]),
        (HadamardSketch(1.0, 4, functions=1, cells=8), [1] + [0] * 7),
        (HadamardSketch(1.0, 4, functions=1, cells=8), [2, 2] + [0] * 6),
        (CountMeanSketch(1.0, 4, functions=1, cells=8), [2, 3] + [0] * 7),
        (CountMeanSketch(1.0, 4, functions=2, cells=8), [[1] + [0] * 8, [2] + [0] * 8]),
        (CountMeanSketch(1.0, 4, functions=2, cells=8), [[1, 2] + [0] * 7, [1] + [0] * 8]),
        (FakeData(1.0, (2, 2)), [1, 1, 2, 1]),
        (SampledAttribute(1.0, (2, 2), ("grr", "grr")), [1, 1, 0, 2, 1, 1]),
        (SampledAttribute(1.0, (2, 2), ("grr", "grr")), [1, 1, 1, 1, 1, 0]),
        (PiecewiseReport(1.0), [0, 1, 1]),
        (PiecewiseReport(1.0), [1024, 1, 0]),
        (PiecewiseReport(1.0), [0, 0, 2**22]),
        (DuchiVector(1.0, size=2), [2**40, 0]),
    ],
    ids=str,
)
def test_sums_that_no_two_reports_have_are_refused(tmp_path: Path, randomizer: Any, tally: Any) -> None:
    with pytest.raises(ParameterError, match="no 2 reports add up to it"):
        Aggregator.load(written(tmp_path / "tally", randomizer, tally, 2), randomizer)


def test_a_tally_of_a_number_of_reports_that_is_none_is_refused(tmp_path: Path) -> None:
    for more in ({"n": 2.0}, {"n": True}, {"n": "2"}, {"simulated": 0}, {"randomizer": "kary"}):
        with pytest.raises(ParameterError, match="first line"):
            Aggregator.load(written(tmp_path / "tally", SURVEY, [1, 1], 2, **more), SURVEY)
    for n in (-1, 2**41):
        with pytest.raises(ParameterError, match="it says that there are"):
            Aggregator.load(written(tmp_path / "tally", SURVEY, [1, 1], n), SURVEY)
