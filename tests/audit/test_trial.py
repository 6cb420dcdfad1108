from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.ratio import Values
from discreet.audit.trial import trial
from discreet.core.bits import Bits
from discreet.core.events import Event, PureLoss


class SeededBits:
    """Words of a fixed generator: enough for a trial, not for a promise."""

    secret = False

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def words(self, count: int) -> NDArray[np.uint64]:
        return self.generator.integers(0, 2**64, count, dtype=np.uint64)

    def integer(self, width: int) -> int:
        return int.from_bytes(self.generator.bytes((width + 7) // 8)) >> (-width % 8)


@dataclass(frozen=True)
class Truth:
    value: int
    copies: int = 1

    def stacked(self, count: int) -> Truth:
        return Truth(self.value, count)


@dataclass(frozen=True)
class Pair:
    first: Truth = field(default_factory=lambda: Truth(0))
    second: Truth = field(default_factory=lambda: Truth(1))


@dataclass(frozen=True)
class Coin:
    """Tell the bit with probability 3/4, whatever epsilon is claimed."""

    epsilon: float

    @property
    def event(self) -> Event:
        return PureLoss(self.epsilon)

    def release(self, answer: Truth, bits: Bits) -> Values:
        honest = bits.words(answer.copies) < np.uint64(3 << 62)
        return np.where(honest, answer.value, 1 - answer.value)

    def worst_neighbors(self) -> Any:
        return Pair()


def test_a_mechanism_is_tried_on_its_worst_neighbors_against_its_own_event() -> None:
    verdict = trial(Coin(np.log(3)), SeededBits(31), runs=50_000)
    assert verdict.holds
    assert verdict.claim == PureLoss(np.log(3))
    assert verdict.tightest.tightness > 0.9
    assert not trial(Coin(0.9), SeededBits(32), runs=50_000).holds


def test_neighbors_may_be_given() -> None:
    verdict = trial(Coin(0.1), SeededBits(33), runs=10_000, neighbors=Pair(Truth(1), Truth(1)))
    assert verdict.holds
    assert verdict.tightest.shown < 0.1


def test_a_trial_keeps_its_confidence() -> None:
    bits = SeededBits(34)
    verdicts = [trial(Coin(np.log(3)), bits, runs=400, confidence=0.9) for _ in range(300)]
    assert sum(not verdict.holds for verdict in verdicts) <= 30
