"""Spanning trees: their price, their law, and that they are trees."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from discreet.core.answer import Answer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import Repeated
from discreet.core.grid import Steps
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.spanning_tree import SpanningTree
from discreet.noise.deterministic import DeterministicBits
from tests.mechanisms.trial import MechanismTrial

BOUND = Bound("linf", 1.0)


@dataclasses.dataclass(frozen=True)
class EachForTheWholePrice(SpanningTree):
    """Each choice with the whole epsilon."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        return SpanningTree(self.epsilon * (self.nodes - 1), self.nodes).release(answer, bits)


@dataclasses.dataclass(frozen=True)
class AsIfNoScoreFell(SpanningTree):
    """Half the noise."""

    def release(self, answer: Answer, bits: Bits) -> Steps:
        return SpanningTree(2 * self.epsilon, self.nodes).release(answer, bits)


TRIAL = MechanismTrial(twins=[EachForTheWholePrice(), AsIfNoScoreFell()])


def test_the_price_is_one_choice_for_each_edge() -> None:
    assert SpanningTree(2.0, nodes=5).event == Repeated(Exponential(0.5).event, 4)


def test_every_release_is_a_tree_and_high_scores_are_in_it() -> None:
    scores = [0, 50, 0, 0, 60, 0, 0, 0, 40, 0]  # of five nodes
    found = SpanningTree(8.0, nodes=5).release(whole_numbers(scores, BOUND).stacked(500), DeterministicBits(1))
    assert found.shape == (500, 4, 2)
    for edges in found:
        parts = np.arange(5)
        for a, b in edges:
            assert parts[a] != parts[b]
            parts[parts == parts[b]] = parts[a]
    tops = {(0, 2), (1, 2), (2, 4)}
    assert np.mean([tops <= set(map(tuple, edges)) for edges in found.tolist()]) > 0.99


def test_the_first_edge_has_the_law_of_the_exponential_mechanism() -> None:
    weights = np.exp(0.5 * 0.4 * np.array([0, 1, 3]))
    found = SpanningTree(0.8, nodes=3).release(whole_numbers([0, 1, 3], BOUND).stacked(200_000), DeterministicBits(2))
    firsts = np.bincount(found[:, 0].sum(axis=1) - 1, minlength=3) / 200_000  # (0, 1), (0, 2), (1, 2)
    np.testing.assert_allclose(firsts, weights / weights.sum(), atol=5 * 0.5 / math.sqrt(200_000))


def test_another_number_of_scores_is_refused() -> None:
    with pytest.raises(ParameterError, match="there are 2 scores for 3 pairs of 3 nodes"):
        SpanningTree(1.0, nodes=3).release(whole_numbers([0, 1], BOUND), DeterministicBits(1))
