"""Two anonymous tables together say what neither says alone; two that say nothing stay silent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.attacks import Intersection
from discreet.attacks.answers import intersection
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.microdata import anonymize
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from tests.attacks.trial import AttackTrial

ILLS = tuple(f"ill{place}" for place in range(40))
ROLES = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}


def _people(rng: np.random.Generator, number: int) -> dict[str, Any]:
    return {
        "age": rng.integers(0, 100, number),
        "zip": rng.integers(0, 1000, number),
        "ill": rng.choice(ILLS, number),
    }


def _released(people: dict[str, Any]) -> Any:
    schema = Schema({"age": Number(0, 100, step=1), "zip": Number(0, 1000, step=1), "ill": Category(ILLS)})
    return anonymize(PrivateData.of(people, schema, Budget(1.0)), ROLES, k=4, waiver="made up")


def _crossed(strangers: bool) -> list[tuple[Intersection, Any]]:
    """Two tables in classes of ten by one attribute each: of those who are known, or of other people."""
    known, other = (_people(np.random.default_rng(seed), 300) for seed in (2, 3))
    own = other if strangers else known
    ages, codes = own["age"] // 10 * 10, own["zip"] // 100 * 100
    tables = [
        {"age": [f"[{low}, {low + 10})" for low in ages], "zip": ["*"] * 300, "ill": own["ill"]},
        {"age": ["*"] * 300, "zip": [f"[{low}, {low + 100})" for low in codes], "ill": own["ill"]},
    ]
    return [(Intersection({name: known[name] for name in ("age", "zip")}, known["ill"], "ill"), tables)]


TRIALS = {"Intersection": AttackTrial(lambda: _crossed(strangers=False), lambda: _crossed(strangers=True))}


def test_two_anonymous_tables_of_overlapping_people_give_many_away() -> None:
    """300 people are in both, and 200 others in each, so that classes differ."""
    rng = np.random.default_rng(0)
    shared = _people(rng, 300)
    tables = [
        _released({name: np.concatenate([values, other[name]]) for name, values in shared.items()})
        for other in (_people(rng, 200), _people(rng, 200))
    ]
    known = {name: shared[name] for name in ("age", "zip")}
    attack = Intersection(known, shared["ill"], "ill")
    result = attack.run(tables)
    assert result.success > 0.55
    assert result.details["known for sure"] > 0.25
    assert max(result.details["found in table 1 alone"], result.details["found in table 2 alone"]) < 0.35
    one = attack.run(tables[:1])
    assert one.success == result.details["found in table 1 alone"]
    assert one.details["known for sure"] == 0


def test_tables_without_information_give_nobody_away(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    shared = _people(rng, 100)
    known = {name: shared[name] for name in ("age", "zip")}
    hidden = {"age": ["*"] * 100, "zip": ["*"] * 100, "ill": shared["ill"]}
    result = Intersection(known, shared["ill"], "ill").run([hidden, hidden])
    assert result.details["known for sure"] == 0
    assert not result.beats_chance
    strangers = [_people(rng, 300) for _ in range(2)]
    attack = Intersection(known, shared["ill"], "ill", columns=["age"])
    found = attack.run(strangers)
    assert not found.beats_chance
    monkeypatch.setattr(intersection, "CELLS", 900)
    assert attack.run(strangers).right == found.right


def test_what_a_table_leaves_is_what_its_fitting_rows_have() -> None:
    known = {"age": [5.0, 25.0, 99.0], "town": ["a", "b", "a"]}
    table = {"age": ["[0, 10)", "[0, 10)", "[20, 30)"], "town": ["{a, b}", "b", "*"], "ill": [1, 2, 2]}
    result = Intersection(known, [1, 2, 2], "ill").run([table])
    assert (result.right, result.worst) == (2, (0, 1))
    assert result.details["values left"] == pytest.approx(4 / 3)  # of the third person the table says nothing


def test_what_does_not_fit_is_refused() -> None:
    table = {"age": [1], "ill": ["a"]}
    for attack, target in (
        (Intersection({"age": [1]}, ["a", "b"], "ill"), [table]),
        (Intersection({"age": [1]}, ["a"], "<b>"), [table]),
        (Intersection({"age": [1]}, ["a"], "ill"), []),
        (Intersection({"age": [1]}, ["a"], "ill"), 3),
        (Intersection({"age": [1]}, ["a"], "ill", columns=["no"]), [table]),
    ):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            attack.run(target)
