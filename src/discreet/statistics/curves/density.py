"""The private density of columns, from a perturbed histogram."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack, overload

import numpy as np

from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.columns.box import GUESS, Box
from discreet.questions.grouped import counted
from discreet.questions.tables.cells import equal_cells
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.tables.domain import Bins
from discreet.releases.ask import ColumnsOf, OneSum, Released
from discreet.releases.declaration import Refusal
from discreet.releases.groups import By, GroupedResults
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import Options, statistic
from discreet.statistics.curves.density_estimate import DensityEstimate
from discreet.statistics.curves.reading import BIAS, REMEDY, Reading, check_band
from discreet.trust.private_data import PrivateData


@dataclass(frozen=True)
class Boxed:
    """The columns that are asked about, and their box."""

    of: ColumnsOf
    box: Box

    @classmethod
    def around(cls, of: ColumnsOf) -> Boxed:
        """The columns in the box of their bounds."""
        return cls(of, Box.of(of.schema, of.columns))

    @property
    def data(self) -> PrivateData:
        return self.of.data

    def size(self, asked: str, expected_size: int | None) -> int:
        """About how many records there are: as the asker says, or as is public; a guess, where it is secret."""
        if expected_size is not None:
            check_whole(asked, "expected_size", expected_size)
            return int(expected_size)
        size = self.of.size
        return GUESS if size is None else max(size, 1)


MOST_CELLS = 2**14


@dataclass(frozen=True)
class CellReader:
    """Reads the masses of equal cells of one column: the same everywhere in a cell.

    Parameters
    ----------
    size : int
        Public. The number of cells.
    """

    size: int
    stepped = True

    @property
    def places(self) -> Array:
        """Their middles."""
        return (np.arange(self.size) + 0.5) / self.size

    def weights(self, places: Array) -> Array:
        """What each cell counts at each place."""
        cells = np.clip(np.floor(places * self.size), 0, self.size - 1)
        return np.where(cells[:, None] == np.arange(self.size), float(self.size), 0.0)


@overload
def density(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    by: None = None,
    bins: Bins | None = None,
    expected_size: int | None = None,
    **options: Unpack[Options],
) -> DensityEstimate: ...
@overload
def density(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    by: By,
    bins: Bins | None = None,
    expected_size: int | None = None,
    **options: Unpack[Options],
) -> GroupedResults[DensityEstimate]: ...
@statistic(no_population=Refusal(BIAS, REMEDY))
def density(
    of: ColumnsOf,
    *,
    bins: Bins | None = None,
    expected_size: int | None = None,
    confidence: float = CONFIDENCE,
) -> OneSum[DensityEstimate]:
    """Release the density of some columns as a histogram: constant in each of many equal cells.

    `kernel_density` is smooth, and mostly several times closer to the density of a population at the same price.

    Parameters
    ----------
    columns : str or sequence of str
        Public. Numeric columns; for an array, names for all of them may be given.
    bins : int, or mapping of str to int, optional
        Public. The number of cells of each column; at most so many, where the schema has a step: all hold equally many
        of its values, so that none looks full or empty by the choice of cells. By default the lesser of
        3 n^(1 / (2 + d)) and 2 (n / s)^(1 / (1 + d)), for d columns, n records and noise of deviation s in each cell.
    expected_size : int, optional
        Public. About how many records there are, for the number of cells, from what is known without the data. By
        default the number of records where it is public, and 10,000 where it is secret.
    confidence : float
        Public. Of the band.

    Returns
    -------
    DensityEstimate
        Call it with points; it has a band and a receipt, is never negative and integrates to one.

    Guarantee
    ---------
    The event on the receipt: one `Laplace`, `DiscreteLaplace` or `Gaussian` release of all cells together, the empty
    ones too, for the data set's own neighbors; a record is in one cell only. The rest is post-processing. Wasserman and
    Zhou 2010 (the perturbed histogram); Lei 2011.

    Examples
    --------
    >>> ages = np.random.default_rng(0).normal(40, 12, 10_000)
    >>> found = density(ages, bounds=(0, 100), bins=20)
    >>> bool(abs(found(40.0) - 0.033) < 0.003), round(found.integral(), 6)
    (True, 1.0)
    """
    check_band("density", confidence)
    boxed, names = Boxed.around(of), of.columns
    number = boxed.size("density", expected_size)
    domain = equal_cells(of.schema, names, _bins(boxed, number, of.budget) if bins is None else bins)
    each, box = domain.bins, Box.around(domain)
    if math.prod(each) > MOST_CELLS:
        raise ParameterError("density", f"it has {math.prod(each)} cells", f"Ask for {MOST_CELLS} at most.", bins=each)
    question, purpose = counted(domain, of.schema), f"density of {', '.join(names)}"

    def read(released: Released) -> DensityEstimate:
        masses, readers = released.values.reshape(each), tuple(map(CellReader, each))
        reading = Reading(masses, readers, released.spread, question.grid, float(masses.sum()), None, confidence)
        return DensityEstimate(
            name=f"{purpose}, in {' x '.join(map(str, each))} cells",
            receipt=released.receipt,
            confidence=confidence,
            box=box,
            reading=reading,
        )

    return OneSum(of, purpose, question, read)


def _bins(of: Boxed, number: int, budget: Budget) -> int:
    """The number of cells of a column by default: where the errors of bias and noise, or bias and sampling, are equal.

    The squared error of bias falls as bins^-2; that of a sample grows as bins^d / n, that of noise as its square.
    """
    columns = of.box.size
    trial = contingency_of(of.data.schema, of.box.columns, (2,) * columns)
    stddev = least_noise(of.data, trial, budget).stddev
    few, fewer = 3 * number ** (1 / (2 + columns)), 2 * (number / stddev) ** (1 / (1 + columns))
    return int(min(max(min(few, fewer), 2), MOST_CELLS ** (1 / columns)))
