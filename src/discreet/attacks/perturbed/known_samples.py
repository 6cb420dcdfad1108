"""Records found again in a rotated or projected table by whoever knows a few of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.material import Material, Prepared, TableMaterial, Unfit
from discreet.attacks.perturbed.found_values import FoundValues, check_rows, number_rows
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

ASKED = "KnownSamples"
RIDGE = 1e-6  # of the mean variance, so that a covariance can be inverted


@dataclass(frozen=True)
class KnownSamples:
    """The linear map that takes known records to their released rows, undone for all other rows.

    Parameters
    ----------
    original : array of shape (n, columns)
        The true records, in the order of the target's rows, to count what is right.
    rows : sequence of int
        The rows whose true record is known.
    tolerance : float
        Public. How far a value may be from the true one, in standard deviations of its column.

    Notes
    -----
    The map and a shift are estimated by least squares, which is exact from one record more than there are columns. Of
    all records that a row may stand for, the one is taken that is most probable for a Gaussian with the mean and the
    covariance of the known ones; a rotation leaves one alone. Liu, Giannella and Kargupta 2006 treat known records and
    known samples apart; this is the former, not checked against the paper.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> records, turn = rng.normal(size=(500, 4)), np.linalg.qr(rng.normal(size=(4, 4)))[0]
    >>> KnownSamples(records, range(5)).run(records @ turn).success
    1.0
    """

    original: ArrayLike = field(repr=False)
    rows: Sequence[int] = field(repr=False)
    tolerance: float = 0.1
    paper: ClassVar[str] = "Liu, Giannella and Kargupta, An attacker's view of distance preserving maps, 2006"
    threat: ClassVar[ThreatModel] = ThreatModel("the released table", "some records, and which rows they are")

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For tables of numbers with a row for each original record, of which one more than columns is known."""
        if not isinstance(material, TableMaterial):
            return None
        if not (material.row_by_row and material.numbers_alone):
            return Unfit("It needs numbers alone, and a row for each original record, in their order.")
        known = np.arange(min(len(material.columns) + 1, len(material.original) - 1))
        return Prepared(cls(material.original, known.tolist()), material.released)

    def __post_init__(self) -> None:
        check_positive(ASKED, "tolerance", self.tolerance)

    def run(self, target: Any) -> AttackResult:
        """Undo the map of an array, or of a released table of numbers; its first columns are the mapped ones."""
        start = time.perf_counter()
        released, original = number_rows(ASKED, target), number_rows(ASKED, self.original)
        check_rows(ASKED, released, original, 2)
        known = self._known(len(original))
        others = np.setdiff1d(np.arange(len(original)), known)
        estimate = _undone(released[known], original[known], released[others])
        found = FoundValues(estimate, original[others], self.tolerance)
        details = {"known records": len(known)}
        return found.result(ASKED, self.threat, others, time.perf_counter() - start, details)

    def _known(self, records: int) -> Any:
        found = np.asarray(self.rows)
        fits = found.ndim == 1 and found.dtype.kind in "iu" and bool(np.isin(found, np.arange(records)).all())
        if not fits or not 1 <= len(np.unique(found)) < records:
            raise ParameterError(ASKED, "`rows` names no rows of the target", "Give some rows of it, but not all.")
        return np.unique(found)


def _undone(released: Array, records: Array, others: Array) -> Array:
    """The most probable records behind other rows, from rows and their records."""
    mean, centre = records.mean(axis=0), released.mean(axis=0)
    turn = np.linalg.lstsq(records - mean, released - centre, rcond=None)[0]
    covariance = (records - mean).T @ (records - mean) / len(records)
    covariance += np.eye(len(mean)) * max(RIDGE * np.trace(covariance) / len(mean), 1e-300)
    back = np.linalg.pinv(turn.T @ covariance @ turn, rcond=1e-10, hermitian=True) @ turn.T @ covariance
    return np.asarray(mean + (others - centre) @ back)
