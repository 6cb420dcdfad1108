"""Every statistic, found by walking its room, is asked under every trust model; every question can travel.

What is special about one is declared where it is written, or said by the `TRIAL` of its own test file.
"""

from __future__ import annotations

import html
import inspect
import json
import typing
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from discreet.accounting.accountant import epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted, ParameterError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.core.receipt import Receipt
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.microdata.published_table import PublishedTable
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import Recipe
from discreet.releases.declaration import Declaration, declaration_of, is_statistic
from discreet.releases.release import Release
from discreet.releases.test_result import TestResult
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.source import Batched
from discreet.trust.sources.source_of import source_of
from tests.conformance.walk import for_each, statistics
from tests.statistics.trial import SCHEMA, asked, table, trial_of

FOUND = [function for function in statistics() if declaration_of(function).curator is None]
BY_GROUPS = [function for function in statistics() if declaration_of(function).no_by is None]
everything = for_each(statistics())
each = pytest.mark.parametrize("function", FOUND, ids=lambda function: function.__name__)


def declared(function: Any) -> Declaration:
    return declaration_of(function)


def halves(records: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {f"p{i}": {name: column[i::2] for name, column in records.items()} for i in range(2)}


def local(records: dict[str, Any]) -> Local:
    source = source_of(records, SCHEMA)
    assert isinstance(source, Batched)
    return Local(source)


TRUST: dict[str, Any] = {
    "curator": lambda records: Curator(source_of(records, SCHEMA)),
    "local": local,
    "secure sum": lambda records: SecureSum.rehearsal(halves(records), SCHEMA, threshold=2),
}


@cache
def trust_in(name: str, rows: int) -> Any:
    """A trust model of so many records, made once."""
    return TRUST[name](table(rows))


def private(trust: Any, spy: list[BoundedSum] | None = None) -> PrivateData:
    data = PrivateData(trust, MemoryLedger(Budget(1.0, 1e-6)))
    if spy is not None:
        ask = trust.ask

        def listening(question: Any, mechanism: Any) -> Any:
            spy.append(question)
            return ask(question, mechanism)

        trust.ask = listening
    return data


def test_the_walk_finds_statistics() -> None:
    assert {"mean", "variance", "total", "count", "histogram"} <= {function.__name__ for function in FOUND}


@each
def test_a_statistic_runs_without_a_line_for_its_trust_model(function: Any) -> None:
    for trust in TRUST:
        for delta in (0.0, 1e-6):
            result = calm(function, trust, delta)
            assert result.receipt.event
            assert str(result)


def test_every_statistic_is_declared() -> None:
    assert all(map(is_statistic, statistics()))


@for_each(BY_GROUPS)
def test_groups_are_asked_under_every_trust_model_at_the_price_of_one(function: Any) -> None:
    for trust in TRUST if declared(function).curator is None else ("curator",):
        found = asked(function, private(trust_in(trust, 300)), by="kind", epsilon=1.0)
        assert [found.labels["kind"], found.receipt.epsilon] == [("a", "b", "c"), pytest.approx(1.0, rel=0.1)]


@for_each(one for one in statistics() if one not in BY_GROUPS)
def test_what_is_not_asked_of_groups_says_why(function: Any) -> None:
    """Before anything is spent; unless groups are what it is about."""
    assert len(declared(function).no_by or "") > 20
    if "by" in declared(function).options:
        return
    data = private(trust_in("curator", 300))
    with pytest.raises(ParameterError, match="Nothing was released or spent") as refusal:
        asked(function, data, by="kind")
    assert refusal.value.obstacle == declared(function).no_by
    assert data.ledger.balance().certified == 0


@everything
def test_type_checkers_see_the_options_that_are_declared(function: Any) -> None:
    """By two overloads, where groups give another result; else by what the function itself is written with."""
    seen = typing.get_overloads(function) or [declared(function).compute]
    assert len(seen) == (2 if function in BY_GROUPS else 1)
    for one in seen:
        hints = typing.get_type_hints(one, include_extras=True)
        (shared,) = typing.get_args(hints.pop("options", None) or hints.pop("_"))
        names = set(inspect.signature(one).parameters) | set(typing.get_type_hints(shared))
        subject = {declared(function).subject} - {""} if one is declared(function).compute else set()
        assert names - {"of", "records", "options", "_", "data"} | subject == set(declared(function).options)


def moved(records: dict[str, Any], row: int, kind: str) -> dict[str, Any]:
    """The same records, of which one says that it is of another kind."""
    kinds = [*records["kind"]]
    kinds[row] = kind
    return {**records, "kind": kinds}


USER = Unit("user", column="who", rows=3)


@for_each(BY_GROUPS)
def test_no_unit_moves_the_sums_of_all_groups_farther_than_the_noise_is_for(function: Any) -> None:
    """A replaced record leaves a group and joins another; a user has rows in three."""
    records = {**table(60), "who": [str(row // 3) for row in range(60)]}
    for unit, neighbors in ((RECORD, Neighbors.REPLACE), (RECORD, Neighbors.ADD_REMOVE), (USER, Neighbors.ADD_REMOVE)):
        rows = 3 if unit is USER else 1
        kinds = {"kind": ["a", "b", "c"] * 20}
        first = {**records, **kinds}
        other = moved(first, 0, "b") if neighbors is Neighbors.REPLACE else {k: v[rows:] for k, v in first.items()}
        spy: list[BoundedSum] = []
        trust = Curator(source_of(first, SCHEMA, unit), neighbors)
        asked(function, private(trust, spy), by="kind")
        for question in spy:
            sums = [question.answer(Curator(source_of(one, SCHEMA, unit), neighbors)._view) for one in (first, other)]
            off = question.grid.values(sums[0].steps) - question.grid.values(sums[1].steps)
            bound = sums[0].bound
            size = {"l1": np.abs(off).sum(), "l2": np.linalg.norm(off), "linf": np.abs(off).max()}[bound.norm]
            assert size <= bound.sensitivity(bound.norm, question.size, neighbors) * (1 + 2.0**-40)
            assert size > 0


@everything
def test_a_condition_chooses_the_records_of_every_statistic(function: Any) -> None:
    data = PrivateData(trust_in("curator", 300), MemoryLedger(Budget(4.0, 1e-5)))
    delta = 1e-6 if declared(function).needs_delta is not None else 0.0
    found = asked(function, data, where="x > 5 and kind != 'c'", epsilon=1.0, delta=delta)
    assert found.receipt.purpose.endswith(" where x > 5 and kind != 'c'")
    usual = asked(function, data, epsilon=1.0, delta=delta)
    assert (type(found), found.receipt.epsilon) == (type(usual), pytest.approx(usual.receipt.epsilon, rel=0.01))


@everything
def test_a_retry_with_its_key_is_charged_once_and_gets_the_same_release(function: Any) -> None:
    data = private(trust_in("curator", 300))
    first, again = (asked(function, data, epsilon=0.5, key="k") for _ in range(2))
    assert len(data.ledger.entries()) == 1
    assert str(again) == str(first)


def test_a_key_is_for_one_question_with_its_groups_and_its_condition() -> None:
    function = next(one for one in statistics() if one.__name__ == "mean")
    data = PrivateData(trust_in("curator", 300), MemoryLedger(Budget(1.0)))
    first = asked(function, data, by="kind", where="kind != 'c'", epsilon=0.5, key="k")
    again = asked(function, data, by="kind", where="kind != 'c'", epsilon=0.5, key="k")
    np.testing.assert_array_equal(first.values, again.values)
    for other in ({"by": "y", "edges": [0.0, 0.5, 1.0]}, {"by": None}, {"where": "kind != 'b'"}):
        with pytest.raises(DiscreetError, match="key"):
            asked(function, data, **{"by": "kind", "where": "kind != 'c'", "epsilon": 0.5, "key": "k", **other})
    assert data.ledger.balance().certified == pytest.approx(0.5, rel=1e-6)


def test_a_million_groups_are_refused_before_anything_is_spent() -> None:
    function = next(one for one in statistics() if one.__name__ == "mean")
    data = private(trust_in("curator", 300))
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        asked(function, data, by="x", edges=np.linspace(-20, 20, 1_000_001).tolist())
    assert data.ledger.balance().certified == 0


@cache
def calm(function: Any, trust: str, delta: float) -> Any:
    """What it finds of records that have nothing special."""
    return asked(function, private(trust_in(trust, 300)), epsilon=1.0, delta=delta)


@for_each(one for one in statistics() if one not in FOUND)
def test_what_needs_a_curator_is_refused_before_anything_is_spent(function: Any) -> None:
    for trust in ("local", "secure sum"):
        data = private(trust_in(trust, 300))
        with pytest.raises(NotPermitted, match="Nothing was released or spent"):
            asked(function, data)
        assert data.ledger.balance().certified == 0


@each
def test_no_record_and_one_record_are_answered_alike(function: Any) -> None:
    for trust in TRUST:
        usual = calm(function, trust, 0.0)
        for rows in (0, 1):
            odd = asked(function, private(trust_in(trust, rows)), epsilon=1.0, delta=0.0)
            assert type(odd) is type(usual)
            assert odd.receipt.event == usual.receipt.event


FORMS = ("standard_error", "interval", "confidence", "population", "receipt")


@everything
def test_every_statistic_takes_a_confidence_and_says_whom_its_interval_is_for(function: Any) -> None:
    parameters = inspect.signature(function).parameters
    of_population = declared(function).gives is TestResult  # a test of a hypothesis is about one always
    names = ["confidence"] if of_population else ["confidence", "population"]
    for name, default in zip(names, (0.95, False), strict=False):
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default == default
    assert ("population" in parameters) is not of_population


@everything
def test_the_docstring_explains_every_option_in_full(function: Any) -> None:
    """None refers to those of another statistic, and each that is public says so."""
    doc, declaration = inspect.getdoc(function) or "", declared(function)
    assert "As for" not in doc
    assert "Guarantee\n---------" in doc
    assert list(inspect.signature(function).parameters) == ["data", *declaration.options]
    for option in declaration.options.values():
        assert option.words, option.name
        assert option.meaning.startswith("Public. ") or option.name in ("function",), option.name
        assert option.meaning.split()[-1] in doc


@everything
def test_every_result_stands_on_release_and_has_all_its_forms(function: Any) -> None:
    result = asked(function, private(trust_in("curator", 300)), delta=1e-6)
    assert isinstance(result, Release)
    assert hasattr(result, "value") or hasattr(result, "values")
    assert all(hasattr(result, name) for name in FORMS)
    plain = json.loads(result.to_json())
    assert plain["kind"] == type(result).__name__
    assert plain["name"] == result.name
    assert set(plain) == set(result.to_dict())
    assert Receipt.read(json.dumps(plain["receipt"])) == result.receipt
    assert len(result.to_pandas()) == len(result if isinstance(result, PublishedTable) else result.tabulated())
    assert str(result).startswith((result.name, f"null hypothesis: {getattr(result, 'hypothesis', '')}"))
    page = result._repr_html_()
    assert "<table class=" in page
    assert html.escape(result.receipt.cost) in page
    ax = Figure().add_subplot()
    assert result.plot(ax) is ax
    assert ax.has_data() or not len(result.tabulated())


@everything
def test_a_receipt_states_what_the_accountant_finds(function: Any) -> None:
    """At most what was asked for, and by the accountant at that delta."""
    for most in (0.0, 1e-6) if declared(function).needs_delta is None else (1e-6,):
        data = PrivateData(trust_in("curator", 300), MemoryLedger(Budget(1.0, most)))
        receipt = asked(function, data, epsilon=1.0, delta=most).receipt
        assert receipt.delta in (0.0, most)
        assert receipt.epsilon == epsilon(receipt.event, receipt.delta)
        assert 0.9 <= receipt.epsilon <= 1.0


@everything
def test_an_interval_for_a_population_is_given_or_refused_before_any_charge(function: Any) -> None:
    if "population" not in declared(function).options:
        return
    data = private(trust_in("curator", 300))
    refusal: ParameterError | None = None
    try:
        assert "for the population" in asked(function, data, delta=1e-6, population=True).title
    except ParameterError as why:
        refusal = why
    if refusal is not None:
        assert "there is no interval for the population: " in refusal.obstacle
        assert refusal.remedy
        assert data.ledger.balance().certified == 0


OF_ARRAYS = [function for function in statistics() if trial_of(function).arrays]
of_arrays = for_each(OF_ARRAYS)


def plain(function: Any) -> Any:
    """Values without a schema: a matrix, for what is asked of several columns."""
    several = "columns" in declared(function).options
    return np.random.default_rng(0).normal(5, 3, (300, 2) if several else 300)


def public(function: Any) -> dict[str, Any]:
    return {name: one for name, one in trial_of(function).options.items() if name not in ("columns", "target")}


@of_arrays
def test_an_array_with_bounds_is_enough(function: Any) -> None:
    assert function(plain(function), bounds=(-20, 20), **public(function)).receipt.event


@everything
def test_a_data_frame_with_a_schema_is_enough(function: Any) -> None:
    assert asked(function, pd.DataFrame(table(300)), bounds=SCHEMA).receipt.event


@for_each(one for one in OF_ARRAYS if declared(one).bounds is None and one.__name__ != "count")
def test_an_array_without_bounds_is_refused_by_all_but_what_finds_bounds_or_reads_no_value(function: Any) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        function(plain(function), **public(function))


@of_arrays
def test_bounds_that_are_none_are_refused(function: Any) -> None:
    for bounds in ((1.0, 0.0), (1.0, 1.0), (0.0, np.nan), (0.0, np.inf), (np.nan, 1.0)):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            function(plain(function), bounds=bounds, **public(function))


@everything
def test_private_data_bring_their_own_bounds(function: Any) -> None:
    data = private(trust_in("curator", 300))
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        asked(function, data, bounds=(0.0, 1.0))
    assert data.ledger.balance().certified == 0


@for_each(one for one in OF_ARRAYS if "columns" in declared(one).options)
def test_where_no_columns_are_named_all_numbers_are_meant(function: Any) -> None:
    data = private(trust_in("curator", 300))
    assert function(data, **public(function)).receipt.event


MISTAKES = [
    (function, name, value)
    for function in statistics()
    for name, value in trial_of(function).mistakes(declared(function))
]


@for_each(MISTAKES)
def test_a_mistake_is_explained_and_costs_nothing(mistake: tuple[Any, str, Any]) -> None:
    function, name, value = mistake
    data = private(trust_in("curator", 300))
    beside = {"by": "y"} if name == "edges" and "by" in declared(function).options else {}
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        asked(function, data, **{**beside, name: value})
    assert data.ledger.balance().certified == 0


def questions() -> list[BoundedSum]:
    spy: list[BoundedSum] = []
    for function in FOUND:
        asked(function, private(TRUST["curator"](table(50)), spy))
        asked(function, private(TRUST["curator"](table(50)), spy), delta=1e-6)
    return [question for question in spy if isinstance(question, BoundedSum)]


def test_every_question_can_be_sent_and_built_again() -> None:
    source, asked = source_of(table(500), SCHEMA), questions()
    assert len({question.recipe.name for question in asked if question.recipe is not None}) > 10
    for question in asked:
        assert question.recipe is not None
        again = question_of(Recipe.read(question.recipe.written()), SCHEMA)
        np.testing.assert_array_equal(source.sum(question), source.sum(again))
        for name in ("bound", "grid", "columns", "recipe"):
            assert getattr(again, name) == getattr(question, name), question.recipe
