"""A table of made-up records, which knows how far the noise may have moved what is read off it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from discreet.core.condition import Condition
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.synthetic.synthesis import SynthesisModel
from discreet.releases.estimate import Estimate
from discreet.releases.release import check_confidence
from discreet.schema.condition_text import condition_of

COPIES = 100  # of the noise that are drawn to see how far it moves a count
SEED = 1


@dataclass(frozen=True, kw_only=True)
class SyntheticTable(PublishedTable):
    """Made-up records. What is counted in them has a standard error, from the noise that was added.

    Parameters
    ----------
    model : SynthesisModel
        What they were counted out of.

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

    model: SynthesisModel = field(repr=False)

    def count(self, where: str, *, confidence: float | None = None) -> Estimate:
        """How many records fulfil a condition, in the data, as far as this table shows it.

        A condition on columns that were counted together is *measured*: its interval holds for the
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
        if not axes:
            raise ParameterError("count", "the condition reads no column", "Name one.", "The release is as it was.")
        counted = self.model.measured(axes)
        reading = self._weighted(fulfilled) if counted is None else self._cells(counted, fulfilled, condition)
        value = reading(self.model)
        error = float(np.std([reading(copy) for copy in self.copies], ddof=1))
        half = float(ndtri(0.5 + level / 2)) * error
        return Estimate.around(
            f"records where {condition} ({'inferred' if counted is None else 'measured'})",
            value,
            half,
            confidence=level,
            receipt=self.receipt,
            standard_error=error,
        )

    @cached_property
    def copies(self) -> tuple[SynthesisModel, ...]:
        """What might have been made in place of the model."""
        rng = np.random.default_rng(SEED)
        return tuple(self.model.again(rng) for _ in range(COPIES))

    @cached_property
    def _places(self) -> Steps:
        """The cells of all records."""
        return self.model.codes.places(self.records)

    def _cells(self, axes: tuple[int, ...], fulfilled: Any, condition: Condition) -> Any:
        """What reads a count off a counted table: a cell counts by the share of its records, or by its middle."""
        codes, size = self.model.codes.codes(self._places, axes), self.model.codes.cells(axes)
        records = np.bincount(codes, minlength=size)
        middles = condition.mask(self.model.codes.middles(axes))
        shares = np.where(records > 0, np.bincount(codes, fulfilled, size) / np.maximum(records, 1), middles)
        return lambda model: float(shares @ model.table(axes).ravel())

    def _weighted(self, fulfilled: Any) -> Any:
        """What reads a count off the records, weighted by how likely another model makes them."""
        before = self.model.likelihood(self._places)

        def read(model: SynthesisModel) -> float:
            weights = np.exp(model.likelihood(self._places) - before)
            return float(self.model.total * (weights @ fulfilled) / weights.sum())

        return read
