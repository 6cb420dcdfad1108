"""Private tables: records that are made up from noisy counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Norm
from discreet.core.checks import check_seed, check_whole
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.grid import Array, Steps
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.spanning_tree import SpanningTree
from discreet.microdata.synthetic.number_cells import NumberCells, leaf_question
from discreet.microdata.synthetic.synthetic_table import NoisyTables, SyntheticTable
from discreet.microdata.synthetic.tree_model import Independence, noise_in
from discreet.questions.question import BoundedSum
from discreet.questions.tables.coded_tables import AxisPlaces, TableCodes, TableDistances, coded_tables_of
from discreet.questions.tables.domain import MOST_CELLS
from discreet.releases.ask import ColumnsOf
from discreet.releases.declaration import Refusal
from discreet.releases.joint_plan import JointPlan
from discreet.releases.records_of import RecordsOf
from discreet.releases.spread import CONFIDENCE, spread
from discreet.releases.statistic import OfTheseData, statistic
from discreet.schema.schema import Category, Schema, Text
from discreet.trust.permit import Permit

BINS = 16
# Shares of the information that the budget pays for: a quarter each for columns and edges, half for pairs, chosen by
# reasoning and not yet compared with others; a tenth of all for cells.
CELLS, COLUMNS, EDGES, PAIRS = 0.1, 0.22, 0.22, 0.46
TITLE = "synthetic table"
MOST_ROWS = 2**24  # of a table: much noise may make the number of records look large


@statistic(
    delta=1e-6,
    no_by="its columns make groups already: name those that make groups among them",
    no_population=Refusal("its records are made up", "Ask a statistic about the population."),
)
def synthesize(
    records: RecordsOf,
    columns: Sequence[str] | None = None,
    *,
    bins: int = BINS,
    rows: int | None = None,
    random_state: int | None = None,
    confidence: float = CONFIDENCE,
    **_: Unpack[OfTheseData],
) -> SyntheticTable:
    """Release a table of made-up records that resembles the data in its columns and in a tree of their pairs.

    Numbers are cut into cells by noisy counts: about `bins` with equally many values, and one of its own for each value
    that is frequent. All columns are counted; the pairs that are farthest from independence, as far as they make no
    circle, are chosen and counted; all counts are made to agree; and records are counted out, not drawn: a cell has as
    many as it should, up to one. A missing value is a value of its own. Where nobody holds all records, all pairs are
    counted, with more noise, and chosen afterwards.

    Parameters
    ----------
    columns : sequence of str, optional
        Public. Of which the table consists; by default all whose values are public.
    bins : int
        Public. About how many cells a number has; all its values, if it has no more.
    rows : int, optional
        Public. How many records the table has; by default about as many as there are.
    random_state : int, optional
        Public. Seeds the counting out of records, which is no secret; the noise is drawn apart.

    Returns
    -------
    SyntheticTable
        The records, and the noisy counts that they were made from; its `count` has a standard error. Nothing else is
        released.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: noisy counts of the cells of numbers, of columns and of
    pairs, each a bounded sum, and the choice of pairs (`SpanningTree`), composed. All else is post-processing. The
    method is that of MST, McKenna, Miklau and Sheldon 2021; the counts are fused by closed formulas, without a model.

    Examples
    --------
    >>> people = {"smokes": ["yes", "no", "no", "no"] * 500, "ill": ["yes", "no", "no", "no"] * 500}
    >>> yes_no = ["yes", "no"]
    >>> table = synthesize(people, bounds={"smokes": yes_no, "ill": yes_no}, epsilon=2.0, random_state=1)
    >>> both = np.mean((table["smokes"] == "yes") & (table["ill"] == "yes"))
    >>> bool(abs(both - 0.25) < 0.05)
    True
    """
    subject = records.opened() if columns is None else records.columns(columns)
    names = _columns(subject.data.schema) if columns is None else tuple(columns)
    of = ColumnsOf(subject.data, subject.data.schema.values(names), budget=subject.budget, key=subject.key)
    check_whole(TITLE, "bins", bins, least=2, most=2**8)
    check_seed(TITLE, random_state)
    for number in (rows, of.data.public_size):
        check_whole(TITLE, "rows", number or 0, least=0, most=MOST_ROWS)
    plan = TreePlan.of(of, int(bins))
    joint = calibrate(JointPlan(plan.parts), of.budget)
    about = TITLE, of.columns, int(bins), rows, random_state
    with of.data.permit(joint.event, TITLE, key=of.key) as permit:
        generator = np.random.default_rng(permit.random_state(random_state))
        made = permit.artefact(lambda: _made(permit, of, plan, joint, rows, generator), about)
    schema = Schema({name: of.schema.columns[name] for name in of.columns})
    return SyntheticTable(
        name=TITLE,
        receipt=permit.receipt,
        confidence=confidence,
        schema=schema,
        records=np.asarray(made["records"]),
        tables=NoisyTables.of_notes(schema, of.columns, made["tables"]),
    )


def _columns(schema: Schema) -> tuple[str, ...]:
    names = tuple(name for name, column in schema.columns.items() if not isinstance(column, Text))
    if not names:
        remedy = "List their values in the schema, or buy them with discreet.learners.buy_categories."
        raise SchemaError(TITLE, "all columns are text", remedy)
    return names


@dataclass(frozen=True)
class TreePlan:
    """What is asked for a synthetic table: all of it public.

    Parameters
    ----------
    schema : Schema
        Of the data.
    columns : tuple of str
        Of the table.
    bins : int
        About how many cells a number has.
    pure : bool
        Whether there is no delta.
    curated : bool
        Whether somebody holds all records, and can choose pairs by them.
    """

    schema: Schema
    columns: tuple[str, ...]
    bins: int
    pure: bool
    curated: bool

    @classmethod
    def of(cls, of: ColumnsOf, bins: int) -> TreePlan:
        """For these columns; a table of two that would have too many cells is refused."""
        made = cls(of.schema, of.columns, bins, of.budget.delta == 0, of.data.curated)
        sizes = sorted((made.most_cells(name), name) for name in of.columns)
        if len(sizes) > 1 and sizes[-1][0] * sizes[-2][0] * len(made.pairs) > MOST_CELLS:
            obstacle = f"{sizes[-1][1]} and {sizes[-2][1]} have {sizes[-1][0]} x {sizes[-2][0]} cells"
            raise ParameterError(
                TITLE, obstacle, f"Leave out {sizes[-1][1]}, or list fewer values, or give fewer bins."
            )
        return made

    @cached_property
    def pairs(self) -> tuple[AxisPlaces, ...]:
        """All pairs of columns."""
        return tuple(combinations(range(len(self.columns)), 2))

    @property
    def chooses(self) -> bool:
        """Whether pairs are chosen before they are counted."""
        return self.curated and len(self.columns) > 2

    def most_cells(self, name: str) -> int:
        """Of a column, at most."""
        column = self.schema.columns[name]
        return 1 + (len(column.values) if isinstance(column, Category) else 2 * self.bins)

    @cached_property
    def numbers(self) -> dict[str, NumberCells | None]:
        """The cells of numbers, where they need not be counted."""
        names = [name for name in self.columns if not isinstance(self.schema.columns[name], Category)]
        return {name: NumberCells.few(self.schema.number(name), self.bins) for name in names}

    @property
    def counted(self) -> list[str]:
        """The numbers whose cells are found by counting."""
        return [name for name, cells in self.numbers.items() if cells is None]

    @property
    def parts(self) -> tuple[Any, ...]:
        """The mechanisms at a price of 1: of concentrated privacy, where there is a delta."""
        rounds = len(self.columns) - 1
        shares = {"cells": CELLS if self.counted else 0.0, "columns": COLUMNS}
        shares |= {"edges": EDGES if self.chooses else 0.0, "pairs": PAIRS if rounds else 0.0}
        whole = sum(shares.values())
        shares = {name: share / whole for name, share in shares.items()}
        leaves = [self._noise(shares["cells"] / len(self.counted))] * len(self.counted) if self.counted else []
        parts: list[Any] = [*leaves, self._noise(shares["columns"])]
        if self.chooses:
            price = shares["edges"] if self.pure else math.sqrt(8 * shares["edges"] * rounds)
            parts.append(SpanningTree(price, nodes=rounds + 1))
        return (*parts, self._noise(shares["pairs"])) if rounds else tuple(parts)

    def _noise(self, share: float) -> Gaussian | Laplace:
        return Laplace(1 / share) if self.pure else Gaussian(1 / math.sqrt(2 * share))

    @property
    def norm(self) -> Norm:
        return "l1" if self.pure else "l2"


def _made(
    permit: Permit, of: ColumnsOf, plan: TreePlan, joint: JointPlan, rows: int | None, generator: np.random.Generator
) -> dict[str, Any]:
    """All releases, and the records that are counted out of them."""
    mechanisms = iter(joint.mechanisms)
    cells: dict[str, NumberCells] = {name: one for name, one in plan.numbers.items() if one is not None}
    for name in plan.counted:
        question, noise = leaf_question(of.schema, name, plan.norm), next(mechanisms)
        stddev = spread(of.data, question, noise).stddev
        released = permit.ask(question, noise)
        cells[name] = NumberCells.of(of.schema.number(name), released, stddev, plan.bins, plan.norm)
    edges = tuple(cells[name].edges if name in cells else () for name in of.columns)
    asker = _Tables(permit, of, TableCodes.of(of.schema, of.columns, edges), plan.norm)
    singles: tuple[AxisPlaces, ...] = tuple((place,) for place in range(len(of.columns)))
    ones, one = asker.counts(singles, next(mechanisms))
    total = _total(ones, of.data.public_size)
    expected = Independence.of(ones, total)
    chosen = plan.pairs
    if plan.chooses:
        chosen = asker.edges(expected, next(mechanisms), joint.mechanisms[-1])
    pairs, two = asker.counts(chosen, joint.mechanisms[-1]) if chosen else ([], 1.0)
    kept = expected.farthest(dict(zip(chosen, pairs, strict=True)), two)
    tables = NoisyTables(asker.codes, tuple(ones), kept, one, two, total)
    codes = tables.model.counted_out(round(total) if rows is None else rows, generator)
    return {"records": _decoded(of, asker.codes, cells, codes, generator), "tables": tables.to_notes()}


@dataclass(frozen=True)
class _Tables:
    """Asks for tables of counts."""

    permit: Permit
    of: ColumnsOf
    codes: TableCodes
    norm: Norm

    def counts(self, sets: tuple[AxisPlaces, ...], noise: Any) -> tuple[list[Array], float]:
        """Noisy tables, and the deviation of their noise."""
        question = self._question(sets)
        found = self.permit.ask(question, noise)
        sizes = [tuple(self.codes.sizes[axis] for axis in axes) for axes in sets]
        tables = np.split(found, np.cumsum([math.prod(size) for size in sizes])[:-1])
        stddev = spread(self.of.data, question, noise).stddev
        return [table.reshape(size) for table, size in zip(tables, sizes, strict=True)], stddev

    def edges(self, expected: Independence, chooser: Any, noise: Any) -> tuple[AxisPlaces, ...]:
        """The pairs whose tables are counted: a spanning tree of those that are farthest from independence."""
        pairs: tuple[AxisPlaces, ...] = tuple(combinations(range(len(self.codes.columns)), 2))
        stddev = spread(self.of.data, self._question(pairs[: len(self.codes.columns) - 1]), noise).stddev
        tables = [expected.table(pair) for pair in pairs]
        penalties = np.array([noise_in(table, stddev) for table in tables])
        flat = np.concatenate([table.ravel() for table in tables])
        question = TableDistances(self.codes, pairs, flat, np.ones(len(pairs)), penalties)
        found: Steps = self.permit.ask(question, chooser)
        return tuple((int(a), int(b)) for a, b in found)

    def _question(self, sets: tuple[AxisPlaces, ...]) -> BoundedSum:
        return coded_tables_of(self.of.schema, self.codes.columns, self.codes.edges, sets, self.norm)


def _total(ones: list[Array], known: int | None) -> float:
    """The number of records: where it is secret, by the sums of all columns, those of few cells first."""
    if known is not None:
        return max(float(known), 1.0)
    weights = np.array([1 / len(own) for own in ones])
    return float(np.clip(weights @ [own.sum() for own in ones] / weights.sum(), 1.0, MOST_ROWS))


def _decoded(
    of: ColumnsOf, codes: TableCodes, cells: Mapping[str, NumberCells], found: Steps, generator: np.random.Generator
) -> Array:
    """The values of records that are given by cells."""
    values = found.astype(np.float64)
    for place, name in enumerate(of.columns):
        missing = found[:, place] == codes.sizes[place] - 1
        if name in cells:
            values[:, place] = cells[name].drawn(np.where(missing, 0, found[:, place]), generator)
        values[missing, place] = np.nan
    return values[generator.permutation(len(values))]
