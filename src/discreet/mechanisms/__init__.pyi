from .additive.bounded_noise import BoundedNoise as BoundedNoise
from .additive.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
from .additive.discrete_laplace import DiscreteLaplace as DiscreteLaplace
from .additive.gaussian import Gaussian as Gaussian
from .additive.laplace import Laplace as Laplace
from .additive.snapping import Snapping as Snapping
from .additive.staircase import Staircase as Staircase
from .graphs.smooth_graph_count import SmoothGraphCount as SmoothGraphCount
from .graphs.subgraphs import KStars as KStars
from .graphs.subgraphs import Triangles as Triangles
from .graphs.subgraphs import TruncatedTriangles as TruncatedTriangles
from .learning.objective_perturbation import ObjectivePerturbation as ObjectivePerturbation
from .learning.output_perturbation import OutputPerturbation as OutputPerturbation
from .online.online_sparse_vector import OnlineSparseVector as OnlineSparseVector
from .online.online_sparse_vector import SparseVector as SparseVector
from .selection.exponential import Exponential as Exponential
from .selection.key_selection import KeySelection as KeySelection
from .selection.noisy_max import NoisyMax as NoisyMax
from .selection.permute_and_flip import PermuteAndFlip as PermuteAndFlip
from .selection.randomized_response import RandomizedResponse as RandomizedResponse
from .selection.top_k import TopK as TopK
from .stable.propose_test_release import ProposeTestRelease as ProposeTestRelease
from .vectors.bingham import Bingham as Bingham
from .vectors.johnson_lindenstrauss import JohnsonLindenstrauss as JohnsonLindenstrauss
from .vectors.sphere_report import SphereReport as SphereReport
from .vectors.spherical_laplace import SphericalLaplace as SphericalLaplace

__all__: list[str]
