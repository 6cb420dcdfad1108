"""The choice of an oracle, with its reasons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from discreet.core.errors import ParameterError
from discreet.display.notebook import carded
from discreet.display.plain import plain
from discreet.local.oracle import Domain, Oracle
from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
from discreet.local.oracles.hadamard_response import HadamardResponse
from discreet.local.oracles.local_hashing import LocalHashing
from discreet.local.oracles.projective_geometry import ProjectiveGeometry
from discreet.local.oracles.sketch import CountMeanSketch, HadamardSketch
from discreet.local.oracles.subset_selection import SubsetSelection
from discreet.local.oracles.unary_encoding import OptimizedUnary, SymmetricUnary
from discreet.local.randomizer import HEADER
from discreet.releases.columns import Columns, Series

KINDS: tuple[type[Oracle], ...] = (  # the first is preferred where variances are alike
    GeneralizedRandomizedResponse,
    ProjectiveGeometry,
    HadamardResponse,
    SubsetSelection,
    OptimizedUnary,
    SymmetricUnary,
    LocalHashing,
    CountMeanSketch,
    HadamardSketch,
)
SHORT = 8  # bytes of a report, at most
ALIKE = 1.02  # variances


@dataclass(frozen=True)
class OracleChoice:
    """The oracle that was chosen for a domain and an epsilon, beside all others.

    Parameters
    ----------
    oracle : Oracle
        The one that was chosen.
    others : tuple of Oracle
        All that could have been, the chosen one among them.
    """

    oracle: Oracle
    others: tuple[Oracle, ...]

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        return (
            f"{type(self.oracle).__name__} for {self.oracle.size} values at epsilon {self.oracle.epsilon:g}: it has "
            f"the least variance, up to {ALIKE - 1:.0%}, of the oracles whose reports have at most {SHORT} bytes."
        )

    def tabulated(self) -> Columns:
        """For each oracle, the standard error of a rare value among 100,000 people, and the bytes of a message."""
        errors = np.array([np.sqrt(one.noise / 100_000) for one in self.others])
        sizes = np.array([float(HEADER.size + one.form.itemsize) for one in self.others])
        names = [type(one).__name__ + (" (chosen)" if one == self.oracle else "") for one in self.others]
        return Columns({"oracle": names}, (Series("standard error at n = 100,000", errors), Series("bytes", sizes)))

    def __str__(self) -> str:
        return f"{plain(self.reason)}\n{self.tabulated().text()}"

    def _repr_html_(self) -> str:
        return carded(self.tabulated().html(self.reason))


def frequency_oracle(domain: Domain | Iterable[str], epsilon: float = 1.0) -> OracleChoice:
    """Choose the oracle for a domain and an epsilon.

    Parameters
    ----------
    domain : int or iterable of str
        Public. The values: a number d for the integers from 0 to d - 1, or labels.
    epsilon : float
        Public. What one report may cost.

    Returns
    -------
    OracleChoice
        Its `oracle`, and a table of variances and bytes when it is printed.

    Examples
    --------
    >>> choice = frequency_oracle(10_000, epsilon=1.0)
    >>> choice.oracle
    ProjectiveGeometry(epsilon=1.0, domain=10000)
    >>> frequency_oracle(["yes", "no", "unsure"], epsilon=1.0).oracle.kind
    'grr'
    """
    if isinstance(domain, str):
        obstacle = f"its values are the one text {domain!r:.40}, which would be taken apart letter by letter"
        raise ParameterError("frequency oracle", obstacle, "List the values, or give their number.")
    values: Domain = domain if isinstance(domain, int) else tuple(domain)
    oracles = tuple(kind(epsilon, values) for kind in KINDS)
    short = [oracle for oracle in oracles if oracle.form.itemsize <= SHORT]
    least = min(oracle.noise for oracle in short)
    return OracleChoice(next(oracle for oracle in short if oracle.noise <= ALIKE * least), oracles)
