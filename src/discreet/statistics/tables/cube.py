"""Private data cubes: the marginals of all sets of columns at once, from those few that are worth measuring."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Unpack

import numpy as np

from discreet.core.bound import Norm
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.tables.domain import BINS, Bins, Domain
from discreet.questions.tables.measurements import MOST_NUMBERS, Measurements
from discreet.questions.tables.residuals import AxisSet, Measurement, Shape, closure, subsets
from discreet.releases.ask import ColumnsOf
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import SharedOptions, statistic
from discreet.statistics.tables.contingency import contingency
from discreet.statistics.tables.marginals import Marginals, measured
from discreet.statistics.tables.strategy import NORMS, Strategy, Targets

MOST_COLUMNS = 7
ORDERS = (1.0, 8.0)


@dataclass(frozen=True)
class CuboidLattice:
    """All cuboids of a cube, each a set of axes, as the bits of a whole number. All of it public.

    If every cuboid that is measured has the same weight, the least squares estimates of all others have variances in
    closed form: with n_A the cells of cuboid A and z_B the sum of 1 / n_A over all measured A that include B, the
    residual B has variance 1 / (n_B z_B), and `residuals.cell_shares` adds these up. Both sums run along one axis after
    another.

    Parameters
    ----------
    shape : tuple of int
        The number of cells of each axis.
    norm : {"l1", "l2"}
        How the price grows with the number of cuboids that are measured: the variance of the noise with its square, or
        with the number itself.
    """

    shape: Shape
    norm: Norm

    @property
    def cells(self) -> Array:
        """The number of cells of each cuboid."""
        sizes = np.ones(1)
        for size in self.shape:
            sizes = np.concatenate([sizes, size * sizes])
        return sizes

    @property
    def shares(self) -> Array:
        """What a projection to mean zero along each axis leaves of a variance."""
        left = np.ones(1)
        for size in self.shape:
            left = np.concatenate([left, (1 - 1 / size) * left])
        return left

    def price(self, number: int) -> float:
        """The variance of noise on n cuboids, in units of that on one."""
        return float(number**2 if self.norm == "l1" else number)

    def variances(self, inverse: Array) -> Array:
        """The variance of a cell of each cuboid; `inverse` is 1 / n_A for measured cuboids and 0 elsewhere.

        Leading axes stack choices.
        """
        below = _summed(inverse, len(self.shape), above=True)
        parts = np.divide(self.shares * self.cells, below, out=np.full(below.shape, math.inf), where=below > 0)
        return _summed(parts, len(self.shape), above=False) / np.square(self.cells)

    def error(self, chosen: Sequence[int]) -> float:
        """The largest variance of a cell in any cuboid if these are measured."""
        inverse = np.zeros(len(self.cells))
        inverse[list(chosen)] = 1 / self.cells[list(chosen)]
        return self.price(len(chosen)) * float(self.variances(inverse).max())

    def chosen(self) -> list[int]:
        """The cuboids to measure: all in l2, those that a greedy search finds in l1.

        If all are measured, the sums above are products, and every cell of every cuboid has the same variance: in l2,
        2 r / (r + 1) for each axis of r cells. No weights on residuals make the largest one smaller, since even the
        mean over cuboids that have each axis with chance r / (2 r + 2) is as large. In l1 all of them cost too much.
        Ding, Winslett, Han and Li 2011 choose greedily, too, but derive every cuboid from a single one; here each is
        judged by the estimates from all of them together.
        """
        finest, everything = [len(self.cells) - 1], list(range(len(self.cells)))
        if self.norm == "l2":
            return everything
        ways = ((finest, everything), (everything, finest))
        paths = [self._path(*way, order) for way in ways for order in ORDERS]
        return min((choice for path in paths for choice in path), key=self.error)

    def _path(self, start: list[int], end: list[int], order: float) -> list[list[int]]:
        """Choices on the way from one to another: at each step that cuboid turns which is best for a mean of variances.

        The plain mean looks at all cuboids, one of high order at the worst.
        """
        path = [start]
        while to_turn := sorted(set(path[-1]) ^ set(end)):
            inverse = np.zeros((len(to_turn), len(self.cells)))
            inverse[:, path[-1]] = 1 / self.cells[path[-1]]
            inverse[np.arange(len(to_turn)), to_turn] = 1 / self.cells[to_turn] - inverse[0, to_turn]
            means = np.power(self.variances(inverse), order).mean(axis=1)
            path.append(sorted(set(path[-1]) ^ {to_turn[int(means.argmin())]}))
        return path


def _summed(values: Array, axes: int, *, above: bool) -> Array:
    """The sum over all cuboids that include each one, or that each one includes."""
    whole = values.reshape(*values.shape[:-1], *(2,) * axes)
    for axis in range(-axes, 0):
        whole = np.flip(whole, axis) if above else whole
        whole = np.cumsum(whole, axis=axis)
        whole = np.flip(whole, axis) if above else whole
    return whole.reshape(values.shape)


@lru_cache(maxsize=64)
def cuboids(shape: Shape, norm: Norm) -> Measurements:
    """The chosen cuboids of a cube, all with the same weight."""
    chosen = [Measurement(_axes(code, len(shape))) for code in CuboidLattice(shape, norm).chosen()]
    return Measurements.even(shape, chosen, norm, closure([frozenset(range(len(shape)))], shape))


def _axes(code: int, number: int) -> AxisSet:
    """The axes of a cuboid: the first axis is the lowest bit."""
    return frozenset(axis for axis in range(number) if code >> axis & 1)


@statistic(like=contingency, no_by="its columns make groups already: name those that make groups among them")
def cube(
    of: ColumnsOf,
    *,
    bins: Bins = BINS,
    confidence: float = CONFIDENCE,
    population: bool = False,
    **_: Unpack[SharedOptions],
) -> Marginals:
    """Release the data cube of some columns: the table of every set of them, down to the number of records.

    Which cuboids are measured is chosen, from the shape of the cube alone, so that the largest variance of any cell of
    any cuboid is small. All others are sums of these, and least squares makes them agree.

    Parameters
    ----------
    columns : sequence of str, optional
        Public. At most seven: numbers, each cut into equal cells between its bounds, and categories.

    Returns
    -------
    Marginals
        A table for each set of columns, with intervals.

    Guarantee
    ---------
    The event on the receipt: one `Laplace`, `DiscreteLaplace` or `Gaussian` release of one bounded sum, for the data
    set's own neighbors. The rest is post-processing.

    Examples
    --------
    >>> from discreet.schema.schema import Category, Schema
    >>> schema = Schema({"sex": Category(("f", "m")), "ward": Category(("a", "b", "c"))})
    >>> visits = {"sex": ["f", "m"] * 300, "ward": ["a", "b", "c"] * 200}
    >>> found = cube(visits, ("sex", "ward"), bounds=schema, epsilon=1.0)
    >>> len(found), bool(abs(found.marginal([]).counts - 600) < 50)
    (4, True)
    """
    names, domain = of.columns, Domain.of(of.schema, of.columns, bins)
    _check(domain)
    sets = list(subsets(frozenset(range(len(names)))))
    targets = Targets.of(domain.shape, sets)
    ways = {norm: {"cuboids": cuboids(domain.shape, norm)} for norm in NORMS}
    strategy = Strategy.best(of.data, domain, targets, of.budget, ways, np.max)
    wanted = tuple(tuple(names[axis] for axis in sorted(one)) for one in sets)
    found = measured(of, domain, wanted, strategy, f"cube of {', '.join(names)}")
    return dataclasses.replace(found, confidence=confidence, population=population)


def _check(domain: Domain) -> None:
    if len(domain.columns) > MOST_COLUMNS:
        obstacle = f"{len(domain.columns)} columns have too many cuboids"
        remedy = f"Name at most {MOST_COLUMNS}, or ask for `marginals` of the sets that matter."
        raise ParameterError(f"cube of {', '.join(domain.columns)}", obstacle, remedy)
    if domain.size > MOST_NUMBERS:
        obstacle = f"its finest cuboid has {domain.size} cells, more than {MOST_NUMBERS}"
        remedy = "Ask for `marginals` of fewer columns at a time, or for fewer bins."
        raise ParameterError(f"cube of {', '.join(domain.columns)}", obstacle, remedy, size=domain.size)
