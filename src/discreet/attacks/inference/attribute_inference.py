"""A hidden attribute of people whose other attributes and label are known, guessed with the help of a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
Scores = Callable[[Values, Values], Array]


@dataclass(frozen=True)
class AttributeFromModel:
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

    known: MembershipData = field(repr=False)
    column: int
    paper: ClassVar[str] = "Fredrikson et al., Privacy in pharmacogenetics, 2014"
    threat: ClassVar[ThreatModel] = ThreatModel(
        "probabilities", "all of a person except one attribute, and how frequent its values are", "each value once"
    )

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For models with probabilities: the feature with the fewest values is the hidden one."""
        return _fitting(cls, material)

    def __post_init__(self) -> None:
        _check("AttributeFromModel", self.known, self.column)

    def run(self, target: Any) -> AttackResult:
        """Guess the attribute of members and others by a model, or a function of rows."""
        asked, values, prior = ModelTarget.of(target), _values(self.known, self.column), self._prior()

        def scores(X: Values, y: Values) -> Array:
            likely = asked.confidences(*_tried(X, y, self.column, values))
            return _by_row(np.log(np.maximum(likely, LEAST)), len(values)) + np.log(prior)

        return _result("AttributeFromModel", self, scores, asked)

    def _prior(self) -> Array:
        values, own = _values(self.known, self.column), self.known.others_X[:, self.column]
        counts = (own[:, None] == values).sum(axis=0) + 1.0
        return np.asarray(counts / counts.sum())


@dataclass(frozen=True)
class AttributeThroughMembership:
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

    known: MembershipData = field(repr=False)
    column: int
    references: Sequence[Any] = field(default=(), repr=False)
    paper: ClassVar[str] = "Yeom, Giacomelli, Fredrikson and Jha, Privacy risk in machine learning, 2018"
    threat: ClassVar[ThreatModel] = ThreatModel(
        "probabilities", "all of a person except one attribute, and models like the target", "each value once"
    )

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For models with probabilities: the feature with the fewest values is the hidden one."""
        return _fitting(cls, material)

    def __post_init__(self) -> None:
        _check("AttributeThroughMembership", self.known, self.column)

    def run(self, target: Any) -> AttackResult:
        """Guess the attribute of members and others by a model, or a function of rows."""
        asked, values = ModelTarget.of(target), _values(self.known, self.column)
        others = [ModelTarget.of(model) for model in self.references]

        def scores(X: Values, y: Values) -> Array:
            tried = _tried(X, y, self.column, values)
            margins = asked.margins(*tried)
            if others:
                margins = margins - np.mean([other.margins(*tried) for other in others], axis=0)
            return _by_row(margins, len(values))

        return _result("AttributeThroughMembership", self, scores, asked)


def _result(
    name: str, attack: AttributeFromModel | AttributeThroughMembership, scores: Scores, asked: ModelTarget
) -> AttackResult:
    start, known = time.perf_counter(), attack.known
    values = _values(known, attack.column)
    right, elsewhere = (
        _guessed(scores, X, y, attack.column, values)
        for X, y in ((known.members_X, known.members_y), (known.others_X, known.others_y))
    )
    frequent = max(float((known.members_X[:, attack.column] == value).mean()) for value in values)
    return AttackResult(
        name,
        attack.threat,
        "hidden attributes of members",
        int(right.sum()),
        len(right),
        max(control_rate(int(elsewhere.sum()), len(elsewhere)), frequent),
        time.perf_counter() - start,
        asked.questions,
        worst=tuple(np.flatnonzero(right)[:WORST].tolist()),
        details={"rate on others": float(elsewhere.mean()), "questions on which the target raised": asked.raised},
        warnings=known.warnings,
    )


def _guessed(scores: Scores, X: Values, y: Values, column: int, values: Values) -> Any:
    """Whether the value of the highest score is the true one, some rows at a time; where others tie, it is no guess."""
    step, right = max(1, CELLS // (len(values) * X.shape[1])), []
    for begin in range(0, len(X), step):
        own = X[begin : begin + step]
        found = scores(own, y[begin : begin + step])
        alone = (found == found.max(axis=1, keepdims=True)).sum(axis=1) == 1
        right.append((values[found.argmax(axis=1)] == own[:, column]) & alone)
    return np.concatenate(right)


def _tried(X: Values, y: Values, column: int, values: Values) -> tuple[Values, Values]:
    """Each row with each value in turn, and its label."""
    rows = np.repeat(X, len(values), axis=0)
    rows[:, column] = np.tile(values, len(X))
    return rows, np.repeat(y, len(values))


def _by_row(scores: Array, values: int) -> Array:
    """A row of scores for each person; what is not a number, where the target raised, is the least."""
    return np.nan_to_num(scores.reshape(-1, values), nan=-np.inf)


def _values(known: MembershipData, column: int) -> Values:
    return np.unique(np.concatenate([known.members_X[:, column], known.others_X[:, column]]))


def _check(asked: str, known: MembershipData, column: int) -> None:
    if known.members_X.ndim != 2:
        raise ParameterError(asked, "records are no rows of attributes", "Give one row for each person.")
    check_whole(asked, "column", column, 0, known.members_X.shape[1] - 1)
    number = len(_values(known, column))
    if not 2 <= number <= MOST:
        obstacle = f"the attribute has {number} values"
        raise ParameterError(asked, obstacle, f"Give one with 2 to {MOST} values; cut numbers into ranges.")


def _fitting(
    kind: type[AttributeFromModel | AttributeThroughMembership], material: Material
) -> Prepared | Unfit | None:
    if not isinstance(material, ModelMaterial):
        return None
    X = material.data.rows[0]
    sizes = {} if X.dtype.kind not in "fiub" else {place: len(np.unique(X[:, place])) for place in range(X.shape[1])}
    few = {place: size for place, size in sizes.items() if 2 <= size <= MOST}
    if not few or not material.probabilities:
        return Unfit(f"It needs probabilities, and a feature of numbers with 2 to {MOST} values, which is guessed.")
    return Prepared(kind(material.data, min(few, key=lambda place: few[place])), material.model)
