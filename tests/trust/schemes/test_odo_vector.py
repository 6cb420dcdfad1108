"""Bounded sums of parties some of whom lie: statistics and learners as they stand, noise of its law, bounded lies."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Grid
from discreet.core.neighbors import Neighbors
from discreet.crypto.odo import odo_party
from discreet.crypto.odo.odo_terms import OdoTerms
from discreet.crypto.rounds.terms import Terms
from discreet.learners import KMeans
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.binomial import Binomial
from discreet.mechanisms.additive.gaussian import Gaussian, GaussianShare
from discreet.mechanisms.additive.laplace import Laplace, LaplaceShare
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Number, Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.schemes import odo_vector
from discreet.trust.schemes.odo_vector import GROWTH, NEVER, NumberRange, OdoVector, coarsest, range_of
from discreet.trust.schemes.sum_scheme import Quorum
from discreet.trust.secure_sum import SecureSum
from tests.crypto.odo.cheats import FalseSum, NotABit

SCHEMA = Schema({"age": Number(0, 100), "weight": Number(-20, 120)})
NAMES = ("north", "east", "south", "west")
WARDS = {
    name: {"age": rng.uniform(0, 100, 300), "weight": rng.uniform(40, 100, 300)}
    for i, name in enumerate(NAMES)
    for rng in [np.random.default_rng(i)]
}
AGES = np.concatenate([ward["age"] for ward in WARDS.values()])
PRICE: Any = {"epsilon": 2.0, "delta": 1e-6}


def parties(**options: Any) -> SecureSum:
    agreed: dict[str, Any] = {"threshold": 3, "scheme": "odo-vector", "largest": 511} | options
    return SecureSum.rehearsal(WARDS, SCHEMA, **agreed)


def of(trust: SecureSum, budget: Budget = Budget(1000.0, 1e-3)) -> PrivateData:  # noqa: B008
    return PrivateData(trust, MemoryLedger(budget))


def empty(size: int = 3, radius: float = 1.0, nonnegative: bool = False, grid: Grid | None = None) -> Answer:
    bound = Bound("l2", radius, nonnegative)
    return Answer(np.zeros(size, np.int64), grid or Grid.of_radius(radius), bound, Neighbors.ADD_REMOVE)


def test_statistics_and_learners_run_as_they_stand() -> None:
    """A count without a delta has shares of two-sided geometric noise."""
    with parties() as trust:
        data = of(trust)
        assert abs(discreet.mean(data, "age", **PRICE).value - AGES.mean()) < 5
        assert abs(discreet.count(data, epsilon=1.0).value - 1200) < 60
        assert abs(discreet.count(data, where="age >= 50", **PRICE).value - (AGES >= 50).sum()) < 60
        means = KMeans(2, columns=["age"], epsilon=50.0, delta=1e-6).fit(data).cluster_centers_
        assert np.abs(np.sort(np.ravel(means)) - [25, 75]).max() < 10


def test_the_error_that_is_stated_is_that_of_the_sum() -> None:
    """Of 400 cells: variance within five deviations of what is stated, which is that of all four parties' shares."""
    cells = {name: {"age": np.full(5, 0.5)} for name in NAMES}
    options: Any = {"threshold": 3, "scheme": "odo-vector", "largest": 7}
    with SecureSum.rehearsal(cells, Schema({"age": Number(0, 400)}), **options) as trust:
        counts = discreet.histogram(of(trust), "age", bins=400, **PRICE)
        assert trust.reports == pytest.approx(4 / 3 * (1 + GROWTH) ** 2)
    errors = np.asarray(counts.counts, dtype=float) - np.r_[20, np.zeros(399)]
    assert errors.std() == pytest.approx(counts.stddev, rel=5 / np.sqrt(800) + GROWTH)


def test_honest_shares_alone_are_all_of_the_noise_that_was_paid_for() -> None:
    """On the coarse grid: the scale of what three honest parties add is that of a curator, or more, by little."""
    for noise in (Gaussian(3.0), Gaussian(40.0), Laplace(2.0)):
        share = noise.share(3)
        own = OdoVector().prepared(share, empty(50))
        grown = share.own_scale(own) / share.own_scale(share.prepared(empty(50)))
        step = own.grid.step / share.prepared(empty(50)).grid.step
        assert 1 - 2.0**-20 <= grown * step <= 1 + GROWTH
        assert share.own_scale(own.on(Grid(own.grid.exponent + 1))) * 2 > share.own_scale(own) * (1 + GROWTH / 4)
        drawn = share.drawn(own.stacked(4000), DeterministicBits(1))
        if isinstance(share, GaussianShare):
            assert drawn.std() == pytest.approx(share.own_scale(own), rel=0.02)


def test_noise_out_of_range_never_comes_and_numbers_are_moved_into_theirs() -> None:
    for share in (GaussianShare(3.0, 3), LaplaceShare(2.0, 3)):
        own = OdoVector().prepared(share, empty(3))
        held = range_of(share, own, 511)
        drawn = share.drawn(own.stacked(20_000), DeterministicBits(2))
        assert np.abs(drawn).max() < held.noise
        assert held.noise < (16 if isinstance(share, GaussianShare) else 90) * share.own_scale(own)
        assert share.farthest(own, NEVER) < share.farthest(own, NEVER**2) < 2 * share.farthest(own, NEVER) + 2
    held = NumberRange(-10, 20, 5)
    assert (held.offset, held.largest) == (15, 40)
    assert held.into(np.array([-99, 0, 99]), np.array([-9, 3, 9])).tolist() == [0, 18, 40]
    positive = range_of(GaussianShare(3.0, 3), empty(3, 1.0, True, Grid(-4)), 2)
    assert (positive.least, positive.most) == (0, 2 * 16)


def test_a_units_largest_contribution_is_in_range_on_every_grid() -> None:
    for exponent in (-30, -8, 0, 3):
        own = empty(2, 5.0, grid=Grid(-30)).on(Grid(exponent))
        held = range_of(GaussianShare(1e6, 1), own, 1)
        for value in (5.0, -5.0):
            steps = int(np.floor(value / own.grid.step))
            assert held.least <= steps <= held.most


def test_what_is_too_wide_is_refused_before_any_charge() -> None:
    with parties(largest=2**55) as trust:
        data = of(trust)
        before = data.ledger.head
        with pytest.raises(NotPermitted, match=r'Nothing was released or spent.*fewer units.*"masks"'):
            discreet.mean(data, "age", **PRICE)
        with pytest.raises(NotPermitted, match="cannot keep the promise"):
            data.permit(Binomial.of_coins(80).event, "count")
        assert data.ledger.head == before


def test_the_scheme_states_what_it_takes() -> None:
    scheme, share = OdoVector(), Gaussian(3.0).share(3)
    own = scheme.prepared(share, empty(4))
    terms = scheme.terms(Terms("r", NAMES, 3, 4, about=b"x"), share, 511, own)
    assert isinstance(terms, OdoTerms)
    assert (terms.coins, terms.about, terms.offset) == (0, b"x", range_of(share, own, 511).offset)
    assert terms.field.size == 4  # bytes of each of the shares of its bits
    assert terms.width < 26
    assert coarsest(share, own.grid, own.bound, own.neighbors, 4).exponent >= own.grid.exponent
    assert scheme.honest(Quorum(10, 7, 2)) == 5
    for quorum, words in ((Quorum(10, 6), "Let 7 to 9"), (Quorum(10, 7, 4), "At most 3")):
        with pytest.raises(ParameterError, match=words):
            scheme.check(quorum)


class Shifts(odo_party.OdoParty):
    """Puts in the most that is in range, with noise at its end."""

    def _dealt(self, numbers: np.ndarray) -> Any:
        return super()._dealt(np.full_like(numbers, self.terms.largest))


def seated(monkeypatch: pytest.MonkeyPatch, cheat: type) -> None:
    honest = odo_party.OdoParty
    monkeypatch.setattr(
        odo_vector, "OdoParty", lambda identity, *rest: (cheat if identity.name == "east" else honest)(identity, *rest)
    )


@pytest.mark.parametrize("cheat", [FalseSum, NotABit])
def test_a_liar_is_named_and_does_no_harm(
    cheat: type, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seated(monkeypatch, cheat)
    with parties() as trust, caplog.at_level(logging.WARNING):
        found = discreet.count(of(trust), **PRICE)
    assert abs(found.value - (1200 if cheat is FalseSum else 900)) < 60
    assert "east gave false shares" in caplog.text


def test_a_liar_within_the_range_moves_the_sum_by_no_more_than_that(monkeypatch: pytest.MonkeyPatch) -> None:
    seated(monkeypatch, Shifts)
    with parties() as trust:
        found = discreet.count(of(trust), **PRICE)
    assert 900 + 511 - 60 < found.value < 900 + 511 + 200  # it has 511 units, and its noise is 13 deviations
