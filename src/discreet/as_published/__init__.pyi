from .dp_em import DPEM as DPEM
from .dp_lusn import dp_lusn as dp_lusn
from .fair_lagrangian_dual import fair_lagrangian_dual as fair_lagrangian_dual
from .four_gaussians import FourGaussianUser as FourGaussianUser
from .published_nb import PublishedNB as PublishedNB
from .published_prices import moments_epsilon as moments_epsilon
from .published_prices import published_epsilon as published_epsilon
from .published_prices import published_pad as published_pad

__all__: list[str]
