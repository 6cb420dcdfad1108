"""Any function of the records, in private: asked of random blocks, and averaged."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.block_sum import BlockSum
from discreet.releases.columns import Series
from discreet.releases.declaration import Refusal
from discreet.releases.records_of import RecordsOf
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.releases.statistic import OfTheseData, statistic
from discreet.releases.table import Table
from discreet.schema.schema import Category, Column, Number, Schema
from discreet.trust.isolation.isolated import PART, Form, check_isolation, processors
from discreet.trust.isolation.rehearsed import check_time

LEAST_SLOT = 0.01  # seconds of processor time for one block: a process must start in it
LONGEST = 1e7  # seconds for all
MADE_UP = 1000  # records, on which a function is timed


@statistic(
    no_by="the blocks of a group would hold records of that group alone",
    no_population=Refusal(
        "what blocks differ by is not released",
        "Use a statistic that has such an interval, such as `mean` or `m_estimate`.",
    ),
    curator="a function of whole blocks of records",
)
def sample_and_aggregate(
    records: RecordsOf,
    function: Callable[[Array], ArrayLike],
    columns: Sequence[str] | None = None,
    *,
    lower: ArrayLike,
    upper: ArrayLike,
    blocks: int = 50,
    deals: int = 1,
    seconds: float = 5.0,
    isolation: Form = "full",
    confidence: float = CONFIDENCE,
    **_: Unpack[OfTheseData],
) -> Table:
    """Release the average, over random blocks of records, of any function.

    Parameters
    ----------
    data : PrivateData, array of shape (n,) or (n, columns), or data frame
        The records, behind a curator.
    function : callable
        Rows of the columns in, numbers out; it need not be trusted. Each block has a process of its own, in which the
        function can compute and nothing else: it reads no file, and has only such parts of installed libraries as were
        loaded before. Where it fails, takes too long or gives something else, the block counts as the middle between
        the bounds, and no error shows it: try it on made-up records, with
        `discreet.trust.isolation.rehearsed.rehearsed`.
    columns : sequence of str, optional
        Public. What the function sees, by default all numbers; a missing value is nan, a category its place in the
        schema's list.
    lower, upper : array-like
        Public. Between which each number is expected; values outside are moved to the nearer bound.
    blocks : int
        Public. Into how many blocks the records are dealt. More blocks, less noise; but each is smaller.
    deals : int
        Public. How often they are dealt anew. More deals, less chance in how records fell together, and no more noise.
    seconds : float
        Public. How long the blocks take, always, so that the time says nothing; longer only where the machine has other
        things to do. As many blocks as there are processors have an equal part of processor time each: a function that
        takes longer for 1,000 made-up records is refused. Give more for one that is slow, or for very many records.
    confidence : float
        Public. Of each interval, which is for the exact average over these blocks: it measures the privacy noise, and
        not how a function of a block differs from that of all records.
    isolation : {"full", "process"}
        Public. What the function is kept from; "full" is refused where the system does not have it. "process" is enough
        for a function that you trust not to open files, connections or other processes: see
        `discreet.trust.isolation.isolated`.

    Returns
    -------
    Table
        The averages, a row for each number of the function, their intervals and their receipt.

    Guarantee
    ---------
    The event on the receipt, one `Laplace` or `Gaussian` release. Sample and aggregate of Nissim, Raskhodnikova and
    Smith 2007, with the mean as aggregator, as in GUPT (Mohan, Thakurta, Shi, Song and Culler 2012), and with its
    resampling: a record is in one block of each deal, a unit of `rows` rows in at most as many, and whatever happens
    to a block moves its numbers by no more than the width of their bounds. That no block learns from another, also of a
    hostile function, is what isolation is for: `discreet.trust.isolation.isolated` says how far it goes.

    Examples
    --------
    >>> found = sample_and_aggregate(
    ...     np.full(500, 3.0), np.median, bounds=(0, 10), lower=0, upper=10, blocks=10, seconds=0.5, epsilon=2.0
    ... )
    >>> found.values.shape
    (1,)
    """
    purpose, of = "sample and aggregate", records.columns(columns)
    low, high = _range(lower, upper)
    for name, value in (("blocks", blocks), ("deals", deals)):
        check_whole(purpose, name, value)
    least = LEAST_SLOT * math.ceil(blocks * deals / processors())
    if not least <= seconds <= LONGEST:
        raise ParameterError(
            purpose, f"{blocks * deals} blocks share {seconds:g} seconds", f"Give between {least:g} and {LONGEST:g}."
        )
    check_isolation(purpose, function, isolation)
    names = of.schema.values(of.columns)
    slot = PART * seconds / math.ceil(blocks * deals / processors())
    check_time(purpose, function, _made_up(of.schema, names), seconds=slot, form=isolation)
    question = BlockSum(function, names, low, high, blocks, deals, float(seconds), isolation)
    spread = _least_noise(question.bound.times(of.data.unit.rows), len(low), of.budget)
    with of.data.permit(spread.noise.event, purpose, key=of.key) as permit:
        total = permit.ask(question, spread.noise)
    number, ends = blocks * deals, np.array([low, high]) / 2
    middle, half = ends.sum(axis=0), ends[1] - ends[0]
    values = middle + half * np.clip(total / number, -1.0, 1.0)
    errors = (spread.half_width([1.0], confidence) / number * half, spread.stddev / number * half)
    return Table(
        name=f"average over {number} blocks",
        labels={"number": tuple(map(str, range(len(low))))},
        series=(Series.around("value", values, *errors),),
        confidence=confidence,
        receipt=permit.receipt,
    )


def _made_up(schema: Schema, names: tuple[str, ...]) -> Array:
    """Records that are even between the bounds, or in the list, of each column."""
    return np.column_stack([_even(schema.columns[name]) for name in names])


def _even(kind: Column) -> Array:
    if isinstance(kind, Number):
        return np.linspace(kind.lower, kind.upper, MADE_UP)
    values = len(kind.values) if isinstance(kind, Category) else 1
    return np.arange(float(MADE_UP)) % values


def _range(lower: ArrayLike, upper: ArrayLike) -> tuple[tuple[float, ...], tuple[float, ...]]:
    low, high = (np.atleast_1d(np.asarray(side)) for side in (lower, upper))
    pairs = low.dtype.kind in "if" and high.dtype.kind in "if" and low.shape == high.shape and low.ndim == 1
    if not pairs or not (np.isfinite(high - low) & (low < high)).all():
        raise ParameterError(
            "sample and aggregate", "its bounds are not pairs of a lower and a higher number", "Give one per number."
        )
    return tuple(map(float, low)), tuple(map(float, high))


def _least_noise(bound: Bound, size: int, budget: Budget) -> Spread:
    """A block may be replaced as a whole, whatever the relation between data sets."""
    noises: list[Laplace | Gaussian] = [calibrate(Laplace(), budget)]
    if budget.delta > 0:
        noises.append(calibrate(Gaussian(), budget))
    spreads = (Spread(noise, noise.stddev(bound, size, Neighbors.REPLACE)) for noise in noises)
    return min(spreads, key=lambda one: one.stddev)
