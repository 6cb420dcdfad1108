"""Records in chunks: one record changes one place, and chunks add up exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discreet.core.answer import Answer
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.core.mechanism import SecretSample
from discreet.deep.clipping.chunks import dealt_to_chunks
from discreet.deep.noise.banded_factorization import BandedFactorization
from discreet.deep.noise.exact_sum import exact_sum
from discreet.deep.noise.fine_grid import OF_CHUNKS, fine_grid, on_grid
from discreet.deep.noise.noise_stream import NoiseStream
from discreet.deep.questions.sampled_gradient import SampledGradient
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from tests.deep.asked import draw, sums_of, view_of

CPU = torch.device("cpu")
PLAN = TrainingPlan(SecretSample(1.0), Gaussian(1.0), 1, 1.0, 100.0)
Deal = tuple[int | None, ...]


def deals(n: int, least: int, size: int) -> dict[Deal, Fraction]:
    """The law of deals as it is described: the record in each place, or nobody."""
    full = 0 if n <= least * size else n // size * size
    places = least * size if not full else size if n > full else 0
    law: Counter[Deal] = Counter()
    for order in permutations(range(n)):
        last = [*order[full:], *[None] * (places - n + full)]
        ways = set(permutations(range(places)))
        for way in ways:
            law[(*order[:full], *(last[at] for at in way))] += Fraction(1, factorial(n) * len(ways))  # type: ignore[assignment]
    return dict(law)  # type: ignore[arg-type]


def without(deal: Deal, x: int, size: int) -> Iterator[Deal]:
    """The deals without x that this one is paired with, equally likely."""
    first, place = len(deal) - size, deal.index(x)
    others = [at for at in range(first, len(deal)) if deal[at] not in (None, x)]
    for at in [None] if place >= first or None in deal[:first] or not others else others:
        found = list(deal)
        found[place] = None if at is None else deal[at]
        if at is not None:
            found[at] = None
        yield tuple(found)


@pytest.mark.parametrize(("n", "least", "size"), [(1, 2, 2), (2, 2, 2), (3, 1, 3), (2, 1, 2), (3, 1, 2), (4, 2, 2)])
def test_a_deal_without_one_record_is_a_deal_of_the_others(n: int, least: int, size: int) -> None:
    """Exactly, over all deals: record n is the one that joins."""
    law: Counter[Deal] = Counter()
    for deal, weight in deals(n + 1, least, size).items():
        pairs = list(without(deal, n, size)) if n + 1 > least * size else [tuple(None if x == n else x for x in deal)]
        for one in pairs:
            assert sum(a != b for a, b in zip(deal, one, strict=True)) <= 2
            law[_trimmed(one, least * size)] += weight / len(pairs)  # type: ignore[assignment]
    assert dict(law) == deals(n, least, size)


def _trimmed(deal: Deal, least: int) -> Deal:
    """Without a last chunk of nobody."""
    while len(deal) > least and deal[-1] is None and all(one is None for one in deal[least:]):
        deal = deal[:-1]
    return deal


@pytest.mark.parametrize(("n", "least", "size"), [(2, 1, 3), (2, 2, 2), (3, 1, 2), (4, 1, 2), (3, 3, 1)])
def test_records_are_dealt_by_that_law(n: int, least: int, size: int) -> None:
    law, bits, runs = deals(n, least, size), DeterministicBits(5), 4000
    found = Counter(
        tuple(None if x == n else int(x) for x in dealt_to_chunks(bits, n, least, size).flatten()) for _ in range(runs)
    )
    assert found.keys() <= law.keys()
    expected = np.array([runs * float(weight) for weight in law.values()])
    seen = np.array([found[deal] for deal in law])
    freedom = len(law) - 1
    assert ((seen - expected) ** 2 / expected).sum() < freedom + 5 * (2 * freedom) ** 0.5


def first_output(given: Tensor, wanted: Tensor) -> Tensor:
    return given.flatten(1)[:, 0] * wanted


def asked(x: Tensor, y: Tensor, chunk: int, **how: Any) -> SampledGradient:
    data = PrivateTensors(x, y, Budget(1e4, 1e-5))
    return SampledGradient(nn.Linear(x.shape[-1], 1, bias=False), first_output, data, PLAN, chunk, **how)


@pytest.mark.parametrize("how", [{}, {"precision": torch.bfloat16}, {"precision": torch.float16}])
def test_a_record_without_a_gradient_changes_no_digit_of_the_sum(
    how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Put first, it moved everybody by a place, and the sum by 63 clips in bfloat16 and by 0.27 in float32."""
    torch.manual_seed(0)
    n, chunk = 5000, 256
    x = torch.rand(n, 3)
    joined, wanted = torch.cat([x, torch.ones(1, 3)]), torch.cat([torch.ones(n), torch.zeros(1)])
    deal = dealt_to_chunks(DeterministicBits(1), n + 1, 20, chunk)
    fewer = np.where(deal >= n, n, deal)
    sums = []
    for inputs, targets, used in ((x, torch.ones(n), fewer), (joined, wanted, deal)):

        def fixed(_: object, count: int, least: int, size: int, used: Steps = used) -> Steps:
            return used

        monkeypatch.setattr("discreet.deep.questions.tensors_view.dealt_to_chunks", fixed)
        one = asked(inputs, targets, chunk, **how)
        sums.append(sums_of(one, chunk)["weight"])
    assert torch.equal(*sums)
    assert sums[0].norm() > 1000


def test_chunks_add_up_in_whatever_order() -> None:
    torch.manual_seed(0)
    one = asked(torch.randn(3000, 5) * torch.logspace(-9, 2, 3000)[:, None], torch.ones(3000), 50)
    chunks = list(view_of(one._data).chunks(PLAN.sample, 50, CPU))
    assert torch.equal(one._sums(chunks)["weight"], one._sums(chunks[::-1])["weight"])


def test_sums_of_chunks_are_on_the_grid_and_what_is_not_finite_counts_for_nothing() -> None:
    found = on_grid(torch.tensor([1 / 3, -torch.inf, torch.nan]), 0.7)
    steps = found / fine_grid(0.7).step
    assert torch.equal(steps, steps.round())
    assert found.dtype == torch.float64
    assert abs(float(found[0]) - 1 / 3) <= 2.0**-24
    assert not found[1:].any()


class Noted(Gaussian):
    """Notes the deviation of the noise, in steps of the grid."""

    def noise(self, bits: Any, shape: Any, stddev: float) -> Steps:
        self.__dict__["noted"] = stddev
        return np.zeros(shape, dtype=np.int64)


def noisy_sum(values: NDArray[np.float64], sensitivity: float, noise: Gaussian) -> NDArray[np.float64]:
    """Sums that are rounded once, with noise."""
    return noise.release(exact_sum(torch.from_numpy(values), sensitivity, 1.0), DeterministicBits(0))


def test_noise_is_as_wide_as_rounding_moves_neighbors_apart() -> None:
    """Both ends are rounded away from each other: the distance grows by a step in each number."""
    noise, size, sensitivity = Noted(1.0), 10_000, 0.7
    step = fine_grid(sensitivity).step
    one = np.full(size, 0.49) * step
    other = np.full(size, 0.51) * step
    other[0] += sensitivity * (1 - 1e-9)
    apart = [noisy_sum(values, sensitivity, noise) / step for values in (one, other)]
    assert np.linalg.norm(other - one) <= sensitivity
    assert np.linalg.norm(apart[1] - apart[0]) <= noise.__dict__["noted"]
    ends = np.array([-0.51]) * step, np.array([-0.51 + np.floor(sensitivity / step) + 0.02]) * step
    near = [noisy_sum(values, sensitivity, noise)[0] / step for values in ends]
    assert float(ends[1][0] - ends[0][0]) <= sensitivity
    assert near[1] - near[0] > sensitivity / step
    assert near[1] - near[0] <= noise.__dict__["noted"]


def test_noise_covers_two_chunks_that_are_rounded_by_themselves() -> None:
    """A record leaves one full chunk for another: both are rounded, with it and without it."""
    step, size = fine_grid(1.0).step, 400
    before = on_grid(torch.full((size,), 0.51 * step), 1.0) + on_grid(torch.full((size,), 1.51 * step), 1.0)
    after = on_grid(torch.full((size,), 0.49 * step), 1.0) + on_grid(torch.full((size,), 1.49 * step), 1.0)
    apart = float((before - after).norm()) / step
    assert apart == 2 * size**0.5
    assert OF_CHUNKS * size**0.5 >= apart
    for count in (2, 4, 9):
        column = np.array(BandedFactorization.of(count, 20).coefficients)
        rows = [np.abs(c) * 2 + 1 for c in column]  # two steps times a coefficient, and one of each row
        stream = NoiseStream(BandedFactorization.of(count, 20))
        assert stream._slack * size**0.5 >= np.linalg.norm(rows) * size**0.5


def test_a_trainer_draws_its_noise_for_these_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    noted, scale = [], Answer.scale

    def watched(self: Answer, *given: Any) -> float:
        noted.append((self.sensitivity("l2") - 1.0) / self.grid.step)
        return scale(self, *given)

    monkeypatch.setattr(Answer, "scale", watched)
    for bands, wanted in ((None, 2.0), (BandedFactorization.of(3, 9), 2 + 3**0.5)):
        data = PrivateTensors(torch.zeros(4, 9), torch.zeros(4), Budget(1e4, 1e-5))
        plan = TrainingPlan(SecretSample(0.5), Gaussian(1.0), 1, 1.0, 2.0, bands=bands)
        draw(SampledGradient(nn.Linear(9, 1, bias=False), first_output, data, plan))
        assert noted.pop() == pytest.approx(wanted * 3, rel=1e-3)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_parameters_of_few_digits_are_refused_before_the_charge(kind: torch.dtype) -> None:
    data = PrivateTensors(torch.ones(9, 2, dtype=kind), torch.ones(9, dtype=kind), Budget(1e4, 1e-5))
    model = nn.Linear(2, 1, dtype=kind)
    run = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1), first_output, data, PLAN)
    with pytest.raises(ParameterError, match="Keep parameters in float32"):
        run.run()
    assert data.ledger.balance().certified == 0


def test_float16_releases_finite_numbers_whatever_records_hold() -> None:
    x = torch.tensor([[6e4, 1.0], [1e30, 1.0], [torch.inf, 1.0], [1e-30, 1e-8]]).repeat(300, 1)
    data = PrivateTensors(x, 1e4 * torch.ones(1200), Budget(1e4, 1e-5))
    model = nn.Linear(2, 1)
    plan = TrainingPlan(SecretSample(1.0), Gaussian(1.0), 2, 1e3, 1.0)
    Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1), first_output, data, plan, precision=torch.float16).run()
    assert all(one.isfinite().all() for one in model.parameters())
