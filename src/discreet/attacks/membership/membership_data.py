"""Records that were in and records that were not, and whether these can be told apart without the target."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.membership_scores import MembershipScores
from discreet.core.errors import ParameterError

ASKED = "members and others"
FEWEST, MOST = 20, 2_000  # records of each side that a classifier without the target is tried on
FOLDS, DEVIATIONS = 5, 4.0
Values = NDArray[Any]


@dataclass(frozen=True)
class MembershipData:
    """What the judge of an attack on membership has: members, and others like them. Rows are never reordered.

    Parameters
    ----------
    members_X, others_X : array of rows
        The features of records that the target has seen, and of those that it has not.
    members_y, others_y : array
        Their labels.
    level : float
        The false-positive rate that is asked for; it takes 1 / level others to see it at all.

    Examples
    --------
    >>> data = MembershipData.of([[0.0], [1.0]], [0, 1], [[2.0], [3.0]], [1, 0], level=0.5)
    >>> len(data.members_X), data.warnings
    (2, ())
    """

    members_X: Values = field(repr=False)
    members_y: Values = field(repr=False)
    others_X: Values = field(repr=False)
    others_y: Values = field(repr=False)
    level: float = 0.01

    @classmethod
    def of(
        cls,
        members_X: ArrayLike,
        members_y: ArrayLike,
        others_X: ArrayLike,
        others_y: ArrayLike,
        *,
        level: float = 0.01,
    ) -> MembershipData:
        """From anything that numpy reads as rows and labels."""
        return cls(np.asarray(members_X), np.asarray(members_y), np.asarray(others_X), np.asarray(others_y), level)

    @classmethod
    def of_rows(cls, members: ArrayLike, others: ArrayLike, *, level: float = 0.01) -> MembershipData:
        """Rows without labels, for attacks on tables and means."""
        here, there = np.asarray(members), np.asarray(others)
        return cls(here, np.zeros(len(here)), there, np.zeros(len(there)), level)

    def __post_init__(self) -> None:
        for X, y, name in (
            (self.members_X, self.members_y, "members"),
            (self.others_X, self.others_y, "others"),
        ):
            if X.ndim < 2 or len(X) == 0 or y.shape != (len(X),):
                obstacle = f"{name} have features of shape {X.shape} and labels of shape {y.shape}"
                raise ParameterError(ASKED, obstacle, "Give at least one row, and one label for each.")
        if self.members_X.shape[1:] != self.others_X.shape[1:]:
            obstacle = f"members have {self.members_X.shape[1:]} columns and others {self.others_X.shape[1:]}"
            raise ParameterError(ASKED, obstacle, "Give the same columns, in the same order.")
        self._check_level()
        self._check_overlap()

    def _check_level(self) -> None:
        if not 0 < self.level <= 1:
            raise ParameterError(ASKED, f"level is {self.level}", "Give a rate above 0, at most 1.")
        needed = math.ceil(round(1 / self.level, 6))
        if len(self.others_X) < needed:
            obstacle = f"{len(self.others_X)} others cannot show {100 * self.level:g} % false positives"
            remedy = f"Give at least {needed} others, or a higher level."
            raise ParameterError(ASKED, obstacle, remedy, needed=needed)

    def _check_overlap(self) -> None:
        inside = set(row_keys(self.members_X, self.members_y))
        both = [row for row, key in enumerate(row_keys(self.others_X, self.others_y)) if key in inside]
        if both:
            some = ", ".join(map(str, both[:10]))
            obstacle = f"{len(both)} of the others are members too (rows {some} of the others)"
            raise ParameterError(ASKED, obstacle, "Leave out records that are in both.", rows=tuple(both))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """A warning where a classifier on the rows alone, cross-validated, tells members from others."""
        area, limit = self._area_without_target
        if area <= limit:
            return ()
        return (
            f"Members and others can be told apart without the target (area {area:.2f}): they were not drawn alike,"
            " and the figures overstate what the target gives away.",
        )

    @cached_property
    def _area_without_target(self) -> tuple[float, float]:
        """The area of a classifier, and what it stays below by luck: four deviations of Mann and Whitney's rank sum."""
        rows, labels = self._distinct()
        inside = int(labels.sum())
        outside = len(labels) - inside
        if min(inside, outside) < FEWEST:
            return 0.5, 1.0
        from sklearn.ensemble import ExtraTreesClassifier
        from sklearn.model_selection import StratifiedKFold, cross_val_predict

        forest = ExtraTreesClassifier(50, min_samples_leaf=5, random_state=0)
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
        chances = cross_val_predict(forest, rows, labels, cv=folds, method="predict_proba")[:, 1]
        scores = MembershipScores.of(chances[labels == 1], chances[labels == 0])
        deviation = math.sqrt((inside + outside + 1) / (12 * inside * outside))
        return scores.area, 0.5 + DEVIATIONS * deviation

    def _distinct(self) -> tuple[Values, Values]:
        """The first distinct rows of each side, with labels as a column; a copy in two folds would tell on itself."""
        blocks = []
        for X, y in ((self.others_X, self.others_y), (self.members_X, self.members_y)):
            places = [*dict(zip(reversed(row_keys(X, y)), range(len(X) - 1, -1, -1), strict=True)).values()][-MOST:]
            blocks.append((X[places].reshape(len(places), -1), y[places]))
        columns = np.concatenate([X for X, _ in blocks])
        codes = np.unique(np.concatenate([y for _, y in blocks]), return_inverse=True)[1]
        numbers = [_numbers(column) for column in (*columns.T, codes)]
        return np.column_stack(numbers), np.repeat([0, 1], [len(y) for _, y in blocks])


def row_keys(X: Values, y: Values) -> list[Any]:
    """A key for each row and its label, alike for rows that are alike."""
    flat = X.reshape(len(X), -1)
    if flat.dtype.kind in "fiub":
        plain = np.ascontiguousarray(flat.astype(np.float64) + 0.0)  # -0 becomes 0
        return [(row.tobytes(), label) for row, label in zip(plain, y.tolist(), strict=True)]
    return [(*map(str, row), label) for row, label in zip(flat.tolist(), y.tolist(), strict=True)]


def _numbers(column: Values) -> Values:
    if column.dtype.kind in "fiub":
        return np.nan_to_num(column.astype(np.float64))
    return np.unique(column.astype(str), return_inverse=True)[1].astype(np.float64)
