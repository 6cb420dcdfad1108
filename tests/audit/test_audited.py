"""Audits of functions that nobody knows beforehand: sound ones stand, their broken twins do not."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.audit.audited import audited
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, GaussianLoss, PureLoss
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import Laplace

RUNS = 20_000
Rng = np.random.Generator


def counted(epsilon: float) -> Callable[..., Any]:
    def noisy_count(records: Any, runs: int, rng: Rng) -> Any:
        return len(records) + np.subtract(*rng.geometric(1 - math.exp(-epsilon), (2, runs)))

    return noisy_count


def summed(records: Any, runs: int, rng: Rng) -> Any:
    return records.sum() + rng.laplace(0, 1, runs)


def tell(records: Any, rng: Rng) -> bool:
    """Randomized response of one person, one run at a time."""
    return bool(records[0] == 1) == bool(rng.random() < 0.75)


def answers(records: Any, runs: int, rng: Rng) -> Any:
    return (records[0] == 1) == (rng.random(runs) < 0.75)


def raising(records: Any, runs: int, rng: Rng) -> Any:
    if (records == 1).any():
        raise KeyError("one")
    return rng.random(runs)


def hard(epsilon: float) -> Callable[..., Any]:
    """A noisy maximum under replacement: only opposed columns show its loss."""

    def noisy_max(records: Any, runs: int, rng: Rng) -> Any:
        return (records.sum(axis=0) + rng.exponential(2 / epsilon, (runs, 6))).argmax(axis=1)

    return noisy_max


def test_a_planted_factor_is_found_and_the_sound_twin_stands_whatever_neighbors_it_needs() -> None:
    columns = ([0] * 6, [1] * 6)
    for make, options in (
        (counted, {}),
        (hard, {"bounds": columns, "neighbors": Neighbors.REPLACE}),
        (hard, {"bounds": columns, "neighbors": "replace"}),
    ):
        sound = audited(make(1.0), claim=1.0, runs=RUNS, random_state=1, **options)
        broken = audited(make(2.0), claim=1.0, runs=RUNS, random_state=1, **options)
        assert sound.holds
        assert not sound.refuted
        assert 0.7 < sound.epsilon <= 1.0 < broken.epsilon <= 2.0
        assert broken.refuted


def test_neighbors_are_searched_for_and_not_taken_in_their_order() -> None:
    """Only a record in the middle, among others that differ, beside one unlike them, or of one value is seen."""

    def windowed(records: Any, runs: int, rng: Rng) -> Any:
        return ((records > 0.3) & (records < 0.7)).sum() + np.subtract(*rng.geometric(1 - math.exp(-2), (2, runs)))

    def odd(records: Any, runs: int, rng: Rng) -> Any:
        return (len(np.unique(records)) == 2) == (rng.random(runs) < 0.9)

    def second(records: Any, runs: int, rng: Rng) -> Any:
        return (np.sort(records)[-2] if len(records) > 1 else 0.0) + rng.laplace(0, 0.5, runs)

    def sevens(records: Any, runs: int, rng: Rng) -> Any:
        return (records == 7).sum() + np.subtract(*rng.geometric(1 - math.exp(-2), (2, runs)))

    for function, bounds in ((windowed, (0.0, 1.0)), (odd, (0.0, 1.0)), (second, (0.0, 1.0)), (sevens, (0, 20))):
        assert audited(function, claim=1.0, bounds=bounds, grid=2.0**-10, runs=RUNS, random_state=1).refuted


def test_a_loss_between_two_corners_that_share_a_column_is_found() -> None:
    """From (0, 1) to (1, 1) alone the sum moves by two."""

    def signed(scale: float) -> Callable[..., Any]:
        return lambda records, runs, rng: (records[:, 1] * (2 * records[:, 0] - 1)).sum() + rng.laplace(0, scale, runs)

    options: dict[str, Any] = {"bounds": ([0, 0], [1, 1]), "grid": 2.0**-10, "runs": RUNS, "random_state": 1}
    assert audited(signed(1.0), "replace", claim=1.0, **options).refuted
    assert audited(signed(2.0), "replace", claim=1.0, **options).holds


def test_the_witness_can_be_run_again_and_gives_the_same_counts() -> None:
    noisy_count = counted(2.0)
    report = audited(noisy_count, claim=1.0, runs=RUNS, random_state=3)
    again = eval(report.again, {"audited": audited, "noisy_count": noisy_count, "PureLoss": PureLoss})
    assert again.worst.evidence == report.worst.evidence
    assert again.tried == 1
    assert report.tried > 10
    assert again.outputs == 2 * RUNS < report.outputs


def test_outputs_of_the_search_are_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs in the search and in the count come from two generators."""
    seeds: list[Any] = []
    fresh = np.random.default_rng

    def noted(seed: Any) -> Rng:
        seeds.append(seed)
        return fresh(seed)

    monkeypatch.setattr(np.random, "default_rng", noted)
    audited(counted(1.0), claim=1.0, runs=1000, random_state=9)
    assert seeds == [[9, 0], [9, 1]]


def test_everything_that_is_looked_at_shares_one_risk() -> None:
    report = audited(summed, claim=GaussianLoss(0.1), runs=1000, confidence=0.97, random_state=1)
    risks = dict.fromkeys(("values", "exponents of last bits"), 0.0)
    for part in risks:
        seen = {finding.witness for finding in report.findings if finding.part == part}
        risks[part] = sum(2 * one.risk for one in seen if one is not None)
    assert all(0 < risk <= 0.005 + 1e-12 for risk in risks.values())


def test_no_sound_mechanism_is_refuted_more_often_than_the_confidence_says() -> None:
    alarms = sum(
        audited(answers, "replace", claim=math.log(3), size=0, runs=1000, confidence=0.8, random_state=seed).refuted
        for seed in range(40)
    )
    assert alarms <= 8


def test_last_bits_of_floating_point_noise_refute_and_a_grid_leaves_the_law_alone() -> None:
    bare = audited(summed, claim=1.0, runs=RUNS, random_state=1)
    assert bare.worst.part == "exponents of last bits"
    assert bare.epsilon > 3
    rounded = audited(summed, claim=1.0, runs=RUNS, random_state=1, grid=2.0**-20)
    assert rounded.holds
    assert {finding.part for finding in rounded.findings} == {"values"}
    assert audited(summed, claim=0.5, runs=RUNS, random_state=1, grid=2.0**-20).refuted


def test_a_function_of_one_run_is_called_again_and_again() -> None:
    told = audited(tell, "replace", claim=0.5, size=0, runs=1500, random_state=1)
    assert told.refuted
    assert 0.5 < told.epsilon < math.log(3)
    with_nothing = audited(lambda records: len(records) % 2, claim=1.0, runs=1000, random_state=1)
    assert with_nothing.refuted


def test_stated_probabilities_are_looked_at_exactly() -> None:
    def stated(records: Any, runs: int, rng: Rng) -> Any:
        return answers(records, runs, rng)

    stated.probabilities = lambda records: {1: 0.75, 0: 0.25} if records[0] == 1 else {1: 0.25, 0: 0.75}  # type: ignore[attr-defined]
    options: dict[str, Any] = {"neighbors": "replace", "size": 0, "runs": 1000, "random_state": 1}
    assert audited(stated, claim=math.log(3) + 1e-6, **options).holds
    short = audited(stated, claim=math.log(3) - 1e-4, **options)
    assert short.refuted
    assert short.worst.part == "stated probabilities"
    assert audited(stated, claim=0.5, delta=0.3378, **options).worst.part == "stated probabilities"


def test_what_raises_on_a_record_is_a_finding() -> None:
    report = audited(raising, claim=1.0, runs=RUNS, random_state=1)
    assert report.refuted
    assert report.worst.part == "whether it raises, as 1 or 0"
    assert "It raised in" in report.warnings[0]


def test_runs_at_once_that_did_not_raise_are_not_mixed_with_single_ones() -> None:
    """A batch that did not raise is no fair sample, and so all that count are drawn again."""
    sizes: list[int] = []

    def falling(records: Any, runs: int, rng: Rng) -> Any:
        sizes.append(runs)
        drawn = rng.random(runs)
        if (drawn < 0.0005).any():
            raise SystemExit
        return drawn < 0.5

    report = audited(falling, ([0.0], [0.0, 1.0]), claim=0.1, runs=RUNS, random_state=1)
    assert report.holds
    assert "It raised in" in report.warnings[0]
    assert 1000 in sizes
    assert set(sizes[-2 * RUNS :]) == {1}


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        (lambda records: [0.0] * len(records), {}, "one shape"),
        (lambda records: "yes", {}, "outputs of type"),
        (lambda records: [], {}, "without numbers"),
        (lambda records, runs: np.zeros(3), {}, "first axis count the runs"),
        (lambda records: 1 / 0, {}, "raises on all"),
        (lambda records, rng, scale: 0.0, {}, "functools.partial"),
        (7, {}, "cannot be called"),
        (summed, {"claim": None}, "an epsilon, or an event"),
        (summed, {"claim": math.nan}, "epsilon"),
        (summed, {"bounds": (1.0, 0.0)}, "not below"),
        (summed, {"bounds": (0.0, math.nan)}, "not below"),
        (summed, {"bounds": 3}, "two numbers or lists"),
        (summed, {"neighbors": "moved"}, "add_remove"),
        (summed, {"neighbors": []}, "no pairs"),
        (summed, {"neighbors": [(["a"], ["b"])]}, "no number"),
        (summed, {"runs": 10}, "from 200 to"),
        (summed, {"grid": 0.0}, "grid is 0"),
        (summed, {"confidence": 1.0}, "confidence in"),
        (summed, {"random_state": -1}, "random_state"),
        (summed, {"size": -1}, "size is -1"),
        (summed, {"size": 10**9}, "size is 1000000000"),
        (summed, {"delta": "some"}, "delta is some"),
    ],
)
def test_what_cannot_be_audited_is_refused(function: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        audited(function, **{"claim": 1.0, "runs": 1000, **options})


def test_outputs_that_change_shape_are_refused_and_the_remedy_works() -> None:
    """With the records, from run to run, and among runs at once; padded, as the refusal says, they are audited."""

    def with_records(records: Any) -> Any:
        return np.append(records.ravel(), 0.0)

    def from_run_to_run(records: Any, rng: Rng) -> Any:
        return np.zeros(1 + rng.integers(2))

    def at_once(records: Any, runs: int) -> Any:
        return [[0.0] * (1 + run % 2) for run in range(runs)]

    for function in (with_records, from_run_to_run, at_once):
        with pytest.raises(ParameterError, match=r"shape.*Nothing was released.*pad what is shorter with nan"):
            audited(function, claim=1.0, runs=1000)

    def padded(records: Any) -> Any:
        return np.append(records.ravel(), [math.nan] * 99)[:99]

    assert audited(padded, claim=1.0, runs=1000).refuted


def test_mechanisms_of_discreet_are_tried_on_neighbors_and_a_claim_of_their_own() -> None:
    stands = audited(Laplace(1.0), runs=RUNS, random_state=1)
    assert stands.holds
    assert stands.neighbors is None
    assert audited(Laplace(1.0), claim=0.5, runs=RUNS, random_state=1).refuted


def test_results_of_statistics_are_read_by_their_value() -> None:
    def privately(records: Any) -> Any:
        return discreet.count(records, bounds=(0, 1), epsilon=4.0)

    report = audited(privately, ([0.0] * 3, [0.0] * 4), claim=0.2, runs=200, random_state=1, confidence=0.9)
    assert report.refuted
    assert report.epsilon <= 4.0


def test_a_report_reads_as_a_lower_bound_and_is_text_page_and_data() -> None:
    passed = audited(counted(1.0), claim=1.0, runs=RUNS, random_state=1)
    assert "no proof" in str(passed)
    assert str(passed).startswith("Not refuted with confidence 0.999999")
    named = counted(2.0)
    named.__name__ = "<b>mine</b>"
    failed = audited(named, claim=ApproximateLoss(1.0, 1e-6), runs=RUNS, random_state=1)
    assert str(failed).startswith("REFUTED")
    assert "no proof" not in str(failed)
    assert "&lt;b&gt;mine" in failed.to_html()
    assert "<b>" not in failed.to_html()
    document = json.loads(failed.to_json())
    assert document["holds"] is False
    assert document["options"]["random_state"] == 1
    assert document["findings"][0]["witness"]["often"][1] == RUNS // 2


def test_a_time_that_tells_the_data_sets_apart_is_a_warning() -> None:
    """Both are timed by turns, in blocks; a sleep is longer on every machine."""

    def slow(records: Any, runs: int, rng: Rng) -> Any:
        time.sleep(0.003 * len(records))
        return rng.random(runs) < 0.5

    told, quick = (
        audited(slow, (first, [0.0, 1.0]), claim=1.0, runs=1000, random_state=1) for first in ([], [0.0, 0.0])
    )
    assert told.holds
    assert any("On the second data set it takes" in text for text in told.warnings)
    assert "time tells them apart" in str(told)
    assert not quick.warnings


def test_a_function_may_change_its_records_and_return_nothing() -> None:
    def spoiling(records: Any) -> Any:
        records[:] = 0
        return None if len(records) > 3 else float(records.sum())

    given = np.ones(2)
    assert audited(spoiling, [(given, [1.0])], claim=1.0, runs=1000, random_state=1).holds
    assert given.tolist() == [1.0, 1.0]
    assert audited(spoiling, [([1.0] * 4, [1.0] * 3)], claim=1.0, runs=1000, random_state=1).refuted
