"""Measured fairness: the right counts, intervals that hold, and a price."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.audit.trial import judged
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, ParameterError
from discreet.core.events import GaussianLoss, LaplaceLoss
from discreet.core.neighbors import Unit
from discreet.deep import SensitiveAttribute, attribute_fairness, fairness
from discreet.deep.fair.constraint import constraint_of, violation
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Category, Schema
from discreet.trust.private_data import PrivateData

READ_ELSEWHERE = {
    "fairness": "its columns are read as those of statistics",
    "attribute_fairness": "its groups are read as those of a fair classifier",
}
"""Why odd values are not handed over to these: see `tests/conformance/test_odd_values.py`."""

GENERATOR = np.random.default_rng(1)
GROUPS = GENERATOR.choice([0, 1, 2], 3000, p=[0.5, 0.3, 0.2])
LABELS = (GENERATOR.random(3000) < 0.4).astype(np.int64)
SAID = (GENERATOR.random(3000) < 0.2 + 0.15 * GROUPS + 0.3 * LABELS).astype(np.int64)
NAMES = ("demographic_parity", "equalized_odds", "accuracy_parity")


def attribute(budget: Budget, seed: int | None = None) -> SensitiveAttribute:
    bits = None if seed is None else DeterministicBits(seed)
    return SensitiveAttribute(GROUPS, (0, 1, 2), budget, name="sex", bits=bits)


def records(budget: Budget) -> PrivateData:
    schema = Schema({"said": Category((0, 1)), "is": Category((0, 1)), "sex": Category((0, 1, 2))})
    return PrivateData.of({"said": SAID, "is": LABELS, "sex": GROUPS}, schema, budget)


@pytest.mark.parametrize("name", NAMES)
def test_with_hardly_any_noise_the_difference_is_exact(name: str) -> None:
    wanted = violation(constraint_of("test", name), SAID, LABELS, GROUPS)
    rich = Budget(200.0)
    one = attribute_fairness(attribute(rich), SAID, LABELS, constraint=name, epsilon=200.0)
    other = fairness(records(rich), "said", "is", "sex", constraint=name, epsilon=200.0)
    assert one.difference.value == pytest.approx(wanted, abs=0.004)
    assert other.difference.value == pytest.approx(wanted, abs=0.004)
    assert len(one) == (6 if name == "equalized_odds" else 3)


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_intervals_hold_all_at_once(delta: float) -> None:
    """Of 100 intervals with confidence 0.9, at least 80 hold but with probability 0.002."""
    budget, wanted = Budget(0.5, delta), violation(constraint_of("test", "equalized_odds"), SAID, LABELS, GROUPS)
    held = 0
    for seed in range(100):
        found = attribute_fairness(
            attribute(budget, seed), SAID, LABELS, constraint="equalized_odds", epsilon=0.5, delta=delta, confidence=0.9
        ).difference
        held += found.interval.low <= wanted <= found.interval.high
    assert held >= 80
    assert found.half_width < 0.5


def test_it_is_paid_for_and_says_what_it_protects() -> None:
    account = attribute(Budget(1.0))
    found = attribute_fairness(account, SAID, LABELS, epsilon=1.0)
    assert isinstance(found.receipt.event, LaplaceLoss)
    assert found.receipt.epsilon == pytest.approx(1.0, rel=1e-6)
    assert found.receipt.unit == Unit("attribute", column="sex")
    assert "other columns are not protected" in found.receipt.lines()["protects"]
    assert found.difference.receipt == found.receipt
    assert "rate" in str(found)
    with pytest.raises(BudgetExceeded):
        attribute_fairness(account, SAID, LABELS, epsilon=1.0)
    gaussian = attribute_fairness(attribute(Budget(1.0, 1e-5)), SAID, LABELS, epsilon=1.0, delta=1e-5)
    assert isinstance(gaussian.receipt.event, GaussianLoss)


def test_an_audit_of_one_changed_group_holds_and_refutes_two_thirds_of_the_noise() -> None:
    """The noise hides one person's change of group; a claim of more noise is refuted by the same counts.

    Laplace noise has the same path; its deviation is measured next.
    """
    price: dict[str, Any] = {"epsilon": 20.0, "delta": 1e-5}

    def shown(group: int) -> np.ndarray:
        bits = DeterministicBits(group + 8)
        lone = [SensitiveAttribute([group], (0, 1), Budget(**price), bits=bits) for _ in range(2000)]
        found = [attribute_fairness(one, [1], [1], **price).counts[1, 0] for one in lone]
        return np.array([first - second for first, second in found])

    event = attribute_fairness(attribute(Budget(**price)), SAID, LABELS, **price).receipt.event
    first, second = shown(0), shown(1)
    assert judged(event, first, second).holds
    assert isinstance(event, GaussianLoss)
    assert not judged(GaussianLoss(1.5 * event.multiplier), first, second).holds


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_noise_is_for_one_record_that_leaves_a_cell_and_enters_another(delta: float) -> None:
    """4,000 empty cells: their deviation is known to within 10 percent, at six standard errors."""
    lone = SensitiveAttribute([0], range(2000), Budget(1.0, delta), bits=DeterministicBits(4))
    found = attribute_fairness(lone, [1], [1], epsilon=1.0, delta=delta)
    multiplier = found.receipt.event.multiplier  # type: ignore[attr-defined]
    wanted = multiplier * (np.sqrt(2) if delta > 0 else 2 * np.sqrt(2))  # distances of sqrt(2) in l2 and 2 in l1
    assert found.counts[:, :, 1:].std() == pytest.approx(wanted, rel=0.1)


def test_what_cannot_be_measured_is_refused_before_any_charge() -> None:
    account = attribute(Budget(1.0))
    for said, labels in ((SAID[1:], LABELS), (SAID + 1, LABELS), (SAID, 0.5 * LABELS)):
        with pytest.raises(ParameterError, match="0 or 1"):
            attribute_fairness(account, said, labels)
    with pytest.raises(ParameterError, match="confidence"):
        attribute_fairness(account, SAID, LABELS, confidence=2.0)
    with pytest.raises(ParameterError, match="the same two classes"):
        fairness(records(Budget(1.0)), "said", "sex", "sex")
    assert account.ledger.balance().certified == 0


def test_the_unit_of_an_attribute_is_not_for_records() -> None:
    people = {"x0": [1.0], "sex": ["f"]}
    with pytest.raises(ParameterError, match="whole records"):
        PrivateData.of(people, Schema.numeric(0.0, 1.0, 1), Budget(1.0), unit=Unit("attribute", column="sex"))
    with pytest.raises(ParameterError, match="has a name"):
        Unit("attribute")
