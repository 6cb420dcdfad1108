"""Proposals: their distances against every data set of a small line."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

from discreet.core.answer import Records
from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.stable.stable_figures import NEVER, Measured, SpreadClass, StableFigure, StableQuantile

PROPOSALS: list[StableFigure] = [
    SpreadClass(0.0, 4.0, 4, 2.0),
    SpreadClass(0.0, 4.0, 4, 2.0, 0.5),
    SpreadClass(0.0, 4.0, 4, 1.4, 0.2),
    *(StableQuantile(share, 0.0, 4.0, 4, 1) for share in (0.0, 0.25, 0.5, 0.9)),
]


def records(values: tuple[float, ...] | np.ndarray, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Records:
    return Records(np.asarray(values, dtype=np.float64).reshape(-1, 1), 1, neighbors)


@functools.cache
def changed(values: tuple[int, ...], neighbors: Neighbors, top: int) -> set[tuple[int, ...]]:
    """Under replace a value may turn missing, or the reverse; leaving is seen from the other side."""
    joined = {tuple(sorted((*values, new))) for new in range(top + 1)}
    if neighbors is Neighbors.ADD_REMOVE:
        return joined
    rests = [values[:i] + values[i + 1 :] for i in range(len(values))]
    return joined | {tuple(sorted((*rest, new))) for rest in rests for new in range(top + 1)}


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("figure", PROPOSALS, ids=repr)
def test_distances_change_by_one_and_are_zero_next_to_a_jump(figure: StableFigure, neighbors: Neighbors) -> None:
    top, most = 4, 7
    found = {
        values: figure.measured(records(values, neighbors))
        for number in range(most + 1)
        for values in itertools.combinations_with_replacement(range(top + 1), number)
    }
    for values, here in found.items():
        for other in changed(values, neighbors, top) & found.keys():
            there = found[other]
            assert abs(here.distance - there.distance) <= 1 or min(here.distance, there.distance) > NEVER - 2
            if abs(here.steps - there.steps) > figure.bound:
                assert here.distance == there.distance == 0


def test_a_distance_is_about_the_rows_that_it_takes() -> None:
    """Two heaps: their range jumps when a quarter of the records has come to one of them, less a few for safety."""
    heaps = records(np.repeat([0.0, 600.0], 1000))
    measured = SpreadClass().measured(heaps)
    assert 600 < measured.distance <= 1000
    same = SpreadClass().measured(records(heaps.values[:, 0], Neighbors.REPLACE))
    assert 400 < same.distance <= 500


def test_every_spread_has_its_class_and_the_class_its_middle() -> None:
    figure = SpreadClass(0.0, 1000.0, 1000, 1.5, 0.5)
    for spread in (0, 1, 2, 7, 100, 999, 1000):
        values = np.repeat([0.0, spread], 500)
        measured = figure.measured(records(values))
        middle = float(figure.said(np.array([measured.steps]))[0])
        assert abs(middle - spread) <= 1 or math.sqrt(2 / 3) * 0.99 < middle / spread < math.sqrt(1.5) * 1.01
        assert figure.ends[measured.steps] <= spread < figure.ends[measured.steps + 1]


def test_classes_with_offsets_have_no_end_in_common() -> None:
    plain, offset = SpreadClass(cells=10**6), SpreadClass(cells=10**6, offset=0.5)
    large = 2**5
    assert not {end for end in plain.ends if large < end < 10**6} & set(offset.ends.tolist())


def test_a_quantile_is_said_within_its_bounds() -> None:
    figure = StableQuantile(0.5, -1.0, 1.0, 4, 1)
    assert figure.said(np.array([-3, 0, 1, 99])).tolist() == [-1.0, -1.0, -0.5, 1.0]


@pytest.mark.parametrize("figure", PROPOSALS, ids=repr)
def test_no_records_are_measured_too(figure: StableFigure) -> None:
    assert isinstance(figure.measured(records(())), Measured)
    assert isinstance(figure.measured(records((math.nan, math.nan))), Measured)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: SpreadClass(ratio=1.0),
        lambda: SpreadClass(offset=1.0),
        lambda: SpreadClass(lower=5.0, upper=1.0),
        lambda: StableQuantile(q=2.0),
        lambda: StableQuantile(bound=0),
    ],
)
def test_a_proposal_without_meaning_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError):
        wrong()  # type: ignore[operator]


def test_a_row_that_joins_brings_both_quartiles_together_by_half_a_rank() -> None:
    """From a range of 500 cells to one below 363 it takes 276 such rows; three less are sure, as ranks are rounded."""
    ages = Records(np.arange(1000.0)[:, None], 1, Neighbors.ADD_REMOVE)
    assert SpreadClass(offset=0.5).measured(ages).distance == 276 - 3
