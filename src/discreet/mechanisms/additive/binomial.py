"""Binomial noise: sums of fair coins, which parties can toss together without trusting one another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_whole
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import DiscreteLoss, Event
from discreet.core.grid import Array, Grid, Steps
from discreet.core.loss_cells import LossCells
from discreet.core.mechanism import NoiseContext
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.mechanisms.additive.error_law import BinomialError, ErrorLaw
from discreet.noise.coin_sums import MOST, coin_sums

CELLS = 2**9  # of loss, on either side of 0
FARTHEST = 20.0  # the greatest loss of the table is that many moves, over the root of the number of coins
LONGEST_MOVE = 64
WINDOW = 6.0  # roots of the number of coins, on either side of its half: twelve standard deviations
NEVER = 2.0**-90  # more than the chance of heads outside the window, by Hoeffding's inequality: 2 exp(-72)


@dataclass(frozen=True)
class Binomial(Additive):
    """Add to every coordinate of a count the number of heads among fair coins, minus half of the coins.

    The sum of so many values of -1 and 1 would always have the parity of their number, and with it show the parity of a
    count: coins here are 0 or 1, and their number is even.

    Parameters
    ----------
    multiplier : float
        Public. Noise standard deviation in units of the l1 sensitivity. There are 4 (multiplier moves)^2 coins, and at
        most one more than that, to an even number.
    moves : int
        Public. The l1 sensitivity that the price is for, in grid steps: 1 for counts of records that come or go.
        An answer that one unit moves farther is refused.

    Guarantee
    ---------
    The tabulated loss of one coordinate that moves by `moves` steps, exact at the ends of its cells. It dominates that
    of every vector whose steps add up to `moves` (`binomial.md`). Binomial noise for privacy is that of Dwork,
    Kenthapadi, McSherry, Mironov and Naor 2006; exact sums ask for many fewer coins than their bound does.

    Examples
    --------
    >>> Binomial.of_coins(80).stddev(Bound("l1", 1.0, nonnegative=True), 1, Neighbors.ADD_REMOVE) == math.sqrt(20)
    True
    """

    multiplier: float = 4.5
    moves: int = 1
    norm: ClassVar[Norm] = "l1"
    law: ClassVar[ErrorLaw] = BinomialError()
    deviation: ClassVar[float] = 1.0
    step: ClassVar[float] = 1.0
    tossed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("Binomial", "moves", self.moves, 1, LONGEST_MOVE)
        if self.coins > MOST:
            obstacle = f"it would take {self.coins} coins for each number, and {MOST} are the most"
            raise ParameterError("Binomial", obstacle, "Use Gaussian noise, or less of it.", coins=self.coins)

    @classmethod
    def of_coins(cls, coins: int, moves: int = 1) -> Binomial:
        """The noise of this even number of coins."""
        check_whole("Binomial", "coins", coins, 2, MOST)
        found = cls(math.sqrt(coins) / (2 * moves) * (1 - 2.0**-50), moves)
        if found.coins != coins:
            raise ParameterError("Binomial", f"there are {coins} coins", "Give an even number.", coins=coins)
        return found

    @property
    def coins(self) -> int:
        """How many coins are tossed for each number."""
        return max(2, 2 * math.ceil(2 * (self.multiplier * self.moves) ** 2))

    @property
    def event(self) -> DiscreteLoss:
        """The price of one release."""
        return loss_of(self.coins, int(self.moves))

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return coin_sums(bits, shape, self.coins)

    def release(self, answer: Answer, bits: Bits) -> Array:
        check_counted(answer, int(self.moves))
        return super().release(answer, bits)

    def share(self, honest: int) -> BinomialShare:
        return BinomialShare(self.coins, int(self.moves), honest)

    @classmethod
    def suits(cls, asked: NoiseContext) -> bool:
        """For counts."""
        return asked.whole

    def stddev(self, bound: Bound, size: int, neighbors: Neighbors, grid: Grid | None = None) -> float:
        """The standard deviation of the noise on each coordinate; steps are whole numbers where no grid is given.

        A sum that one unit moves farther than was paid for is refused here already, before anything is charged.
        """
        step = 1.0 if grid is None else grid.step
        check_moved(bound.sensitivity("l1", size, neighbors) / step, int(self.moves), "Nothing was released or spent.")
        return math.sqrt(self.coins) / 2 * step

    def worst_neighbors(self) -> NeighborPair:
        """A count that moves by all of its steps."""
        bound = Bound("l1", float(self.moves), nonnegative=True)
        return NeighborPair(whole_numbers([0], bound), whole_numbers([int(self.moves)], bound))


@dataclass(frozen=True)
class BinomialShare:
    """The coins of one of several parties: those of `honest` of them are as many as were paid for, or more.

    Parameters
    ----------
    total : int
        Public. How many coins nobody may know, for each number.
    moves : int
        Public. See `Binomial`.
    honest : int
        Public. The fewest parties whose coins are surely in the sum and unknown to everybody else.

    Guarantee
    ---------
    `event`, whatever other parties add: more coins are post-processing of fewer (`binomial.md`).

    Examples
    --------
    >>> BinomialShare(80, 1, honest=7).coins
    12
    """

    total: int
    moves: int
    honest: int
    promises: ClassVar[type[DiscreteLoss]] = DiscreteLoss

    def __post_init__(self) -> None:
        check_whole("share of noise", "honest", self.honest)

    @classmethod
    def of(cls, event: Event, honest: int) -> BinomialShare:
        """The shares that keep this promise, if binomial noise has made it: the step of its table gives the coins."""
        assert isinstance(event, DiscreteLoss)
        for moves in range(1, LONGEST_MOVE + 1):
            total = round((FARTHEST * moves / (CELLS * event.step)) ** 2)
            if 2 <= total <= MOST and total % 2 == 0 and loss_of(total, moves) == event:
                return cls(total, moves, honest)
        obstacle = "this tabulated loss is not that of binomial noise"
        raise NotPermitted("share of noise", obstacle, "Ask with binomial, Laplace or Gaussian noise.")

    @property
    def event(self) -> DiscreteLoss:
        return loss_of(self.total, self.moves)

    @property
    def coins(self) -> int:
        """How many coins each party tosses for each number: an even number."""
        return 2 * -(-self.total // (2 * self.honest))

    @property
    def excess(self) -> float:
        """By how much the honest coins are more than were paid for, since each party tosses as many: a factor."""
        return self.coins * self.honest / self.total

    def masked(self, answer: Answer, bits: Bits) -> Steps:
        own = self.prepared(answer)
        return own.steps + self.drawn(own, bits)

    def drawn(self, prepared: Answer, bits: Bits) -> Steps:
        return coin_sums(bits, prepared.steps.shape, self.coins)

    def farthest(self, prepared: Answer, chance: float) -> int:
        return self.coins // 2

    def prepared(self, answer: Answer) -> Answer:
        check_counted(answer, self.moves)
        return answer

    def reach(self, prepared: Answer, parties: int) -> int:
        """As far as all coins of all parties go: never farther."""
        return parties * self.coins // 2

    def own_scale(self, prepared: Answer) -> float:
        """The standard deviation of this party's coins, in grid steps."""
        return math.sqrt(self.coins) / 2


def check_counted(answer: Answer, moves: int) -> None:
    """Refuse an answer that one unit moves by more steps than are paid for."""
    check_moved(answer.sensitivity("l1") / answer.grid.step, moves, "Nothing was released.")


def check_moved(moved: float, moves: int, consequence: str) -> None:
    """Refuse to move a sum by more steps than are paid for.

    A sum in whole steps moves by a whole number of them: by the floor of any bound, in which long tables have some more
    for rounding.
    """
    if math.floor(moved) > moves:
        raise ParameterError(
            "Binomial",
            f"one unit moves the answer by up to {moved:.6g} grid steps, and {moves} are paid for",
            "Ask counts, of units that come or go; or use Laplace or Gaussian noise.",
            consequence,
            moved=moved,
        )


@lru_cache(maxsize=256)
def loss_of(coins: int, moves: int) -> DiscreteLoss:
    """The loss of a sum of coins that moves by so many steps, as a table that dominates it.

    With j heads of n coins, and j + moves as it would be without the unit, the loss is the logarithm of
    C(n, j) / C(n, j + moves), which grows with j; the last `moves` values of j have no counterpart. The coins are
    symmetric, so both directions have one table.
    """
    logs = _log_chances(coins, moves)
    losses, step = logs[:-moves] - logs[moves:], FARTHEST * moves / math.sqrt(coins) / CELLS
    chances = np.exp(logs)
    cells = np.floor(losses / step).astype(np.int64).clip(-CELLS, CELLS) + CELLS
    p, q = (_added_up(cells, weights) for weights in (chances[:-moves], chances[moves:]))
    beyond = float(p[-1] + chances[-moves:].sum()) * (1 + 2.0**-30) + NEVER
    table = LossCells(step, -CELLS, p[:-1], q[:-1], beyond).table
    return DiscreteLoss(step, table, table)


def _added_up(cells: Steps, weights: Array) -> Array:
    return np.bincount(cells, weights, 2 * CELLS + 1).astype(np.float64)


def _log_chances(coins: int, moves: int) -> Array:
    """Logarithms of the chances of all numbers of heads that come with more than `NEVER`, in order, with some more.

    From the middle on, each number is (n - j) / (j + 1) times as likely as the one before.
    """
    half = coins // 2
    reach = min(half, math.ceil(WINDOW * math.sqrt(coins)) + moves)
    steps = np.arange(half, half + reach, dtype=np.float64)
    above = np.append(0.0, np.cumsum(np.log((coins - steps) / (steps + 1))))
    logs = np.concatenate([above[:0:-1], above])
    return np.asarray(logs - math.log(math.fsum(np.exp(logs).tolist())))
