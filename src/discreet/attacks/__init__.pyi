from .answers.averaging import Averaging as Averaging
from .answers.averaging import Rephrasing as Rephrasing
from .answers.count_reconstruction import CountReconstruction as CountReconstruction
from .answers.differencing import Differencing as Differencing
from .answers.intersection import Intersection as Intersection
from .answers.linear_reconstruction import LinearReconstruction as LinearReconstruction
from .attack import Attack as Attack
from .attack import ThreatModel as ThreatModel
from .attack_result import AttackResult as AttackResult
from .linkage.fellegi_sunter import FellegiSunter as FellegiSunter
from .linkage.linkability import Linkability as Linkability
from .linkage.quasi_identifiers import QuasiIdentifiers as QuasiIdentifiers
from .linkage.ratings import Ratings as Ratings
from .linkage.scoreboard import Scoreboard as Scoreboard
from .linkage.scoreboard import ScoreboardRH as ScoreboardRH
from .linkage.singling_out import SinglingOut as SinglingOut
from .membership.label_only import LabelOnly as LabelOnly
from .membership.membership_data import MembershipData as MembershipData
from .membership.model_target import ModelTarget as ModelTarget
from .membership.threshold_attack import ThresholdAttack as ThresholdAttack
from .membership_scores import MembershipScores as MembershipScores
from .perturbed.additive_noise import BayesEstimate as BayesEstimate
from .perturbed.additive_noise import SpectralFilter as SpectralFilter
from .perturbed.independent_components import IndependentComponents as IndependentComponents
from .perturbed.known_samples import KnownSamples as KnownSamples
from .perturbed.swaps_undone import SwapsUndone as SwapsUndone

__all__: list[str]
