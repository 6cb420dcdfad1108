"""Learning among organisations: the same lines as under a curator, under masks and verified shares of sums.

Under verified shares of counts, counts alone.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.trust.curator import Curator
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.frame import Frame
from tests.trust.silence import silence

EXAMPLE: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[3] / "examples" / "organisations.py"))
LESSONS, SCHEMA = EXAMPLE["LESSONS"], EXAMPLE["SCHEMA"]
FEW = 400
FLOORED = {
    "histogram": 0.0,
    "logistic regression": 0.05,
    "k-means": 0.5,
    "naive Bayes": 1e-3,
    "principal component": 1e-5,
    "Fourier series": 0.01,
}
"""How far without noise a number may be from a curator's: parties floor their sums on the grid that noise allows, and
what follows from the noise (the length of steps, and when they end) is for more of it."""


def tables() -> dict[str, dict[str, Any]]:
    made = {}
    for number in range(4):
        rng = np.random.default_rng(number)
        age = np.where(rng.random(FEW) < 0.5, rng.normal(30, 6, FEW), rng.normal(70, 6, FEW))
        ill = np.where(rng.random(FEW) < 1 / (1 + np.exp(-(age - 50) / 6)), "yes", "no")
        dose, week = np.clip(age / 12 + rng.normal(0, 1, FEW), 0, 10), rng.triangular(0, 0, 52, FEW)
        made[f"p{number}"] = {"age": age, "dose": dose, "week": week, "ill": ill}
    return made


def of(trust: Any) -> PrivateData:
    return PrivateData(trust, MemoryLedger(Budget(100.0, 1e-3)))


@pytest.mark.parametrize("lesson", ["k-means", "naive Bayes", "principal component", "Fourier series", "histogram"])
def test_what_is_learnt_without_noise_is_what_a_curator_learns(lesson: str) -> None:
    """To the last bit, in numbers of as few bytes as they need; steps whose length follows from the noise differ."""
    parts = tables()
    pooled = {name: np.concatenate([one[name] for one in parts.values()]) for name in SCHEMA.columns}
    with silence(), SecureSum.rehearsal(parts, SCHEMA, threshold=4, largest=FEW) as trust:
        assert LESSONS[lesson](of(trust)) == LESSONS[lesson](of(Curator(Frame(pooled, SCHEMA))))


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_verified_shares_of_sums_learn_without_noise_is_near_what_a_curator_learns(lesson: str) -> None:
    parts = tables()
    pooled = {name: np.concatenate([one[name] for one in parts.values()]) for name in SCHEMA.columns}
    with silence(), SecureSum.rehearsal(parts, SCHEMA, threshold=3, scheme="odo-vector", largest=511) as trust:
        found, exact = (LESSONS[lesson](of(one)) for one in (trust, Curator(Frame(pooled, SCHEMA))))
    assert found == pytest.approx(exact, rel=0, abs=FLOORED[lesson])


@pytest.mark.parametrize("lesson", [name for name in LESSONS if name != "histogram"])
def test_under_verified_shares_what_is_no_count_is_refused_before_any_charge(lesson: str) -> None:
    with SecureSum.rehearsal(tables(), SCHEMA, threshold=3, scheme="odo", largest=511) as trust:
        data = of(trust)
        head = data.ledger.head
        with pytest.raises(NotPermitted, match=r'Nothing was released or spent\..*"odo-vector"'):
            LESSONS[lesson](data)
        assert data.ledger.head == head
