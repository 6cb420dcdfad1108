"""Every statistic and learner, found by walking, answers to public parameters of any kind or size, or refuses before it
charges.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import RECORD, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.releases.declaration import declaration_of
from discreet.schema.schema import Category, Column, Number, Schema, Text
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.source_of import source_of
from tests.conformance.walk import for_each, learners, statistics, trial
from tests.statistics.trial import trial_of

BOUNDS = [
    (0, 2**70),
    (0, 2**53),
    (-1e280, 1e280),
    (0, 1e50),
    (0.0, 5e-324),
    (0.0, 1e-50),
    (1.0, 1 + 2**-52),
    (1e15, 1e15 + 0.125),
]
UNITS = (Unit("user", column="who", rows=2**30), Unit("user", column="who", pooled=True))
WITH: dict[str, dict[str, Any]] = {"edges": {"by": "y"}}  # what a parameter is tried together with


def private(
    x: Number, unit: Unit = RECORD, kinds: tuple[str, ...] = ("a", "b", "c"), local: bool = False
) -> PrivateData:
    """Thirty records, ten people; no text where units are pooled."""
    rng = np.random.default_rng(0)
    columns: dict[str, Column] = {"x": x, "y": x, "kind": Category(kinds), "name": Text()}
    records = {
        "x": np.linspace(float(x.lower), float(x.upper), 30),
        "y": rng.permutation(np.linspace(float(x.lower), float(x.upper), 30)),
        "kind": ["a", "b", "c"] * 10,
        "name": ["somebody"] * 30,
        "who": [str(i % 10) for i in range(30)],
    }
    source: Any = source_of(records, Schema({n: c for n, c in columns.items() if n != "name" or not unit.pooled}), unit)
    trust = Local(source) if local else Curator(source)
    return PrivateData(trust, MemoryLedger(Budget(1e7, 1e-5), trust.neighbors, unit))


def trials(function: Any) -> Iterator[tuple[PrivateData, dict[str, Any]]]:
    """Each bound, each parameter and each unit, one at a time."""
    taken, usual = inspect.signature(function).parameters, Number(-20, 20)
    for bounds in BOUNDS:
        yield private(Number(*bounds)), {}
    yield private(Number(*BOUNDS[0]), local=True), {"epsilon": 1e-9}
    for name, value in trial_of(function).extremes(declaration_of(function)):
        yield private(usual), {name: value, **WITH.get(name, {})}
        if "by" in taken and name == "epsilon":
            yield private(usual), {name: value, "by": "kind"}
    for kinds in (("a",), ("a", "b", *map(str, range(3000)))):
        yield private(usual, kinds=kinds), {}
    for unit in UNITS:
        yield private(usual, unit), {"epsilon": 1e-6}


def more_trials(function: Any) -> Iterator[tuple[PrivateData, dict[str, Any]]]:
    """Many groups, and bounds and units with more and less noise."""
    if "edges" in inspect.signature(function).parameters:
        yield private(Number(-20, 20)), {"edges": tuple(np.linspace(-20, 20, 300).tolist()), **WITH["edges"]}
    for bounds in BOUNDS:
        for epsilon in (1e-9, 1e-3):
            yield private(Number(*bounds)), {"epsilon": epsilon}
        yield private(Number(*bounds), local=True), {}
        for unit in UNITS:
            for epsilon in (1.0, 1e-6, 1e4):
                yield private(Number(*bounds), unit), {"epsilon": epsilon}


FOUND = [one for one in statistics() if not trial_of(one).elsewhere]


@for_each(FOUND)
def test_every_parameter_is_tried(function: Any) -> None:
    declaration = declaration_of(function)
    missing = declaration.options.keys() - dict(trial_of(function).extremes(declaration))
    assert not missing, f"bring extreme={{{', '.join(f'{name!r}: [...]' for name in missing)}}}"


@pytest.mark.parametrize("tried", [trials, pytest.param(more_trials, marks=pytest.mark.slow)])
@pytest.mark.parametrize("function", FOUND, ids=lambda function: function.__name__)
def test_nothing_fails_after_the_charge_because_of_public_parameters(function: Any, tried: Any) -> None:
    taken, answered = inspect.signature(function).parameters, 0
    usual = trial_of(function).given(declaration_of(function))
    for data, hostile in tried(function):
        asked = {name: value for name, value in {**usual, **hostile}.items() if name in taken}
        spent = refused(function, data, asked)
        assert not spent, f"{hostile}: {spent}"
        answered += spent is None
    assert answered > 3


def refused(function: Any, data: PrivateData, asked: dict[str, Any]) -> str | None:
    """None for an answer; else what is wrong with a refusal: an empty text, if nothing was spent and it says so."""
    try:
        str(function(data, **asked))
    except DiscreetError as refusal:
        fine = data.ledger.balance().certified == 0 and "Nothing was released or spent" in str(refusal)
        return "" if fine else str(refusal)
    return None


ODD: list[Any] = [True, "a", None, math.nan, -1, 1e308, 10**400, 2**63, (None, None), np.array([1.0, 2.0])]
ODDER: list[Any] = [
    "",
    b"x",
    math.inf,
    -math.inf,
    0,
    1.5,
    5e-324,
    3 + 4j,
    (),
    (1,),
    ("a", "b"),
    (3, 1),
    [],
    {},
    object(),
]
ODDER += [np.array("x"), len, Decimal("1.5"), Decimal("nan"), (1e-300,), 10**4000, np.bool_(True), np.float64("nan")]
every_value = pytest.mark.parametrize(
    "values", [ODD, pytest.param(ODDER, marks=pytest.mark.slow)], ids=["odd", "odder"]
)


def fault(asked: Callable[[], Any], ledger: Any) -> str | None:
    """What is wrong with how odd parameters are met: nothing, if they are answered, or refused before a charge."""
    try:
        str(asked())
    except (DiscreetError, InvalidParameterError) as refusal:
        return f"charged: {refusal}" if ledger.entries() else None
    except Exception as raw:
        return f"{type(raw).__name__}: {raw}"
    return None


@every_value
@pytest.mark.parametrize("function", FOUND, ids=lambda function: function.__name__)
def test_every_parameter_of_a_statistic_takes_any_value(function: Any, values: list[Any]) -> None:
    taken = inspect.signature(function).parameters
    usual = trial_of(function).given(declaration_of(function))
    for name in taken:
        for value in values if name != "data" else ():
            data = private(Number(-20, 20))
            wrong = fault(partial(function, data, **{**usual, name: value}), data.ledger)
            assert wrong is None, f"{name} is {value!r:.50}: {wrong}"
    with pytest.raises(TypeError, match="nonsense"):
        function(private(Number(-20, 20)), nonsense=1, **usual)


@every_value
@pytest.mark.parametrize("kind", learners(), ids=lambda kind: kind.__name__)
def test_every_parameter_of_a_learner_takes_any_value(kind: Any, values: list[Any]) -> None:
    one = trial(kind)
    rows = one.features(40)
    one.of_private().fit(one.private(one.trust(one.source(rows))))  # what is usual is answered
    for name in one.model.get_params(deep=False):
        for value in values:
            data = one.private(one.trust(one.source(rows)))
            wrong = fault(partial(one.of_private().set_params(**{name: value}).fit, data), data.ledger)
            assert wrong is None, f"{name} is {value!r:.50}: {wrong}"


@pytest.mark.parametrize("kind", learners(), ids=lambda kind: kind.__name__)
def test_no_bounds_of_a_learner_fail_after_the_charge(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    one, paid = trial(kind), list[Any]()
    entered = Permit.__enter__

    def noted(permit: Permit) -> Permit:
        paid.append(permit)
        return entered(permit)

    monkeypatch.setattr(Permit, "__enter__", noted)
    rows, paid_for = one.features(30), SimpleNamespace(entries=lambda: tuple(paid))
    for bounds in (*BOUNDS, (0, 1e-320), (-1e308, 1e308)):
        paid.clear()
        model = one.of_arrays().set_params(**({"bounds": bounds} if "bounds" in one.model.get_params() else {}))
        wrong = fault(partial(model.fit, rows.clip(float(bounds[0]), float(bounds[1])), one.targets(rows)), paid_for)
        assert wrong is None, f"{bounds}: {wrong}"
