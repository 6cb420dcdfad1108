"""One question, one release: how a statistic turns to its data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.question import BoundedSum
from discreet.core.receipt import Receipt
from discreet.core.schema import Number, Schema
from discreet.statistics.noise import Spread, least_noise
from discreet.trust.private_data import PrivateData


@dataclass(frozen=True)
class Released:
    """A noisy sum, how its noise spreads, and its receipt."""

    values: Array
    spread: Spread
    receipt: Receipt


def asked(
    data: PrivateData, question: BoundedSum, size: int, budget: Budget, purpose: str, key: str | None = None
) -> Released:
    """Pay for one bounded sum with the least noise that the budget allows, and release it."""
    return asked_with(least_noise(data, question, size, budget), data, question, purpose, key)


def asked_with(
    spread: Spread, data: PrivateData, question: BoundedSum, purpose: str, key: str | None = None
) -> Released:
    """Pay for one bounded sum with this noise, and release it."""
    request = question.recipe.written() if question.recipe else f"{question.columns} {question.bound} {question.grid}"
    with data.permit(spread.noise.event, purpose, request=request, key=key) as permit:
        values = permit.ask(question, spread.noise)
    return Released(values, spread, permit.receipt)


@dataclass(frozen=True)
class ColumnOf:
    """A data set and the column of it that is asked about."""

    data: PrivateData
    column: str


def column_of(data: Any, column: str | None, bounds: tuple[float, float] | None, budget: Budget) -> ColumnOf:
    """The column that a statistic is about: of private data, or of an array with bounds of its own."""
    if isinstance(data, PrivateData):
        if bounds is not None:
            raise ParameterError("bounds", "the data set's schema has them already", "Leave them out.")
        if column is None:
            raise ParameterError("column", "none is given", f"Name one of {', '.join(data.schema.columns)}.")
        return ColumnOf(data, column)
    if bounds is None:
        raise ParameterError(
            "statistic of an array",
            "its bounds are not given, and taking them from the data would give a record away",
            "Pass bounds=(lower, upper) from what you know without the data.",
        )
    values = np.asarray(data)
    if values.ndim != 1:
        raise ParameterError("statistic of an array", f"its shape is {values.shape}", "Give one value per record.")
    schema = Schema({column or "value": Number(*map(float, bounds))})
    return ColumnOf(PrivateData.of(values[:, None], schema, budget), column or "value")
