"""A table of made-up records, which knows how far the noise may have moved what is read off it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtrit

from discreet.core.condition import Condition
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.synthetic.compared_tables import ComparedTables
from discreet.microdata.synthetic.known_counts import half_width
from discreet.microdata.synthetic.synthesis import SynthesisModel
from discreet.releases.estimate import Estimate
from discreet.releases.release import check_confidence
from discreet.schema.condition_text import condition_of

SEED = 1


@dataclass(frozen=True, kw_only=True)
class SyntheticTable(PublishedTable):
    """Made-up records. What is counted in them has a standard error, from the noise that was added.

    Parameters
    ----------
    model : SynthesisModel
        What they were counted out of.
    compared : ComparedTables, optional
        How far tables of few columns are from the data, where that was measured.
    laplace : bool
        Whether the noise on each count is Laplace noise; else it is normal, or a sum of many noises.

    Examples
    --------
    >>> from discreet.microdata import synthesize
    >>> people = {"smokes": ["yes", "no", "no", "no"] * 500, "ill": ["yes", "no", "no", "no"] * 500}
    >>> yes_no = ["yes", "no"]
    >>> table = synthesize(people, bounds={"smokes": yes_no, "ill": yes_no}, epsilon=2.0)
    >>> both = table.count("smokes == 'yes' and ill == 'yes'")
    >>> bool(abs(both.value - 500) < 50), both.name
    (True, "records where smokes == 'yes' and ill == 'yes' (measured)")
    """

    model: SynthesisModel = field(repr=False)
    compared: ComparedTables | None = field(default=None, repr=False)
    laplace: bool = field(default=False, repr=False)

    @property
    def cells(self) -> int:
        """How many cells were counted."""
        return sum(own.size for own in _arrays(self.model.to_notes()))

    def count(self, where: str, *, confidence: float | None = None) -> Estimate:
        """How many records fulfil a condition, in the data, as far as this table shows it.

        A condition on columns that were counted together is *measured*: its interval holds for the data with this
        confidence. Where distances were measured, one on up to three columns is *bounded*: its interval holds too, and
        is wide. Any other is *inferred*: its interval has the noise alone, and not that columns may
        depend on one another in ways that were not counted, which may well be the larger part. Of a number that a
        condition cuts inside a cell, no interval has how values lie in the cell.

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
        bound = None if self.compared is None else self.compared.bound(axes, level)
        counted = self.model.measured(axes)
        if counted is not None:
            kind, (value, error, half) = "measured", self._measured(counted, condition, fulfilled, level)
        elif bound is not None:
            kind, value, error, half = "bounded", self.model.total * _share(fulfilled), None, bound
        else:
            kind, (value, error, half) = "inferred", self._resampled(self._weighted(fulfilled), level)
        return Estimate.around(
            f"records where {condition} ({kind})",
            value,
            half,
            confidence=level,
            receipt=self.receipt,
            standard_error=error,
        )

    def _measured(
        self, axes: tuple[int, ...], condition: Condition, fulfilled: Any, level: float
    ) -> tuple[float, float, float]:
        """A count in a table that was counted, its standard error, and half its interval."""
        shares, known = self._shares(axes, condition, fulfilled), self.model.known(axes)
        if known is not None:
            error = known.stddev * float(np.linalg.norm(shares))
            return float(shares @ known.counts.ravel()), error, known.half_width(shares, level, self.laplace)
        value, error, half = self._resampled(lambda model: float(shares @ model.table(axes).ravel()), level)
        return value, error, half * self._heavier(shares, level)

    def _heavier(self, shares: Array, level: float) -> float:
        """How much farther the noise moves a sum of cells than normal noise of the same deviation would."""
        normal = half_width(shares, level, laplace=False)
        return half_width(shares, level, laplace=True) / normal if self.laplace and normal > 0 else 1.0

    def _resampled(self, reading: Callable[[SynthesisModel], float], level: float) -> tuple[float, float, float]:
        """What is read off the model, its standard error, and half its interval, from noise that is drawn again."""
        error = float(np.std([reading(copy) for copy in self.copies], ddof=1))
        return reading(self.model), error, float(stdtrit(self.model.copies - 1, 0.5 + level / 2)) * error

    @cached_property
    def copies(self) -> tuple[SynthesisModel, ...]:
        """What might have been made in place of the model."""
        rng = np.random.default_rng(SEED)
        return tuple(self.model.again(rng) for _ in range(self.model.copies))

    @cached_property
    def _places(self) -> Steps:
        """The cells of all records."""
        return self.model.codes.places(self.records)

    def _shares(self, axes: tuple[int, ...], condition: Condition, fulfilled: Any) -> Array:
        """Of the records in each cell of a table, those that fulfil a condition; of none, what a value in it does."""
        codes, size = self.model.codes.codes(self._places, axes), self.model.codes.cells(axes)
        counts = np.bincount(codes, minlength=size)
        middle = condition.mask(self.model.codes.middles(axes))
        return np.where(counts > 0, np.bincount(codes, fulfilled, size) / np.maximum(counts, 1), middle)

    def _weighted(self, fulfilled: Any) -> Callable[[SynthesisModel], float]:
        """What reads a count off the records, weighted by how likely another model makes them."""
        if not len(self.records):
            obstacle = "the table has no records, and these columns were not counted together"
            raise ParameterError("count", obstacle, "Ask about fewer columns.", "The release is as it was.")
        before = self.model.likelihood(self._places)

        def read(model: SynthesisModel) -> float:
            likelier = model.likelihood(self._places) - before
            weights = np.exp(likelier - likelier.max())  # the greatest is 1: their sum is never 0
            return float(model.total * (weights @ fulfilled) / weights.sum())

        return read


def _share(fulfilled: Any) -> float:
    return float(np.sum(fulfilled) / max(len(fulfilled), 1))


def _arrays(notes: Any) -> list[Array]:
    """All arrays in notes."""
    if isinstance(notes, np.ndarray):
        return [notes]
    parts = notes.values() if isinstance(notes, dict) else notes if isinstance(notes, list) else ()
    return [own for part in parts for own in _arrays(part)]
