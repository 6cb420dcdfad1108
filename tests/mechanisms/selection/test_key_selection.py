"""Private key selection: the price, the threshold, what stays secret."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from discreet.core.answer import KeyedAnswer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, Composed, LaplaceLoss
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.selection.key_selection import KeySelection
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class ExactCounts(KeySelection):
    """Noise decides what is named, and then the exact count is given."""

    def release(self, answer: KeyedAnswer, bits: Bits) -> dict[str, int]:
        named, exact = super().release(answer, bits), dict(zip(answer.keys, answer.counts.tolist(), strict=True))
        return {key: exact[key] for key in named}


def counted(rows: int = 1, neighbors: Neighbors = Neighbors.ADD_REMOVE, **counts: int) -> KeyedAnswer:
    keys = tuple(sorted(counts))
    return KeyedAnswer(keys, np.array([counts[key] for key in keys], dtype=np.int64), rows, neighbors)


TRIAL = MechanismTrial(
    twins=[ExactCounts()],
    audits=[
        Audit("a row joins", KeySelection(), NeighborPair(counted(a=100), counted(a=101))),
        Audit("three rows join", KeySelection(0.7), NeighborPair(counted(3, a=100), counted(3, a=103))),
        *(
            Audit(
                f"{rows} rows leave a key for another",
                KeySelection(0.7),
                NeighborPair(counted(rows, Neighbors.REPLACE, a=100), counted(rows, Neighbors.REPLACE, a=100 + rows)),
                claim=LaplaceLoss(1.4),
            )
            for rows in (1, 3)
        ),
    ],
)


def test_the_price_is_the_noise_and_the_chance_of_a_lone_key() -> None:
    assert KeySelection(2.0, 1e-6).event == Composed((LaplaceLoss(2.0), ApproximateLoss(0.0, 1e-6)))


def test_a_lone_unit_is_named_with_probability_at_most_delta() -> None:
    """The worst case: `rows` keys of one unit, and even each of them held `rows` times."""
    mechanism, keys = KeySelection(multiplier=0.7, delta=0.02), tuple(f"{i:06}" for i in range(200_000))
    for rows, neighbors in itertools.product((1, 3), Neighbors):
        scale = 0.7 * rows * (2 if neighbors is Neighbors.REPLACE else 1)
        threshold = math.ceil(rows + 0.5 + scale * math.log(rows / 0.04))
        assert mechanism.threshold(rows, neighbors) == threshold
        passing = 0.5 * math.exp(-(threshold - rows - 0.5) / scale)
        assert rows * passing <= 0.02 < rows * passing * math.exp(1 / scale)
        alone = KeyedAnswer(keys, np.full(len(keys), rows), rows, neighbors)
        seen = len(mechanism.release(alone, DeterministicBits(1))) / len(keys)
        assert seen == pytest.approx(passing, abs=5 * math.sqrt(0.02 / len(keys)))


def test_common_keys_are_named_in_alphabetical_order_and_lone_ones_are_not() -> None:
    answer = counted(zurich=900, bern=500, lone=1)
    named = KeySelection(1.0, 1e-9).release(answer, DeterministicBits(1))
    assert list(named) == ["bern", "zurich"]
    assert named["zurich"] == pytest.approx(900, abs=30)


def test_no_keys_at_all_is_an_answer() -> None:
    assert KeySelection().release(counted(), DeterministicBits(1)) == {}


@pytest.mark.parametrize("delta", [0.0, 0.5, 1.0, math.nan])
def test_a_delta_is_needed(delta: float) -> None:
    with pytest.raises(ParameterError, match="list the categories"):
        KeySelection(delta=delta)
