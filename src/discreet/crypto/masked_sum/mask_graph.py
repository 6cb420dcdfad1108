"""Who masks with whom, where not all mask with all: each party chooses a few others, at random and by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.grid import Array
from discreet.crypto.errors import UNOPENED, Malformed, TooFewSurvivors
from discreet.crypto.masked_sum.mask_terms import MaskTerms
from discreet.crypto.messages import labelled, listed, unlabelled
from discreet.crypto.rounds.agreement import ordered
from discreet.noise.uniform import permutation

SELDOM = -40 * np.log(2)  # the logarithm of the chance that a round may show too much, or may not end
SPARSE = 61  # parties, from which on not all mask with all


@dataclass(frozen=True)
class MaskGraph:
    """Whom each of those who shared keys has chosen.

    Two mask with each other if either has chosen the other. Those whom a party has chosen, and it itself, hold its
    shares.

    Parameters
    ----------
    terms : MaskTerms
        Public. What all agreed on.
    chosen : mapping of str to frozenset of str
        Public. For each, whom it has chosen; those may have left since.
    """

    terms: MaskTerms
    chosen: Mapping[str, frozenset[str]]

    @classmethod
    def complete(cls, terms: MaskTerms, names: Iterable[str]) -> MaskGraph:
        """Everybody with everybody."""
        everybody = frozenset(names)
        return cls(terms, {name: everybody - {name} for name in everybody})

    def joined(self, one: str, other: str) -> bool:
        """Whether these two mask with each other."""
        return one != other and (other in self.chosen[one] or one in self.chosen[other])

    def holds(self, holder: str, dealer: str) -> bool:
        """Whether this party holds shares of that one."""
        return holder == dealer or holder in self.chosen[dealer]

    def check_left(self, step: str, left: Iterable[str], of: Iterable[str]) -> None:
        """Refuse to go on if too few are left of those whom some party has chosen."""
        if not self.terms.degree:
            return
        left = set(left)
        for name in of:
            if (count := len(self.chosen[name] & left)) < self.terms.needed:
                raise TooFewSurvivors(
                    f"round {self.terms.round!r}",
                    f"{count} of those whom {name!r} has chosen are left at the step of {step} and "
                    f"{self.terms.needed} are needed",
                    "Begin a new round.",
                    UNOPENED,
                    count=count,
                    threshold=self.terms.needed,
                )

    def to_bytes(self) -> bytes:
        """The graph as it travels and is signed: a bit for each party, or names alone where all mask with all."""
        return self._bytes

    @cached_property
    def _bytes(self) -> bytes:
        names = ordered(self.terms, self.chosen)
        if not self.terms.degree:
            return listed(names)
        return labelled({name: self.written[name] for name in names})

    @cached_property
    def written(self) -> dict[str, bytes]:
        """Whom each has chosen, as a bit for each party."""
        return {name: written(self.terms, some) for name, some in self.chosen.items()}

    @classmethod
    def from_bytes(cls, terms: MaskTerms, data: bytes) -> MaskGraph:
        """What `to_bytes` gave, where not all mask with all."""
        chosen = {name: read(terms, one) for name, one in unlabelled(data).items()}
        for name, some in chosen.items():
            terms.index(name)
            if len(some) != terms.degree or name in some:
                obstacle = f"{name!r} has not chosen {terms.degree} others"
                raise Malformed("graph of masks", obstacle, "Ask for it again.", UNOPENED)
        return cls(terms, chosen)


def written(terms: MaskTerms, names: frozenset[str]) -> bytes:
    """Some parties, as a bit for each."""
    bits = np.zeros(len(terms.parties), np.uint8)
    bits[[terms.index(name) - 1 for name in names]] = 1
    return np.packbits(bits).tobytes()


def read(terms: MaskTerms, data: bytes) -> frozenset[str]:
    """The parties of `written`."""
    bits = np.unpackbits(np.frombuffer(data, np.uint8))
    count = len(terms.parties)
    if len(bits) != 8 * (-(-count // 8)) or bits[count:].any():
        raise Malformed("graph of masks", "it has not a bit for each party", "Ask for it again.", UNOPENED)
    return frozenset([terms.parties[place] for place in np.flatnonzero(bits).tolist()])


def drawn(terms: MaskTerms, bits: Bits, name: str, names: Iterable[str]) -> frozenset[str]:
    """Whom a party chooses among those who announced keys: all choices are equally likely."""
    others = ordered(terms, set(names) - {name})
    if not terms.degree:
        return frozenset(others)
    return frozenset(others[place] for place in permutation(bits, len(others))[: terms.degree])


@dataclass(frozen=True)
class Choice:
    """How many others each party chooses, and how many of them must be left; see `MaskTerms`."""

    degree: int
    needed: int


@cache
def choice_of(parties: int, threshold: int, colluding: int) -> Choice | None:
    """The fewest that each party must choose, or None where it is half of all, or more: then all mask with all.

    With these, a round in which `parties - threshold` leave, whoever they are, cannot end with a chance below 2**-40;
    and with `colluding` parties who work together with a server that lies, it shows anything but one sum of enough
    honest ones with a chance below 2**-40 (`masked_sum.md`).

    Examples
    --------
    >>> choice_of(100, 90, 10)
    Choice(degree=32, needed=22)
    >>> choice_of(100, 67, 33) is None
    True
    """
    for degree in range(2, min(threshold, (parties + 1) // 2)):
        choice = Choice(degree, degree - _most_gone(parties, parties - threshold, degree))
        if 2 * choice.needed > degree and choice.needed > 1:
            seen = range(parties, threshold - 1, -1)  # how many announced keys
            if all(log_failure(count, threshold, colluding, choice) < SELDOM for count in seen):
                return choice
    return None


def _most_gone(parties: int, dropouts: int, degree: int) -> int:
    """The most of those whom any party has chosen that leave, when so many of all leave; but for a small chance."""
    tails = [float(_tails(parties - 1, degree, least)[dropouts]) for least in range(1, degree + 2)]
    return next(gone for gone, tail in enumerate(tails) if np.log(parties) + tail < SELDOM)


def log_failure(count: int, threshold: int, colluding: int, choice: Choice) -> float:
    """The logarithm of a bound on the chance that a lying server learns too much, if so many announced keys.

    The three ways of `masked_sum.md`: a party has chosen too many of the corrupt; some who have not signed are joined
    to each other alone; those who have signed fall apart.
    """
    others, honest, silent = count - 1, count - colluding, count - threshold
    few = _tails(others, choice.degree, 2 * choice.needed - choice.degree)
    many = _tails(others, choice.degree, choice.needed)
    missed = _log_choose(others - np.arange(honest), choice.degree) - _log_choose(others, choice.degree)
    ways = [np.log(honest) + many[colluding : colluding + 1]]
    q = np.arange(1, silent + 1)
    ways.append(_log_choose(honest, q) + q * few[np.minimum(q - 1 + colluding, others)])
    s, q = np.arange(1, honest)[:, None, None], np.arange(silent + 1)[None, :, None]
    r = np.maximum(1, threshold - colluding - s) + np.arange(silent + 1)[None, None]
    near, there = np.minimum(s + q - 1 + colluding, others), s + q + r <= honest
    r = np.where(there, r, 1)
    apart = s * np.minimum(many[near], missed[r]) + r * missed[s] + _times(q, few[near])
    sets = _log_choose(honest, s) + _log_choose(honest - s, q) + _log_choose(honest - s - q, r)
    ways.append((sets + apart)[there])
    return float(np.logaddexp.reduce(np.concatenate(ways)))


def _times(count: NDArray[np.int64], log: Array) -> Array:
    """The logarithm of a power: of one where nothing is multiplied."""
    return np.where(count > 0, np.maximum(count, 1) * log, 0.0)


def _tails(population: int, drawn: int, least: int) -> Array:
    """For 0, 1, 2, ... marked of a population, the logarithm of the chance that so many at least are drawn."""
    marked, found = np.arange(population + 1)[:, None], np.arange(max(least, 0), drawn + 1)[None]
    logs = _log_choose(marked, found) + _log_choose(population - marked, drawn - found)
    return np.asarray(np.logaddexp.reduce(logs, axis=1) - _log_choose(population, drawn), dtype=np.float64)


def _log_choose(n: NDArray[np.int64] | int, k: NDArray[np.int64] | int) -> Array:
    """The logarithm of the number of subsets; of none where there is none."""
    n, k = np.broadcast_arrays(n, k)
    inside, logs = (k >= 0) & (k <= n), _log_factorials(int(max(n.max(initial=0), 1)))
    n, k = np.where(inside, n, 0), np.where(inside, k, 0)
    return np.where(inside, logs[n] - logs[k] - logs[n - k], -np.inf)


@cache
def _log_factorials(most: int) -> Array:
    return np.append(0.0, np.cumsum(np.log(np.arange(1, most + 1, dtype=np.float64))))
