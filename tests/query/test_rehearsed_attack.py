"""Rehearsed attacks: on a model of made-up records, at the price that was paid, and with no record read."""

from __future__ import annotations

from datetime import date

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Neighbors
from discreet.query.asked_question import AskedQuestion
from discreet.query.rehearsed_attack import MADE_UP, MOST, rehearsed_attack
from discreet.schema.dates import Date
from discreet.schema.schema import Category, Number, Schema

SEX = Category(("f", "m"))
SCHEMA = Schema({"age": Number(0, 110), "weight": Number(0, 160), "sex": SEX})


def rehearsed(words: str, schema: Schema = SCHEMA, epsilon: float = 1.0, n: int = 600) -> object:
    return rehearsed_attack(AskedQuestion.read(words), Budget(epsilon), schema, Neighbors.ADD_REMOVE, RECORD, n)


@pytest.mark.parametrize("words", ["GaussianNB target=sex", "LogisticRegression target=sex"])
def test_a_classifier_is_attacked_at_the_price_that_was_paid(words: str) -> None:
    report = rehearsed_attack(AskedQuestion.read(words), Budget(0.5), SCHEMA, Neighbors.REPLACE, RECORD, 600)
    assert report.receipt is not None
    assert report.receipt.epsilon == pytest.approx(0.5, rel=1e-3)
    assert report.receipt.neighbors is Neighbors.REPLACE
    assert len(report.runs) >= 2
    assert report.beyond == ()
    assert report.warnings[0] == MADE_UP
    assert "made up" in report.to_html()
    assert "600 members" in str(report)


def test_no_more_records_are_made_up_than_are_needed() -> None:
    assert f"{MOST} members" in str(rehearsed("GaussianNB target=sex", n=10**6))
    with pytest.raises(ParameterError):
        rehearsed("GaussianNB target=sex", n=1)


@pytest.mark.parametrize(
    ("words", "schema", "why"),
    [
        ("mean of age", SCHEMA, "is no model"),
        ("KMeans n_clusters=2", Schema({"age": Number(0, 110)}), "tells no classes apart"),
        ("Ridge target=age", Schema({"age": Number(0, 110), "weight": Number(0, 160)}), "no classes"),
        (
            "RandomDecisionTrees target=sex",
            Schema({"day": Date(date(2020, 1, 1), date(2024, 1, 1)), "sex": SEX}),
            "plain",
        ),
    ],
)
def test_what_no_attack_fits_is_refused(words: str, schema: Schema, why: str) -> None:
    with pytest.raises(ParameterError, match=why):
        rehearsed(words, schema)
