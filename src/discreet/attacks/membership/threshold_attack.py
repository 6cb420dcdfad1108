"""The global threshold: a record is called a member where the model is sure of its label."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.material import Material, ModelMaterial, Prepared, Unfit
from discreet.attacks.membership.membership_data import MembershipData, Values
from discreet.attacks.membership.model_target import ModelTarget
from discreet.attacks.membership_scores import MembershipScores
from discreet.core.grid import Array


class ScoredByRow:
    """An attack that gives each row a score by asking the target, and is run on members and others alike."""

    threat: ClassVar[ThreatModel]
    data: MembershipData

    def scores(self, target: ModelTarget, X: Values, y: Values) -> Array:
        """A score for each row, higher for what looks like a member."""
        raise NotImplementedError

    def run(self, target: Any) -> AttackResult:
        """Attack the model: score members and others."""
        started, asked, data = time.perf_counter(), ModelTarget.of(target), self.data
        members = self.scores(asked, data.members_X, data.members_y)
        others = self.scores(asked, data.others_X, data.others_y)
        return AttackResult.of_scores(
            type(self).__name__,
            self.threat,
            MembershipScores.of(members, others),
            seconds=time.perf_counter() - started,
            questions=asked.questions,
            details={"questions on which the target raised": asked.raised},
            warnings=data.warnings,
        )


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
