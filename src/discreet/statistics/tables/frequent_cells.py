"""The frequent cells of tables with far too many cells to count them all, found column by column.

A cell is frequent only if the cells of coarser tables that it lies in are. So the first columns are counted, the cells
that stand out from the noise are kept, and only these are divided by the next columns. Every step is a bounded sum over
cells that are public by then: the price is that of as many releases as there are steps, under any trust model, and no
delta is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.errors import ParameterError
from discreet.core.events import Repeated
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.key_selection import KeySelection
from discreet.questions.question import BoundedSum
from discreet.questions.tables.domain import BINS, Bins, Codes, Domain
from discreet.questions.tables.key_counts import CellCounts, prefix_extension_of
from discreet.releases.ask import ColumnsOf
from discreet.releases.columns import Columns
from discreet.releases.declaration import Refusal
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.releases.statistic import OfTheseData, statistic
from discreet.releases.table import Tabular
from discreet.statistics.tables.contingency import ceiled, count_series
from discreet.statistics.tables.key_counts import LISTED
from discreet.trust.private_data import PrivateData

COUNTED = 2**18  # cells in one step
KEPT = 2**10  # cells that are divided further
NOTHING = np.empty((1, 0))  # the one cell of no columns


@dataclass(frozen=True, kw_only=True)
class FrequentCells(Tabular):
    """Cells that stand out from the noise, most frequent first; of all others nothing is said.

    A cell whose exact count is near the threshold is listed when its noise is high, so there the noisy count is too
    large on average.

    Parameters
    ----------
    columns : tuple of str
        The columns.
    labels : tuple of tuple of str
        The names of each cell, one for each column.
    counts : array
        Their noisy counts.
    stddev, half_width : float
        The standard deviation of the noise on each count, and how far it moves it with the given confidence.
    threshold : float
        The least noisy count of a cell that is listed.
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    counts: Array
    stddev: float
    half_width: float
    threshold: float

    def tabulated(self) -> Columns:
        """A row for each cell that is listed."""
        labels = {name: tuple(one[place] for one in self.labels) for place, name in enumerate(self.columns)}
        series = count_series(self.counts, self.stddev, self.half_width, self.confidence or 0.0, self.population)
        return Columns(labels, (series,))


@statistic(
    no_by="its columns make groups already: name those that make groups first",
    no_population=Refusal(LISTED, "Ask `contingency` for a table of fewer columns."),
)
def frequent_cells(
    of: ColumnsOf, *, bins: Bins = BINS, confidence: float = CONFIDENCE, **_: Unpack[OfTheseData]
) -> FrequentCells:
    """Release the frequent combinations of the values of many columns, with their counts.

    Parameters
    ----------
    columns : sequence of str, optional
        Public. Numbers, each cut into equal cells between its bounds, and columns with public categories. They are
        counted in this order: those with many cells should come first.

    Returns
    -------
    FrequentCells
        Cells whose noisy counts are so high that, with probability 0.95, none of them is empty.

    Guarantee
    ---------
    The event on the receipt: as many `Laplace`, `DiscreteLaplace` or `Gaussian` releases as there are steps, for the
    data set's own neighbors. What a step asks depends on what was released before, and on the data only through that.
    Under a curator, and with a delta, one `KeySelection` of all cells that are not empty instead: its threshold is far
    lower.

    Examples
    --------
    >>> from discreet.schema.schema import Category, Schema
    >>> digits = Category(tuple("0123456789"))
    >>> schema = Schema({name: digits for name in "abcdefgh"})
    >>> codes = {name: ["7"] * 500 + ["1"] * 300 for name in "abcdefgh"}
    >>> found = frequent_cells(codes, tuple("abcdefgh"), bounds=schema, epsilon=1.0)
    >>> ["".join(label) for label in found.labels[:2]]
    ['77777777', '11111111']
    """
    private, domain = of.data, Domain.of(of.schema, of.columns, bins)
    if of.budget.delta > 0 and private.curated:
        return _selected(of, domain, confidence)
    ends = _steps(domain)
    spread = least_noise(private, _question(private, domain, NOTHING, ends[0]), of.budget, len(ends))
    plan = Repeated(spread.noise.event, len(ends)) if len(ends) > 1 else spread.noise.event
    purpose = f"frequent cells of {', '.join(domain.columns)}"
    kept = NOTHING
    with private.permit(plan, purpose, key=of.key) as permit:
        for end in ends:
            released = permit.ask(_question(private, domain, kept, end), spread.noise)
            threshold = threshold_of(spread, len(released))
            found = _highest(released, threshold, KEPT if end < ends[-1] else COUNTED)
            kept = _divided(kept, found, domain.shape[kept.shape[1] : end])
    passed = released[found] >= threshold
    return _listed(domain, kept[passed], released[found][passed], spread, threshold, confidence, permit.receipt)


def _selected(of: ColumnsOf, domain: Domain, confidence: float) -> FrequentCells:
    """All cells at once, by private key selection."""
    data, selection = of.data, calibrate(KeySelection(delta=of.budget.delta / 2), of.budget)
    purpose = f"frequent cells of {', '.join(domain.columns)}"
    with data.permit(selection.event, purpose, key=of.key) as permit:
        named = permit.ask(CellCounts(domain.places, domain.columns), selection)
    kept = np.array([name.split() for name in named], dtype=np.float64).reshape(len(named), len(domain.shape))
    spread = Spread(Laplace(selection.multiplier), math.sqrt(2) * selection.scale(data.unit.rows, data.neighbors))
    threshold = float(selection.threshold(data.unit.rows, data.neighbors))
    counts = np.array(list(named.values()), dtype=np.float64)
    return _listed(domain, kept, counts, spread, threshold, confidence, permit.receipt)


def _question(data: PrivateData, domain: Domain, kept: Array, end: int) -> BoundedSum:
    return prefix_extension_of(data.schema, domain.columns[:end], domain.bins[:end], kept)


def _divided(kept: Array, found: Codes, shape: tuple[int, ...]) -> Array:
    """The places of cells that were found inside kept ones."""
    outer, inner = np.divmod(found, math.prod(shape))
    return np.column_stack([kept[outer], *np.unravel_index(inner, shape)])


def _steps(domain: Domain) -> list[int]:
    """Up to which column each step goes: as far as the cells stay few enough to be counted."""
    ends, cells, most = [], 1, COUNTED
    for end, size in enumerate(domain.shape):
        if size > (COUNTED // KEPT if end else COUNTED):
            obstacle = f"{domain.columns[end]} has {size} cells"
            remedy = f"Name it first if it has at most {COUNTED}; others may have {COUNTED // KEPT}."
            raise ParameterError(f"frequent cells of {', '.join(domain.columns)}", obstacle, remedy)
        if cells * size > most:
            ends.append(end)
            cells, most = 1, COUNTED // KEPT
        cells *= size
    return [*ends, len(domain.shape)]


def threshold_of(spread: Spread, cells: int) -> float:
    """The least whole count that noise alone reaches in none of n cells, with probability 0.95.

    Examples
    --------
    >>> from discreet.mechanisms.additive.laplace import Laplace
    >>> threshold_of(Spread(Laplace(), math.sqrt(2)), 10)  # ln(10 / 0.1) + 0.5 = 5.1
    6.0
    """
    return float(math.ceil(spread.half_width([1.0], 1 - 2 * (1 - CONFIDENCE) / cells) + 0.5))


def _highest(released: Array, threshold: float, most: int) -> Codes:
    """The places of the highest counts that pass, and of the very highest even if it does not, in ascending order."""
    best = np.argsort(-released, kind="stable")[:most]
    passed = released[best] >= threshold
    passed[0] = True
    return np.sort(best[passed])


def _listed(
    domain: Domain, kept: Array, counts: Array, spread: Spread, threshold: float, confidence: float, receipt: Receipt
) -> FrequentCells:
    order = np.argsort(-counts, kind="stable")
    labels = tuple(
        tuple(names[place] for names, place in zip(domain.labels, row, strict=True))
        for row in kept[order].astype(np.intp)
    )
    return FrequentCells(
        name=f"{len(labels)} cells of {' by '.join(domain.columns)} with {threshold:,.0f} or more",
        receipt=receipt,
        confidence=confidence,
        columns=domain.columns,
        labels=labels,
        counts=counts[order],
        stddev=spread.stddev,
        half_width=ceiled(spread.half_width([1.0], confidence)),
        threshold=threshold,
    )
