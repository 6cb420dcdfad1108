"""The exponential mechanism on directions: price, law, reach, and where twins break."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discreet.accounting.accountant import pure_epsilon
from discreet.core.answer import GramAnswer, NeighborPair
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.vectors.bingham import UNIT, Bingham
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit
from tests.mechanisms.trial import MechanismTrial


def gram(*squares: int, neighbors: Neighbors = Neighbors.ADD_REMOVE, rows: int = 1, longest: int = 1) -> GramAnswer:
    return GramAnswer(np.diag(squares).astype(np.int64), longest, rows, neighbors)


def last(releases: Array) -> Array:
    """The size of the last coordinate: a direction and its opposite are one."""
    return np.abs(releases[:, -1])


@dataclasses.dataclass(frozen=True)
class AsIfRecordsOnlyJoined(Bingham):
    """The reach of a record that joins, where one is replaced."""

    def steepness(self, answer: GramAnswer) -> float:
        return super().steepness(dataclasses.replace(answer, neighbors=Neighbors.ADD_REMOVE))


@dataclasses.dataclass(frozen=True)
class ForgetsTheRadius(Bingham):
    """R for R^2: longer vectors move the score farther."""

    def steepness(self, answer: GramAnswer) -> float:
        return super().steepness(dataclasses.replace(answer, longest=round(answer.longest**0.5)))


@dataclasses.dataclass(frozen=True)
class ForgetsTheUnit(Bingham):
    """One row, for a unit that has three."""

    def steepness(self, answer: GramAnswer) -> float:
        return super().steepness(dataclasses.replace(answer, rows=1))


RUNS = 240_000  # only directions close to the record that joined tell much, and few are
JOINED = NeighborPair(gram(5, 0, longest=4), gram(5, 4, longest=4))
REPLACED = NeighborPair(*(gram(*squares, neighbors=Neighbors.REPLACE, longest=4) for squares in ((13, 0), (9, 4))))
TRIPLED = NeighborPair(gram(4, 0, rows=3), gram(4, 3, rows=3))
SECOND = NeighborPair(gram(9, 5, 0, longest=4), gram(9, 5, 4, longest=4))
TRIAL = MechanismTrial(
    twins=[
        Audit("replaced", AsIfRecordsOnlyJoined(2.0), REPLACED, view=last),
        Audit("long", ForgetsTheRadius(2.0), JOINED, view=last),
        Audit("unit", ForgetsTheUnit(2.0), TRIPLED, view=last),
    ],
    audits=[
        Audit("one record joins", Bingham(3.0), JOINED, view=last, runs=RUNS),
        Audit("one is replaced", Bingham(3.0), REPLACED, view=last, runs=RUNS),
        Audit("three rows", Bingham(3.5), TRIPLED, view=last, runs=RUNS),
        Audit("a second direction", Bingham(3.0, ((1.0, 0.0, 0.0),)), SECOND, view=last, runs=RUNS),
    ],
)


def test_the_price_is_epsilon() -> None:
    for epsilon in (0.1, 1.0, 4.0):
        assert pure_epsilon(Bingham(epsilon).event) == pytest.approx(epsilon)


def test_every_loss_is_within_epsilon_and_the_worst_comes_close() -> None:
    """The law in the plane, by integration: every pair of a small grid of data sets, both relations."""
    angles = np.linspace(0, np.pi, 2001)
    directions = np.stack([np.cos(angles), np.sin(angles)])
    rows = [np.array([np.cos(a), np.sin(a)]) * r for a in np.linspace(0, np.pi, 7)[:-1] for r in (0.5, 1.0)]
    bases = [np.zeros((2, 2)), np.diag([1.0, 0.0]), np.diag([20.0, 0.0]), np.diag([9.0, 5.0])]

    def log_density(matrix: Array, steepness: float) -> Array:
        score = steepness * np.einsum("ia,ij,ja->a", directions, matrix, directions)
        return np.asarray(score - np.log(np.exp(score).mean()))

    for neighbors, pairs in (
        (Neighbors.ADD_REMOVE, [(np.zeros(2), row) for row in rows]),
        (Neighbors.REPLACE, [(one, row) for one in rows for row in rows]),
    ):
        steepness = Bingham(1.0).steepness(gram(0, 0, neighbors=neighbors))
        losses = [
            np.abs(log_density(base + np.outer(a, a), steepness) - log_density(base + np.outer(b, b), steepness)).max()
            for base in bases
            for a, b in pairs
        ]
        assert 0.8 < max(losses) <= 1.0


def test_it_finds_the_main_direction_and_then_the_second() -> None:
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    steps = np.rint(turn @ np.diag([9e5, 5e5, 1e4, 1e4]) @ turn.T).astype(np.int64)
    answer = GramAnswer(steps, 100, 1, Neighbors.REPLACE)
    first = Bingham(1.0).release(answer, DeterministicBits(1)) / UNIT
    assert abs(first @ turn[:, 0]) > 0.99
    first /= np.linalg.norm(first)
    second = Bingham(1.0, (tuple(first),)).release(answer, DeterministicBits(1)) / UNIT
    assert abs(second @ turn[:, 1]) > 0.99
    assert abs(first @ second) < 1e-5


def test_directions_that_are_none_are_refused() -> None:
    for wrong in (((2.0, 0.0),), ((1.0, 0.0), (1.0, 0.0)), ((float("nan"), 1.0),)):
        with pytest.raises(ParameterError, match="orthonormal"):
            Bingham(1.0, wrong)
    for some in (((1.0, 0.0, 0.0),), ((1.0, 0.0), (0.0, 1.0))):
        with pytest.raises(ParameterError, match="Give fewer directions"):
            Bingham(1.0, some).release(gram(1, 2), DeterministicBits(1))
