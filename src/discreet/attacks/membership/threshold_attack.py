"""The global threshold: a record is called a member where the model is sure of its label."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.material import Material, ModelMaterial, Prepared, Unfit
from discreet.attacks.membership.membership_data import MembershipData, Values
from discreet.attacks.membership.model_target import ModelTarget
from discreet.attacks.membership_scores import MembershipScores
from discreet.core.grid import Array

SEED = 0  # of the order in which records are asked


class ScoredByRow:
    """An attack that gives each record a score by asking the target.

    Members and others are asked in one random order: a target that grows tired, or remembers, treats both alike. A
    record of which there are copies is asked, and counts, once.
    """

    threat: ClassVar[ThreatModel]
    data: MembershipData

    def scores(self, target: ModelTarget, X: Values, y: Values) -> Array:
        """A score for each row, higher for what looks like a member."""
        raise NotImplementedError

    def run(self, target: Any) -> AttackResult:
        """Attack the model: score members and others."""
        started, asked, data = time.perf_counter(), ModelTarget.of(target), self.data
        inside, outside = data.records
        order = np.random.default_rng(SEED).permutation(len(inside) + len(outside))
        X, y = (
            _shuffled(members[inside], others[outside], order)
            for members, others in ((data.members_X, data.others_X), (data.members_y, data.others_y))
        )
        scores = np.empty(len(order))
        scores[order] = self.scores(asked, X, y)
        return AttackResult.of_scores(
            type(self).__name__,
            self.threat,
            MembershipScores.of(scores[: len(inside)], scores[len(inside) :]),
            seconds=time.perf_counter() - started,
            questions=asked.questions,
            rows=inside,
            details={"questions on which the target raised": asked.raised},
            warnings=data.warnings,
        )


def _shuffled(first: Values, second: Values, order: Values) -> Values:
    return np.concatenate([first, second])[order]


@dataclass(frozen=True)
class ThresholdAttack(ScoredByRow):
    """Call those records members of whose label the model is surest.

    Parameters
    ----------
    data : MembershipData
        Members and others.

    Notes
    -----
    One threshold on the loss for all records, which is the order of the odds of the own label (Yeom, Giacomelli,
    Fredrikson and Jha 2018; not checked against the paper). It sees overfitting on average, and misses records that are
    hard for every model; `LiRA` and `RMIA` compare each record with itself.

    Examples
    --------
    >>> import numpy as np
    >>> data = MembershipData.of([[0.9], [0.8]], [1, 1], [[0.2], [0.1]], [1, 1], level=0.5)
    >>> ThresholdAttack(data).run(lambda rows: np.c_[1 - rows, rows]).success
    1.0
    """

    data: MembershipData
    paper: ClassVar[str] = "Yeom, Giacomelli, Fredrikson and Jha 2018, Privacy risk in machine learning"
    threat: ClassVar[ThreatModel] = ThreatModel("probabilities", "records with their labels", "each record once")
    remedy: ClassVar[str] = (
        "The model is surer of what it has learnt. A stronger penalty, earlier stopping or more records make that less,"
        " on average; for each record, training with differential privacy does."
    )

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For every model that gives probabilities."""
        if not isinstance(material, ModelMaterial):
            return None
        if not material.probabilities:
            return Unfit("The model gives no probabilities, which it needs; LabelOnly needs labels alone.")
        return Prepared(cls(material.data), material.model)

    def scores(self, target: ModelTarget, X: Values, y: Values) -> Array:
        """The logarithm of the odds of each row's label."""
        return target.margins(X, y)
