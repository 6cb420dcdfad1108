"""Association rules that an owner mines: their figures, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError, SchemaError
from discreet.mechanisms.microdata import strong_rules
from discreet.microdata.rules.association_rules import AssociationRule, mine_rules
from discreet.trust.private_data import PrivateData

READ_ELSEWHERE = {"mine_rules": "it reads records as private data do, by the same sources, and is not private"}
PLAIN = {
    "AssociationRule": "made plain when it is printed: `test_no_item_rewrites_a_terminal`",
    "AssociationRules": "made plain when it is printed: `test_no_item_rewrites_a_terminal`",
}
SCHEMA = {"tea": bool, "milk": bool, "town": ["Bonn", "Ulm"], "age": (0, 90)}
ROWS: dict[str, Any] = {
    "tea": [1, 1, 1, 1, 0, 0, 0, None],
    "milk": [1, 1, 1, 0, 0, 0, 1, 0],
    "town": ["Bonn"] * 4 + ["Ulm", "<b>", None, "Bonn"],
    "age": [20, 30, 40, 50, 60, 70, np.nan, 10],
}


def test_support_confidence_and_lift_are_those_of_the_definition() -> None:
    mined = mine_rules(pd.DataFrame(ROWS), bounds=SCHEMA, bins={"age": 2}, support=0.25, confidence=0.7)
    found = {str(rule): place for place, rule in enumerate(mined.rules)}
    place = found["tea -> milk"]
    assert mined.supports[place] == 3 / 8
    assert mined.confidences[place] == 3 / 4
    assert mined.lifts[place] == pytest.approx(3 / 4 / (4 / 8))
    assert mined.counts[place] == 3
    assert mined.itemsets["milk",] == 4 / 8
    assert "tea -> town=Bonn" in found
    assert "age=[0, 45), milk -> tea" in found
    assert list(mined.confidences) == sorted(mined.confidences, reverse=True)
    assert not any("Ulm" in name for name in found)


def test_the_rules_of_some_columns_and_of_no_records() -> None:
    mined = mine_rules(ROWS, ["tea", "milk"], bounds=SCHEMA, support=0.1, confidence=0.1)
    assert {str(rule) for rule in mined.rules} == {"tea -> milk", "milk -> tea"}
    nobody = mine_rules({name: [] for name in ROWS}, bounds=SCHEMA)
    assert len(nobody) == 0
    assert str(nobody).startswith("association rules (NOT PRIVATE): 0")


def test_it_says_in_every_form_that_it_is_not_private() -> None:
    mined = mine_rules(ROWS, bounds=SCHEMA, support=0.25)
    assert "NOT PRIVATE" in str(mined)
    assert "NOT PRIVATE" in mined._repr_html_()
    assert json.loads(mined.to_json())["private"] is False
    assert len(mined.to_pandas()) == len(mined)
    assert mined.plot(Figure().add_subplot()).get_xlabel() == "support"


def test_private_data_are_refused_and_the_private_way_is_named() -> None:
    data = PrivateData.of(ROWS, SCHEMA, Budget(1.0))
    with pytest.raises(NotPermitted, match="behind their ledger"):
        mine_rules(data)
    assert not data.ledger.entries()


def test_what_cannot_be_mined_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="bounds are not given"):
        mine_rules(ROWS)
    with pytest.raises(SchemaError, match="the schema has none"):
        mine_rules(ROWS, ["sugar"], bounds=SCHEMA)
    for wrong in ({"support": 0.0}, {"confidence": 2.0}, {"size": 9}, {"support": float("nan")}, {"size": "3"}):
        with pytest.raises(ParameterError):
            mine_rules(ROWS, bounds=SCHEMA, **wrong)
    monkeypatch.setattr(strong_rules, "MOST_FOUND", 3)
    with pytest.raises(ParameterError, match=r"more than .* itemsets with a support of 0\.1"):
        mine_rules(ROWS, bounds=SCHEMA)


def test_a_rule_is_read_from_text_or_pairs_whatever_the_order_of_its_items() -> None:
    rule = AssociationRule.of("tea,milk ->sugar")
    assert rule == AssociationRule.of((["milk", "tea"], "sugar")) == AssociationRule(("milk", "tea"), ("sugar",))
    for wrong in ("tea", "tea -> ", "-> tea", "tea -> tea", "a -> b -> c", 7, (1, 2), ("a",), ""):
        with pytest.raises(ParameterError):
            AssociationRule.of(wrong)


def test_no_item_rewrites_a_terminal() -> None:
    name = "a\x1b[2J<b>"
    mined = mine_rules({name: [1, 1], "b": [1, 1]}, bounds={name: bool, "b": bool})
    assert "\x1b" not in str(mined)
    assert "\x1b" not in str(mined.rules[0])
    assert "<b>" not in mined._repr_html_()
