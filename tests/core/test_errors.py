"""Every refusal says what was asked, what stands in the way, what happened, and what would work."""

from __future__ import annotations

import pickle

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, DiscreetError, MissingExtra, ParameterError
from discreet.core.neighbors import Unit


def test_the_message_has_four_parts_and_the_values_are_attributes() -> None:
    error = BudgetExceeded("k-means", "2 charges need delta 0.00022", "Ask fewer times.", delta=0.00022)
    assert str(error) == "k-means: 2 charges need delta 0.00022. Nothing was released or spent. Ask fewer times."
    assert error.values == {"delta": 0.00022}
    assert error.delta == 0.00022  # type: ignore[attr-defined]


def test_an_error_survives_a_trip_to_another_process() -> None:
    error = ParameterError("budget", "epsilon is -1", "Give more.", epsilon=-1)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.values) == (ParameterError, str(error), {"epsilon": -1})


def test_bad_parameters_are_value_errors_and_missing_extras_import_errors() -> None:
    assert issubclass(ParameterError, ValueError)
    assert issubclass(MissingExtra, ImportError)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0.0, 0.0), (-1.0, 0.0), (float("inf"), 0.0), (float("nan"), 0.0), (1.0, -1e-9), (1.0, 1.0), (1.0, float("nan"))],
)
def test_a_budget_is_positive_finite_and_its_delta_a_probability(epsilon: float, delta: float) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        Budget(epsilon, delta)


@pytest.mark.parametrize(
    "fields", [{"kind": "user"}, {"rows": 0}, {"column": "id"}, {"kind": "user", "column": "id", "rows": 0}]
)
def test_a_unit_that_makes_no_sense_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(DiscreetError):
        Unit(**fields)  # type: ignore[arg-type]
