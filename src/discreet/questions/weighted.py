"""Any bounded sum, to which a record adds as much as its weight says."""

from __future__ import annotations

import dataclasses

import numpy as np

from discreet.core.grid import Array, Grid, Steps
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import Recipe, recipe
from discreet.schema.schema import Schema

BITS = 6  # of a weight: it is a whole number of 64ths, from 0 to 64
WHOLE = 2**BITS


def weighted(question: BoundedSum, weight: str, schema: Schema) -> BoundedSum:
    """A question to which each record adds what it would, times its weight: a value of this column, from 0 to 1.

    A weight depends on its record alone and is 1 at most. So one unit still moves the sum by no more than the own bound
    of the question.
    """
    if question.recipe is None:
        return _sum_of(question, weight, schema)
    return weighted_of(schema, weight, question.recipe.written())


@recipe("weighted")
def weighted_of(schema: Schema, weight: str, inner: str) -> BoundedSum:
    """The sum that a recipe makes, of contributions times the weights of their records.

    A weight is rounded down to 64ths; one above 1 is 1, and one below 0 or missing is 0. All weights of a batch are
    added bit by bit: of the records whose weights have a bit, the fused sum is taken. So the sum is as exact as that of
    the recipe, and takes about three times as long. Beyond 2**22 records it may wrap around; see `exact_sum`.

    Parameters
    ----------
    weight : str
        Public. A column of numbers.
    inner : str
        Public. A recipe of this library, as it is written.
    """
    return _sum_of(question_of(Recipe.read(inner), schema), weight, schema)


def _sum_of(question: BoundedSum, weight: str, schema: Schema) -> BoundedSum:
    schema.number(weight)
    columns = tuple(dict.fromkeys((*question.columns, weight)))
    width, total, grid = len(question.columns), question.total, Grid(question.grid.exponent - BITS)
    place = columns.index(weight)

    def of(records: Array) -> Array:
        return grid.values(question.steps(records[:, :width]) * whole_weights(records[:, place])[:, None])

    def fused(records: Array) -> Steps:
        assert total is not None
        weights, found = whole_weights(records[:, place]), np.zeros(question.size, dtype=np.int64)
        for bit in range(BITS + 1):
            some = np.ascontiguousarray(records[weights >> bit & 1 == 1, :width])
            found += np.asarray(total(some)).astype(np.int64) << bit
        return found

    return dataclasses.replace(
        question,
        of=of,
        columns=columns,
        grid=grid,
        total=None if total is None else fused,
        raw=False,
        recipe=None,
        tally=None,
        width=question.size,
    )


def whole_weights(values: Array) -> Steps:
    """Weights in 64ths, from 0 to 64.

    Examples
    --------
    >>> whole_weights(np.array([0.5, 1.0, 7.0, -1.0, np.nan])).tolist()
    [32, 64, 64, 0, 0]
    """
    return np.floor(np.clip(np.nan_to_num(values, nan=0.0), 0.0, 1.0) * WHOLE).astype(np.int64)
