"""Membership from labels alone: whether the model is right, and stays right when the row is disturbed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.attacks.attack import ThreatModel
from discreet.attacks.material import Material, ModelMaterial, Prepared, Unfit
from discreet.attacks.membership.membership_data import MembershipData, Values
from discreet.attacks.membership.model_target import ModelTarget
from discreet.attacks.membership.threshold_attack import ScoredByRow
from discreet.core.checks import check_positive, check_seed, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array


@dataclass(frozen=True)
class LabelOnly(ScoredByRow):
    """Call those records members which the model labels rightly, also under noise.

    Parameters
    ----------
    data : MembershipData
        Members and others; features are numbers.
    draws : int
        Disturbed copies of each row at each scale; 0 for correctness alone.
    scales : tuple of float
        The noise, in standard deviations of each column.
    random_state : int
        For the noise, which is the same for every target.

    Notes
    -----
    The share of right labels among noisy copies stands for the distance to the decision boundary (Choquette-Choo,
    Tramer, Carlini and Papernot 2021; not checked against the paper). A wrong label of the row itself is below every
    right one.

    Examples
    --------
    >>> data = MembershipData.of([[0.9], [0.8]], [1, 1], [[0.2], [0.1]], [1, 1], level=0.5)
    >>> LabelOnly(data, draws=0).run(lambda rows: (rows[:, 0] > 0.5) * 1).success
    1.0
    """

    data: MembershipData
    draws: int = 10
    scales: tuple[float, ...] = (0.1, 0.3, 1.0)
    random_state: int = 0
    paper: ClassVar[str] = "Choquette-Choo, Tramer, Carlini and Papernot 2021, Label-only membership inference attacks"
    threat: ClassVar[ThreatModel] = ThreatModel("labels", "records with their labels", "each record, disturbed")
    remedy: ClassVar[str] = (
        "Labels alone give members away: hiding probabilities, or rounding them, does not help. Train with differential"
        " privacy."
    )

    def __post_init__(self) -> None:
        check_whole("LabelOnly", "draws", self.draws, 0)
        check_seed("LabelOnly", self.random_state)
        for scale in self.scales:
            check_positive("LabelOnly", "a scale", scale)
        if self.draws and self.data.members_X.dtype.kind not in "fiub":
            obstacle = f"features of type {self.data.members_X.dtype} cannot be disturbed by noise"
            raise ParameterError("LabelOnly", obstacle, "Give numbers, or draws=0 for correctness alone.")

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For every model; of rows that are no numbers none is disturbed."""
        if not isinstance(material, ModelMaterial):
            return None
        numbers = all(X.dtype.kind in "fiub" for X in (material.data.members_X, material.data.others_X))
        return Prepared(cls(material.data, draws=10 if numbers else 0), material.model)

    def scores(self, target: ModelTarget, X: Values, y: Values) -> Array:
        """One for a right label, plus half the share of right labels under noise."""
        right = target.right(X, y)
        if not self.draws or not self.scales:
            return right
        rng = np.random.default_rng(self.random_state)
        spread = np.nanstd(X.astype(np.float64), axis=0)
        stays = np.zeros(len(X))
        for scale in self.scales:
            for _ in range(self.draws):
                stays += target.right(X + scale * spread * rng.normal(size=X.shape), y)
        return np.asarray(right + stays / (len(self.scales) * self.draws) / 2)
