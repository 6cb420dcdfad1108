"""Tables with hidden rules: by a waiver, of rules that were mined, and the same again under the same key."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError, SchemaError
from discreet.microdata.rules.association_rules import AssociationRules, mine_rules
from discreet.microdata.rules.hide_rules import hide_rules
from discreet.trust.private_data import PrivateData

READ_ELSEWHERE = {"hide_rules": "it takes private data alone, whose sources read odd values"}
SCHEMA: dict[str, Any] = {"tea": bool, "milk": bool, "sugar": bool, "town": ["Bonn", "Ulm"], "age": (0, 90)}
THRESHOLDS = {"support": 0.2, "confidence": 0.6}


def baskets(n: int = 400) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    tea = rng.random(n) < 0.6
    milk = np.where(tea, rng.random(n) < 0.8, rng.random(n) < 0.2)
    sugar = np.where(milk, rng.random(n) < 0.7, rng.random(n) < 0.4)
    town = np.where(rng.random(n) < 0.5 + 0.4 * tea, "Ulm", "Bonn")
    return {"tea": tea, "milk": milk, "sugar": sugar, "town": town.tolist(), "age": rng.uniform(0, 90, n)}


ROWS = baskets()


def mined() -> AssociationRules:
    return mine_rules(ROWS, ["tea", "milk", "sugar", "town"], bounds=SCHEMA, **THRESHOLDS)  # type: ignore[arg-type]


def private() -> PrivateData:
    return PrivateData.of(ROWS, SCHEMA, Budget(1.0))


def test_hidden_rules_are_not_mined_again_and_most_others_are() -> None:
    before, secret, losses = mined(), ["tea -> milk", "tea -> town=Ulm"], {}
    for method in ("border", "greedy", "exact"):
        table = hide_rules(private(), secret, before, method=method, waiver="owner's decision")
        after = {str(rule) for rule in mine_rules(table, **THRESHOLDS).rules}  # type: ignore[arg-type]
        assert not after & set(secret)
        lost = {str(rule) for rule in before.rules} - after - set(secret)
        assert len(table.notes["lost"]) == len(lost)
        losses[method] = len(lost)
        assert list(table.schema.columns) == ["tea", "milk", "sugar", "town"]
        assert len(table) == 400
    assert losses["exact"] <= losses["border"] <= losses["greedy"] < len(before.rules)


def test_it_goes_on_record_as_a_release_without_a_promise_and_a_key_gives_it_again() -> None:
    data = private()
    first, again = (hide_rules(data, ["tea -> milk"], mined(), waiver="ours", key="k") for _ in range(2))
    assert first.records.tobytes() == again.records.tobytes()
    assert again.receipt.replayed
    assert again.notes["lost"] == first.notes["lost"]
    assert np.array_equal(again.notes["remaining"], first.notes["remaining"])
    assert len(data.ledger.entries()) == 1
    assert "taking items out" in str(first.receipt.event)


def test_what_is_refused_is_refused_before_anything_goes_on_record() -> None:
    data, rules = private(), mined()
    with pytest.raises(NotPermitted, match="keeps no promise"):
        hide_rules(data, ["tea -> milk"], rules)
    for wrong, words in (
        (["sugar -> tea, milk"], "nobody mined 'sugar -> milk, tea'"),
        (["tee -> milk"], r"there is no item 'tee'.*Did you mean 'tea'"),
        ([], "number of sensitive rules is 0"),
        ("tea -> milk", "the rules are 'tea -> milk'"),
        (None, "the rules are None"),
        ([7], "it is 7"),
    ):
        with pytest.raises(ParameterError, match=words):
            hide_rules(data, wrong, rules, waiver="ours")
    for options in ({"method": "best"}, {"margin": -0.1}, {"margin": 0.95}, {"most_changes": -1}, {"margin": np.nan}):
        with pytest.raises(ParameterError):
            hide_rules(data, ["tea -> milk"], rules, waiver="ours", **options)
    with pytest.raises(SchemaError, match="no column 'coffee' to keep"):
        hide_rules(data, ["tea -> milk"], rules, fixed=["coffee"], waiver="ours")
    with pytest.raises(ParameterError, match=r"all items of a rule \(tea, milk\) are fixed"):
        hide_rules(data, ["sugar -> milk", "tea -> milk"], rules, fixed=["tea", "milk"], waiver="ours")
    other = PrivateData.of(ROWS, {**SCHEMA, "town": ["Ulm", "Bonn"]}, Budget(1.0))
    less = PrivateData.of(ROWS, {"tea": bool}, Budget(1.0))
    for one, words in ((other, "not those that were mined"), (less, "there is no column 'milk'")):
        with pytest.raises(SchemaError, match=words):
            hide_rules(one, ["tea -> milk"], rules, waiver="ours")
        assert not one.ledger.entries()
    with pytest.raises(ParameterError, match="the records are in a dict") as refusal:
        hide_rules(ROWS, ["tea -> milk"], rules, waiver="ours")
    assert "Ulm" not in str(refusal.value)
    tiny = mine_rules(ROWS, ["tea", "milk"], bounds=SCHEMA, support=1e-6, confidence=1e-6)
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        hide_rules(data, ["tea -> milk"], tiny, margin=0.5, waiver="ours")
    assert not data.ledger.entries()


def test_no_more_than_the_allowed_changes_are_made_and_fixed_columns_stay() -> None:
    table = hide_rules(private(), ["tea -> milk"], mined(), most_changes=3, fixed=["milk"], waiver="ours")
    assert table.notes["changes"] == 3
    assert table.notes["failures"] == ["tea -> milk"]
    assert np.asarray(table.notes["remaining"])[0, 1] > 0.6
    assert (table["milk"] == "true").sum() == ROWS["milk"].sum()
