"""The exact sum of bounded contributions: the same to the last bit in any order, batch size or engine."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.grid import Array, Steps
from discreet.questions.question import BoundedSum
from discreet.schema.made_up_rows import rows_of_schema
from discreet.schema.schema import Schema

MOST = 2**22  # numbers in one matrix of contributions


def exact_sum(question: BoundedSum, batches: Iterable[Array]) -> Steps:
    """Add the contributions of all records, in grid steps.

    A slice has so few rows that its sum stays below 2**52 steps, so float64 adds it without error; int64 carries the
    total. Beyond 2**32 records it may wrap around: that is exact too, modulo 2**64, and the noise is added in the
    same arithmetic, so the promise holds; the number would be of no use.

    Parameters
    ----------
    question : BoundedSum
        What is added up. A record on which it fails adds nothing.
    batches : iterable of arrays
        The records.
    """
    size = question.size
    total = np.zeros(size, dtype=np.int64)
    rows = _most_rows(question, size)
    for batch in batches:
        fused = _fused(question, batch)
        if fused is not None:
            total += fused
            continue
        for start in range(0, len(batch), rows):
            total += contributions(question, batch[start : start + rows]).sum(axis=0).astype(np.int64)
    return total


def contributions(question: BoundedSum, records: Array) -> Array:
    """What each row adds, in grid steps; zeros for one on which the question fails, whatever the others hold.

    A function may fail because of a single record. So that this shows nowhere, and moves the sum by no more than the
    record may, halves of the rows are tried, down to single ones: it is as if that record were not there.
    """
    try:
        found = question.steps(records)
        if found.shape == (len(records), question.size):
            return found
    except Exception:  # see above
        pass
    if len(records) <= 1:
        return np.zeros((len(records), question.size))
    return np.concatenate([contributions(question, half) for half in np.array_split(records, 2)])


def check_made_up(question: BoundedSum, schema: Schema) -> None:
    """Refuse a function that fails on every made-up record: the error, which is about none of the records, is told."""
    words: DiscreetError | str = ""
    for row in rows_of_schema(schema, question.columns):
        try:
            if question.steps(row[None]).shape == (1, question.size):
                return
            words = "it gives another shape for a record than for none"
        except DiscreetError as why:
            words = why
        except Exception as why:
            words = f"{where(why)}: {why}"
    if isinstance(words, DiscreetError):
        raise words
    obstacle = f"the question fails on made-up records ({words})"
    raise ParameterError("a bounded sum", obstacle, "Correct it.")


def _fused(question: BoundedSum, records: Array) -> Steps | None:
    """The fused sum of a batch; None where there is none, or where it fails."""
    if question.total is None:
        return None
    try:
        found = np.asarray(question.total(records)).astype(np.int64)
    except Exception:  # as for `contributions`
        return None
    return found if found.shape == (question.size,) else None


def where(why: Exception) -> str:
    """What failed and where, without its words."""
    *_, last = traceback.extract_tb(why.__traceback__)
    return f"{type(why).__name__} in {last.name}, line {last.lineno} of {last.filename}"


@dataclass(frozen=True)
class UnitRows:
    """Records of units that follow one another."""

    records: Array  # the records: a unit's rows side by side, in as many batches as it takes
    first: NDArray[np.bool_]  # whether a record is the first of its unit


def pooled_sum(question: BoundedSum, batches: Iterable[UnitRows]) -> Steps:
    """Add what each unit brings, in grid steps: all that its rows contribute, clipped to the bound and cut once more.

    The rows' contributions are integers, so what a unit brings does not depend on their order or batches; clipped and
    cut it is inside the bound, whatever it was: one unit moves the total by one bound.

    Parameters
    ----------
    question : BoundedSum
        What is added up.
    batches : iterable of UnitRows
        The records, unit by unit.
    """
    size = question.size
    total, unfinished = np.zeros(size, dtype=np.int64), np.zeros((1, size), dtype=np.int64)
    rows = _most_rows(question, size)
    for batch in batches:
        for start in range(0, len(batch.records), rows):
            first = batch.first[start : start + rows]
            begins = np.flatnonzero(np.r_[True, first[1:]])
            steps = contributions(question, batch.records[start : start + rows])
            sums = np.add.reduceat(steps, begins).astype(np.int64)
            if first[0]:
                total += settled(question, unfinished)
            else:
                sums[0] += unfinished[0]
            total += settled(question, sums[:-1])
            unfinished = sums[-1:]
    return total + settled(question, unfinished)


def settled(question: BoundedSum, sums: Steps) -> Steps:
    """What whole units add to a pooled sum, from what their rows add up to: a row of `sums` for each unit."""
    inside = question.grid.cut(question.bound.clip(question.grid.values(sums)))
    total: Steps = inside.astype(np.int64).sum(axis=0)
    return total


def _most_rows(question: BoundedSum, size: int) -> int:
    return int(max(1, min(MOST // max(size, 1), 2.0**52 * question.grid.step // question.bound.radius)))
