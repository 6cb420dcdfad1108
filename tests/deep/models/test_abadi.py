"""The network of Abadi et al. 2016: its price by both accountants, its projection, and what it learns."""

from __future__ import annotations

import math
from functools import cache

import pytest
import torch
from torch import Tensor

from discreet.accounting.accountant import epsilon
from discreet.as_published.published_prices import moments_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, ParameterError
from discreet.deep.models.abadi import AbadiPlan, _components, abadi_network
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from tests.deep.asked import paid

BUDGET = Budget(4.0, 1e-5)


@cache
def plan() -> AbadiPlan:
    return AbadiPlan.of(BUDGET, expected_size=3000, lot=300, epochs=8, projection=4.0)


def records(n: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Vectors near one of three directions in a plane, with a little of all others."""
    generator = torch.Generator().manual_seed(seed)
    kinds = torch.randint(3, (n,), generator=generator)
    turns = 2 * math.pi * kinds / 3
    flat = torch.stack([turns.cos(), turns.sin()], dim=1)
    return torch.cat([flat, torch.zeros(n, 10)], dim=1) + 0.15 * torch.randn(n, 12, generator=generator), kinds


def test_the_plan_pays_for_the_projection_too() -> None:
    assert plan().training.steps == 80
    assert 0.999 * BUDGET.epsilon <= epsilon(plan().event, BUDGET.delta) <= BUDGET.epsilon
    assert epsilon(plan().training.event, BUDGET.delta) < 0.99 * BUDGET.epsilon
    assert moments_epsilon(plan().event, BUDGET.delta) > epsilon(plan().event, BUDGET.delta)


def components(unit: torch.Tensor, number: int, chunk: int) -> torch.nn.Linear:
    data = PrivateTensors(unit, unit, BUDGET, bits=DeterministicBits(1))
    return _components(data, paid(data, Gaussian(4.0).event), unit.shape[1], Gaussian(4.0), number, chunk)


def test_components_are_those_of_the_products_with_the_stated_noise() -> None:
    unit = torch.nn.functional.normalize(records(4000)[0], dim=1)
    axes = components(unit, 2, 1000).weight
    axes = axes / axes.norm(dim=1, keepdim=True)
    torch.testing.assert_close(axes @ axes.T, torch.eye(2), atol=1e-5, rtol=0)
    assert axes[:, :2].norm() ** 2 > 1.99
    lost = components(torch.zeros(0, 60), 60, 10)
    assert lost.weight.shape == (60, 60)
    assert lost.weight.isfinite().all()


def test_coordinates_of_inputs_that_are_not_centered_are() -> None:
    inputs = torch.rand(4000, 12, generator=torch.Generator().manual_seed(0))
    unit = torch.nn.functional.normalize(inputs, dim=1)
    found = components(unit, 12, 1000)(unit)
    assert found.mean(dim=0).abs().max() < 0.15
    assert 0.7 < found.std(dim=0).mean() < 1.3


def test_it_learns_and_is_charged_once() -> None:
    torch.manual_seed(0)
    inputs, targets = records(3000)
    targets[:2] = torch.tensor([-7, 3])  # no classes
    account = MemoryLedger(BUDGET)
    found = abadi_network(inputs, targets, plan(), account, classes=3, components=2, hidden=20, chunk=300)
    fresh, wanted = records(500, seed=1)
    assert (found.model(fresh).argmax(dim=1) == wanted).float().mean() > 0.95
    (entry,) = account.entries()
    assert (entry.event, entry.key, entry.committed) == (plan().event, found.receipt.key, True)
    with pytest.raises(BudgetExceeded):
        abadi_network(inputs, targets, plan(), account, classes=3, components=2, hidden=20)


def test_more_components_than_numbers_are_refused_before_a_charge() -> None:
    account = MemoryLedger(BUDGET)
    with pytest.raises(ParameterError, match=r"12 numbers in a record, and 60 components.*Nothing was released"):
        abadi_network(*records(5), plan(), account, classes=3)
    assert not account.entries()
