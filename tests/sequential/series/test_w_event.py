"""w-event privacy: no window costs more than was said, whatever is published in it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.audit.trial import judged
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import PureLoss
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential import BudgetAbsorption, BudgetDistribution, resume_stream, save_stream
from discreet.sequential.series.w_event import HALF, OpenAbsorption, OpenDistribution, Shares, WEventStream
from discreet.trust.grant import Grant
from tests.sequential.trial import BOTH_SIGNS, ONE_SIGN, TIMES, Draws, SeriesTrial, moves, opened, units, within


@dataclass(frozen=True)
class WindowTrial(SeriesTrial):
    """Scales of all draws at each time, if every series is published as often as it can be."""

    def losses(self) -> Iterator[float]:
        """A distance and a publication each lose what the sum moves by over their scale."""
        for neighbors, bound, places, window in itertools.product(
            Neighbors, (ONE_SIGN, BOTH_SIGNS), ((1, 1), (2, 1), (2, 2)), (1, 2)
        ):
            given = {"series": places[0], "memberships": places[1], "neighbors": neighbors}
            losses = self._losses(self.kind(window, 1.0, bound, **given))
            found = within(units(window, *places, bound), window)
            apart = np.abs(moves(found, neighbors, in_place=False)).sum(axis=2)
            yield float((apart @ losses).max())

    def _losses(self, description: WEventStream) -> list[float]:
        draws, losses = Draws(), []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Laplace, "noise", lambda *given: draws.noise(*given))
            stream = opened(description)
            for time in range(TIMES):
                before = len(draws.scales)
                crowd = np.repeat(np.arange(description.series), 10_000 * (time + 1))
                stream.update(np.ones(len(crowd)), crowd)
                drawn = np.array(draws.scales[before:]) * description.grid.step
                losses.append(float((1 / drawn).sum()) / description.series)
        return losses


TRIALS = {kind.__name__: WindowTrial(kind) for kind in (BudgetDistribution, BudgetAbsorption)}


RUNS = 40_000
EACH = np.arange(RUNS)
KINDS: list[type[WEventStream]] = [BudgetDistribution, BudgetAbsorption]


def test_no_window_holds_more_than_a_half_whatever_is_published() -> None:
    """60 streams that leap at random: all windows of 1 to 12 times; each half is nearly used up by some window."""
    rng = np.random.default_rng(0)
    for kind in KINDS:
        for window in (1, 2, 5, 12):
            stream = opened(kind(window, 50.0, Bound("linf", 1e6), series=60), DeterministicBits(0))
            spent = []
            for _ in range(6 * window):
                stream.update(1e6 * (rng.random(60) < 0.3), np.arange(60))
                spent.append(stream._spent[(stream.clock - 1) % window].copy())
            sums = np.cumsum(np.vstack([np.zeros((1, 60)), *spent]), axis=0)
            windows = sums[window:] - sums[:-window]
            assert windows.max() <= HALF
            assert windows.max() > 0.45 * HALF


def evidence(kind: type[WEventStream], epsilon: float, values: list[float], neighbors: Neighbors, seed: int) -> Array:
    """What tells streams of a leap and of zeros apart: how releases and publications look, in few numbers."""
    stream = opened(kind(2, epsilon, Bound("linf", 1.0), series=RUNS, neighbors=neighbors), DeterministicBits(seed))
    seen = np.zeros(RUNS)
    for value in values:
        found = stream.update(np.full(RUNS, value), EACH)
        seen += np.where(stream.published, np.clip(found, -1.0, 1.0), 0.0)
    return seen


@pytest.mark.partial_audit("its noise is measured by itself, next to this")
def test_an_audit_stands_and_refutes_a_stream_that_pays_for_one_time_only() -> None:
    """Leaps at both times of a window, of 1e9, which is clipped; the twin has noise of eight times the epsilon."""
    for kind in KINDS:
        for neighbors, other in ((Neighbors.ADD_REMOVE, 0.0), (Neighbors.REPLACE, -1e9)):
            for times, holds in ((1.0, True), (8.0, False)):
                streams = ([other, other], [1e9, 1e9])
                found = [evidence(kind, 2.0 * times, values, neighbors, i) for i, values in enumerate(streams)]
                assert judged(PureLoss(2.0), *found).holds is holds, (kind, neighbors, times)


class Noted(OpenAbsorption):
    """Notes what its noise is paid."""

    def _noise(self, shares: Array | Shares) -> Any:
        self.paid = [*getattr(self, "paid", []), np.asarray(shares, np.float64)]
        return super()._noise(shares)


def test_noise_is_paid_by_its_share_and_a_distance_by_one_part_of_the_window() -> None:
    """Deviations of 40,000 numbers are known to 0.8 %, and 5 % are allowed: 2 w bounds over epsilon for a distance."""
    options: list[tuple[dict[str, Any], float]] = [
        ({}, 1.0),
        ({"memberships": 3}, 3.0),
        ({"neighbors": Neighbors.REPLACE}, 2.0),  # a value leaves one series and joins another
    ]
    for more, moved in options:
        described = BudgetAbsorption(4, 0.5, Bound("linf", 1.0, nonnegative=True), series=RUNS, **more)
        stream = Noted(Grant(described, DeterministicBits(0), None))
        stream.update(np.full(RUNS, 1.0), EACH)
        assert (stream.paid[0] == HALF / 4).all()
        drawn = described.grid.values(stream._noise(np.full(RUNS, HALF / 4)))
        assert drawn.std() == pytest.approx(math.sqrt(2) * 2 * 4 * moved / 0.5, rel=0.05)


class FreeDistances(OpenDistribution):
    """A broken twin: whether a series is published is decided by its exact distance."""

    def _noise(self, shares: Array | Shares) -> Any:
        distance = len(shares) > 0 and float(shares[0]) == HALF / self.description.window
        return np.zeros(len(shares), np.int64) if distance else super()._noise(shares)


@pytest.mark.partial_audit("shows one fault, by evidence for it alone")
def test_a_decision_by_exact_distances_is_refuted() -> None:
    """Two people whose sum is just below the error of a publication, 8, and a third with whom it is just above."""
    people = np.repeat(EACH, 2)
    described = BudgetDistribution(1, 2.0, Bound("linf", 4.0), series=RUNS)
    for kind, holds in ((OpenDistribution, True), (FreeDistances, False)):
        found = []
        for seed, third in enumerate((0.0, 0.8)):
            stream = kind(Grant(described, DeterministicBits(seed), None))
            stream.update(np.r_[np.full(2 * RUNS, 3.8), np.full(RUNS, third)], np.r_[people, EACH])
            found.append(1.0 * stream.published)
        assert judged(PureLoss(2.0), *found).holds is holds


def test_releases_follow_a_series_that_moves_seldom() -> None:
    """5,000 people, then 9,000: within 20 of the noise of a publication that has half of the half to itself."""
    for kind in KINDS:
        stream = opened(kind(5, 1.0), DeterministicBits(0))
        for time in range(40):
            people = 5000 if time < 20 else 9000
            found = stream.update(np.ones(people))
            if time in (19, 39):
                assert abs(found[0] - people) < 20 * 8
        assert stream.description.event == PureLoss(1.0)


def test_one_that_is_resumed_goes_on_and_a_window_is_no_larger_unit(tmp_path: Path) -> None:
    for kind in KINDS:
        ledger, described, bits = MemoryLedger(Budget(5.0)), kind(4, 5.0), DeterministicBits(0)
        whole, first = opened(described, DeterministicBits(0)), described.open(ledger, "visits", bits=bits)
        visits = [np.ones(100 * (1 + time // 5)) for time in range(20)]
        expected = [whole.update(one) for one in visits]
        found = [first.update(one) for one in visits[:9]]
        save_stream(first, tmp_path / kind.__name__)
        again = resume_stream(described, tmp_path / kind.__name__, bits=bits)
        found += [again.update(one) for one in visits[9:]]
        np.testing.assert_array_equal(found, expected)
        assert len(ledger.entries()) == 1
        users = MemoryLedger(Budget(5.0), Neighbors.ADD_REMOVE, Unit("user", column="who", rows=2))
        with pytest.raises(NotPermitted, match="has at most 2 rows of each"):
            described.open(users, "visits")


def test_what_cannot_be_is_refused() -> None:
    for kind in KINDS:
        for window, epsilon in ((0, 1.0), (2, 0.0), (2, math.inf), (2**21, 1.0)):
            with pytest.raises(ParameterError):
                kind(window, epsilon)
