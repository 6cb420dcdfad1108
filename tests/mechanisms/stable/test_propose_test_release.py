"""Propose-test-release: the price of all tests, the threshold, no answer, where twins break."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from discreet.accounting.accountant import delta
from discreet.audit.trial import trial
from discreet.core.answer import NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, LaplaceLoss
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.stable.propose_test_release import ProposeTestRelease
from discreet.mechanisms.stable.stable_figures import SpreadClass, StableQuantile
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit, tripled
from tests.mechanisms.trial import MechanismTrial


def records(values: list[float] | np.ndarray, neighbors: Neighbors = Neighbors.ADD_REMOVE, rows: int = 1) -> Records:
    return Records(np.asarray(values, dtype=np.float64).reshape(-1, 1), rows, neighbors)


@dataclasses.dataclass(frozen=True)
class RetriesUntilItPasses(ProposeTestRelease):
    """Twenty tests for the price of one."""

    def release(self, answer: Records, bits: Bits) -> Array:
        released = super().release(answer, bits)
        for _ in range(19):
            released = np.where(np.isnan(released), super().release(answer, bits), released)
        return released

    def worst_neighbors(self) -> NeighborPair:
        """Most single tests fail, and hardly ever do all."""
        return NeighborPair(records(41 * [0.0] + 41 * [725.0]), records(41 * [0.0] + 42 * [725.0]))


@dataclasses.dataclass(frozen=True)
class WithoutAThreshold(ProposeTestRelease):
    """Released as soon as the noisy distance is not negative."""

    def threshold(self, rows: int) -> float:
        return 0.0

    def worst_neighbors(self) -> NeighborPair:
        """One row more, and the range is in another class."""
        return NeighborPair(records([0.0, 0.0, 0.0, 100.0]), records([0.0, 0.0, 0.0, 100.0, 100.0]))


@dataclasses.dataclass(frozen=True)
class FreeRelease(ProposeTestRelease):
    """The test is paid for, and the noise of the release is that of the whole price again."""

    figures: tuple[StableQuantile, ...] = (StableQuantile(bound=512),)

    def release(self, answer: Records, bits: Bits) -> Array:
        return ProposeTestRelease(2 * self.epsilon, self.delta, self.figures).release(answer, bits)

    def worst_neighbors(self) -> NeighborPair:
        """Far from a jump of more than half the line, so the release is what counts."""
        low, high = 200 * [256.0], [768.0]
        return NeighborPair(records(low + 200 * high), records(low + 201 * high))


def nearly_passing(neighbors: Neighbors, rows: int) -> Callable[[ProposeTestRelease], NeighborPair]:
    """All values are 0, as many as the test asks for; then one unit's are not, or there is one unit less."""

    def pair(mechanism: ProposeTestRelease) -> NeighborPair:
        number = math.floor(mechanism.threshold(rows)) + 1
        rest = [0.0] * (number - rows) + ([1024.0] * rows if neighbors is Neighbors.REPLACE else [])
        return NeighborPair(records([0.0] * number, neighbors, rows), records(rest, neighbors, rows))

    return pair


LEAST, HALF = (StableQuantile(q=0.0),), (StableQuantile(bound=512),)
JUMP = NeighborPair(*(records([256.0] * (200 - i) + [768.0] * (200 + i), Neighbors.REPLACE) for i in (0, 1)))
AUDITS = [
    *(
        Audit(
            f"the test, {neighbors.value}, {rows} rows",
            ProposeTestRelease(2.0, 1e-6, LEAST),
            nearly_passing(neighbors, rows),
            claim=LaplaceLoss(1.0),
            view=np.isnan,
        )
        for neighbors in Neighbors
        for rows in (1, 3)
    ),
    Audit("two tests", ProposeTestRelease(), ProposeTestRelease.worst_neighbors),
    Audit("the release", ProposeTestRelease(2.0, 1e-6, HALF), JUMP, LaplaceLoss(1.0)),
    Audit("the release, three rows for one jump", ProposeTestRelease(2.0, 1e-6, HALF), tripled(JUMP), LaplaceLoss(3.0)),
]
TRIAL = MechanismTrial(twins=[RetriesUntilItPasses(), WithoutAThreshold(), FreeRelease()], audits=AUDITS)


def test_every_test_and_every_noisy_release_is_paid_for() -> None:
    tests, _, rest = ProposeTestRelease(1.0, 1e-6).event.events
    assert tests == LaplaceLoss(2.0)
    assert rest == ApproximateLoss(0.0, 1e-6)
    noisy = ProposeTestRelease(1.0, 1e-6, (StableQuantile(), SpreadClass()))
    assert noisy.event.events[:3] == 3 * (LaplaceLoss(3.0),)
    assert delta(noisy.event, 1.0) <= 1e-6 * (1 + 1e-9)


@pytest.mark.partial_audit("not on the worst neighbors, which AUDITS has")
def test_the_audit_does_not_refute_the_claim_next_to_a_jump() -> None:
    for mechanism, neighbors in itertools.product(
        (ProposeTestRelease(2.0, 0.01, (StableQuantile(bound=64),)), ProposeTestRelease(2.0, 0.01, (SpreadClass(),))),
        Neighbors,
    ):
        values = [0.0] * 20 + [100.0] * 19
        more = [*values[1:], 100.0] if neighbors is Neighbors.REPLACE else [*values, 100.0]
        pair = NeighborPair(records(values, neighbors), records(more, neighbors))
        verdict = trial(mechanism, DeterministicBits(2), neighbors=pair, runs=60_000)
        assert verdict.holds, str(verdict)


def test_next_to_a_jump_hardly_anything_passes() -> None:
    """With probability delta at most; of 200 000 tests 2000 are expected, and five deviations more allowed."""
    brink = records([0.0, 0.0, 0.0, 100.0]).stacked(200_000)
    found = ProposeTestRelease(1.0, 0.01, (SpreadClass(),)).release(brink, DeterministicBits(1))
    assert 1000 < (~np.isnan(found)).sum() <= 2000 + 5 * math.sqrt(2000)


def test_far_from_a_jump_it_answers_and_is_right() -> None:
    values = np.random.default_rng(0).normal(500, 100, 5000)
    figures = tuple(SpreadClass(0.0, 1000.0, 10**6, 1.25, offset) for offset in (0.0, 0.5))
    found = ProposeTestRelease(1.0, 1e-6, figures).release(records(values).stacked(300), DeterministicBits(2))
    exact = np.subtract(*np.quantile(values, [0.75, 0.25]))
    assert np.isfinite(found).mean() > 0.99
    assert (np.abs(np.log(found[np.isfinite(found)] / exact)) < math.log(1.25) / 2 * 1.05).all()


def test_few_records_have_no_answer_and_no_error() -> None:
    for values in ([], [math.nan], [3.0], [1.0, 2.0, 3.0]):
        assert math.isnan(ProposeTestRelease().release(records(values), DeterministicBits(1)))


def test_a_steady_quantile_gets_noise_for_its_bound() -> None:
    mechanism = ProposeTestRelease(2.0, 1e-6, (StableQuantile(0.5, 0.0, 1000.0, 1000, 5),))
    found = mechanism.release(records(np.arange(0.0, 1000.0, 1.0)).stacked(5000), DeterministicBits(3))
    passed = found[np.isfinite(found)]
    assert len(passed) < 200  # five values between is near enough to a jump
    calm = mechanism.release(records(np.full(1000, 300.0)).stacked(5000), DeterministicBits(3))
    assert np.isfinite(calm).all()
    assert calm.std() == pytest.approx(math.sqrt(2) * 5, rel=0.1)


def test_a_person_of_several_rows_needs_a_greater_distance() -> None:
    """Noise of two tests of epsilon 1/2, per row of a unit, passes what is left with probability delta / 2 in each."""
    for rows in (1, 3):
        assert ProposeTestRelease().threshold(rows) == pytest.approx(rows - 1 + 2 * rows * math.log(1e6), rel=1e-4)
    noisy = ProposeTestRelease(1.0, 1e-3, (StableQuantile(),))
    assert noisy.threshold(1) == pytest.approx(2 * math.log(500), rel=1e-3)


@pytest.mark.parametrize("fields", [{"delta": 0.0}, {"delta": 0.6}, {"epsilon": 0.0}, {"figures": ()}])
def test_parameters_without_meaning_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        ProposeTestRelease(**fields)  # type: ignore[arg-type]
