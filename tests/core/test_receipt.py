"""A receipt in words and as JSON."""

from __future__ import annotations

import json
import math

import pytest

from discreet.core.errors import ParameterError
from discreet.core.events import GaussianLoss, NoPromise, PureLoss, Repeated
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.core.receipt import Participants, Receipt

PLAIN = Receipt("mean", PureLoss(0.5), 0.5, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "key", "head")
USERS = Unit("user", column="who", rows=3)
PARTIES = Participants(("a", "b"), ("c",))
FULL = Receipt(
    "<fit>", Repeated(GaussianLoss(3.0), 2), 1.25, 1e-6, Neighbors.REPLACE, USERS, False, "k", "", True, PARTIES
)
WAIVED = Receipt("swap", NoPromise("swapping"), math.inf, 0.0, Neighbors.REPLACE, RECORD, True, "k", "")


def test_it_states_epsilon_delta_unit_and_relation_in_words() -> None:
    lines = PLAIN.lines()
    assert lines["cost"] == "epsilon 0.5, delta 0"
    assert lines["protects"] == "one record that is added or removed, and the number of units is secret"
    assert FULL.lines()["cost"] == "epsilon 1.25, delta 1e-06 (paid earlier)"
    assert "at most 3 rows of each" in FULL.lines()["protects"]
    assert "left out" not in lines
    assert "more than 3 rows" in FULL.lines()["left out"]
    assert "NOT PRIVATE" in FULL.lines()["noise"]
    assert WAIVED.cost == "no promise"
    assert "&lt;fit&gt;" in FULL._repr_html_()


def test_it_is_read_as_it_was_written() -> None:
    for receipt in (PLAIN, FULL, WAIVED):
        assert Receipt.read(receipt.to_json()) == receipt
    assert json.loads(PLAIN.to_json())["epsilon"] == 0.5


def test_what_is_not_a_receipt_is_refused() -> None:
    less = {name: value for name, value in json.loads(PLAIN.to_json()).items() if name != "unit"}
    wrong = json.dumps({**json.loads(PLAIN.to_json()), "neighbors": "friends"})
    for text in ("", "[]", "{}", json.dumps(less), wrong):
        with pytest.raises(ParameterError, match="not the JSON of one"):
            Receipt.read(text)
