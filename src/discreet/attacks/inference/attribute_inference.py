"""A hidden attribute of people whose other attributes and label are known, guessed with the help of a model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import WORST, AttackResult
from discreet.attacks.control_rate import control_rate
from discreet.attacks.material import Material, ModelMaterial, Prepared, Unfit
from discreet.attacks.membership.membership_data import MembershipData, Values
from discreet.attacks.membership.model_target import LEAST, ModelTarget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

MOST = 64  # values of an attribute that are tried
CELLS = 2**22  # numbers of rows that are asked at a time
LARGE = 1e300  # so far a score leads where all others are those of questions on which the target raised


@dataclass(frozen=True)
class _GuessedAttribute:
    """An attack that gives each value of a hidden attribute a score, and guesses the value of the highest."""

    known: MembershipData = field(repr=False)
    column: int
    paper: ClassVar[str]
    threat: ClassVar[ThreatModel]

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For models with probabilities: the feature with the fewest values is the hidden one."""
        if not isinstance(material, ModelMaterial):
            return None
        X = material.data.rows[0]
        sizes = {place: len(_distinct(X[:, place])) for place in range(X.shape[1])} if X.ndim == 2 else {}
        few = {place: size for place, size in sizes.items() if 2 <= size <= MOST}
        if not few or not material.probabilities:
            return Unfit(f"It needs probabilities, and a feature with 2 to {MOST} values, which is guessed.")
        return Prepared(cls(material.data, min(few, key=lambda place: few[place])), material.model)

    def __post_init__(self) -> None:
        asked = type(self).__name__
        if self.known.members_X.ndim != 2:
            raise ParameterError(asked, "records are no rows of attributes", "Give one row for each person.")
        check_whole(asked, "column", self.column, 0, self.known.members_X.shape[1] - 1)
        if not 2 <= len(self._values) <= MOST:
            obstacle = f"the attribute has {len(self._values)} values"
            raise ParameterError(asked, obstacle, f"Give one with 2 to {MOST} values; cut numbers into ranges.")

    def scores(self, target: ModelTarget, X: Values, y: Values) -> Array:
        """A row of scores for each person, one for each value."""
        raise NotImplementedError

    def run(self, target: Any) -> AttackResult:
        """Guess the attribute of members and others by a model, or a function of rows."""
        start, known, asked = time.perf_counter(), self.known, ModelTarget.of(target)
        right, leads = self._guessed(asked, known.members_X, known.members_y)
        elsewhere, _ = self._guessed(asked, known.others_X, known.others_y)
        order = np.argsort(-leads, kind="stable")
        frequent = max(float((known.members_X[:, self.column] == value).mean()) for value in self._values)
        return AttackResult(
            type(self).__name__,
            self.threat,
            "hidden attributes of members",
            int(right.sum()),
            len(right),
            max(control_rate(int(elsewhere.sum()), len(elsewhere)), frequent),
            time.perf_counter() - start,
            asked.questions,
            worst=tuple(order[right[order]][:WORST].tolist()),
            details={"rate on others": float(elsewhere.mean()), "questions on which the target raised": asked.raised},
            warnings=known.warnings,
        )

    @cached_property
    def _values(self) -> Values:
        return _distinct(np.concatenate([self.known.members_X[:, self.column], self.known.others_X[:, self.column]]))

    def _guessed(self, target: ModelTarget, X: Values, y: Values) -> tuple[Any, Array]:
        """Whether the value of the highest score is the true one, some rows at a time, and by how much it leads.

        Where others tie, that is no guess.
        """
        step, right, leads = max(1, CELLS // (len(self._values) * X.shape[1])), [], []
        for begin in range(0, len(X), step):
            own = X[begin : begin + step]
            found = self.scores(target, own, y[begin : begin + step])
            second, first = np.partition(found, -2, axis=1)[:, -2:].T
            right.append((self._values[found.argmax(axis=1)] == own[:, self.column]) & (first > second))
            leads.append(np.where(first > second, first - np.maximum(second, -LARGE), 0.0))
        return np.concatenate(right), np.concatenate(leads)

    def _tried(self, X: Values, y: Values) -> tuple[Values, Values]:
        """Each row with each value in turn, and its label."""
        rows = np.repeat(X, len(self._values), axis=0)
        rows[:, self.column] = np.tile(self._values, len(X))
        return rows, np.repeat(y, len(self._values))

    def _by_row(self, scores: Array) -> Array:
        """A row of scores for each person; what is not a number, where the target raised, is the least."""
        return np.nan_to_num(scores.reshape(-1, len(self._values)), nan=-np.inf)


def _distinct(column: Values) -> Values:
    """The values of a column, numbers or texts, each once and in order; what is missing is none."""
    if column.dtype.kind != "O":
        found = np.unique(column)
        return found[found == found]
    there = {value for value in column.tolist() if value is not None and value == value}
    return np.array([*sorted(there, key=lambda value: (isinstance(value, str), value))], dtype=object)


@dataclass(frozen=True)
class AttributeFromModel(_GuessedAttribute):
    """The value that makes a person's label most probable, by the model and by how frequent the value is.

    Parameters
    ----------
    known : MembershipData
        Members of the target and others, with the true values of the attribute, to count what is right. The adversary
        has everything else, and how frequent the values are among the others.
    column : int
        Public. The hidden attribute.

    Notes
    -----
    Each value is tried, and weighs its frequency times the probability that the model gives to the true label with it
    (Fredrikson, Lantz, Jha, Lin, Page and Ristenpart 2014; not checked against the paper). What holds for everybody is
    not the target's fault: chance is the upper end of the interval of what the same guesses attain on the others, and
    at least the rate of the most frequent value.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.integers(0, 2, (30, 20)).astype(float)
    >>> known = MembershipData.of(rows[:15], np.arange(15), rows[15:], np.arange(15), level=0.1)
    >>> def memory(asked):
    ...     return (asked @ rows[:15].T + (1 - asked) @ (1 - rows[:15].T) == 20) + 1e-9
    >>> AttributeFromModel(known, 3).run(memory).success
    1.0
    """

    paper: ClassVar[str] = "Fredrikson et al., Privacy in pharmacogenetics, 2014"
    threat: ClassVar[ThreatModel] = ThreatModel(
        "probabilities", "all of a person except one attribute, and how frequent its values are", "each value once"
    )

    def scores(self, target: ModelTarget, X: Values, y: Values) -> Array:
        """The logarithm of the label's probability with each value, times how frequent the value is."""
        likely = target.confidences(*self._tried(X, y))
        counts = (self.known.others_X[:, self.column][:, None] == self._values).sum(axis=0) + 1.0
        return self._by_row(np.log(np.maximum(likely, LEAST))) + np.log(counts / counts.sum())


@dataclass(frozen=True)
class AttributeThroughMembership(_GuessedAttribute):
    """The value with which a person's record looks most like a member.

    Parameters
    ----------
    known : MembershipData
        Members of the target and others, with the true values of the attribute, to count what is right. The adversary
        has everything else.
    column : int
        Public. The hidden attribute.
    references : sequence of models
        Models like the target that have not seen these people; their mean is what a score is compared with. Without
        any, the score alone counts.

    Notes
    -----
    Yeom, Giacomelli, Fredrikson and Jha 2018 reduce attribute inference to membership inference: whoever tells members
    from others tells the right record from those with another value. The score is the logarithm of the odds of the
    label, less that of the references. Chance is the upper end of the interval of the rate on the others, and at least
    that of the most frequent value. Not checked against the paper.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.integers(0, 2, (30, 20)).astype(float)
    >>> known = MembershipData.of(rows[:15], np.arange(15), rows[15:], np.arange(15), level=0.1)
    >>> def memory(asked):
    ...     return (asked @ rows[:15].T + (1 - asked) @ (1 - rows[:15].T) == 20) + 1e-9
    >>> AttributeThroughMembership(known, 3).run(memory).success
    1.0
    """

    references: Sequence[Any] = field(default=(), repr=False)
    paper: ClassVar[str] = "Yeom, Giacomelli, Fredrikson and Jha, Privacy risk in machine learning, 2018"
    threat: ClassVar[ThreatModel] = ThreatModel(
        "probabilities", "all of a person except one attribute, and models like the target", "each value once"
    )

    def scores(self, target: ModelTarget, X: Values, y: Values) -> Array:
        """The logarithm of the label's odds with each value, less its mean by the references."""
        tried = self._tried(X, y)
        margins = target.margins(*tried)
        if len(self.references):
            margins = margins - np.mean([ModelTarget.of(other).margins(*tried) for other in self.references], axis=0)
        return self._by_row(margins)
