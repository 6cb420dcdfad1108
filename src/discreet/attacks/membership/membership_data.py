"""Records that were in and records that were not, and whether these can be told apart without the target."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.membership_scores import MembershipScores
from discreet.core.errors import ParameterError

ASKED = "members and others"
FEWEST, MOST = 20, 2_000  # records of each side that a classifier without the target is tried on
TREES, DEVIATIONS = 50, 4.0
BLOCK = 2**14  # rows whose keys are made at a time
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

    Attributes
    ----------
    records : pair of arrays
        The rows of members and of others that are the first of their kind: a copy is no second trial.

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
    records: tuple[Values, Values] = field(init=False, repr=False, compare=False)

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
        inside, outside = first_rows(self.members_X, self.members_y), first_rows(self.others_X, self.others_y)
        _check_overlap(inside, outside)
        object.__setattr__(self, "records", tuple(np.fromiter(own.values(), int) for own in (inside, outside)))
        self._check_level()

    def _check_level(self) -> None:
        if not 0 < self.level <= 1:
            raise ParameterError(ASKED, f"level is {self.level}", "Give a rate above 0, at most 1.")
        needed = math.ceil(round(1 / self.level, 6))
        others = len(self.records[1])
        if others < needed:
            obstacle = f"{others} others cannot show {100 * self.level:g} % false positives"
            remedy = f"Give at least {needed} others, or a higher level."
            raise ParameterError(ASKED, obstacle, remedy, needed=needed)

    @property
    def rows(self) -> tuple[Values, Values]:
        """The features and labels of all, members first."""
        return np.concatenate([self.members_X, self.others_X]), np.concatenate([self.members_y, self.others_y])

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Where rows are copies, and where a classifier on the rows alone tells the sides apart."""
        area, limit = self._area_without_target
        copies = len(self.members_X) + len(self.others_X) - sum(map(len, self.records))
        told = [f"{copies} rows are copies of others of their side; each record counts once."] if copies else []
        if area > limit:
            told.append(
                f"Members and others can be told apart without the target (area {area:.2f}): they were not drawn alike,"
                " and the figures overstate what the target gives away."
            )
        return tuple(told)

    @cached_property
    def _area_without_target(self) -> tuple[float, float]:
        """The area of a forest, each row judged by trees that have not seen it, and what it stays below by luck.

        That is four deviations of Mann and Whitney's rank sum.
        """
        rows, labels = self._distinct()
        inside = int(labels.sum())
        outside = len(labels) - inside
        if min(inside, outside) < FEWEST:
            return 0.5, 1.0
        from sklearn.ensemble import ExtraTreesClassifier

        forest = ExtraTreesClassifier(TREES, min_samples_leaf=5, bootstrap=True, oob_score=True, random_state=0)
        chances = forest.fit(rows, labels).oob_decision_function_[:, 1]
        scores = MembershipScores.of(chances[labels == 1], chances[labels == 0])
        deviation = math.sqrt((inside + outside + 1) / (12 * inside * outside))
        return scores.area, 0.5 + DEVIATIONS * deviation

    def _distinct(self) -> tuple[Values, Values]:
        """The first distinct rows of each side, with labels as a column; a copy would tell on itself."""
        blocks = []
        inside, outside = self.records
        for X, y, first in ((self.others_X, self.others_y, outside), (self.members_X, self.members_y, inside)):
            places = first[:MOST]
            blocks.append((X[places].reshape(len(places), -1), y[places]))
        columns = np.concatenate([X for X, _ in blocks])
        codes = np.unique(np.concatenate([y for _, y in blocks]), return_inverse=True)[1]
        numbers = [_numbers(column) for column in (*columns.T, codes)]
        return np.column_stack(numbers), np.repeat([0, 1], [len(y) for _, y in blocks])


def _check_overlap(inside: dict[bytes, int], outside: dict[bytes, int]) -> None:
    both = [row for key, row in outside.items() if key in inside]
    if both:
        some = ", ".join(map(str, both[:10]))
        obstacle = f"{len(both)} of the others are members too (rows {some} of the others)"
        raise ParameterError(ASKED, obstacle, "Leave out records that are in both.", rows=tuple(both))


def row_keys(X: Values, y: Values) -> Iterator[bytes]:
    """A short key for each row and its label, alike for rows that are alike."""
    for start in range(0, len(X), BLOCK):
        rows = X[start : start + BLOCK].reshape(len(X[start : start + BLOCK]), -1)
        for text, label in zip(_texts(rows), y[start : start + BLOCK].tolist(), strict=True):
            yield hashlib.blake2b(text + _label(label), digest_size=16).digest()


def first_rows(X: Values, y: Values) -> dict[bytes, int]:
    """The first row of each kind, by its key."""
    first: dict[bytes, int] = {}
    for row, key in enumerate(row_keys(X, y)):
        first.setdefault(key, row)
    return first


def _texts(rows: Values) -> Iterator[bytes]:
    if rows.dtype.kind not in "fiub":
        return (repr([*map(str, row)]).encode() for row in rows.tolist())
    plain = (rows.astype(np.float64) + 0.0).tobytes()  # -0 becomes 0
    size = 8 * rows.shape[1]
    return (plain[place * size : (place + 1) * size] for place in range(len(rows)))


def _label(label: object) -> bytes:
    """Labels that are equal numbers are alike."""
    return repr(float(label) if isinstance(label, int | float) else str(label)).encode()


def _numbers(column: Values) -> Values:
    if column.dtype.kind in "fiub":
        return np.nan_to_num(column.astype(np.float64))
    return np.unique(column.astype(str), return_inverse=True)[1].astype(np.float64)
