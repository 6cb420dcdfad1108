"""The way of a question: paid first, asked of a permit, then noise, and not through too many hands."""

from __future__ import annotations

import numpy as np
import pytest

from tests import ways
from tests.ways import Call, Way, way

MOST_FRAMES = 11
MOST_FIT_CALLS = 2500
DOOR = ("permit", "ask", "noise")


def test_whatever_is_asked_is_paid_first_and_answered_with_noise_a_few_frames_below() -> None:
    for asked in (ways.mean, ways.logistic_regression, ways.triangles, ways.graph_release):
        found = way(asked.__name__, asked)
        assert found.order == DOOR, found.printed()
        assert found.frames <= MOST_FRAMES, found.printed()


def test_a_fit_of_a_small_table_takes_few_calls() -> None:
    """The median of five, once three have loaded what there is to load: noise that is rejected takes some more."""
    counts = [len(ways.traced(ways.logistic_regression)) for _ in range(8)]
    assert np.median(counts[3:]) <= MOST_FIT_CALLS


def test_a_counter_is_paid_for_and_opened_before_its_first_noise() -> None:
    found = way("counter update", ways.counter_update)
    assert found.order == ("permit", "open", "noise"), found.printed()
    assert found.frames <= MOST_FRAMES, found.printed()


def test_a_training_step_is_paid_for_and_asked_before_its_first_noise() -> None:
    pytest.importorskip("torch")
    found = way("training step", ways.training_step)
    assert found.order == DOOR, found.printed()
    assert found.frames <= MOST_FRAMES, found.printed()


def test_a_way_shows_a_noise_that_comes_before_the_payment() -> None:
    """The walk can fail: made-up calls out of order are seen, and the frames are counted from the user's call."""
    calls = (
        Call("statistics/moments/mean.py", "mean", 0),
        Call("mechanisms/additive/laplace.py", "Laplace.noise", 1),
        Call("noise/laplace.py", "rounded_laplace", 2),
        Call("trust/private_data.py", "PrivateData.permit", 1),
        Call("trust/permit.py", "Permit.ask", 1),
    )
    found = Way("wrong", calls)
    assert found.order == ("noise", "permit", "ask")
    assert found.frames == 2
    assert found.printed().splitlines()[1:4] == [
        "statistics/moments/mean.py: mean",
        "  mechanisms/additive/laplace.py: Laplace.noise",
        "    noise/laplace.py: rounded_laplace  <-- noise",
    ]
