"""Series by their lowest frequencies: under every trust model, with the noise and the band that are said."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from discreet.audit.trial import judged
from discreet.core.answer import Answer
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, ParameterError
from discreet.core.events import LaplaceLoss, PureLoss, walked
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.series.fourier import FourierBasis, fourier_of_events, fourier_of_people
from discreet.schema.dates import Date
from discreet.schema.schema import Number, Schema
from discreet.sequential import series_of_events, series_of_people
from discreet.trust.curator import CuratorsView
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.source_of import source_of

READ_ELSEWHERE = {
    "series_of_people": "its columns are read as those of statistics",
    "series_of_events": "its columns are read as those of statistics",
}
"""Why odd values are not handed over to these: see `tests/conformance/test_odd_values.py`."""

RUNS = 40_000
HOURS = Schema.numeric(0.0, 2.0, 24)
DAY = 1 + np.sin(2 * np.pi * np.arange(24) / 24)
CLOCK = Schema({"when": Number(0, 24), "much": Number(0, 2)})


def crowd(people: int) -> Array:
    return np.tile(DAY, (people, 1))


def test_every_trust_model_releases_the_series_for_the_same_price() -> None:
    """With three frequencies, and with as many as are worth it: two of them are all that there is."""
    people = crowd(3000)
    with SecureSum.rehearsal({f"h{i}": p for i, p in enumerate(np.array_split(people, 3))}, HOURS, threshold=3) as sums:
        curated = PrivateData.of(people, HOURS, MemoryLedger(Budget(100.0), unit=RECORD))
        local = PrivateData(Local(Matrix(people, HOURS)), MemoryLedger(Budget(100.0)))
        shared = PrivateData(sums, MemoryLedger(Budget(100.0)))
        for data in (curated, local, shared):
            for k in (3, None):
                found = series_of_people(data, coefficients=k, epsilon=8.0)
                assert found.receipt.epsilon == pytest.approx(8.0)
                np.testing.assert_allclose(found.values, 3000 * DAY, atol=2 * found.half_width)
                assert found.coefficients == k or (k is None and found.coefficients >= 2)
    assert found.interval.low[0] == pytest.approx(found.values[0] - found.half_width)


def test_the_noise_is_what_is_said_and_the_band_holds_the_smooth_part() -> None:
    """All 200 coefficients of one series; deviations are known to 5 %, or 11 % for Laplace noise: 25 % are allowed."""
    schema = Schema({"when": Number(0, 200)})
    data = PrivateData.of({"when": [100.0]}, schema, Budget(1e9, 1e-6), bits=DeterministicBits(0))
    exact = np.eye(200)[100]
    for delta in (0.0, 1e-6):
        found = series_of_events(data, "when", periods=200, coefficients=101, epsilon=2.0, delta=delta)
        errors = found.values - exact
        assert errors.std() == pytest.approx(found.standard_errors(found.points).mean(), rel=0.25)
        assert np.abs(errors).max() < found.half_width
    held = 0
    for _ in range(100):
        found = series_of_events(data, "when", periods=200, coefficients=3, epsilon=1.0)
        smooth = FourierBasis(200, 3).waves.T @ (FourierBasis(200, 3).waves @ exact)
        held += bool(np.abs(found.values - smooth).max() <= found.half_width)
    assert held >= 84  # 95 are expected, with a deviation of 2.2


def test_a_user_whose_events_are_pooled_is_shrunk_as_a_whole() -> None:
    """One of a thousand events beside one of one: both add at most the radius."""
    events = {"when": np.r_[np.full(1000, 3.5), 7.5], "who": ["many"] * 1000 + ["one"]}
    unit = Unit("user", column="who", pooled=True)
    schema = Schema({"when": Number(0, 24)})
    data = PrivateData.of(events, schema, Budget(1e6), unit=unit)
    found = series_of_events(data, "when", periods=24, coefficients=13, radius=2.0, epsilon=1e5)
    expected = 2.0 * np.eye(24)[3] + np.eye(24)[7]
    np.testing.assert_allclose(found.values, expected, atol=0.01)
    with pytest.raises(ParameterError, match="pooled and there is no radius"):
        series_of_events(data, "when", periods=24, coefficients=3, epsilon=1.0)


def test_a_choice_is_paid_for_unless_noise_does_not_grow() -> None:
    """By a curator in Laplace noise; afterwards, in Gaussian noise on people; by a spectrum, where users are pooled."""
    people = PrivateData.of(crowd(2000), HOURS, Budget(1e3, 1e-3))
    by_tails = series_of_people(people, epsilon=10.0)
    assert by_tails.receipt.epsilon <= 10.0 * (1 + 1e-9)
    assert PureLoss(2.5) in walked(by_tails.receipt.event)
    afterwards = series_of_people(people, epsilon=1.0, delta=1e-6)
    assert len(walked(afterwards.receipt.event)) == 1
    assert afterwards.coefficients == 2 <= by_tails.coefficients
    events = {"when": np.repeat(np.arange(24) + 0.5, np.round(200 * DAY).astype(int))}
    owners = {**events, "who": [f"{i // 4}" for i in range(len(events["when"]))]}
    schema, unit = Schema({"when": Number(0, 24)}), Unit("user", column="who", pooled=True)
    pooled = PrivateData.of(owners, schema, Budget(1e3), unit=unit)
    by_spectrum = series_of_events(pooled, "when", periods=24, radius=4.0, epsilon=4.0)
    assert len(walked(by_spectrum.receipt.event)) == 3
    assert by_spectrum.receipt.epsilon <= 4.0 * (1 + 1e-9)
    np.testing.assert_allclose(by_spectrum.values, 200 * DAY, atol=2 * by_spectrum.half_width)


def test_nothing_is_spent_on_what_cannot_be() -> None:
    data = PrivateData.of(crowd(10), HOURS, Budget(1.0))
    wrong: list[dict[str, Any]] = [{"coefficients": 14}, {"coefficients": 0}, {"radius": -1.0}, {"confidence": 2.0}]
    for asked in wrong:
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            series_of_people(data, **{"coefficients": 2, **asked})
    with pytest.raises(ParameterError, match="periods is 1"):
        series_of_events(PrivateData.of({"when": [1.0]}, {"when": (0, 9)}, Budget(1.0)), "when", periods=1)
    with pytest.raises(BudgetExceeded):
        series_of_people(data, epsilon=2.0)
    assert data.ledger.balance().certified == 0


def test_a_choice_fits_an_account_of_no_more_than_the_budget() -> None:
    """Of events, whose noise grows with the frequencies with or without a delta; of whole numbers that are floats."""
    events = {"when": np.repeat(np.arange(24) + 0.5, 50)}
    for delta in (0.0, 1e-6):
        for neighbors in Neighbors:
            data = PrivateData.of(events, {"when": (0, 24)}, Budget(1.0, delta), neighbors=neighbors)
            found = series_of_events(data, "when", periods=24.0, epsilon=1.0, delta=delta)  # type: ignore[arg-type]
            assert len(walked(found.receipt.event)) == 3
            assert 0.5 < data.ledger.balance().certified <= 1.0
            np.testing.assert_allclose(found.values, 50.0, atol=2 * found.half_width)


def test_a_step_of_time_gives_one_period_for_each_of_its_values() -> None:
    """Each with its own count, and drawn where it is; without a step their number has to be given."""
    days = {"day": np.repeat(np.arange(1.0, 31.0), np.arange(1, 31))}
    data = PrivateData.of(days, Schema({"day": Number(1, 30, step=1)}), Budget(1e6))
    found = series_of_events(data, "day", coefficients=16, epsilon=1e5)
    np.testing.assert_allclose(found.points, np.arange(1, 31))
    np.testing.assert_allclose(found.values, np.arange(1, 31), atol=0.01)
    with pytest.raises(ParameterError, match="time has no step"):
        series_of_events(days, "day", bounds=(1, 30))


def test_dates_are_printed_and_drawn_as_such() -> None:
    dates = np.repeat(np.arange("2026-01-01", "2026-01-31", dtype="datetime64[D]"), 200)
    data = PrivateData.of({"day": dates}, {"day": Date("2026-01-01", "2026-01-30")}, Budget(1.0))
    found = series_of_events(data, "day", coefficients=2, epsilon=1.0)
    assert found.basis.periods == 30
    assert found.to_dict()["labels"]["day"][:2] == ["2026-01-01", "2026-01-02"]
    np.testing.assert_allclose(found.values, 200.0, atol=20.0)
    ax = found.plot()
    assert ax.xaxis.get_major_formatter()(20_454.0, 0) == "2026-01-01"


def test_results_are_read_as_others_are() -> None:
    found = series_of_people(crowd(50), bounds=(0, 2), coefficients=2, epsilon=5.0)
    assert str(found).startswith("sum of x0 to x23, 2 frequencies (95% for these data)\nperiod")
    assert "<table" in found._repr_html_()
    assert found.to_pandas().shape == (24, 4)
    assert found.plot().get_xlabel() == "period"
    assert found([[0.0, 1.0], [2.0, 3.0]]).shape == (2, 2)


def moved(question: Any, first: Array, second: Array, schema: Schema, neighbors: Neighbors) -> list[Answer]:
    """The answers of two data sets."""
    views = (CuratorsView(source_of(rows, schema, RECORD), neighbors, DeterministicBits(0)) for rows in (first, second))
    return [question.answer(view) for view in views]


def evidence(answers: list[Answer], noise: Any, waves: Array | None = None) -> list[Array]:
    """Of many releases what tells most: the logarithm of how much likelier the second answer makes them.

    Parameters
    ----------
    waves : array, optional
        What a broken twin multiplies the exact answers by.
    """
    steps = [answer.grid.values(answer.steps) * (1.0 if waves is None else waves) for answer in answers]
    found = []
    for seed, (answer, exact) in enumerate(zip(answers, steps, strict=True)):
        many = noise.release(answer.stacked(RUNS), DeterministicBits(seed)) - answer.grid.values(answer.steps) + exact
        apart = [np.abs(many - one) ** (1 if noise.norm == "l1" else 2) for one in steps]
        found.append((apart[0] - apart[1]).sum(axis=1))
    return found


def test_an_audit_stands_and_refutes_two_thirds_of_the_noise_and_an_fft_that_is_not_normalised() -> None:
    """One person's whole series, added or replaced by its opposite; and a single event that moves in time."""
    schema = Schema.numeric(-1.0, 1.0, 9)
    own = FourierBasis(9, 2).waves.T @ np.array([1.0, 1, -1])
    own = (own / np.abs(own).max())[None]
    trials = []
    for neighbors, other in ((Neighbors.ADD_REMOVE, np.zeros((1, 9))), (Neighbors.REPLACE, -own)):
        length = float(np.linalg.norm(FourierBasis(9, 2).waves @ own[0]))
        question = fourier_of_people(schema, schema.features, 2, 0.0, length)
        trials += [(moved(question, other, own, schema, neighbors), kind) for kind in (Laplace, Gaussian)]
    events = Schema({"when": Number(0, 9)})
    question = fourier_of_events(events, "when", None, 9, 2, "l1", None)
    longest = int(np.abs(FourierBasis(9, 2).waves).sum(axis=0).argmax())
    late = np.array([[longest + 0.5]])
    trials += [(moved(question, np.array([[np.nan]]), late, events, Neighbors.ADD_REMOVE), Laplace)]
    for answers, kind in trials:
        claim = kind(1.0).event
        assert judged(claim, *evidence(answers, kind(1.0))).holds
        assert not judged(claim, *evidence(answers, kind(2 / 3))).holds
        assert not judged(claim, *evidence(answers, kind(1.0), np.full(3, math.sqrt(9)))).holds


def published_choice(people: Array, epsilon: float, seed: int) -> tuple[int, Array]:
    """The broken twin: the number of frequencies that is best for these data, as if it were public."""
    series, periods = people.sum(axis=0), people.shape[1]
    errors = []
    for k in range(1, periods // 2 + 2):
        basis = FourierBasis(periods, k)
        left = np.linalg.norm(series - basis.waves.T @ (basis.waves @ series))
        errors.append(left + basis.size * math.sqrt(2) / epsilon)
    k = int(np.argmin(errors)) + 1
    question = fourier_of_people(
        Schema.numeric(-1.0, 1.0, periods), tuple(f"x{i}" for i in range(periods)), k, 0.0, 1.0
    )
    release = PrivateData.of(people, Schema.numeric(-1.0, 1.0, periods), Budget(epsilon), bits=DeterministicBits(seed))
    with release.permit(Laplace(1 / epsilon).event, "a twin") as permit:
        return k, permit.ask(question, Laplace(1 / epsilon))


def test_frequencies_chosen_by_the_data_give_a_person_away_and_a_paid_choice_does_not() -> None:
    """Thirty people whose best number of frequencies changes with one of them, and so the length of the release.

    A noise of epsilon 1 is said to be on it. The audit of the choice by a mechanism is that of `SpectrumTails`, whose
    sensitivity `tests/questions/series/test_fourier.py` tries, and of `PermuteAndFlip`.
    """
    basis = FourierBasis(9, 5)
    for size in np.arange(10.0, 13.0, 0.1):  # the public knowledge of an adversary: all people but one
        crowd = np.tile(size * basis.waves[7] / 30, (30, 1))
        person = 0.99 * basis.waves[7:8]
        without, within = (published_choice(rows, 1.0, 0) for rows in (crowd, np.vstack([crowd, person])))
        if without[0] != within[0]:
            break
    assert without[0] != within[0]
    both = crowd, np.vstack([crowd, person])
    lengths = [[len(published_choice(rows, 1.0, seed)[1]) for seed in range(60)] for rows in both]
    verdict = judged(LaplaceLoss(1.0), *(np.repeat(one, 500) for one in map(np.array, lengths)))
    assert not verdict.holds
