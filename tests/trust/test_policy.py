"""A party answers what its owner allows, and refuses the rest before anything is built or paid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import GaussianLoss, LaplaceLoss
from discreet.core.neighbors import Neighbors
from discreet.crypto.errors import TooFewSurvivors
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.questions.recipe import Recipe
from discreet.trust import party as party_module
from discreet.trust.policy import Policy
from discreet.trust.secure_sum import SecureSum
from tests.trust.network.stage import HEADS, NAMES, NOISE, counted, federation, heads_of, identity, party

COUNT = Recipe("count", {"column": "x0"})


def test_without_rules_everything_may_be_asked() -> None:
    Policy().check(COUNT, LaplaceLoss(1e-3))


def test_only_the_recipes_on_the_list_may_be_asked() -> None:
    Policy([COUNT.name]).check(COUNT, LaplaceLoss(1.0))
    for others in ([], ["discreet.statistics.moments.count"], [COUNT.name + " "]):
        with pytest.raises(NotPermitted, match="does not allow it"):
            Policy(others).check(COUNT, LaplaceLoss(1.0))
    with pytest.raises(ParameterError, match="single text"):
        Policy(COUNT.name)


@pytest.mark.parametrize(
    ("event", "most", "allowed"),
    [
        (LaplaceLoss(10.0), Budget(0.1), True),
        (LaplaceLoss(9.99), Budget(0.1), False),
        (GaussianLoss(1e3), Budget(100.0), False),
        (GaussianLoss(5.0), Budget(1.0, 1e-6), True),
        (GaussianLoss(4.0), Budget(1.0, 1e-6), False),
    ],
)
def test_no_question_may_cost_more_than_the_most(event: Any, most: Budget, allowed: bool) -> None:
    """Gaussian noise of 4.22 sensitivities has epsilon 1 at delta 1e-6, and an infinite one at delta 0."""
    if allowed:
        Policy(most=most).check(COUNT, event)
    else:
        with pytest.raises(NotPermitted, match="one question may cost"):
            Policy(most=most).check(COUNT, event)


@pytest.mark.parametrize("policy", [Policy([COUNT.name]), Policy(most=Budget(1.0, 1e-6))])
def test_a_party_refuses_before_it_builds_or_pays(
    policy: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "l"
    with SqliteLedger.create(path, Budget(1e4, 1e-6), name="ward", neighbors=Neighbors.ADD_REMOVE) as ledger:
        strict = party("west", ledger=ledger, policy=policy)
        others = [party(name) for name in NAMES[:3]]
        with SecureSum(federation(), identity("server"), [strict, *others]) as trust:
            assert counted(trust.ask(HEADS, NOISE)) == heads_of(*NAMES[:3])
        assert ledger.entries() == ()
    monkeypatch.setattr(party_module, "question_of", None)
    with (
        SecureSum(federation(), identity("server"), [strict]) as trust,
        pytest.raises(TooFewSurvivors, match=r"one question may cost|does not allow"),
    ):
        trust.ask(HEADS, NOISE)
