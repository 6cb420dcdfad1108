"""Every randomiser of one person's value, found by walking its room, is put through the same trial."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.audit.trial import Verdict, judged
from discreet.core.errors import ParameterError
from discreet.core.events import read, written
from discreet.core.neighbors import Neighbors
from discreet.local.aggregator import Aggregator
from discreet.local.randomizer import HEADER
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import RUNS, with_less_noise
from tests.conformance.walk import for_each, mirror, randomizers

FOUND = randomizers()
every = for_each(FOUND)


def trials(kind: type[Any]) -> list[Any]:
    """The randomisers that the test file brings, or the one with its defaults."""
    return [one for one in getattr(mirror(kind), "RANDOMIZERS", []) if type(one) is kind] or [kind()]


def verdict(claimed: Any, used: Any, runs: int) -> Verdict:
    """The reports of one randomiser on its worst pair, held against the claim of another."""
    scored = [
        used.score(used.reports([value] * runs, DeterministicBits(seed)))
        for seed, value in enumerate((used.worst_pair.first, used.worst_pair.second))
    ]
    return judged(claimed.event, *scored)


@every
def test_no_audit_refutes_the_claim_and_each_does_with_two_thirds_of_the_noise(kind: type[Any]) -> None:
    for randomizer in trials(kind):
        for runs in (RUNS // 4, RUNS // 2, RUNS, 4 * RUNS):
            if not verdict(randomizer, with_less_noise(randomizer, 1.5), runs).holds:
                break
        else:
            pytest.fail(f"{randomizer}: two thirds of the noise are not caught")
        found = verdict(randomizer, randomizer, runs)
        assert found.holds, f"{randomizer}\n{found}"


@every
def test_it_is_a_frozen_dataclass_that_promises_something_under_replacement(kind: type[Any]) -> None:
    randomizer = kind()
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(randomizer, randomizer.calibrated, 2.0)
    assert hash(randomizer) == hash(kind())
    assert randomizer.event == read(written(randomizer.event))
    assert randomizer.neighbors is Neighbors.REPLACE


@every
def test_its_docstring_says_what_is_public_and_what_it_promises(kind: type[Any]) -> None:
    text = kind.__doc__ or ""
    assert re.search(r"\d{4}", text.partition("Guarantee\n    ---------")[2]), "the theorem is not named"
    parameters = text.partition("Parameters\n    ----------")[2].partition("\n\n")[0]
    for field in (field for field in dataclasses.fields(kind) if field.init):
        assert re.search(rf"\b{field.name}\b[^:]* :[^\n]*\n\s+Public\.", parameters), field.name


@every
def test_one_report_has_the_law_of_many(kind: type[Any]) -> None:
    randomizer = kind()
    value = randomizer.worst_pair.first
    one = randomizer.report(value, DeterministicBits(5))
    assert np.array_equal(one, randomizer.reports([value], DeterministicBits(5))[0])
    assert (one.dtype.newbyteorder("<"), one.shape) == (randomizer.form.base, randomizer.form.shape)


@every
def test_a_message_holds_the_report_and_a_changed_one_is_refused(kind: type[Any]) -> None:
    randomizer = kind()
    report = randomizer.report(randomizer.worst_pair.second, DeterministicBits(6))
    message = randomizer.encode(report)
    assert np.array_equal(randomizer.decode(message), report)
    older, longer, shorter = bytes([message[0] + 1]) + message[1:], message + b"\0", message[:-1]
    looser = with_less_noise(randomizer, 1.5)
    mixed = looser.encode(looser.report(looser.worst_pair.second, DeterministicBits(6)))
    for wrong in (older, longer, shorter, mixed, b""):
        with pytest.raises(ParameterError, match="Nothing was counted"):
            randomizer.decode(wrong)


@every
def test_the_tally_is_added_merged_and_saved_whole_or_not_at_all(kind: type[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check_tally(kind(), Path(folder) / "tally")


def check_tally(randomizer: Any, path: Path) -> None:
    """What is counted, merged, saved and loaded."""
    values = [randomizer.worst_pair.first, randomizer.worst_pair.second] * 25
    reports = randomizer.reports(values, DeterministicBits(7))
    whole, first, second = (Aggregator(randomizer, simulated=True) for _ in range(3))
    whole.add(reports)
    first.add(reports[:20])
    second.add_messages([randomizer.encode(report) for report in reports[20:]])
    first.merge(second)
    first.save(path)
    loaded = Aggregator.load(path, randomizer)
    for other in (first, loaded):
        assert (other.n, other.simulated) == (50, True)
        assert np.array_equal(other.tally, whole.tally)
    with pytest.raises(ParameterError, match="Nothing was counted"):
        first.add_messages([randomizer.encode(reports[0]), b"x"])
    with pytest.raises(ParameterError, match="Nothing was counted"):
        first.merge(Aggregator(with_less_noise(randomizer, 1.5)))
    assert np.array_equal(first.tally, whole.tally)
    with pytest.raises(ParameterError, match="no reports"):
        Aggregator(randomizer).estimate()
    poisoned = bytearray(path.read_bytes())
    poisoned[-40] ^= 1
    path.write_bytes(poisoned)
    with pytest.raises(ParameterError, match="damaged"):
        Aggregator.load(path, randomizer)


@every
def test_any_bytes_after_a_header_are_a_report_that_can_be_counted_or_refused(kind: type[Any]) -> None:
    randomizer = kind()
    header = randomizer.encode(randomizer.report(randomizer.worst_pair.first, DeterministicBits(8)))[: HEADER.size]
    bodies = np.random.default_rng(1).integers(0, 256, (60, randomizer.form.itemsize), np.uint8)
    bodies[:20] &= 1
    counted = []
    for body in bodies:
        tally = Aggregator(randomizer)
        with contextlib.suppress(ParameterError):
            tally.add_messages([header + body.tobytes()])
        assert tally.n or not tally.tally.any()
        counted.append(tally.n)
    whole = Aggregator(randomizer)
    whole.add_messages([header + body.tobytes() for body, n in zip(bodies, counted, strict=True) if n])
    assert whole.n == sum(counted)
    Aggregator(randomizer).add_messages([])
