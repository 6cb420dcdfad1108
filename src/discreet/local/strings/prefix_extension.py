"""The prefix extending method: frequent strings that nobody has listed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri

from discreet.core.bits import Bits
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.local.device_receipt import device_receipt
from discreet.local.miss_chance import miss_chance
from discreet.local.oracles.hadamard_response import hadamard, odd
from discreet.local.oracles.local_hashing import hashed, public_functions
from discreet.local.randomizer import Randomizer, Reports, WorstPair, refused
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform_integers
from discreet.releases.columns import Series
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table

MOST_LENGTH = 64
PLAUSIBLE = 1.0  # standard errors above zero of a prefix that is extended
BYTES = [bytes([byte]) for byte in range(256)]


@dataclass(frozen=True)
class PrefixExtension(Randomizer):
    """Report a noisy sign about a prefix of a string, of random length; frequent strings are found byte by byte.

    A prefix is hashed to one of `cells` by one of several public functions, and one random coefficient of its Hadamard
    transform is reported, as in `HadamardSketch`. From the reports on the shortest prefixes the most frequent ones are
    found; these are extended by all bytes, and the reports on longer ones tell which of them are frequent; and so on.

    Parameters
    ----------
    length : int
        Public. How many bytes of a string (UTF-8) are looked at; those of shorter ones are zeros.
    first : int
        Public. The bytes of the shortest prefixes: 1 or 2.
    functions, cells : int
        Public. Hash functions, and cells of each, a power of two.
    seed : int
        Public. Determines the functions (`public_functions`).

    Guarantee
    ---------
    Pure, epsilon, where one string is replaced by any other: length, function and coefficient do not depend on the
    string, and the sign is at most exp(epsilon) times as likely kept as flipped. The probability of a flip is rounded
    up and tossed exactly (`miss_chance`). Bassily and Smith 2015; the search is that of Wang, Li and
    Jha 2018, and only post-processing.

    Examples
    --------
    >>> PrefixExtension(1.0, length=8).groups
    7
    """

    length: int = 6
    first: int = 2
    functions: int = 16
    cells: int = 1024
    seed: int = 0
    kind: ClassVar[str] = "pem"

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        check_whole(name, "first", self.first, least=1, most=2)
        check_whole(name, "length", self.length, least=self.first + 1, most=MOST_LENGTH)
        check_whole(name, "functions", self.functions, least=1, most=256)
        check_whole(name, "cells", self.cells, least=8, most=2**14)
        check_whole(name, "seed", self.seed, least=0, most=2**63)
        if self.cells & (self.cells - 1):
            raise ParameterError(name, f"cells is {self.cells}", "Give a power of two.", parameter="cells")

    @property
    def groups(self) -> int:
        """How many lengths of prefixes there are."""
        return self.length - self.first + 1

    @cached_property
    def flip(self) -> float:
        """The probability that a sign is flipped."""
        return miss_chance(self.epsilon)

    @property
    def form(self) -> np.dtype[Any]:
        """The number 2 (cells (functions * group + function) + coefficient) + sign, where a sign of 1 is a minus."""
        return np.dtype("<u4")

    @property
    def worst_pair(self) -> WorstPair:
        """Two strings that differ from the first byte on."""
        return WorstPair("a", "b")

    def padded(self, value: Any) -> bytes:
        """The bytes of a string that are looked at."""
        if not isinstance(value, str) or not value or "\0" in value:
            asked = f"report by {type(self).__name__}"
            raise ParameterError(asked, "a value is not a string with letters and no zeros", "Give one.")
        return value.encode()[: self.length].ljust(self.length, b"\0")

    def content(self, value: Any) -> bytes:
        return self.padded(value)

    def stand_in(self, bits: Bits) -> str:
        return "".join(chr(ord("a") + place) for place in uniform_integers(bits, self.length, 26).tolist())

    def reports(self, values: Any, bits: Bits) -> Reports:
        """A length, a function, a coefficient and its sign for each."""
        strings = [self.padded(value) for value in values]
        place = uniform_integers(bits, len(strings), self.groups * self.functions * self.cells)
        group = place // (self.functions * self.cells)
        cut = [text[: self.first + g] for text, g in zip(strings, group.tolist(), strict=True)]
        minus = self._minus(_keys(cut), place) ^ bernoulli(bits, len(strings), self.flip)
        return (2 * place + minus).astype(self.form)

    def score(self, reports: Reports) -> Steps:
        """Which of the two strings the sign agrees with."""
        place, minus = np.divmod(reports.astype(np.int64), 2)
        group = place // (self.functions * self.cells)
        agrees = []
        for value in (self.worst_pair.first, self.worst_pair.second):
            keys = _keys([self.padded(value)[: self.first + g] for g in range(self.groups)])[group]
            agrees.append((self._minus(keys, place) == minus).astype(np.int64))
        return 2 * agrees[0] + agrees[1]

    def accepted(self, reports: Reports) -> Reports:
        upper = 2 * self.groups * self.functions * self.cells
        if reports.dtype.kind not in "iu" or reports.ndim != 1:
            raise refused(self, f"they have the type {reports.dtype} and the shape {reports.shape}")
        if reports.size and not (reports.min() >= 0 and reports.max() < upper):
            raise refused(self, f"one is not a number from 0 to {upper - 1}")
        return reports

    def tallied(self, reports: Reports) -> Steps:
        """Pluses and minuses, for each coefficient of each function and length."""
        shape = (self.groups, self.functions, self.cells, 2)
        return np.bincount(reports, minlength=2 * self.groups * self.functions * self.cells).reshape(shape)

    def tally_misfit(self, tally: Steps, n: int) -> str:
        return super().tally_misfit(tally, n) or ("" if tally.sum() == n else f"the signs are not {n} in all")

    def estimated(
        self, tally: Steps, n: int, *, simulated: bool = False, confidence: float = CONFIDENCE, keep: int = 64
    ) -> Table:
        """Frequent strings, the most frequent first.

        Parameters
        ----------
        tally, n, simulated
            Of the reports.
        confidence : float
            Public. With this probability no string is listed that nobody has: a string is listed if its estimate is
            positive at that level, after Bonferroni's correction for all candidates of the last step. Intervals have
            this confidence each.
        keep : int
            Public. How many prefixes of each length are extended, at most.

        Returns
        -------
        Table
            Strings and their shares among the people; intervals are for the population. Bytes that are not UTF-8 are
            shown as replacement characters.
        """
        name = f"frequent strings from {n} reports"
        check_confidence(name, confidence)
        check_whole(name, "keep", keep, least=1, most=2**12)
        level = [self._level(tally[group]) for group in range(self.groups)]
        if not all(one.n for one in level):
            raise ParameterError(name, "a length of prefixes has no reports", "Add more reports.", "")
        candidates = BYTES if self.first == 1 else [one + other for one in BYTES[1:] for other in BYTES]
        for one in level[:-1]:
            shares = one.shares(self, candidates)
            best = np.argsort(-shares, kind="stable")[:keep]
            frequent = [candidates[i] for i in best if shares[i] > PLAUSIBLE * one.error]
            candidates = [text + byte for text in frequent for byte in (BYTES if text[-1] else BYTES[:1])]
        shares = level[-1].shares(self, candidates) if candidates else np.empty(0)
        bar = level[-1].error * ndtri(1 - (1 - confidence) / max(len(candidates), 1))
        listed = [i for i in np.argsort(-shares, kind="stable") if shares[i] > bar]
        half = level[-1].error * ndtri((1 + confidence) / 2)
        texts = [candidates[i].rstrip(b"\0").decode(errors="replace") for i in listed]
        series = Series.around("frequency", shares[listed], half, level[-1].error)
        receipt = device_receipt(name, self, simulated=simulated)
        of: dict[str, Any] = {"name": name, "receipt": receipt, "confidence": confidence, "population": True}
        return Table(**of, labels={"string": texts}, series=(series,))

    def _level(self, tally: Steps) -> _Level:
        contrast = 1 - 2 * self.flip
        n = int(tally.sum())
        return _Level(n, hadamard(tally[..., 0] - tally[..., 1]) / (max(n, 1) * contrast), contrast)

    def _minus(self, keys: Steps, place: Steps) -> Any:
        """The sign of the coefficient of the cell of each key."""
        function, coefficient = place // self.cells % self.functions, place % self.cells
        factor, shift = public_functions(self.seed, self.functions)
        return odd(hashed(factor[function], shift[function], keys, self.cells) & coefficient)


@dataclass(frozen=True)
class _Level:
    """The reports on prefixes of one length: their number, and what they add to each cell of each function."""

    n: int
    sums: Array
    contrast: float

    @property
    def error(self) -> float:
        """The standard error of a share, with all collisions on one cell at worst."""
        functions, cells = self.sums.shape
        return float(np.sqrt((1 / self.contrast**2 + 0.25) / self.n + 1 / (functions * (cells - 1))))

    def shares(self, of: PrefixExtension, candidates: list[bytes]) -> Array:
        """Unbiased over the choice of hash functions."""
        functions, cells = self.sums.shape
        factor, shift = public_functions(of.seed, functions)
        at = hashed(factor[:, None], shift[:, None], _keys(candidates), cells)
        found = np.take_along_axis(self.sums, at, axis=1).sum(axis=0)
        return (found - 1 / cells) * cells / (cells - 1)


def _keys(prefixes: list[bytes]) -> Steps:
    """The first four bytes of SHA-256 of each, the lowest first."""
    known = {prefix: hashlib.sha256(prefix).digest()[:4] for prefix in set(prefixes)}
    return np.frombuffer(b"".join(known[prefix] for prefix in prefixes), "<u4").astype(np.int64)
