"""A declaration: what callers see, what is checked before anything is spent, and what a statistic is given."""

from __future__ import annotations

import inspect
from typing import Any, Unpack

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import UNTOUCHED, NotPermitted, ParameterError
from discreet.core.neighbors import Neighbors
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.releases.ask import ColumnOf
from discreet.releases.declaration import Refusal, declaration_of
from discreet.releases.records_of import RecordsOf
from discreet.releases.statistic import SharedOptions, statistic
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.frame import Frame

BOUNDS = {"age": (0, 100), "sex": ["f", "m"]}
PEOPLE = {"age": [20.0, 40.0, 60.0], "sex": ["f", "m", "f"]}


@statistic(
    delta=1e-6,
    no_by="it is an example, which has no groups",
    no_population=Refusal("it is an example", "Ask for a mean."),
    needs_delta=Refusal("an example costs a delta", "Give one."),
    curator="it is an example",
)
def seen(
    of: ColumnOf, power: int = 1, *, shift: float = 0.0, confidence: float = 0.95, **_: Unpack[SharedOptions]
) -> Any:
    """Show what a statistic is given.

    Parameters
    ----------
    power : int
        Public. An option of its own.
    shift : float
        Public. Another one.
    """
    return {"of": of, "power": power, "shift": shift, "confidence": confidence}


@statistic(like=seen)
def sized(of: RecordsOf, column: str, *, shift: float = 1.0, confidence: float | None = None) -> Any:
    """Show how many records are known to be there."""
    return of.opened().size


def private(neighbors: Neighbors = Neighbors.ADD_REMOVE) -> PrivateData:
    return PrivateData.of(PEOPLE, BOUNDS, Budget(1.0, 1e-6), neighbors=neighbors)


def test_callers_see_all_options_in_their_order() -> None:
    assert list(inspect.signature(seen).parameters) == [
        *("data", "column", "power", "bounds", "where", "shift"),
        *("confidence", "population", "epsilon", "delta", "key"),
    ]
    assert list(inspect.signature(sized).parameters)[:7] == [
        *("data", "column", "bounds", "where", "by", "edges", "shift"),
    ]
    defaults = {name: one.default for name, one in declaration_of(seen).options.items()}
    assert (defaults["delta"], defaults["epsilon"], defaults["population"], defaults["power"]) == (1e-6, 1.0, False, 1)
    assert declaration_of(sized).options["column"].required


def test_the_docstring_has_shared_options_once_and_those_of_another_statistic_where_they_mean_the_same() -> None:
    doc = inspect.getdoc(seen) or ""
    assert "power : int\n    Public. An option of its own." in doc
    assert "where : str, optional\n    Public. Which records are meant" in doc
    assert "epsilon, delta : float\n    Public. What this may cost" in doc
    assert "Public. An interval for a population is refused: it is an example." in doc
    assert declaration_of(sized).options["shift"].meaning == "Public. Another one."


def test_a_statistic_is_given_its_column_its_price_and_its_own_options() -> None:
    found = seen(private(), "age", 2, where="sex == 'f'", epsilon=0.5, key="k")
    of = found["of"]
    assert (of.column, of.key, of.budget) == ("age", "k", Budget(0.5, 1e-6))
    assert str(of.data.condition) == "sex == 'f'"
    assert (found["power"], found["shift"], found["confidence"]) == (2, 0.0, 0.95)
    assert seen(np.ones(3), bounds=(0, 2))["of"].column == "value"


def test_the_size_of_a_group_is_never_public() -> None:
    data = private(Neighbors.REPLACE)
    assert sized(data, "age") == 3
    assert sized(data, "age", by="sex") is None
    assert sized(data, "age", where="sex == 'f'") is None
    assert sized(private(), "age") is None


def test_what_is_declared_is_refused_before_anything_is_spent() -> None:
    data = private()
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"by": "sex"}, "which has no groups"),
        ({"population": True}, "it is an example"),
        ({"delta": 0.0}, "costs a delta"),
        ({"confidence": 2.0}, "confidence is 2"),
        ({"power": 1.5}, "power is 1.5"),
        ({"where": "absent > 3"}, "absent"),
        ({"epsilon": 0.0}, "epsilon"),
    ]
    for options, said in wrong:
        with pytest.raises(ParameterError, match=said) as refusal:
            seen(data, "age", **options)
        assert refusal.value.consequence == UNTOUCHED
    people = Frame(PEOPLE, data.schema)
    with pytest.raises(NotPermitted, match="it takes a curator"):
        seen(PrivateData(Local(people), MemoryLedger(Budget(1.0, 1e-6))), "age")


def test_arguments_that_no_function_takes_are_python_s_errors() -> None:
    calls: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        ((private(), "age", 1, 2), {}, "takes 3 positional arguments but 4 were given"),
        ((private(), "age"), {"column": "age"}, "multiple values for argument 'column'"),
        ((private(), "age"), {"wher": "age > 3"}, "unexpected keyword argument 'wher'"),
        ((), {}, "missing 1 required argument: 'data'"),
    ]
    for given, named, said in calls:
        with pytest.raises(TypeError, match=said):
            seen(*given, **named)
