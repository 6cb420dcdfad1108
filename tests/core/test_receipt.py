"""A receipt in words and as JSON."""

from __future__ import annotations

import json
import math

import pytest

from discreet.core.errors import ParameterError
from discreet.core.events import (
    KINDS,
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    DiscreteLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    LossTable,
    NoPromise,
    Parallel,
    PureLoss,
    RenyiLoss,
    Repeated,
    Sampled,
)
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.core.receipt import Participants, Receipt, in_words

PLAIN = Receipt("mean", PureLoss(0.5), 0.5, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "key", "head")
USERS = Unit("user", column="who", rows=3)
PARTIES = Participants(("a", "b"), ("c",))
FULL = Receipt(
    "<fit>", Repeated(GaussianLoss(3.0), 2), 1.25, 1e-6, Neighbors.REPLACE, USERS, False, "k", "", True, PARTIES
)
WAIVED = Receipt("swap", NoPromise("swapping"), math.inf, 0.0, Neighbors.REPLACE, RECORD, True, "k", "")
TABLE = LossTable(0, (1.0,))
WORDS: dict[Event, str] = {
    PureLoss(0.5): "epsilon 0.5",
    ApproximateLoss(0.0, 5e-7): "a failure with chance 5e-07",
    ApproximateLoss(1.0, 1e-6): "epsilon 1 and delta 1e-06",
    GaussianLoss(14.3325): "Gaussian noise, 14.33 sensitivities",
    LaplaceLoss(3.0): "Laplace noise, 3 sensitivities",
    ConcentratedLoss(0.125): "concentrated, rho 0.125",
    RenyiLoss((2.0, math.inf), (0.1, 0.5)): "a Renyi curve of 2 orders, epsilon 0.5",
    DiscreteLoss(0.5, LossTable(-1, (0.2, 0.3, 0.5)), TABLE): "epsilon 0.5, and mostly less (tabulated)",
    DiscreteLoss(1.0, LossTable(0, (0.9,), 0.1), TABLE): "a loss tabulated at 1 and 1 points",
    Repeated(PureLoss(0.1), 3): "3 x (epsilon 0.1)",
    Composed((PureLoss(0.1), PureLoss(0.2))): "epsilon 0.1 + epsilon 0.2",
    Composed(()): "nothing",
    Sampled(GaussianLoss(1.0), 0.01, "fixed_size"): "(Gaussian noise, 1 sensitivities) on a fixed-size sample of 0.01",
    Parallel((PureLoss(0.1), PureLoss(0.1))): "the dearest of: epsilon 0.1",
    NoPromise("k-anonymity"): "no promise (k-anonymity)",
}


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


@pytest.mark.parametrize("event", WORDS, ids=lambda event: event.kind)
def test_an_event_is_told_in_words(event: Event) -> None:
    assert in_words(event) == WORDS[event]


def test_every_kind_has_its_words() -> None:
    assert {event.kind for event in WORDS} == set(KINDS)
