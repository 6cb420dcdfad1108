"""A mechanism brings what others need to know of it; what it changes, it has to say anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.questions.columns.total import count_of
from discreet.releases.least_noise import noises
from discreet.releases.spread import Spread
from discreet.schema.schema import Schema
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.matrix import Matrix

SCHEMA = Schema.numeric(0.0, 1.0, 1)
ROWS = np.full((3000, 1), 0.5)


@dataclass(frozen=True)
class Capped(Gaussian):
    """Gaussian noise on a sum, and then at most 10."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        return np.minimum(super().release(answer, bits), 10.0)


def asked(trust: Curator | Local | SecureSum, noise: Gaussian) -> float:
    data = PrivateData(trust, MemoryLedger(Budget(10.0, 1e-6)))
    with data.permit(noise.event, "count") as permit:
        return float(permit.ask(count_of(SCHEMA, "x0"), noise)[0])


def test_who_changes_the_release_can_be_asked_of_a_curator_alone() -> None:
    assert asked(Curator(Matrix(ROWS, SCHEMA)), Capped(1.0)) == 10.0
    with pytest.raises(NotPermitted, match="Capped: it does not say that reports"):
        asked(Local(Matrix(ROWS, SCHEMA)), Capped(1.0))
    parties = dict.fromkeys(("a", "b", "c"), ROWS[:1000])
    with (
        SecureSum.rehearsal(parties, SCHEMA, threshold=2) as trust,
        pytest.raises(NotPermitted, match="Capped: its noise cannot be shared"),
    ):
        asked(trust, Capped(1.0))


def test_nor_does_it_keep_the_law_of_the_errors() -> None:
    assert Spread(Gaussian(1.0), 1.0).half_width([1.0]) == pytest.approx(1.96, abs=0.001)
    with pytest.raises(NotPermitted, match="which law its errors follow"):
        Spread(Capped(1.0), 1.0).half_width([1.0])


def test_what_only_has_another_name_keeps_everything() -> None:
    class Renamed(Gaussian):
        """The same."""

    assert Renamed(2.0).share(3) == Gaussian(2.0).share(3)
    assert Renamed(2.0).law is Gaussian.law
    assert Renamed(2.0).stddev(Bound("l2", 3.0), 5, Neighbors.ADD_REMOVE) == pytest.approx(6.0)


def test_the_noises_to_choose_from_are_found() -> None:
    assert {"DiscreteLaplace", "Laplace", "Gaussian", "SphereReport"} <= {kind.__name__ for kind in noises()}
