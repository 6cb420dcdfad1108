"""Which statistics of one SELECT are read off the same sum: so that they share its price, too."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from discreet.questions.columns.moments_of_all import moments_of_all_of
from discreet.questions.question import BoundedQuestion
from discreet.releases.ask import OneSum, Released
from discreet.releases.estimate import Estimate, estimate_of
from discreet.releases.figure import Figure
from discreet.releases.spread import Spread
from discreet.statistics.moments.column_moments import Moments
from discreet.statistics.moments.pair_table import PairTable

Sums = tuple[OneSum[Estimate], ...]


class SelectedStatistic(Protocol):
    """What is known of one statistic of a selection."""

    @property
    def statistic(self) -> str: ...

    @property
    def column(self) -> str | None: ...

    @property
    def options(self) -> Mapping[str, Any]: ...

    @property
    def weight(self) -> float: ...


def shared(every: Sequence[SelectedStatistic], alone: Sums, confidence: float) -> Sums:
    """What each statistic is read off: those about the moments of one column share the richest of their sums."""
    richest: dict[str, OneSum[Estimate]] = {}
    for one, found in zip(every, alone, strict=True):
        if one.column is not None and _degree(found) > _degree(richest.get(one.column)):
            richest[one.column] = found
    sums = tuple(
        _sharing(one, found, richest.get(one.column or ""), confidence) for one, found in zip(every, alone, strict=True)
    )
    return _counting_all(every, sums, richest, confidence)


def key_of(found: OneSum[Any]) -> str:
    """What tells sums apart."""
    recipe = getattr(found.question, "recipe", None)
    return str(found.question) if recipe is None else str(recipe.written())


def counts_all(one: SelectedStatistic) -> bool:
    """Whether it is the number of all records of these data."""
    return one.statistic == "count" and one.column is None and not one.options.get("population")


def of_pair(found: OneSum[PairTable]) -> OneSum[Estimate]:
    """What two columns have to do with each other, as one number."""

    def read(released: Released) -> Estimate:
        table = found.read(released)
        value, error, low, high = (
            float(each[0, 1]) for each in (table.values, table.standard_error, table.low, table.high)
        )
        return Estimate(
            name=found.name,
            value=value,
            standard_error=error if math.isfinite(error) else None,
            low=low,
            high=high,
            confidence=table.confidence,
            population=table.population,
            receipt=released.receipt,
        )

    return OneSum(found.of, found.name, found.question, read, found.noise)


def _degree(found: OneSum[Any] | None) -> int:
    """The degree of the moments that it asks for; 0, where it asks for something else."""
    recipe = None if found is None else getattr(found.question, "recipe", None)
    return recipe.parameters["degree"] if recipe is not None and recipe.name == "moments" else 0


def _sharing(
    one: SelectedStatistic, found: OneSum[Estimate], richest: OneSum[Estimate] | None, confidence: float
) -> OneSum[Estimate]:
    """The same statistic, read off moments of its column that are asked for anyway."""
    if richest is None or key_of(richest) == key_of(found):
        return found
    if _degree(found):
        return dataclasses.replace(found, question=richest.question)
    plain = one.statistic in ("count", "total") and not one.options.get("population")
    if not plain:
        return found
    number, whole = richest.of.schema.number(str(one.column)), one.statistic == "count"

    def read(released: Released) -> Estimate:
        moments = Moments(released.values, number, None)
        return estimate_of(found.name, moments.count() if whole else moments.total(), released, confidence)

    return dataclasses.replace(found, question=richest.question, read=read)


def _counting_all(
    every: Sequence[SelectedStatistic], sums: Sums, richest: Mapping[str, OneSum[Estimate]], confidence: float
) -> Sums:
    """The number of all records, read off the moments of a column where that makes all of them nearer."""
    counted = sum(one.weight for one in every if counts_all(one))
    if not counted or not richest:
        return sums
    column = min(richest, key=lambda name: _degree(richest[name]))
    host, degree = key_of(richest[column]), _degree(richest[column])
    beside = sum(one.weight for one, found in zip(every, sums, strict=True) if key_of(found) == host)
    if not _nearer_together(counted, beside, degree + 2):
        return sums
    question = moments_of_all_of(richest[column].of.schema, column, degree)
    return tuple(
        _whole(found, question, confidence)
        if counts_all(one)
        else _without_the_last(found, question)
        if key_of(found) == host
        else found
        for one, found in zip(every, sums, strict=True)
    )


def _nearer_together(counted: float, beside: float, numbers: int) -> bool:
    """Whether weighted squared errors add up to less where a count has the noise of so many numbers, and all the price.

    Laplace noise with the share s of a price has a variance in proportion to 1 / s**2. With shares in proportion to the
    cube roots of the weights their weighted sum is the least: the cube of the sum of these roots.
    """
    return numbers * counted + beside <= (counted ** (1 / 3) + beside ** (1 / 3)) ** 3


def _whole(found: OneSum[Estimate], question: BoundedQuestion, confidence: float) -> OneSum[Estimate]:
    """A count that is the sum of all numbers, rounded."""

    @cache
    def off(spread: Spread, numbers: int) -> tuple[float, float]:
        """By how much the sum of so many is off, and how far with this confidence: alike in all groups."""
        figure = Figure(0.0, np.ones(numbers))
        return figure.standard_error(spread), figure.half_width(spread, confidence)

    def read(released: Released) -> Estimate:
        error, half = off(released.spread, len(released.values))
        return Estimate.around(
            found.name,
            float(np.rint(released.values.sum())) + 0.0,
            max(math.ceil(half - 0.5), 0.0),  # k holds a whole number if k + 1/2 holds the noise
            standard_error=error,
            confidence=confidence,
            receipt=released.receipt,
        )

    return dataclasses.replace(found, question=question, read=read)


def _without_the_last(found: OneSum[Estimate], question: BoundedQuestion) -> OneSum[Estimate]:
    """The same statistic, off all numbers but the last."""

    def read(released: Released) -> Estimate:
        if "others" not in released.read:
            released.read["others"] = Released(released.values[:-1], released.spread, released.receipt)
        return found.read(released.read["others"])

    return dataclasses.replace(found, question=question, read=read)
