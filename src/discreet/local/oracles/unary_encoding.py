"""Unary encodings: a bit for each value, every bit with noise of its own."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from discreet.core.bits import Bits
from discreet.local.miss_chance import miss_chance
from discreet.local.oracles.packed_bits import BitOracle, set_bits
from discreet.local.randomizer import Reports
from discreet.noise.bernoulli import Packed, bernoulli, packed_coins


@dataclass(frozen=True)
class UnaryEncoding(BitOracle):
    """Reports a bit for each value: the own one is set with a high probability, the others with a low one."""

    @property
    @abstractmethod
    def dropped(self) -> float:
        """The probability that the own bit is not set."""

    @property
    def own(self) -> float:
        """The probability that the own bit is set."""
        return 1 - self.dropped

    def reports(self, values: Any, bits: Bits) -> Reports:
        """The bits of each person."""
        places = self.places(values)
        packed = packed_coins(bits, len(places), self.size, self.other)
        set_bits(packed, places, ~bernoulli(bits, len(places), self.dropped))
        return packed

    def misfit(self, reports: Packed) -> str:
        """All bits are possible."""
        return ""


@dataclass(frozen=True)
class SymmetricUnary(UnaryEncoding):
    """Report a bit for each value, every bit flipped with the same probability: the basic one-time RAPPOR.

    A report is d / 8 bytes.

    Parameters
    ----------
    epsilon : float
        Public. What one report may cost.
    domain : int or tuple of str
        Public. The values: a number d for the integers from 0 to d - 1, or labels. At least two.

    Guarantee
    ---------
    Pure, epsilon, where one value is replaced by any other: two bits change, and each is at most exp(epsilon / 2) times
    as likely kept as flipped. The probability of a flip is rounded up and tossed exactly (`miss_chance`).
    Erlingsson, Pihur and Korolova 2014, Theorem 1, with one hash; Wang, Blocki, Li and Jha 2017, symmetric encoding.

    Examples
    --------
    >>> SymmetricUnary(epsilon=1.0, domain=128).noise.__round__(2)
    3.92
    """

    kind: ClassVar[str] = "sue"

    @cached_property
    def other(self) -> float:
        """The probability of a flip."""
        return miss_chance(self.epsilon / 2)

    @property
    def dropped(self) -> float:
        """The same."""
        return self.other


@dataclass(frozen=True)
class OptimizedUnary(UnaryEncoding):
    """Report a bit for each value: the own bit is a fair coin, the others are set rarely.

    A report is d / 8 bytes. The variance is the least of all unary encodings.

    Parameters
    ----------
    epsilon : float
        Public. What one report may cost.
    domain : int or tuple of str
        Public. The values: a number d for the integers from 0 to d - 1, or labels. At least two.

    Guarantee
    ---------
    Pure, epsilon, where one value is replaced by any other: two bits change, from a fair coin to one that is set with
    probability q and back, so that the likelihood ratio is at most (1 - q) / q <= exp(epsilon). q is rounded up and
    tossed exactly (`miss_chance`). Wang, Blocki, Li and Jha 2017, optimised unary encoding.

    Examples
    --------
    >>> OptimizedUnary(epsilon=1.0, domain=128).noise.__round__(2)
    3.68
    """

    kind: ClassVar[str] = "oue"

    @cached_property
    def other(self) -> float:
        """The probability that the bit of another value is set."""
        return miss_chance(self.epsilon)

    @property
    def dropped(self) -> float:
        """One half."""
        return 0.5
