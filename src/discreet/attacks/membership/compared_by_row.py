"""Attacks that compare the target with models that were trained as it was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.attacks.attack import ThreatModel
from discreet.attacks.material import Material, ModelMaterial, Prepared, Unfit
from discreet.attacks.membership.membership_data import MembershipData
from discreet.attacks.membership.references import References
from discreet.attacks.membership.threshold_attack import ScoredByRow


@dataclass(frozen=True)
class ComparedByRow(ScoredByRow):
    """An attack that gives each record a score by asking the target and models like it, on random halves."""

    data: MembershipData
    references: References
    paper: ClassVar[str]
    threat: ClassVar[ThreatModel] = ThreatModel(
        "probabilities",
        "records with their labels, others like them, and how the target was trained",
        "each record once",
    )

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For every model with probabilities that can be trained again."""
        return material.compared(cls) if isinstance(material, ModelMaterial) else None
