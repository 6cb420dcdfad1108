"""A table of made-up records, which knows how far the noise may have moved what is read off it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.synthetic.tree_model import Edge, TreeModel
from discreet.questions.tables.coded_tables import TableCodes
from discreet.releases.estimate import Estimate
from discreet.releases.release import check_confidence
from discreet.schema.condition_text import condition_of
from discreet.schema.schema import Schema

COPIES = 100  # of the noise that are drawn to see how far it moves a count
SEED = 1


@dataclass(frozen=True)
class NoisyTables:
    """The noisy counts that a table was made from.

    Parameters
    ----------
    codes : TableCodes
        The cells of the columns.
    ones : tuple of arrays
        The counts of each column.
    pairs : mapping of (first, second) to array
        The counts of pairs of columns.
    one, two : float
        The deviation of the noise of either.
    total : float
        The number of records, public or noisy.
    """

    codes: TableCodes
    ones: tuple[Array, ...]
    pairs: Mapping[Edge, Array]
    one: float
    two: float
    total: float

    @cached_property
    def model(self) -> TreeModel:
        """What agrees with all of them."""
        return TreeModel.fused(self.ones, self.one, self.pairs, self.two, self.total)

    @cached_property
    def copies(self) -> tuple[TreeModel, ...]:
        """What might have been released, had the counts been those of the table: noise is drawn on them again."""
        rng, model = np.random.default_rng(SEED), self.model
        found = []
        for _ in range(COPIES):
            ones = [own + rng.normal(0, self.one, own.shape) for own in model.margins]
            pairs = {edge: table + rng.normal(0, self.two, table.shape) for edge, table in model.tables.items()}
            found.append(TreeModel.fused(ones, self.one, pairs, self.two, self.total))
        return tuple(found)

    def to_notes(self) -> dict[str, Any]:
        """All of it, in a form that a ledger keeps."""
        return {
            "edges": [list(own) for own in self.codes.edges],
            "ones": list(self.ones),
            "pairs": [list(edge) for edge in self.pairs],
            "tables": list(self.pairs.values()),
            "noise": [self.one, self.two, self.total],
        }

    @classmethod
    def of_notes(cls, schema: Schema, columns: Sequence[str], notes: Mapping[str, Any]) -> NoisyTables:
        """What was kept."""
        codes = TableCodes.of(schema, columns, notes["edges"])
        pairs = {(a, b): table for (a, b), table in zip(notes["pairs"], notes["tables"], strict=True)}
        return cls(codes, tuple(notes["ones"]), pairs, *notes["noise"])


@dataclass(frozen=True, kw_only=True)
class SyntheticTable(PublishedTable):
    """Made-up records. What is counted in them has a standard error, from the noise that was added.

    Parameters
    ----------
    tables : NoisyTables
        What they were made from.

    Examples
    --------
    >>> from discreet.microdata import synthesize
    >>> people = {"smokes": ["yes", "no", "no", "no"] * 500, "ill": ["yes", "no", "no", "no"] * 500}
    >>> yes_no = ["yes", "no"]
    >>> table = synthesize(people, bounds={"smokes": yes_no, "ill": yes_no}, epsilon=2.0)
    >>> both = table.count("smokes == 'yes' and ill == 'yes'")
    >>> bool(both.low < 500 < both.high), both.name
    (True, "records where smokes == 'yes' and ill == 'yes' (measured)")
    """

    tables: NoisyTables = field(repr=False)

    def count(self, where: str, *, confidence: float | None = None) -> Estimate:
        """How many records fulfil a condition, in the data, as far as this table shows it.

        A condition on one column, or on two that were counted together, is *measured*: its interval holds for the
        data with this confidence. Any other is *inferred* from those: its interval has the noise alone, and not that
        columns may depend on one another in ways that were not counted, which may well be the larger part.

        Parameters
        ----------
        where : str
            A condition, as for `PrivateData.where`.
        confidence : float, optional
            Of the interval; by default that of the table.
        """
        level = self.confidence or 0.95 if confidence is None else confidence
        check_confidence("count", level)
        condition = condition_of(where, self.schema)
        names = list(self.schema.columns)
        fulfilled = condition.mask(dict(zip(names, self.records.T, strict=True)))
        axes = tuple(names.index(name) for name in condition.columns)
        measured = any(set(axes) <= set(edge) for edge in self.tables.pairs) or len(axes) < 2
        reading = self._cells(axes, fulfilled) if measured else self._weighted(fulfilled)
        value = reading(self.tables.model)
        error = float(np.std([reading(copy) for copy in self.tables.copies], ddof=1))
        half = float(ndtri(0.5 + level / 2)) * error
        return Estimate.around(
            f"records where {condition} ({'measured' if measured else 'inferred'})",
            value,
            half,
            confidence=level,
            receipt=self.receipt,
            standard_error=error,
        )

    @cached_property
    def _places(self) -> Steps:
        """The cells of all records."""
        return self.tables.codes.places(self.records)

    def _cells(self, axes: tuple[int, ...], fulfilled: Any) -> Any:
        """What reads a count off the table of some columns: a cell counts by the share of its records."""
        edge = next((edge for edge in self.tables.pairs if set(axes) <= set(edge)), None)
        table = axes if edge is None else edge
        if not table:
            raise ParameterError("count", "the condition reads no column", "Name one.", "The release is as it was.")
        codes, size = self.tables.codes.codes(self._places, table), self.tables.codes.cells(table)
        shares = np.bincount(codes, fulfilled, size) / np.maximum(np.bincount(codes, minlength=size), 1)

        def read(model: TreeModel) -> float:
            counts = model.margins[table[0]] if edge is None else model.fitted(edge)
            return float(shares @ counts.ravel())

        return read

    def _weighted(self, fulfilled: Any) -> Any:
        """What reads a count off the records, weighted by how likely another model makes them."""
        before = self._likelihood(self.tables.model)

        def read(model: TreeModel) -> float:
            weights = np.exp(self._likelihood(model) - before)
            return float(self.tables.total * (weights @ fulfilled) / weights.sum())

        return read

    def _likelihood(self, model: TreeModel) -> Array:
        """The logarithm of how likely a model makes each record, up to a constant."""
        found = np.zeros(len(self.records))
        degrees = np.bincount(np.array(list(model.tables)).ravel().astype(np.intp), minlength=len(model.margins))
        for (a, b), table in model.tables.items():
            found += np.log(table[self._places[:, a], self._places[:, b]])
        for place, (margin, degree) in enumerate(zip(model.margins, degrees, strict=True)):
            found -= (degree - 1) * np.log(margin[self._places[:, place]])
        return found
