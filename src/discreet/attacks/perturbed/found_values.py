"""Numbers that an adversary says a table had before it was perturbed, and how many of them are near the true ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import WORST, AttackResult
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

LARGEST = 1e100  # values whose squares can be added up


@dataclass(frozen=True)
class FoundValues:
    """An estimate of every value, beside the truth.

    Parameters
    ----------
    estimate, truth : array of shape (n, columns)
        Row by row.
    tolerance : float
        How far an estimate may be from the truth, in standard deviations of the true column.

    Notes
    -----
    Chance is the best constant guess for each column: the most true values that lie in an interval of that width.
    """

    estimate: Array = field(repr=False)
    truth: Array = field(repr=False)
    tolerance: float

    @property
    def _reach(self) -> Array:
        spread = self.truth.std(axis=0)
        return self.tolerance * np.where(spread > 0, spread, 1.0)

    @property
    def chance(self) -> float:
        """The rate of the best constant guess."""
        ordered = np.sort(self.truth, axis=0)
        most = [
            (np.searchsorted(own, own + 2 * reach, side="right") - np.arange(len(own))).max()
            for own, reach in zip(ordered.T, self._reach, strict=True)
        ]
        return float(np.sum(most) / self.truth.size)

    def result(
        self, attack: str, threat: ThreatModel, rows: Any, seconds: float, details: Mapping[str, Any]
    ) -> AttackResult:
        """What that achieved, where these are the rows of the target."""
        errors = np.abs(self.estimate - self.truth) / self._reach
        near = np.asarray(errors <= 1)
        order = np.argsort(errors.max(axis=1), kind="stable")
        whole = np.asarray(near.all(axis=1), dtype=np.bool_).reshape(-1)
        worst = np.asarray(rows)[order][whole[order]][:WORST]
        lost = np.sqrt(np.mean((errors * self.tolerance) ** 2))
        return AttackResult(
            attack,
            threat,
            f"values found within {self.tolerance:g} standard deviations",
            int(near.sum()),
            near.size,
            self.chance,
            seconds,
            0,
            worst=tuple(worst.tolist()),
            details={"error in standard deviations": float(lost), **details},
        )


def number_rows(asked: str, table: Any) -> Array:
    """A table of numbers: a released one, or an array."""
    found = np.asarray(getattr(table, "records", table))
    if found.ndim != 2 or 0 in found.shape or found.dtype.kind not in "iufb":
        raise ParameterError(asked, "a table is no array of numbers with rows and columns", "Give numbers alone.")
    return found.astype(np.float64)


def check_rows(asked: str, released: Array, original: Array, needed: int) -> None:
    """Refuse tables whose rows do not go together, have missing values, or are too few."""
    if len(released) != len(original):
        obstacle = f"the target has {len(released)} rows, the original {len(original)}"
        raise ParameterError(asked, obstacle, "Give the true record of each row of the target.")
    if not all((np.abs(table) <= LARGEST).all() for table in (released, original)):  # nan is not
        raise ParameterError(asked, "a value is missing or too large", "Leave out rows with such values in both.")
    if len(released) < needed:
        raise ParameterError(asked, f"there are {len(released)} rows", f"Give at least {needed}.", needed=needed)
