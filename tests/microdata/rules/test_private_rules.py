"""Private rules: those of the data, with intervals that hold, at the price that was asked for."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta as delta_of
from discreet.audit.trial import judged
from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.neighbors import Neighbors, Unit
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.microdata.rules.association_rules import mine_rules
from discreet.microdata.rules.private_rules import PrivateRules, parts_of, private_rules
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.tables.itemsets import Items, itemset_counts_of
from discreet.schema.schema import Boolean, Category, Schema, Text
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.source_of import source_of
from tests.conformance.audits import outputs
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial(
    {"columns": ("x", "kind"), "bins": 3, "k": 2},
    hostile={"k": [0, 10, 1.5, 10**6], "size": [1, 6], "columns": [("x",)]},
)
SCHEMA = Schema({**{f"i{place}": Boolean() for place in range(12)}, "town": Category(("a", "b", "c"))})


def baskets(n: int = 4000) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    kind = rng.integers(0, 3, n)
    chances = rng.beta(0.6, 1.2, (3, 12))
    found: dict[str, Any] = {f"i{place}": rng.random(n) < chances[kind, place] for place in range(12)}
    town = np.array(["a", "b", "c", None], dtype=object)[np.where(rng.random(n) < 0.1, 3, kind)]
    return {**found, "town": town.tolist()}


ROWS = baskets()


def found(seed: int, epsilon: float = 2.0, delta: float = 0.0, data: Any = None, **options: Any) -> PrivateRules:
    own = PrivateData.of(data or ROWS, SCHEMA, Budget(epsilon, delta), bits=DeterministicBits(seed))
    return private_rules(own, epsilon=epsilon, delta=delta, **options)


def exact() -> dict[str, float]:
    """The count of every itemset of two items."""
    rows = {"support": 1e-6, "confidence": 1e-6, "size": 2}
    mined = mine_rules(ROWS, bounds=SCHEMA, **rows)  # type: ignore[arg-type]
    return {", ".join(items): share * 4000 for items, share in mined.itemsets.items()}


EXACT = exact()


def test_the_most_frequent_itemsets_are_found() -> None:
    best = sorted((name for name in EXACT if ", " in name), key=lambda name: -EXACT[name])
    for delta in (0.0, 1e-6):
        names = found(1, delta=delta, k=8).itemsets.labels["itemset"]
        assert set(names) <= set(best[:12])
        assert len(set(names) & set(best[:8])) >= 6
    assert set(found(1, epsilon=1e4, k=8).itemsets.labels["itemset"]) == set(best[:8])


def test_intervals_of_counts_supports_and_confidences_hold() -> None:
    """Of 30 runs with ten itemsets each; 0.95 are promised, and many more hold, since half-widths are whole."""
    held: dict[str, list[bool]] = {"count": [], "support": [], "confidence": []}
    for seed in range(30):
        result = found(seed, epsilon=0.5, delta=1e-6 if seed % 2 else 0.0, k=10)
        for place, rule in enumerate(result.rules):
            whole = EXACT[", ".join(sorted(rule.first + rule.then, key=lambda name: [*EXACT].index(name)))]
            first = EXACT[", ".join(rule.first)]
            truth = {"count": whole, "support": whole / 4000, "confidence": whole / first}
            for series in result.series:
                held[series.name].append(
                    bool(series.low[place] - 1e-9 <= truth[series.name] <= series.high[place] + 1e-9)  # type: ignore[index]
                )
    for name, ones in held.items():
        assert np.mean(ones) >= 0.93, name
    assert np.mean(held["count"]) < 1.0


def test_the_confidence_is_that_of_the_data() -> None:
    result = found(3, epsilon=100.0, k=6, size=3)
    mined = mine_rules(ROWS, bounds=SCHEMA, support=1e-6, confidence=1e-6, size=3)
    known = {str(rule): place for place, rule in enumerate(mined.rules)}
    for place, rule in enumerate(result.rules):
        assert result["confidence"].values[place] == pytest.approx(mined.confidences[known[str(rule)]], abs=0.02)
        assert result["support"].values[place] == pytest.approx(mined.supports[known[str(rule)]], abs=0.02)
    assert list(result["confidence"].values) == sorted(result["confidence"].values, reverse=True)


def test_the_price_is_the_one_that_was_asked_for() -> None:
    for delta in (0.0, 1e-6):
        receipt = found(1, 1.0, delta).receipt
        assert receipt.epsilon == pytest.approx(1.0, rel=1e-3)
        assert delta_of(receipt.event, 1.0) <= delta + 1e-12


def test_where_n_is_public_no_noise_is_on_it_and_users_pay_for_their_rows() -> None:
    data = PrivateData.of(ROWS, SCHEMA, Budget(1.0), neighbors=Neighbors.REPLACE)
    result = private_rules(data, epsilon=1.0, k=3)
    np.testing.assert_allclose(result["support"].values, np.clip(result["count"].values / 4000, 0, 1))
    rows = {**ROWS, "who": np.repeat(np.arange(1000), 4).astype(str)}
    users = PrivateData.of(rows, SCHEMA, Budget(1.0), unit=Unit("user", "who", 4))
    own, one = private_rules(users, epsilon=1.0, k=3), found(1, 1.0, k=3)
    assert own["count"].standard_error is not None
    assert one["count"].standard_error is not None
    per_set = [len(parts_of(_places(result))) for result in (own, one)]
    assert own["count"].standard_error[0] / per_set[0] == pytest.approx(
        4 * one["count"].standard_error[0] / per_set[1], rel=0.01
    )


def _places(result: PrivateRules) -> np.ndarray:
    names = Items.of(SCHEMA, tuple(SCHEMA.columns), 1).names
    return np.array([[names.index(item) for item in one.split(", ")] for one in result.itemsets.labels["itemset"]])


def test_no_records_one_record_and_only_missing_values_are_answered() -> None:
    for rows in (0, 1):
        assert len(found(1, data={name: list(own)[:rows] for name, own in ROWS.items()}, k=4).itemsets) == 4
    nothing = found(1, data={name: [None] * 9 for name in ROWS}, k=4)
    assert ((nothing["confidence"].values >= 0) & (nothing["confidence"].values <= 1)).all()


def test_a_key_gives_the_same_rules_and_itemsets_are_a_table_of_their_own() -> None:
    data = PrivateData.of(ROWS, SCHEMA, Budget(1.0))
    first, again = (private_rules(data, k=3, epsilon=1.0, key="k") for _ in range(2))
    assert first.rules == again.rules
    np.testing.assert_array_equal(first["count"].values, again["count"].values)
    table = first.to_itemsets()
    assert len(table) == 3
    assert "candidates" in str(table)
    assert table.receipt == first.receipt


def test_what_cannot_be_found_is_refused_before_a_charge() -> None:
    wide = Schema({f"i{place}": Category(tuple(map(str, range(40)))) for place in range(12)})
    data = PrivateData.of({f"i{place}": ["1"] for place in range(12)}, wide, Budget(1.0))
    with pytest.raises(ParameterError, match=r"there are 14,185,600 itemsets of 2 to 3 of 480 items.*Name fewer"):
        private_rules(data, size=3, epsilon=1.0)
    with pytest.raises(ParameterError, match="one column alone"):
        private_rules(data, ["i1"], epsilon=1.0)
    texts = PrivateData.of({"a": ["1"]}, {"a": Text()}, Budget(1.0))
    with pytest.raises(SchemaError, match=r"all columns are text.*buy_categories"):
        private_rules(texts, epsilon=1.0)
    for one in (data, texts):
        assert not one.ledger.entries()


def test_an_audit_holds_and_refutes_a_bound_that_forgets_that_a_record_is_in_many_itemsets() -> None:
    """One record that has every item, or is not there; the twin bounds it as if it were in one of six itemsets."""
    schema = Schema({f"x{place}": Boolean() for place in range(3)})
    sets = np.array([*combinations(range(3), 2), *((place, -1) for place in range(3))], dtype=float)
    question = itemset_counts_of(schema, tuple(schema.columns), (0, 0, 0), sets, "l2")
    rows = [{name: [False] * 5 + more for name in schema.columns} for more in ([], [True])]
    sums = [source_of(one, schema).sum(question) for one in rows]
    noise = Gaussian(1.0)
    for bound, holds in ((question.bound, True), (Bound("l2", 1.0, nonnegative=True), False)):
        pair = [Answer(steps, question.grid, bound, Neighbors.ADD_REMOVE) for steps in sums]
        seen = [outputs(noise, one, 40_000, seed).sum(axis=1) for seed, one in enumerate(pair)]
        assert judged(noise.event, *seen).holds is holds
