"""Everything public that takes records is fed the same odd values: each is a missing one, and nothing else changes.

What takes records is found by the names of parameters in the stubs of the rooms; what is neither tried here nor has a
reason in its own test file (`READ_ELSEWHERE`) fails. Results are compared with those of the same data in which the odd
values are missing: bit by bit where noise can be drawn again, and else by their shapes and types.
"""

from __future__ import annotations

import dataclasses
import datetime
import importlib
import inspect
import itertools
import math
import uuid
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import discreet
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.events import Event
from discreet.deep.fair.sensitive_attribute import SensitiveAttribute
from discreet.graphs.graph_data import graph_data
from discreet.learners.linear.linear_regression import Ridge
from discreet.learners.linear.logistic_regression import LogisticRegression
from discreet.learners.selection.evaluate import evaluate
from discreet.learners.selection.evaluate_regression import evaluate_regression
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.graphs.graph_statistic import WholeGraph
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.sequential.bandits.linear_ucb import LinearUCB
from discreet.sequential.continual_release import ContinualRelease
from discreet.sequential.series.series_stream import SeriesStream
from discreet.trust.curator import Curator
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.source_of import source_of
from tests.conformance.walk import for_each, reasons, statistics, streams, trial
from tests.sequential.trial import opened
from tests.statistics.trial import asked, trial_of


class Failing(float):
    """A number that cannot be asked for its value."""

    def __float__(self) -> float:
        raise TypeError("secret words")


class Unequal:
    """What cannot even be compared."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("secret words")

    __hash__ = None  # type: ignore[assignment]


ODD: list[Any] = [
    None,
    math.nan,
    math.inf,
    -math.inf,
    "?",
    "",
    "secret words",
    "\x1b[2J\x00\r\n",
    "\ud800",
    "1_000",
    b"",
    b"\xff",
    1j,
    np.complex128(2),
    [1.0],
    [[1.0, 2.0], [3.0]],
    (),
    {"secret": 1},
    {1.0},
    object(),
    10**400,
    Decimal("1e99999"),
    Decimal("NaN"),
    Fraction(1, 3),
    datetime.date(2020, 1, 1),
    datetime.timedelta(1),
    np.datetime64("2020-01-01"),
    np.datetime64("NaT"),
    np.timedelta64(5, "s"),
    np.timedelta64(5, "ns"),
    np.void(b"ab"),
    np.ones(7),
    np.array(object()),
    pd.NA,
    pd.NaT,
    uuid.UUID(int=1),
    float,
    range(3),
    Failing(2.0),
    Unequal(),
]
"""Values that are no number, and none of the categories that are listed here."""

READ: list[tuple[Any, float]] = [
    (True, 1.0),
    (np.True_, 1.0),
    (" 1 ", 1.0),
    (b"0.5", 0.5),
    ("1e0", 1.0),
    (Decimal("0.25"), 0.25),
    *((kind(1), 1.0) for kind in (np.int8, np.uint64, np.float16, np.float32, np.longdouble, np.str_, np.bytes_)[:5]),
]
"""Values that are read as a number, and that number."""

NAMES = {"data", "X", "records", "edges", "sensitive_features", "values", "value", "reward", "rewards", "contexts"}
SOURCE = Path(discreet.__file__).parent
METHODS = ("fit", "update", "privatise", "unit", "reports", "predict", "of", "rehearsal")


def public() -> Iterator[tuple[str, Any]]:
    """All public names, by the stubs of the rooms."""
    for stub in sorted(SOURCE.rglob("__init__.pyi")):
        module = importlib.import_module(".".join(["discreet", *stub.parent.relative_to(SOURCE).parts]))
        yield from ((name, getattr(module, name)) for name in module.__all__)


def takes(found: Any) -> set[str]:
    """The parameters by which it, or one of its methods, takes records; a stream does so once it is open."""
    if inspect.isclass(found) and issubclass(found, ContinualRelease):
        return {"value"}
    methods = [getattr(found, name, None) for name in METHODS] if inspect.isclass(found) else []
    parts = [part for part in (found, *methods) if callable(part) and not isinstance(part, type(Event))]
    return {name for part in parts for name in _parameters(part)} & NAMES


def _parameters(part: Any) -> list[str]:
    try:
        return list(inspect.signature(part).parameters)
    except (TypeError, ValueError):
        return []


def asked_otherwise(found: Any) -> bool:
    """Whether it takes no records, but private data or graphs, tensors or a client's value; or is a release."""
    if inspect.isabstract(found) or found.__module__.startswith("discreet.schema."):
        return True  # the base of others; what is public
    if hasattr(found, "message"):
        return True  # sends the report of a random value: `test_clients`
    if "receipt" in getattr(found, "__dataclass_fields__", {}):
        return True  # is a release
    given = inspect.signature(found).parameters
    annotated = [str(one.annotation) for name, one in given.items() if name in NAMES]
    return any(one in ("PrivateData", "PrivateGraph") or "Tensor" in one for one in annotated)


TAKES = {name: one for name, one in public() if takes(one) and not asked_otherwise(one)}


# What a result is: its parts by name, without what is new in every release.

NEW = {"receipt", "receipt_", "released", "key", "head", "ledger", "bits"}


def form(result: Any, exact: bool, depth: int = 0) -> Any:
    """Types and shapes of a result; with its numbers, if these can be drawn again."""
    if isinstance(result, np.ndarray):
        return result.dtype.str, result.shape, repr(result.tolist()) if exact and result.dtype.kind != "O" else None
    if isinstance(result, float | int | str | None):
        return type(result).__name__, repr(result) if exact else None
    if isinstance(result, list | tuple):
        return type(result).__name__, [form(one, exact, depth + 1) for one in result]
    if isinstance(result, Mapping):
        return {str(name): form(one, exact, depth + 1) for name, one in result.items() if name not in NEW}
    parts: dict[str, Any] = {}
    if dataclasses.is_dataclass(result):
        parts = {one.name: getattr(result, one.name) for one in dataclasses.fields(result)}
    elif hasattr(result, "get_params"):
        parts = {name: one for name, one in vars(result).items() if name.endswith("_")}
    kept = {name: form(one, exact, depth + 1) for name, one in parts.items() if name not in NEW and depth < 4}
    return type(result).__name__, kept


def outcome(act: Callable[[], Any], exact: bool) -> Any:
    """What an act gives, or what it raises: the type and the words, and those of what led to it."""
    try:
        return form(act(), exact)
    except Exception as why:
        return type(why), f"{why} {why.__cause__} {why.__context__}"


def check(act: Callable[[Any], Any], odd: Any, missing: Any, exact: bool) -> None:
    """Odd values and missing ones have the same outcome, which is no error."""
    found, expected = outcome(lambda: act(odd), exact), outcome(lambda: act(missing), exact)
    assert not isinstance(expected[0], type), expected
    assert found == expected


# Tables: one odd value for each of several records, in every column whose values are public.

SCHEMA = Schema({"x": Number(-20, 20), "y": Number(0, 1), "kind": Category(("a", "b", "c")), "name": Text()})


def table(values: list[Any], rows: int = 60) -> dict[str, list[Any]]:
    """Usual records, and one for each of these values: in both numbers, and in the category."""
    rng = np.random.default_rng(0)
    return {
        "x": [*rng.normal(5, 3, rows).tolist(), *values, *[3.0] * len(values)],
        "y": [*rng.uniform(0, 1, rows).tolist(), *values, *[0.5] * len(values)],
        "kind": [*rng.choice(["a", "b", "c"], rows).tolist(), *["a"] * len(values), *values],
        "name": ["somebody"] * (rows + 2 * len(values)),
    }


def private(records: Any) -> PrivateData:
    curator = Curator(source_of(records, SCHEMA), bits=DeterministicBits(3))
    return PrivateData(curator, MemoryLedger(Budget(10.0, 1e-5)))


STATISTICS = {function.__name__: function for function in statistics()}


@for_each(STATISTICS.values())
def test_statistics_take_odd_values_for_missing_ones(function: Any) -> None:
    def act(values: list[Any]) -> Any:
        return asked(function, private(table(values)))

    check(act, ODD, [None] * len(ODD), exact=trial_of(function).replayed)


def matrix(source: Any) -> np.ndarray:
    found: np.ndarray = source.everything(("x", "y", "kind"))
    return found


def test_every_way_to_hand_over_a_table_reads_odd_values_alike() -> None:
    columns = [column for name, column in table(ODD).items() if name != "name"]
    schema = Schema({name: kind for name, kind in SCHEMA.columns.items() if name != "name"})
    rows = [list(row) for row in zip(*columns, strict=True)]
    array = np.empty((len(rows), 3), dtype=object)
    for place, row in enumerate(rows):
        for at, value in enumerate(row):
            array[place, at] = value
    expected = matrix(source_of(table([None] * len(ODD)), SCHEMA))
    forms: dict[str, Any] = {
        "columns": dict(zip(schema.columns, columns, strict=True)),
        "rows": rows,
        "array": array,
        "frame": pd.DataFrame(dict(zip(schema.columns, (pd.Series(c, dtype=object) for c in columns), strict=True))),
    }
    for name, records in forms.items():
        np.testing.assert_array_equal(matrix(source_of(records, schema)), expected, err_msg=name)
    for odd in (*ODD, [1.0], [1.0, 2.0, "a", 4.0]):
        ragged = matrix(source_of([*rows, odd], schema))
        np.testing.assert_array_equal(ragged[:-1], expected)
        assert np.isnan(ragged[-1]).all()


def test_values_that_are_numbers_are_those_numbers() -> None:
    given, wanted = zip(*READ, strict=True)
    for records in ({"x": list(given), "y": list(given)}, [[one, one] for one in given]):
        source: Any = source_of(records, Schema({"x": Number(-20, 20), "y": Number(0, 1)}))
        np.testing.assert_array_equal(source.everything(("x", "y")), np.column_stack([wanted, wanted]))


def test_a_list_and_its_bounds_are_read_as_an_array_is() -> None:
    check(lambda values: discreet.mean([0.5, *values], bounds=(0, 1)), ODD, [None] * len(ODD), exact=False)


def test_samples_of_two_groups_are_read_one_by_one() -> None:
    def act(values: list[Any]) -> Any:
        return discreet.two_sample_t_test([0.5] * 50 + values, [0.2] * 50 + values, bounds=(0, 1))

    check(act, ODD, [None] * len(ODD), exact=False)


# Models: odd values among the features and among the targets, and rows of another length.


def rows_of(X: np.ndarray, values: list[Any]) -> list[Any]:
    """Rows as lists, with one odd value in each of the first; those after are odd as a whole."""
    rows: list[Any] = [list(map(float, row)) for row in X]
    for place, value in enumerate(values):
        rows[place][place % X.shape[1]] = value
    return rows


def odd_rows(X: np.ndarray) -> list[Any]:
    rows, first = rows_of(X, ODD), len(ODD)
    for place, value in enumerate([None, "?", 5.0, [1.0], [1.0] * 9, {}, object()]):
        rows[first + place] = value
    return rows


def missing_rows(X: np.ndarray) -> list[Any]:
    rows, first = rows_of(X, [None] * len(ODD)), len(ODD)
    rows[first : first + 7] = [[None] * X.shape[1] for _ in range(7)]
    return rows


def with_odd(y: Any, odd: bool) -> list[Any]:
    """Targets as a list, with odd ones at the end."""
    values = np.asarray(y).tolist()
    return values[: -len(ODD)] + (ODD if odd else [None] * len(ODD))


LEARNERS = {name: one for name, one in TAKES.items() if hasattr(one, "fit")}


@for_each(LEARNERS.values())
def test_learners_take_odd_values_for_missing_ones(kind: Any) -> None:
    from sklearn.base import clone

    X = trial(kind).features(120)
    y = trial(kind).targets(X)
    for model, others in trial(kind).fits(X):

        def act(odd: bool, model: Any = model, others: dict[str, Any] = others) -> Any:
            targets = () if y is None else (with_odd(y, odd),)
            more = {name: with_odd(values, odd) for name, values in others.items()}
            return clone(model).fit(odd_rows(X) if odd else missing_rows(X), *targets, **more)

        check(act, True, False, exact=False)


def test_sensitive_attributes_take_odd_values_for_missing_ones() -> None:
    groups = np.random.default_rng(0).integers(0, 2, 200)
    held = SensitiveAttribute(with_odd(groups, True), (0, 1), Budget(1.0))
    assert held._curator._view.codes.tolist() == groups.tolist()[: -len(ODD)] + [-1] * len(ODD)


def test_evaluations_take_odd_values_for_missing_ones() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2))
    classifier = LogisticRegression(bounds=(-1, 1), classes=[0, 1]).fit(X, (X[:, 0] > 0).astype(int))
    regressor = Ridge(bounds=(-1, 1), target_bounds=(-1, 1)).fit(X, X[:, 0])
    for judge, model, y in ((evaluate, classifier, X[:, 0] > 0), (evaluate_regression, regressor, X[:, 0])):

        def act(odd: bool, judge: Any = judge, model: Any = model, y: Any = y) -> Any:
            """Its figures: how many cells of scores there are follows from noise that is paid for."""
            return judge(model, odd_rows(X) if odd else missing_rows(X), with_odd(np.asarray(y) * 1, odd)).tabulated()

        check(act, True, False, exact=False)


# Streams: one update after the other, and several people's values in one.

LONG = 128


def made(kind: Any, **more: Any) -> Any:
    """An open stream with bits that can be drawn again: what it needs is as in its trial, and it is long enough."""
    needed = {name for name, one in inspect.signature(kind).parameters.items() if one.default is one.empty}
    given = {name: both[0] for name, both in trial(kind).parameters.items() if name in needed}
    long = dict.fromkeys(needed & {"horizon", "rounds"}, LONG)
    return opened(kind(**given | long | more), DeterministicBits(5))


OPENED = {kind: type(made(kind)) for kind in streams()}
STREAMS = [kind for kind, one in OPENED.items() if hasattr(one, "update") and not issubclass(kind, SeriesStream)]
SERIES = [kind for kind in OPENED if issubclass(kind, SeriesStream)]
CURATORS = [kind for kind, one in OPENED.items() if hasattr(one, "privatise")]
MAPS = [one for one in TAKES.values() if inspect.isfunction(getattr(one, "unit", None)) and one not in OPENED]
VALUES = list(itertools.chain.from_iterable((0.5, odd) for odd in ODD))[:LONG]
NEUTRAL = list(itertools.chain.from_iterable((0.5, math.nan) for _ in ODD))[:LONG]


@for_each(STREAMS)
def test_streams_take_odd_values_for_missing_ones(kind: Any) -> None:
    def act(values: list[Any]) -> Any:
        stream = made(kind)
        return [stream.update(value) for value in values]

    check(act, _alone(kind, VALUES), _alone(kind, NEUTRAL), exact=True)
    if "size" in inspect.signature(kind).parameters:

        def pairs(values: list[Any]) -> Any:
            stream = made(kind, size=2, bound=Bound("l2", 1.0))
            return [stream.update(value) for value in values]

        odd = [*([one, 0.5] for one in ODD), [1.0], [1.0, 2.0, 3.0], *ODD][:LONG]
        check(pairs, _unshaped(odd), [[math.nan, 0.5]] * len(_unshaped(odd)), exact=True)


def _unshaped(values: list[Any]) -> list[Any]:
    """Without arrays, whose shape is public."""
    return [one for one in values if not isinstance(one, np.ndarray)]


def _alone(kind: Any, values: list[Any]) -> list[Any]:
    """Without arrays; and without lists where these are the values of several people."""
    several = (list, tuple) if hasattr(kind, "stddevs") else ()
    return [math.nan if isinstance(one, (np.ndarray, *several)) else one for one in values]


@for_each(SERIES)
def test_series_take_odd_values_and_places_for_missing_ones(kind: Any) -> None:
    def act(given: tuple[list[Any], list[Any]]) -> Any:
        stream = made(kind, series=2)
        return [stream.update(*given) for _ in range(9)]

    ends = [0, 1, 1] + [0] * len(ODD)
    values, missing = [0.5, 1.0, 0.25, *ODD], [0.5, 1.0, 0.25] + [math.nan] * len(ODD)
    check(act, (values, ends), (missing, ends), exact=True)
    places = [0, 1, 1, *ODD, 2, -1, 0.5, 2**70]
    counted = [0.5, 1.0, 0.25] + [1.0] * (len(places) - 3)
    nobody = [0.5, 1.0, 0.25] + [math.nan] * (len(places) - 3)
    check(act, (counted, places), (nobody, [0, 1, 1] + [0] * (len(places) - 3)), exact=True)


@for_each(CURATORS)
def test_curators_take_odd_rewards_for_missing_ones(kind: Any) -> None:
    context = {"context": [0.5, 0.5]} if "context" in inspect.signature(OPENED[kind].privatise).parameters else {}

    def act(values: list[Any]) -> Any:
        curator = made(kind)
        return [curator.privatise(reward=value, **context) for value in values]

    rewards = _unshaped(VALUES)
    check(
        act,
        rewards,
        [value if type(value) is float and math.isfinite(value) else math.nan for value in rewards],
        exact=True,
    )
    if context:
        contexts = [*([one, 0.5] for one in ODD), [1.0], [1.0, 2.0, 3.0], *_unshaped(ODD)][:LONG]

        def of(given: list[Any]) -> Any:
            curator = made(kind)
            return [curator.privatise(one, 0.5) for one in given]

        check(of, contexts, [[math.nan, 0.5]] * len(contexts), exact=True)


@for_each(MAPS)
def test_maps_of_rewards_take_odd_ones_for_missing_ones(kind: Any) -> None:
    assert kind().unit([*ODD, 0.5]).tolist()[:-1] == [0.0] * len(ODD)


def test_contexts_of_a_bandit_are_read_one_by_one() -> None:
    agent: Any = LinearUCB(2, rounds=LONG, stddev=1.0)
    agent.partial_fit(np.diag([3.0, 1.0, 2.0]) + 0.5)
    for odd in _unshaped(ODD):
        for row in ([odd, 0.9], odd):
            assert agent.predict([[0.1, 0.1], row, [0.9, 0.9]]) == agent.predict([[0.1, 0.1], [0, 0], [0.9, 0.9]])


# Graphs, and reports of people.


def test_graphs_leave_odd_pairs_and_ends_out() -> None:
    pairs: list[Any] = [(0, 1), (1, 2), (3, 4), (0, 4), *([0, 2],) * len(ODD) * 3]
    kept = [[0, 1], [0, 2], [0, 4], [1, 2], [3, 4]]
    for unit in ("edge", "node"):
        graph = graph_data([*pairs, *ODD, *((one, 3) for one in ODD)], 5, Budget(1.0), unit=unit)
        assert WholeGraph(5).answer(graph._trust._view).edges.tolist() == kept  # type: ignore[attr-defined]


REPORTS = [one for one in TAKES.values() if hasattr(one, "reports")]
OF_NUMBERS = [one for one in REPORTS if hasattr(one, "scaled")]
OF_VECTORS = [one for one in REPORTS if not hasattr(one, "labels") and hasattr(one, "radius")]


@for_each(OF_NUMBERS)
def test_reports_of_numbers_take_odd_ones_for_missing_ones(kind: Any) -> None:
    values = [0.5, *ODD]
    check(lambda given: kind().reports(given, DeterministicBits(1)), values, [0.5] + [math.nan] * len(ODD), exact=True)


@for_each(OF_VECTORS)
def test_reports_of_vectors_take_odd_ones_for_missing_ones(kind: Any) -> None:
    size = kind().size
    values = [[0.1] * size, *([one, *[0.1] * (size - 1)] for one in ODD), [0.1] * (size + 1), *ODD]
    missing = [[0.1] * size] + [[math.nan] * size] * (len(values) - 1)
    check(lambda given: kind().reports(given, DeterministicBits(1)), values, missing, exact=True)


def reason(found: Any) -> str:
    """Why the test file of something says that odd values are not handed over to it."""
    return reasons(found, "READ_ELSEWHERE").get(found.__name__, "")


def test_everything_public_that_takes_records_is_tried() -> None:
    """By a walk, or by name in this file; a domain that is listed by `test_clients`."""
    walked = {*STREAMS, *SERIES, *CURATORS, *MAPS, *REPORTS, *STATISTICS.values(), *LEARNERS.values()}
    here = {one for name, one in TAKES.items() if name in globals() or f"discreet.{name}(" in HERE}
    missing = [name for name, one in TAKES.items() if one not in walked | here and not reason(one)]
    assert not missing, "hand odd values over to these here, or say with READ_ELSEWHERE in their test file why not"
    assert len(TAKES) > 90


HERE = Path(__file__).read_text()
