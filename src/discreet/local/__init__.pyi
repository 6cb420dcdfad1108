from .aggregator import Aggregator as Aggregator
from .frequencies import Frequencies as Frequencies
from .frequency_oracle import frequency_oracle as frequency_oracle
from .oracles.count_mean_sketch import CountMeanSketch as CountMeanSketch
from .oracles.count_mean_sketch import HadamardSketch as HadamardSketch
from .oracles.hadamard_response import HadamardResponse as HadamardResponse
from .oracles.local_hashing import LocalHashing as LocalHashing
from .oracles.projective_geometry import ProjectiveGeometry as ProjectiveGeometry
from .oracles.randomized_response import KaryResponse as KaryResponse
from .oracles.subset_selection import SubsetSelection as SubsetSelection
from .oracles.unary_encoding import OptimizedUnary as OptimizedUnary
from .oracles.unary_encoding import SymmetricUnary as SymmetricUnary
from .randomizer import Randomizer as Randomizer
from .rappor.association import StringReports as StringReports
from .rappor.association import association as association
from .rappor.client import RapporClient as RapporClient
from .rappor.decoded_strings import DecodedStrings as DecodedStrings
from .rappor.dictionary import UnknownStrings as UnknownStrings
from .rappor.memo_file import MemoFile as MemoFile
from .rappor.permanent import SecretMemo as SecretMemo
from .rappor.rappor import Rappor as Rappor
from .rappor.reports_loss import ReportsLoss as ReportsLoss

__all__: list[str]
