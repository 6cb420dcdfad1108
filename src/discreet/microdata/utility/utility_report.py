"""A report of how much a released table resembles the data. It looks at the data: not private."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.checks import check_seed, instead_of, names_of
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.parameters import checked
from discreet.core.receipt import Receipt
from discreet.display.notebook import carded, facts, safe
from discreet.display.plain import plain
from discreet.mechanisms.microdata.table_comparison import TableComparison
from discreet.microdata.own_records import OwnRecords
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.utility.common_columns import ASKED, BINS, CommonColumns, check_published
from discreet.microdata.waived_table import check_waiver
from discreet.questions.question import AllRecords
from discreet.releases.columns import Columns, Series
from discreet.releases.drawing import draw_bars, drawn_on
from discreet.releases.release import finite
from discreet.schema.schema import Category
from discreet.trust.private_data import PrivateData

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOT_PRIVATE = "NOT PRIVATE: it looked at the data, and every figure of it tells of them"
TITLE = "utility report"
MOST_TARGETS = 5
WAYS = {1: "one column", 2: "two columns", 3: "three columns"}


@dataclass(frozen=True)
class UtilityReport:
    """How far a released table is from the data, in every respect: exact, and so NOT PRIVATE.

    Parameters
    ----------
    name : str
        Of the table.
    common : CommonColumns
        What both have in common.
    figures : mapping
        By `TableComparison`.
    targets : tuple of str
        The columns that models predicted.
    receipt : Receipt, optional
        Of the waiver, where the data are private.

    Examples
    --------
    >>> from discreet.microdata import synthesize
    >>> people = {"smokes": ["yes", "no", "no", "no"] * 500, "ill": ["yes", "no", "no", "no"] * 500}
    >>> table = synthesize(people, bounds={"smokes": ["yes", "no"], "ill": ["yes", "no"]}, epsilon=8.0)
    >>> report = utility_report(table, people)
    >>> bool(report.margins["mean distance"].max() < 0.05), "NOT PRIVATE" in str(report)
    (True, True)
    """

    name: str
    common: CommonColumns
    figures: Mapping[str, Any] = field(repr=False)
    targets: tuple[str, ...] = ()
    receipt: Receipt | None = None

    @property
    def skipped(self) -> Mapping[str, str]:
        """The columns that were not compared, and why."""
        return self.common.skipped

    @property
    def distances(self) -> Columns:
        """The distance of each column: the share of records that would have to change, from 0 to 1."""
        own = np.array([len(axes) == 1 for axes in self.common.sets])
        return Columns(
            {"column": self.common.columns}, (Series("distance", np.asarray(self.figures["distances"])[own]),)
        )

    @property
    def margins(self) -> dict[str, Array]:
        """The mean and the worst distance of tables of one, two and three columns."""
        found = self._margins()
        return {one.name: one.values for one in found.series}

    def _margins(self) -> Columns:
        sizes, far = np.array([len(axes) for axes in self.common.sets]), np.asarray(self.figures["distances"])
        orders = sorted(set(sizes.tolist()))
        worst = [int(np.flatnonzero(sizes == order)[far[sizes == order].argmax()]) for order in orders]
        names = [self.common.names[place] for place in worst]
        means = Series("mean distance", np.array([far[sizes == order].mean() for order in orders]))
        tables = Series("tables", np.array([float((sizes == order).sum()) for order in orders]))
        series = means, Series("worst distance", far[worst]), tables
        return Columns({"tables of": [WAYS[order] for order in orders], "worst": names}, series)

    def _dependences(self) -> Columns:
        """Of each pair of columns, in both; numbers also have a correlation."""
        names = [self.common.names[place] for place, axes in enumerate(self.common.sets) if len(axes) == 2]
        truth, table = np.asarray(self.figures["dependences"])
        series = Series("truth", truth), Series("table", table), Series("difference", np.abs(truth - table))
        return Columns({"dependence (Cramer's V) of": names}, series)

    def _correlations(self) -> Columns:
        pairs = np.asarray(self.figures["correlated"]).tolist()
        names = [", ".join(self.common.columns[place] for place in pair) for pair in pairs]
        truth, table = np.asarray(self.figures["correlations"]).reshape(2, -1)
        series = Series("truth", truth), Series("table", table), Series("difference", np.abs(truth - table))
        return Columns({"correlation of": names}, series)

    def _models(self) -> Columns:
        """The accuracy, on records of the data, of models that were trained on the table and on others of the data."""
        scores = np.asarray(self.figures["scores"]).reshape(-1, 3)
        names = ("trained on the table", "trained on the data", "most frequent value")
        series = tuple(Series(name, own) for name, own in zip(names, scores.T, strict=True))
        return Columns({"accuracy for": self.targets}, series)

    def parts(self) -> dict[str, Columns]:
        """All figures, as tables; those without a row are left out."""
        every = {
            "margins": self._margins(),
            "columns": self.distances,
            "dependences": self._dependences(),
            "correlations": self._correlations(),
            "models": self._models(),
        }
        return {name: part for name, part in every.items() if len(part)}

    def to_dict(self) -> dict[str, Any]:
        """The report as plain numbers, texts and lists."""
        about = {"kind": type(self).__name__, "name": self.name, "private": False, "note": NOT_PRIVATE}
        receipt = {} if self.receipt is None else {"receipt": self.receipt.to_dict()}
        parts = {name: part.to_dict() for name, part in self.parts().items()}
        return {**about, **parts, "skipped": dict(self.skipped), **receipt}

    def to_json(self) -> str:
        """The same as JSON; null for what is not a finite number."""
        return json.dumps(finite(self.to_dict()), allow_nan=False)

    def to_html(self) -> str:
        """The report as a page of its own: it needs no network and runs no script."""
        head = f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{safe(self._title)}</title></head>"
        return f"{head}<body>{self._repr_html_()}</body></html>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the distance of each column.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        """
        ax = drawn_on(TITLE, ax)
        draw_bars(ax, self.distances, self.distances.series[0])
        ax.set_title(f"{plain(self._title)} (NOT PRIVATE)")
        return ax

    @property
    def _title(self) -> str:
        return f"{TITLE} of {self.name}"

    def __str__(self) -> str:
        lines = [f"{plain(self._title)}\n{NOT_PRIVATE}", *(part.text() for part in self.parts().values())]
        lines += [f"not compared: {plain(name)} ({why})" for name, why in self.skipped.items()]
        return "\n\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [part.html(f"{name} ({NOT_PRIVATE.split(':')[0]})") for name, part in self.parts().items()]
        left = [facts({f"not compared: {name}": why for name, why in self.skipped.items()})] if self.skipped else []
        return carded(f"<p class='title'>{safe(self._title)}</p><p>{NOT_PRIVATE}</p>", *parts, *left)


@checked
def utility_report(
    table: Any,
    truth: Any,
    *,
    bounds: Any = None,
    target: str | Sequence[str] | None = None,
    bins: int = BINS,
    random_state: int | None = None,
    waiver: str | None = None,
    key: str | None = None,
) -> UtilityReport:
    """Compare a released table with the data that it was made from.

    NOT PRIVATE: it looks at the data. Give it to nobody who may not see the data, or ask `evaluate_table`, which is
    paid for. A missing value is a value of its own. Columns that the table lacks, or has in a coarser form, are named
    and skipped. The model that is trained on the table is tested on half of the data, and so is one that is trained on
    the other half: of a table of changed records, these may be those of the same people.

    Parameters
    ----------
    table : PublishedTable
        What was released: synthetic, anonymised or perturbed.
    truth : data frame, mapping of arrays, path, PublishedTable, or PrivateData
        The data. Private data take a waiver.
    bounds : Schema, or mapping of str to columns, optional
        Public. What the columns of the data are; by default what they are in the table.
    target : str or sequence of str, optional
        Public. The categories that models predict from the other columns; by default the first five.
    bins : int
        Public. About how many cells a number has.
    random_state : int, optional
        Public. Seeds which half of the data tests models; of private data the split is secret.
    waiver : str, optional
        Public. The owner's reason, which goes on record, where the data are private.
    key : str, optional
        Public. Makes a retry safe, where the data are private.

    Examples
    --------
    >>> from discreet.microdata import synthesize
    >>> people = {"age": [20.0, 30.0, 40.0, 50.0] * 500, "ill": ["yes", "no", "no", "no"] * 500}
    >>> table = synthesize(people, bounds={"age": (0, 90), "ill": ["yes", "no"]}, epsilon=8.0)
    >>> report = utility_report(table, people, random_state=1)
    >>> sorted(report.parts())
    ['columns', 'dependences', 'margins', 'models']
    """
    check_seed(TITLE, random_state)
    check_published(table)
    if isinstance(truth, PrivateData):
        common = CommonColumns.of(table, truth.schema, bins)
        return _waived(table, truth, common, _targets(common, target), waiver, key)
    own = OwnRecords.of(TITLE, truth, table.schema if bounds is None else bounds)
    unread = _unread(own) if bounds is None else {}
    common = CommonColumns.of(table, own.schema, bins).without(unread)
    targets = _targets(common, target)
    rows = own.values[:, [own.columns.index(name) for name in common.columns]]
    order = np.random.default_rng(random_state).permutation(len(rows))
    figures = _comparison(common, targets).figures(rows, order)
    return UtilityReport(table.name, common, figures, targets)


def _unread(own: OwnRecords) -> dict[str, str]:
    """The columns of which nothing can be read by the schema of the table, which is not that of the data."""
    why = "none of its values in the data is one that the table could have"
    columns = zip(own.columns, own.values.T, strict=True)
    return {name: why for name, values in columns if len(values) and np.isnan(values).all()}


def _targets(common: CommonColumns, target: str | Sequence[str] | None) -> tuple[str, ...]:
    every = tuple(name for name in common.columns if isinstance(common.schema.columns[name], Category))
    if target is None:
        return every[:MOST_TARGETS]
    names = names_of(target)
    for name in names:
        if name not in every:
            obstacle = f"the target {name!r:.80} is no category that both have"
            raise ParameterError(ASKED, obstacle, instead_of(name, every) if every else "Leave it out.")
    return names


def _comparison(common: CommonColumns, targets: tuple[str, ...]) -> TableComparison:
    places = tuple(common.columns.index(name) for name in targets)
    return TableComparison(common.codes, common.sets, common.records, places)


def _waived(
    table: PublishedTable,
    data: PrivateData,
    common: CommonColumns,
    targets: tuple[str, ...],
    waiver: str | None,
    key: str | None,
) -> UtilityReport:
    """Of private data, by their owner's waiver."""
    data.check_curated(TITLE)
    comparison = _comparison(common, targets)
    check_waiver(TITLE, waiver, comparison.event, "evaluate_table")
    plan: Any = comparison
    with data.permit(comparison.event, TITLE, key=key, waiver=waiver) as permit:
        figures = permit.artefact(
            lambda: dict(permit.ask(AllRecords(common.columns), plan)), (TITLE, common.columns, comparison)
        )
    return UtilityReport(table.name, common, figures, targets, permit.receipt)
