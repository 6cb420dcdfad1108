from .perturbation.add_noise import NoisyTable as NoisyTable
from .perturbation.add_noise import add_correlated_noise as add_correlated_noise
from .perturbation.add_noise import add_noise as add_noise
from .perturbation.add_noise import multiply_noise as multiply_noise
from .perturbation.microaggregate import microaggregate as microaggregate
from .perturbation.noise_distribution import ReconstructedDistribution as ReconstructedDistribution
from .perturbation.noise_distribution import reconstruct_distribution as reconstruct_distribution
from .perturbation.pram import RandomizedTable as RandomizedTable
from .perturbation.pram import invariant_pram as invariant_pram
from .perturbation.pram import pram as pram
from .perturbation.pram import pram_counts as pram_counts
from .perturbation.projected_table import MixedTable as MixedTable
from .perturbation.projected_table import ProjectedTable as ProjectedTable
from .perturbation.projections import project_columns as project_columns
from .perturbation.projections import project_rows as project_rows
from .perturbation.projections import rotate as rotate
from .perturbation.swaps import swap_places as swap_places
from .perturbation.swaps import swap_ranks as swap_ranks
from .published_table import PublishedTable as PublishedTable
from .synthetic.synthesize import synthesize as synthesize
from .synthetic.synthetic_table import SyntheticTable as SyntheticTable

__all__: list[str]
