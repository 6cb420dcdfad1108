"""Sketches of a Laplacian: the price, the law of what is released, and what is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discreet.accounting.accountant import delta
from discreet.accounting.calibration import calibrate
from discreet.core.answer import GraphAnswer
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors, Unit
from discreet.mechanisms.graphs.laplacian_sketch import LaplacianSketch
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit
from tests.mechanisms.trial import MechanismTrial

ADD, REPLACE = Neighbors.ADD_REMOVE, Neighbors.REPLACE
EDGES = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
LAPLACIAN = np.array([[2, -1, -1, 0], [-1, 2, -1, 0], [-1, -1, 3, -1], [0, 0, -1, 1]], dtype=float)


@dataclasses.dataclass(frozen=True)
class PadForOneEnd(LaplacianSketch):
    """A pad for rows of length one, where an edge has two ends."""

    @property
    def pad(self) -> float:
        return self.multiplier


def across(releases: Array) -> Array:
    """What an edge between the first two nodes raises, and one between the last two lowers, where there are four."""
    first, last = (np.square(releases[..., i] - releases[..., i + 1]).sum(axis=-1) for i in (0, -2))
    return first - last if releases.shape[-1] > 2 else first


TWIN = PadForOneEnd(projections=8)
TRIAL = MechanismTrial(
    twins=[Audit("one end", TWIN, TWIN.worst_neighbors(), view=across)],
    audits=[
        Audit(neighbors.value, mechanism, mechanism.worst_neighbors(), view=across)
        for neighbors, multiplier in ((ADD, 3.0), (REPLACE, 4.0))
        for mechanism in [LaplacianSketch(multiplier, 20, neighbors)]
    ],
)


def graph(neighbors: Neighbors = ADD, unit: str = "edge") -> GraphAnswer:
    return GraphAnswer(EDGES, 4, Unit(unit), neighbors)  # type: ignore[arg-type]


def test_the_pad_is_what_the_exact_loss_needs() -> None:
    found = calibrate(LaplacianSketch(projections=2952), Budget(1.0, 1e-6))
    assert found.pad == pytest.approx(335.6, rel=2e-3)
    assert delta(found.event, 1.0) <= 1e-6


def test_releases_have_the_laplacian_and_the_pad_as_their_covariance() -> None:
    """20,000 vectors: an entry of size 103 is off by 1.03 in the mean, by five times that at most."""
    sketch = LaplacianSketch(50.0, 20_000)
    found = sketch.release(graph(), DeterministicBits(1))
    assert found.shape == (20_000, 4)
    assert (found == np.rint(found)).all()
    np.testing.assert_allclose(found.T @ found / 20_000, LAPLACIAN + (100 + 1 / 12) * np.eye(4), atol=5.2)
    fine = LaplacianSketch(0.5, 20_000)
    loose = fine.release(graph(), DeterministicBits(2))
    np.testing.assert_allclose(loose.T @ loose / 20_000, LAPLACIAN + (1 + 1 / 12) * np.eye(4), atol=0.2)
    cut = np.array([1.0, 1.0, 0.0, 0.0])
    assert fine.quadratic(loose, cut) - fine.padding(cut) == pytest.approx(2, abs=0.21)


def test_copies_are_independent_releases() -> None:
    found = LaplacianSketch(1.0, 3).release(graph().stacked(500), DeterministicBits(1))
    assert found.shape == (500, 3, 4)
    assert abs(np.corrcoef(found[:-1, 0, 0], found[1:, 0, 0])[0, 1]) < 0.25


def test_another_unit_or_relation_is_refused() -> None:
    for answer in (graph(REPLACE), graph(unit="node")):
        with pytest.raises(DiscreetError, match="Nothing was released"):
            LaplacianSketch().release(answer, DeterministicBits(1))
    for fields in ({"multiplier": 0.0}, {"projections": 0}):
        with pytest.raises(DiscreetError):
            LaplacianSketch(**fields)
