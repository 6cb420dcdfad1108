"""Any function of the records, in private: asked of random blocks, and averaged."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.knob import check_whole
from discreet.core.neighbors import Neighbors
from discreet.core.receipt import Receipt
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.block_sum import BlockSum
from discreet.releases.ask import columns_of
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.trust.as_private import Bounds
from discreet.trust.isolation.isolated import Form, check_isolation, processors

LEAST_SLOT = 0.01  # seconds for one block: a process must start in it
LONGEST = 1e7  # seconds for all


@dataclass(frozen=True)
class Aggregate:
    """The private average of what a function made of blocks of records.

    Parameters
    ----------
    values : array
        The averages.
    error : array
        Half-widths of intervals that hold the exact averages with the given confidence. They measure the privacy noise:
        how a function of a block differs from that of all records is another matter.
    blocks : int
        How many blocks were asked.
    confidence : float
        Of each interval.
    receipt : Receipt
        What it cost.
    """

    values: Array
    error: Array
    blocks: int
    confidence: float
    receipt: Receipt

    def __str__(self) -> str:
        numbers = ", ".join(f"{value:.5g} ± {error:.2g}" for value, error in zip(self.values, self.error, strict=True))
        return f"{numbers} ({self.confidence:.0%}), from {self.blocks} blocks"

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(str(self))}</b>{self.receipt._repr_html_()}"


def sample_and_aggregate(
    data: Any,
    function: Callable[[Array], ArrayLike],
    columns: Sequence[str] | None = None,
    *,
    bounds: Bounds | None = None,
    lower: ArrayLike,
    upper: ArrayLike,
    blocks: int = 50,
    deals: int = 1,
    seconds: float = 60.0,
    epsilon: float = 1.0,
    delta: float = 0.0,
    isolation: Form = "full",
    key: str | None = None,
) -> Aggregate:
    """Release the average, over random blocks of records, of any function.

    Parameters
    ----------
    data : PrivateData, array of shape (n,) or (n, columns), or data frame
        The records, behind a curator.
    function : callable
        Rows of the columns in, numbers out; it need not be trusted. Each block has a process of its own, in which the
        function can compute and nothing else: it reads no file, and has only such parts of installed libraries as were
        loaded before. Where it fails, takes too long or gives something else, the block counts as the middle between
        the bounds, and nobody is told: try it on made-up records, with
        `discreet.trust.isolation.rehearsal.rehearsed`.
    columns : sequence of str, optional
        Public. What the function sees, by default all numbers; a missing value is nan, a category its place in the
        schema's list.
    bounds : (lower, upper) or Schema, optional
        Public. For an array or data frame: two numbers, or two sequences with one number per column; or a schema.
    lower, upper : array-like
        Public. Between which each number is expected; values outside are moved to the nearer bound.
    blocks : int
        Public. Into how many blocks the records are dealt. More blocks, less noise; but each is smaller.
    deals : int
        Public. How often they are dealt anew. More deals, less chance in how records fell together, and no more noise.
    seconds : float
        Public. How long the blocks take, always: so that the time says nothing. As many blocks as there are processors
        have an equal part each.
    epsilon, delta : float
        Public. What this may cost.
    isolation : {"full", "process"}
        Public. What the function is kept from; "full" is refused where the system does not have it. "process" is enough
        for a function that you trust not to open files, connections or other processes: see
        `discreet.trust.isolation.isolated`.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    Aggregate
        The averages, their error bars and their receipt.

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
    ...     np.full(500, 3.0), np.median, bounds=(0, 10), lower=0, upper=10, blocks=10, seconds=1.5, epsilon=2.0
    ... )
    >>> found.values.shape
    (1,)
    """
    budget, purpose = Budget(epsilon, delta), "sample and aggregate"
    of = columns_of(purpose, data, columns, bounds, budget)
    of.data.check_curated(purpose)
    low, high = _range(lower, upper)
    for name, value in (("blocks", blocks), ("deals", deals)):
        check_whole(purpose, name, value)
    least = LEAST_SLOT * math.ceil(blocks * deals / processors())
    if not least <= seconds <= LONGEST:
        raise ParameterError(
            purpose, f"{blocks * deals} blocks share {seconds:g} seconds", f"Give between {least:g} and {LONGEST:g}."
        )
    check_isolation(purpose, function, isolation)
    names = of.data.schema.values(of.columns)
    question = BlockSum(function, names, low, high, blocks, deals, float(seconds), isolation)
    spread = _least_noise(question.bound.times(of.data.unit.rows), len(low), budget)
    with of.data.permit(spread.noise.event, purpose, key=key) as permit:
        total = permit.ask(question, spread.noise)
    number, ends = blocks * deals, np.array([low, high]) / 2
    middle, half = ends.sum(axis=0), ends[1] - ends[0]
    error = spread.half_width([1.0]) / number * half
    values = middle + half * np.clip(total / number, -1.0, 1.0)
    return Aggregate(values, error, number, CONFIDENCE, permit.receipt)


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
