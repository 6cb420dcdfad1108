"""Every statistic, found by walking its room, is asked under every trust model; every question can travel."""

from __future__ import annotations

import html
import inspect
import json
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from discreet.accounting.accountant import epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted, ParameterError
from discreet.core.receipt import Receipt
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import Recipe
from discreet.releases.release import Release
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.source import Batched
from discreet.trust.sources.source_of import source_of
from tests.conformance.walk import for_each, statistics

SCHEMA = Schema({"x": Number(-20, 20), "y": Number(0, 1), "kind": Category(("a", "b", "c")), "name": Text()})
CURATORS_ONLY = {
    "robust_regression": "records are dealt into blocks",
    "key_counts": "values that are not public are named by whoever holds the exact counts",
    "sample_and_aggregate": "a function of whole blocks of records",
    "stable_interquartile_range": "how many records would have to change is counted on the records",
    "variance_sketch": "the regularisation hides one row in the projections of all",
}
GIVEN: dict[str, Any] = {
    "column": "x",
    "columns": ("x", "y"),
    "target": "y",
    "groups": ("a", "b"),
    "radius": 1.0,
    "bins": 4,
    "epsilon": 1.0,
    "function": np.mean,
    "lower": 0.0,
    "upper": 1.0,
    "blocks": 2,
    "seconds": 0.6,
}
FOUND = [function for function in statistics() if function.__name__ not in CURATORS_ONLY]
NEED_DELTA = {"stable_interquartile_range", "key_counts", "variance_sketch"}
everything = for_each(statistics())
each = pytest.mark.parametrize("function", FOUND, ids=lambda function: function.__name__)


def table(rows: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "x": rng.normal(5, 3, rows),
        "y": rng.uniform(0, 1, rows),
        "kind": rng.choice(["a", "b", "c", "other"], rows).tolist(),
        "name": ["somebody"] * rows,
    }


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


def asked(function: Any, data: PrivateData, **more: Any) -> Any:
    parameters = inspect.signature(function).parameters
    others = {"columns": ("x",)} if "target" in parameters else {}
    wanted = {**GIVEN, **others, **({} if grouped_if_wanted(function) else {"by": "kind"}), **more}
    taken = {name: wanted[name] for name in parameters if name in wanted}
    return function(data, **taken)


def grouped_if_wanted(function: Any) -> bool:
    """Whether it may be asked with groups, and without."""
    parameters = inspect.signature(function).parameters
    return {"by", "edges"} <= set(parameters) and parameters["by"].default is None


def test_the_walk_finds_statistics() -> None:
    assert {"mean", "variance", "total", "count", "histogram"} <= {function.__name__ for function in FOUND}


@each
def test_a_statistic_runs_without_a_line_for_its_trust_model(function: Any) -> None:
    for trust in TRUST:
        for delta in (0.0, 1e-6):
            result = calm(function, trust, delta)
            assert result.receipt.event
            assert str(result)


@for_each(one for one in statistics() if grouped_if_wanted(one))
def test_groups_are_asked_under_every_trust_model_at_the_price_of_one(function: Any) -> None:
    for trust in TRUST:
        found = asked(function, private(trust_in(trust, 300)), by="kind")
        assert [found.labels["kind"], found.receipt.epsilon] == [("a", "b", "c"), pytest.approx(1.0, rel=0.1)]


@cache
def calm(function: Any, trust: str, delta: float) -> Any:
    """What it finds of records that have nothing special."""
    return asked(function, private(trust_in(trust, 300)), delta=delta)


@for_each(one for one in statistics() if one.__name__ in CURATORS_ONLY)
def test_what_needs_a_curator_is_refused_before_anything_is_spent(function: Any) -> None:
    for trust in ("local", "secure sum"):
        data = private(trust_in(trust, 300))
        with pytest.raises(NotPermitted, match="Nothing was released or spent"):
            asked(function, data, column="name" if function.__name__ == "key_counts" else "x")
        assert data.ledger.balance().certified == 0


@each
def test_no_record_and_one_record_are_answered_alike(function: Any) -> None:
    for trust in TRUST:
        usual = calm(function, trust, 0.0)
        for rows in (0, 1):
            odd = asked(function, private(trust_in(trust, rows)), delta=0.0)
            assert type(odd) is type(usual)
            assert odd.receipt.event == usual.receipt.event


OF_POPULATIONS = {"t_test", "two_sample_t_test", "goodness_of_fit", "independence"}  # tests of hypotheses
FORMS = ("standard_error", "interval", "confidence", "population", "receipt")


@everything
def test_every_statistic_takes_a_confidence_and_says_whom_its_interval_is_for(function: Any) -> None:
    parameters = inspect.signature(function).parameters
    names = ["confidence"] if function.__name__ in OF_POPULATIONS else ["confidence", "population"]
    for name, default in zip(names, (0.95, False), strict=False):
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters[name].default == default
    assert ("population" in parameters) is (function.__name__ not in OF_POPULATIONS)


@everything
def test_every_result_stands_on_release_and_has_all_its_forms(function: Any) -> None:
    column = {"column": "name"} if function.__name__ == "key_counts" else {}
    result = asked(function, private(trust_in("curator", 300)), delta=1e-6, **column)
    assert isinstance(result, Release)
    assert hasattr(result, "value") or hasattr(result, "values")
    assert all(hasattr(result, name) for name in FORMS)
    plain = json.loads(result.to_json())
    assert plain["kind"] == type(result).__name__
    assert plain["name"] == result.name
    assert set(plain) == set(result.to_dict())
    assert Receipt.read(json.dumps(plain["receipt"])) == result.receipt
    assert len(result.to_pandas()) == len(result.tabulated())
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
    column = {"column": "name"} if function.__name__ == "key_counts" else {}
    for most in (0.0, 1e-6) if function.__name__ not in NEED_DELTA else (1e-6,):
        data = PrivateData(trust_in("curator", 300), MemoryLedger(Budget(1.0, most)))
        receipt = asked(function, data, delta=most, **column).receipt
        assert receipt.delta in (0.0, most)
        assert receipt.epsilon == epsilon(receipt.event, receipt.delta)
        assert 0.9 <= receipt.epsilon <= 1.0


@everything
def test_an_interval_for_a_population_is_given_or_refused_before_any_charge(function: Any) -> None:
    if function.__name__ in OF_POPULATIONS:
        return
    column = {"column": "name"} if function.__name__ == "key_counts" else {}
    data = private(trust_in("curator", 300))
    refusal: ParameterError | None = None
    try:
        assert "for the population" in asked(function, data, delta=1e-6, population=True, **column).title
    except ParameterError as why:
        refusal = why
    if refusal is not None:
        assert "there is no interval for the population: " in refusal.obstacle
        assert refusal.remedy
        assert data.ledger.balance().certified == 0


NAMED = {"grouped": "groups", "key_counts": "texts", "two_sample_t_test": "a second"}  # what one array has not
OF_ARRAYS = [function for function in statistics() if function.__name__ not in NAMED]
of_arrays = for_each(OF_ARRAYS)


def plain(function: Any) -> Any:
    """Values without a schema: a matrix, for what is asked of several columns."""
    several = "columns" in inspect.signature(function).parameters
    return np.random.default_rng(0).normal(5, 3, (300, 2) if several else 300)


def public(function: Any) -> dict[str, Any]:
    names = set(GIVEN) - {"column", "columns", "target"}
    return {name: GIVEN[name] for name in inspect.signature(function).parameters if name in names}


@of_arrays
def test_an_array_with_bounds_is_enough(function: Any) -> None:
    assert function(plain(function), bounds=(-20, 20), **public(function)).receipt.event


@everything
def test_a_data_frame_with_a_schema_is_enough(function: Any) -> None:
    column = {"column": "name"} if function.__name__ == "key_counts" else {}
    assert asked(function, pd.DataFrame(table(300)), bounds=SCHEMA, **column).receipt.event


@for_each(one for one in OF_ARRAYS if one.__name__ not in ("bounds", "count"))
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


@for_each(one for one in OF_ARRAYS if "columns" in inspect.signature(one).parameters)
def test_where_no_columns_are_named_all_numbers_are_meant(function: Any) -> None:
    data = private(trust_in("curator", 300))
    assert function(data, **public(function)).receipt.event


NAN, INF = float("nan"), float("inf")
BAD: dict[str, list[Any]] = {
    "epsilon": [0.0, -1.0, NAN, INF, "one", None],
    "delta": [-1e-6, 1.0, NAN, "none"],
    "confidence": [0.0, 1.0, -0.5, 95, NAN, "much"],
    "column": ["nobody", "", 7],
    "columns": [("x", "nobody"), ("x", "x"), (), "nobody"],
    "target": ["nobody", "x", "kind", 7],
    "by": ["nobody", "x", 7, (), ("kind", "kind")],
    "where": ["nobody > 3", "", "x >", 7],
    "edges": [[3], [2, 1], "ab", {"nobody": [0, 1]}],
    "groups": [("a", "nobody"), ("a",), ("a", "a")],
    "bins": [0, -3, 2.5, NAN, 2**60, "many"],
    "blocks": [0, -1, 2.5, "some"],
    "lower": [NAN, 5.0, "low"],
    "radius": [0.0, -1.0, NAN, INF, "far"],
    "projections": [0, 2, 2.5, NAN, 2**60, "some"],
    "seconds": [0.0, -1.0, NAN],
}
MISTAKES = [
    (function, name, value)
    for function in statistics()
    for name in inspect.signature(function).parameters
    for value in BAD.get(name, ())
]


@for_each(MISTAKES)
def test_a_mistake_is_explained_and_costs_nothing(mistake: tuple[Any, str, Any]) -> None:
    function, name, value = mistake
    data = private(trust_in("curator", 300))
    beside = {"column": "name"} if function.__name__ == "key_counts" else {"by": "y"} if name == "edges" else {}
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
