"""What to measure so that the marginals that are wanted come out best: decided from public shapes alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from discreet.core.bound import Norm
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.question import BoundedSum
from discreet.questions.tables.domain import Domain
from discreet.questions.tables.measurements import MOST_NUMBERS, Measurements
from discreet.questions.tables.residuals import AxisSet, Measurement, Shape, cell_shares, cells, closure, subsets
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import Spread
from discreet.trust.private_data import PrivateData

MOST_PARTS = 2**18  # marginals and their residuals, in pairs
NORMS: tuple[Norm, ...] = ("l1", "l2")

Ways = Mapping[Norm, Mapping[str, Measurements]]
"""Named ways to measure, by the norm of what a record adds to them."""


@dataclass(frozen=True)
class Targets:
    """The marginals that are wanted, and how the errors of residuals add up to theirs. All of it public.

    Parameters
    ----------
    shape : tuple of int
        The number of cells of each axis.
    wanted : tuple of sets of axes
        The marginals.
    spaces : tuple of sets of axes
        The residuals that they are made of.
    shares : sparse matrix of shape (wanted, spaces)
        How much the variance of a residual counts in that of a cell of a marginal.
    """

    shape: Shape
    wanted: tuple[AxisSet, ...]
    spaces: tuple[AxisSet, ...]
    shares: Any

    @classmethod
    def of(cls, shape: Shape, wanted: Sequence[AxisSet]) -> Targets:
        """Those of these marginals."""
        if sum(2 ** len(axes) for axes in wanted) > MOST_PARTS:
            raise ParameterError("marginals", "they are made of too many parts", "Ask for fewer, of fewer columns.")
        spaces = closure(wanted, shape)
        places = {space: place for place, space in enumerate(spaces)}
        entries = [
            (row, places[part], share)
            for row, axes in enumerate(wanted)
            for part, share in cell_shares(axes, shape).items()
        ]
        rows, columns, values = zip(*entries, strict=True)
        return cls(
            shape, tuple(wanted), tuple(spaces), csr_array((values, (rows, columns)), (len(wanted), len(spaces)))
        )

    def variances(self, measurements: Measurements) -> Array:
        """The variance of a cell of each marginal, for noise of deviation one; infinite where nothing shows it."""
        known = measurements.variances()
        return np.asarray(self.shares @ np.array([known[space] for space in self.spaces]))

    def weighted(self, measurements: Sequence[Measurement], norm: Norm) -> Measurements:
        """These measurements, with weights that make the mean variance of the marginals small."""
        if len(measurements) == 1:
            return Measurements.even(self.shape, measurements, norm, self.spaces)
        importance = np.asarray(self.shares.mean(axis=0)).ravel().tolist()
        return Measurements.weighted(self.shape, measurements, norm, dict(zip(self.spaces, importance, strict=True)))


def candidates(targets: Targets, norm: Norm) -> dict[str, list[Measurement]]:
    """Ways to measure marginals.

    "table": the table of all their columns, where it is not too large, to be summed up. "marginals": each by itself.
    "contrasts": each residual by itself. In l2 a marginal is just as long as its residuals together, so that contrasts
    can do whatever marginals can (Xiao, He, Zhang and Kifer 2023). "parities": contrasts along axes of two cells, for
    which they are short in l1 as well (Barak et al. 2007), and whole marginals along the others.
    """
    shape, wanted = targets.shape, targets.wanted
    two = frozenset(axis for axis, size in enumerate(shape) if size == 2)
    everything = frozenset().union(*wanted)
    ways = {
        "marginals": [Measurement(axes) for axes in dict.fromkeys(wanted)],
        "parities": list(
            dict.fromkeys(Measurement(axes - two, part) for axes in wanted for part in subsets(axes & two))
        ),
    }
    if norm == "l2":
        ways["contrasts"] = [Measurement(contrasts=part) for part in targets.spaces]
    if cells(shape, everything) <= MOST_NUMBERS:
        ways["table"] = [Measurement(everything)]
    return {
        name: measurements
        for name, measurements in ways.items()
        if Measurements.even(shape, measurements, norm).total_size <= MOST_NUMBERS
    }


def ways_of(targets: Targets) -> Ways:
    """The ways to measure, each with the weights that are best for the mean variance."""
    return _ways(targets.shape, targets.wanted)


@lru_cache(maxsize=64)
def _ways(shape: Shape, wanted: tuple[AxisSet, ...]) -> Ways:
    targets = Targets.of(shape, wanted)
    return {
        norm: {name: targets.weighted(members, norm) for name, members in candidates(targets, norm).items()}
        for norm in NORMS
    }


@dataclass(frozen=True)
class Strategy:
    """What is measured, how it is asked, and how far its noise spreads. All of it public."""

    name: str
    measurements: Measurements
    question: BoundedSum
    spread: Spread

    @classmethod
    def best(
        cls,
        data: PrivateData,
        domain: Domain,
        targets: Targets,
        budget: Budget,
        ways: Ways,
        error: Callable[[Array], float],
    ) -> Strategy:
        """The strategy that minimises this error of the marginals' variances, under this trust model and budget."""
        found = [
            cls._of(name, measurements, data, domain, budget)
            for named in ways.values()
            for name, measurements in named.items()
        ]
        if not found:
            obstacle = f"they have more than {MOST_NUMBERS} cells together"
            remedy = "Ask for fewer marginals, of fewer columns or bins."
            raise ParameterError(f"marginals of {', '.join(domain.columns)}", obstacle, remedy)
        return min(found, key=lambda one: one.spread.stddev**2 * float(error(targets.variances(one.measurements))))

    @classmethod
    def _of(cls, name: str, measurements: Measurements, data: PrivateData, domain: Domain, budget: Budget) -> Strategy:
        question = measurements.question(data.schema, domain)
        return cls(name, measurements, question, least_noise(data, question, budget))
