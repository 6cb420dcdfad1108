from .abadi import AbadiPlan as AbadiPlan
from .abadi import abadi_network as abadi_network
from .bands import Bands as Bands
from .check import Checked as Checked
from .check import check as check
from .clip_quantile import ClipQuantile as ClipQuantile
from .clipped_sum import ClippedSum as ClippedSum
from .clipped_sum import clipped_sum as clipped_sum
from .dirac_canaries import DiracCanaries as DiracCanaries
from .large_batch import LargeBatch as LargeBatch
from .large_batch import StandardizedConv2d as StandardizedConv2d
from .large_batch import wide_residual_network as wide_residual_network
from .moments_accountant import moments_epsilon as moments_epsilon
from .private_mlp_classifier import PrivateMLPClassifier as PrivateMLPClassifier
from .private_mlp_regressor import PrivateMLPRegressor as PrivateMLPRegressor
from .private_tensors import PrivateTensors as PrivateTensors
from .public_features import PublicFeatures as PublicFeatures
from .scattering import Scattering as Scattering
from .trainer import Step as Step
from .trainer import Trainer as Trainer
from .training_plan import TrainingPlan as TrainingPlan
from .truncation import Truncation as Truncation
from .views import Views as Views

__all__: list[str]
