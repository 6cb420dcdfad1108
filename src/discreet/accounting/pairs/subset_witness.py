"""A release whose samples of fixed size cost nearly what the theorem allows: the bound from below for `SubsetPair`.

Let (P, Q) be the Gaussian pair with loss l, and s > 0. Three kinds of records a, b and c give three laws on the places
U and V, each a copy of {l > s}, and on one place W more:

            on U            on V            on W
    A       P               Q               the rest, 1 - P(l > s) - Q(l > s)
    B       Q               P               the same
    C       Q               Q               1 - 2 Q(l > s)

The release follows A if the sample has the record a, B if it has b, and C otherwise. Each two of the laws keep the
Gaussian promise: A against B or C is P against Q on U, and no more likely elsewhere. C against A has the profile
C(W) - t A(W) at t = e^eps; the Gaussian one, H(t), is convex, and so above it for all t >= 1 if it is where H' = -A(W).
The least s for which that holds is sought. The other pairs are these with a and b exchanged.

A sample of fixed size of {a, c, ..., c} holds a with probability q, so its release follows (1 - q) C + q A, against
(1 - q) C + q B for {b, c, ..., c}. That is the pair of the theorem (Zhu, Dong and Wang 2022, Theorem 11) with all
losses of |l| <= s moved to 0, for all epsilons at once, and so it composes.
"""

from __future__ import annotations

import math
from functools import lru_cache

from scipy.special import ndtr, ndtri

from discreet.accounting.pairs.pairs import GaussianPair
from discreet.accounting.pairs.sampled_pairs import SubsetPair
from discreet.accounting.search import Ends, grown, narrowed

SAFE = 1e-12  # more than rounding
LOUDEST = 2.0**10  # times the usual: beyond, all losses are moved to 0, and nothing is witnessed


def subset_witness(multiplier: float, rate: float) -> SubsetPair:
    """The pair of samples of fixed size of a release that keeps the Gaussian promise.

    Examples
    --------
    >>> round(subset_witness(1.0, 0.1).quiet, 3)
    0.303
    """
    return SubsetPair(GaussianPair(multiplier), rate, quiet=_least_quiet(multiplier))


@lru_cache(maxsize=256)
def _least_quiet(multiplier: float) -> float:
    def fits(quiet: float) -> bool:
        return keeps_promise(multiplier, quiet)

    likely = 0.5 / multiplier**2 + 1 / multiplier
    ends = grown(fits, 0.0, likely, LOUDEST * likely)
    if ends is None:
        return math.inf
    return narrowed(fits, Ends(0.0, ends.high), lambda ends: ends.high - ends.low <= 1e-6 * ends.high).high


def keeps_promise(multiplier: float, quiet: float) -> bool:
    """Whether C against A is within the Gaussian profile where it comes nearest."""
    shift = 0.5 / multiplier
    p, q = float(ndtr(shift - quiet * multiplier)), float(ndtr(-shift - quiet * multiplier))
    common, apart = 1 - p - q, 1 - 2 * q
    if common <= 0:
        return False
    nearest = max(0.0, (-float(ndtri(common)) - shift) / multiplier)
    profile = float(ndtr(shift - nearest * multiplier)) - math.exp(nearest) * float(ndtr(-shift - nearest * multiplier))
    return apart - math.exp(nearest) * common <= profile - SAFE
