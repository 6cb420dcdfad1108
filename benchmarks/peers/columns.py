"""The columns that statistics are compared on, and what is asked of them: the same for everybody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

Relation = Literal["add_remove", "replace"]
Draw = Callable[[np.random.Generator, int], np.ndarray]


@dataclass(frozen=True)
class Column:
    """Values, and the bounds that somebody would give who has not seen them."""

    lower: float
    upper: float
    draw: Draw

    @property
    def bounds(self) -> tuple[float, float]:
        return self.lower, self.upper

    def values(self, size: int) -> np.ndarray:
        """The same values in every process."""
        return self.draw(np.random.default_rng(size), size)


COLUMNS = {
    "normal": Column(0.0, 100.0, lambda rng, size: rng.normal(40, 12, size)),
    "skewed": Column(0.0, 200.0, lambda rng, size: rng.lognormal(3.5, 0.5, size)),
    "heavy-tailed": Column(-100.0, 100.0, lambda rng, size: 10 * rng.standard_t(3, size)),
}
SIZES = (1000, 100_000)
EPSILONS = (0.1, 0.3, 1.0, 3.0)
MILLION, TIMED, TIMED_EPSILON = 1_000_000, "normal", 1.0
BINS, STEPS = 10, 1000  # cells of a histogram; and of quantiles on a grid, where they are chosen among candidates
SHARES: dict[str, tuple[float, ...]] = {
    "median": (0.5,),
    "quantile 0.25": (0.25,),
    "quantile 0.75": (0.75,),
    "quantile 0.9": (0.9,),
    "deciles": tuple(tenth / 10 for tenth in range(1, 10)),
}
SINGLE = tuple(name for name, shares in SHARES.items() if len(shares) == 1)


@dataclass(frozen=True)
class Offer:
    """A statistic under a relation; quantiles may be on a grid of `STEPS` steps."""

    statistic: str
    relation: Relation
    on_grid: bool = False


@dataclass(frozen=True)
class ColumnQuestion:
    """What is asked of a column, at a price."""

    statistic: str
    relation: Relation
    on_grid: bool
    column: str
    size: int
    epsilon: float

    @property
    def of(self) -> Column:
        return COLUMNS[self.column]

    @property
    def shares(self) -> tuple[float, ...]:
        return SHARES[self.statistic]

    @property
    def values(self) -> np.ndarray:
        return self.of.values(self.size)

    def exact(self) -> np.ndarray:
        """What there is to be found, once values are moved inside the bounds."""
        values = np.clip(self.values, *self.of.bounds)
        match self.statistic:
            case "mean":
                return np.array([values.mean()])
            case "variance":
                return np.array([values.var()])
            case "histogram" | "nonnegative histogram":
                return np.histogram(values, BINS, self.of.bounds)[0]
            case _:
                return np.quantile(values, self.shares)


OFFERS: dict[str, tuple[Offer, ...]] = {
    "diffprivlib": (
        Offer("mean", "replace"),
        Offer("variance", "replace"),
        *(Offer(name, "replace") for name in SHARES),
        Offer("nonnegative histogram", "add_remove"),
    ),
    "opendp": (
        Offer("mean", "replace"),
        Offer("mean", "add_remove"),
        Offer("variance", "replace"),
        *(Offer(name, "replace", on_grid=name in SINGLE) for name in SHARES),
        *(Offer(name, "add_remove", on_grid=name in SINGLE) for name in SHARES),
        Offer("histogram", "replace"),
        Offer("histogram", "add_remove"),
    ),
}
OFFERS["discreet"] = tuple(dict.fromkeys(offer for offers in OFFERS.values() for offer in offers))


def cells(who: str) -> list[ColumnQuestion]:
    """All that somebody is asked."""
    everywhere = list(product(COLUMNS, SIZES, EPSILONS))
    return [
        ColumnQuestion(offer.statistic, offer.relation, offer.on_grid, *where)
        for where in everywhere
        for offer in OFFERS[who]
    ]


def timed_cells(who: str) -> list[ColumnQuestion]:
    """What the clock is held to."""
    return [
        ColumnQuestion(offer.statistic, offer.relation, offer.on_grid, TIMED, MILLION, TIMED_EPSILON)
        for offer in OFFERS[who]
    ]
