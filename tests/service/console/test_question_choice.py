"""The builder: what is chosen is one question, in words, in SQL and in Python; what is not offered is refused."""

from __future__ import annotations

import ast
from typing import Any
from urllib.parse import urlencode

import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.query.select.sql import read_sql
from discreet.schema.condition_text import condition_of
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.service.console.question_choice import (
    IN_SQL,
    OFFERED,
    STEPS,
    QuestionChoice,
    asked_of,
    epsilon_at,
    groupable,
)
from discreet.service.console.sent_form import SentForm
from discreet.trust.private_data import PrivateData

HOSTILE = "<script>alert('x')</script>\"'`&)"
SCHEMA = Schema(
    {
        "age": Number(0, 110),
        "sex": Category(("f", "m")),
        "ward": Category((1, 2)),
        "code": Category(("1", "O'Hara")),
        HOSTILE: Number(0, 9),
        "town": Text(),
    }
)
ROWS: dict[str, list[Any]] = {"age": [30.0], "sex": ["f"], "ward": [1], "code": ["1"], HOSTILE: [1.0], "town": ["Oslo"]}


def chosen(**said: str | list[str]) -> QuestionChoice:
    fields = {name.replace("_", "-"): value for name, value in said.items()}
    return QuestionChoice.of(SentForm.of(urlencode(fields, doseq=True)), SCHEMA)


def test_everything_that_is_offered_can_be_asked() -> None:
    columns = {"count": [], "contingency": ["sex", "ward"], "correlation": ["age", HOSTILE]}
    data = PrivateData.of({name: values * 400 for name, values in ROWS.items()}, SCHEMA, Budget(1000.0, 1e-3))
    for statistic in OFFERED:
        choice = chosen(statistic=statistic, column=columns.get(statistic, ["age"]), step="24", delta="1e-6")
        question = choice.question()
        found = question.function(data, **question.options, epsilon=choice.epsilon, delta=choice.delta)
        assert found.receipt.epsilon <= choice.epsilon * 1.001


def test_python_says_the_same_question() -> None:
    choice = chosen(statistic="mean", column=HOSTILE, by=["sex"], if_1="code", than_1="O'Hara", step="16")
    program = ast.parse(choice.python("patients", "https://site"))
    call = program.body[-1].value  # type: ignore[attr-defined]
    assert call.func.attr == "mean"
    assert ast.literal_eval(call.args[1]) == HOSTILE
    said = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
    assert said == {"by": "sex", "where": "code == 'O''Hara'", "epsilon": 1.0}


def test_sql_says_the_same_question() -> None:
    data = PrivateData.of(ROWS, SCHEMA, Budget(100.0, 1e-3))
    for statistic in IN_SQL:
        for column, by in (("age", []), (HOSTILE, ["sex"])):
            choice = chosen(
                statistic=statistic,
                column=column,
                by=by,
                if_1="code",
                than_1="O'Hara",
                if_2="age",
                is_2=">",
                than_2="1",
            )
            text = choice.sql("patients")
            assert text is not None
            selection = read_sql({"patients": data}, text).selection
            assert len(selection.aggregates) == 1
            assert selection.aggregates[0].question.function.__name__ == choice.statistic
            assert selection.budget.epsilon == choice.epsilon
    assert chosen(statistic="histogram", column="age").sql("patients") is None
    assert "COUNT(*)" in (chosen().sql("patients") or "")


def test_conditions_are_written_as_their_columns_need_them() -> None:
    for column, sign, value, text in (
        ("age", ">=", "65", "age >= 65"),
        ("sex", "==", "f", "sex == 'f'"),
        ("ward", "!=", "2", "ward != '2'"),
        ("code", "==", "1", "code == '1'"),
        ("age", "is missing", "", "age is missing"),
    ):
        choice = chosen(if_1=column, is_1=sign, than_1=value)
        assert choice.where == text
        condition_of(choice.where, SCHEMA)
    both = chosen(if_1="age", than_1="3", if_3=HOSTILE, is_3="<", than_3="4")
    condition_of(both.where, SCHEMA)
    assert both.where.startswith("age == 3 and `")
    with pytest.raises(ParameterError):
        condition_of(chosen(if_1="age", than_1="1 or age > 0").where, SCHEMA)  # a text in quotes, and no number


@pytest.mark.parametrize(
    "said",
    [
        {"statistic": "eval"},
        {"statistic": "mean", "column": "salary"},
        {"by": "salary"},
        {"if_1": "salary", "than_1": "3"},
        {"if_1": "age", "is_1": "or", "than_1": "3"},
        {"if_1": "age", "than_1": ""},
        {"statistic": "quantile", "column": "age", "q": "nan"},
        {"statistic": "quantile", "column": "age", "q": "much"},
        {"step": "1.5"},
        {"delta": "inf"},
        {"statistic": "histogram", "column": "age", "bins": "2.5"},
    ],
)
def test_what_is_not_offered_is_refused(said: dict[str, str]) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        chosen(**said)


def test_a_statistic_that_needs_a_column_says_so() -> None:
    with pytest.raises(ParameterError):
        chosen(statistic="mean", column=["age", "sex"]).question()


def test_prices_rise_step_by_step_and_stay_in_their_range() -> None:
    prices = [epsilon_at(step) for step in range(STEPS + 1)]
    assert prices == sorted(set(prices))
    assert (epsilon_at(-5), epsilon_at(999)) == (prices[0], prices[-1]) == (0.01, 10.0)
    assert (chosen(step="999").epsilon, chosen(step="999").step, chosen(step="-9").step) == (10.0, STEPS, 0)


def test_groups_are_of_known_values_and_statistics_of_anything_but_texts() -> None:
    assert groupable(SCHEMA) == ("sex", "ward", "code")
    assert asked_of(SCHEMA) == ("age", "sex", "ward", "code", HOSTILE)
    assert discreet.mean.__name__ in OFFERED
