from .bandits.bernoulli_curator import BernoulliCurator as BernoulliCurator
from .bandits.environments import AdversarialArms as AdversarialArms
from .bandits.environments import BernoulliArms as BernoulliArms
from .bandits.environments import BoundedArms as BoundedArms
from .bandits.environments import GaussianArms as GaussianArms
from .bandits.episode_sums import EpisodeSums as EpisodeSums
from .bandits.exp3 import Exp3 as Exp3
from .bandits.kl_ucb import KLUCB as KLUCB
from .bandits.laplace_curator import LaplaceCurator as LaplaceCurator
from .bandits.laplace_ucb import LaplaceUCB as LaplaceUCB
from .bandits.lazy_kl_ucb import LazyKLUCB as LazyKLUCB
from .bandits.regret import local_lower_bound as local_lower_bound
from .bandits.regret import plot_lower_bound as plot_lower_bound
from .bandits.reward_map import Clipped as Clipped
from .bandits.reward_map import Sigmoid as Sigmoid
from .bandits.running_sums import RunningSums as RunningSums
from .bandits.simulation import simulate as simulate
from .bandits.successive_elimination import SuccessiveElimination as SuccessiveElimination
from .bandits.thompson import ThompsonSampling as ThompsonSampling
from .bandits.tree_ucb import TreeUCB as TreeUCB
from .bandits.ucb1 import UCB1 as UCB1
from .counters.tree_counter import TreeCounter as TreeCounter

__all__: list[str]
