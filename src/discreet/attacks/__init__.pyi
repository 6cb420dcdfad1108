from .answers.differencing import Differencing as Differencing
from .answers.linear_reconstruction import LinearReconstruction as LinearReconstruction
from .attack import Attack as Attack
from .attack import ThreatModel as ThreatModel
from .attack_result import AttackResult as AttackResult
from .linkage.ratings import Ratings as Ratings
from .linkage.scoreboard import Scoreboard as Scoreboard
from .linkage.scoreboard import ScoreboardRH as ScoreboardRH
from .membership.label_only import LabelOnly as LabelOnly
from .membership.lira import LiRA as LiRA
from .membership.membership_data import MembershipData as MembershipData
from .membership.model_target import ModelTarget as ModelTarget
from .membership.published_means import MeansDistance as MeansDistance
from .membership.published_means import MeansLikelihoodRatio as MeansLikelihoodRatio
from .membership.references import References as References
from .membership.rmia import RMIA as RMIA
from .membership.shadow_models import ShadowModels as ShadowModels
from .membership.small_networks import SmallNetworks as SmallNetworks
from .membership.table_membership import DensityRatio as DensityRatio
from .membership.table_membership import NearestDistance as NearestDistance
from .membership.threshold_attack import ThresholdAttack as ThresholdAttack
from .membership_scores import MembershipScores as MembershipScores
from .perturbed.independent_components import IndependentComponents as IndependentComponents

__all__: list[str]
