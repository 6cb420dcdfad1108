from .aggregator import Aggregator as Aggregator
from .frequencies import Frequencies as Frequencies
from .oracles.randomized_response import KaryResponse as KaryResponse
from .randomizer import Randomizer as Randomizer

__all__: list[str]
