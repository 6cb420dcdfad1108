"""RAPPOR as a randomiser of strings: one report of a client, and what a collector counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.grid import Steps
from discreet.local.randomizer import MOST_EPSILON, Randomizer, Reports, WorstPair, grouped_misfit, refused
from discreet.local.rappor.permanent_memo import randomized
from discreet.local.rappor.rappor_parameters import (
    BitRows,
    RapporParameters,
    all_positions,
    bloom_positions,
    bloom_rows,
)
from discreet.local.rappor.reports_loss import ReportsLoss
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform_integers

COHORT = np.dtype("<u2")
NO_TEXT = "(no text)"
TRIED = 32  # values, in as many cohorts, among which the pair for the audit is found


@dataclass(frozen=True)
class Rappor(RapporParameters, Randomizer):
    """Report the Bloom filter of a string, randomised twice.

    A report is the client's cohort and one bit for each bit of the filter: two bytes, the lower first, and the bits in
    bytes, the first bit the lowest. Here every value is reported by a client of its own, who has a random cohort and
    reports once; a `RapporClient` reports again and again.

    Parameters
    ----------
    bits, hashes, cohorts, f, p, q : int, int, int, float, float, float
        Public. See `RapporParameters`.

    Attributes
    ----------
    epsilon : float
        Public. What one report costs: it follows from the parameters.

    Guarantee
    ---------
    `event` for one report: exactly the loss of h pairs of bits. For more reports of the same value see `ReportsLoss`;
    all together cost at most `epsilon_infinity`. The cohort is drawn without looking at the value. All coins are tossed
    exactly. Erlingsson, Pihur and Korolova 2014, Theorem 2.

    Examples
    --------
    >>> from discreet.local.aggregator import Aggregator
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rappor = Rappor(bits=16, hashes=1, cohorts=4, f=0.25, p=0.25, q=0.75)
    >>> collector = Aggregator(rappor, simulated=True)
    >>> collector.add(rappor.reports(["cat"] * 6000 + ["dog"] * 4000, DeterministicBits(1)))
    >>> print(collector.estimate(candidates=["cat", "cow", "dog"]).found)
    ('cat', 'dog')
    """

    epsilon: float = field(init=False, default=0.0)
    kind: ClassVar[str] = "rappor"
    calibrated: ClassVar[str] = "f"

    def __post_init__(self) -> None:
        self._settle_numbers()
        RapporParameters.__post_init__(self)
        object.__setattr__(self, "epsilon", self.epsilon_one)
        if self.epsilon > MOST_EPSILON:
            obstacle = f"f is {self.f}, p is {self.p} and q is {self.q}: one report costs epsilon {self.epsilon:g}"
            raise ParameterError("RAPPOR", obstacle, f"Give a larger f, or closer p and q: at most {MOST_EPSILON:g}.")

    @property
    def event(self) -> Event:
        return ReportsLoss(self).event

    @property
    def form(self) -> np.dtype[Any]:
        return np.dtype((np.uint8, (COHORT.itemsize + -(-self.bits // 8),)))

    @cached_property
    def worst_pair(self) -> WorstPair:
        """Two values whose filters differ in as many bits as possible, over all cohorts."""
        values, few = [str(number) for number in range(TRIED)], range(min(self.cohorts, TRIED))
        ones = [{(cohort, place) for cohort in few for place in bloom_positions(self, one, cohort)} for one in values]
        first, second = max(combinations(range(TRIED), 2), key=lambda pair: len(ones[pair[0]] ^ ones[pair[1]]))
        return WorstPair(values[first], values[second])

    def content(self, value: Any) -> bytes:
        if not isinstance(value, str):
            raise ParameterError("report by RAPPOR", "a value is not a text", "Give one.")
        return value.encode()

    def stand_in(self, bits: Bits) -> str:
        """Always the same text: a client that reports again has one permanent response for it."""
        return NO_TEXT

    def reports(self, values: Sequence[str], bits: Bits) -> Reports:
        """A report of each value, each by a client of its own."""
        cohorts = uniform_integers(bits, len(values), self.cohorts)
        blooms = blooms_of(self, values, cohorts)
        return self.packed(cohorts, instantaneous(self, randomized(self, blooms, bits), bits))

    def score(self, reports: Reports) -> Steps:
        """How many more of the ones are in bits of the first value's filter than in bits of the second's."""
        cohorts, rows = self.cohort_of(reports), self.bits_of(reports)
        first, second = (
            bloom_rows(self, all_positions(self, [value])[0])[cohorts].astype(np.int64)
            for value in (self.worst_pair.first, self.worst_pair.second)
        )
        return np.asarray(((first - second) * rows).sum(axis=1))

    def accepted(self, reports: Reports) -> Reports:
        """The reports, if all have a cohort that exists, and as many bits as there are."""
        reports = np.asarray(reports)
        if reports.dtype != np.uint8 or reports.ndim != 2 or reports.shape[1:] != self.form.shape:
            raise refused(
                self, f"their form is {reports.dtype} {reports.shape} and not uint8 (n, {self.form.shape[0]})"
            )
        if (self.cohort_of(reports) >= self.cohorts).any():
            raise refused(self, f"a cohort is not one of {self.cohorts}")
        if self.bits % 8 and (reports[:, -1] >> self.bits % 8).any():
            raise refused(self, f"a report has more than {self.bits} bits")
        return reports

    def tallied(self, reports: Reports) -> Steps:
        """For each cohort the number of reports, and how many have a 1 in each bit."""
        cohorts = self.cohort_of(reports)
        order = np.argsort(cohorts, kind="stable")
        sizes = np.bincount(cohorts, minlength=self.cohorts)
        found = np.zeros((self.cohorts, 1 + self.bits), np.int64)
        there = np.flatnonzero(sizes)
        found[:, 0] = sizes
        if there.size:
            starts = (np.cumsum(sizes) - sizes)[there]
            found[there, 1:] = np.add.reduceat(self.bits_of(reports)[order], starts, axis=0, dtype=np.int64)
        return found

    def tally_misfit(self, tally: Steps, n: int) -> str:
        """Each report is of one cohort, and has each bit at most once."""
        return grouped_misfit(tally, n)

    def estimated(self, tally: Steps, n: int, *, simulated: bool = False, **how: Any) -> Any:
        """The strings that were found among candidates, and how many clients have each: see `decoded`."""
        from discreet.local.rappor.decoded_strings import decoded

        return decoded(self, tally, simulated=simulated, **how)

    def packed(self, cohorts: Steps, rows: BitRows) -> Reports:
        """Reports from cohorts and bits."""
        head = np.ascontiguousarray(cohorts, COHORT).view(np.uint8).reshape(len(rows), COHORT.itemsize)
        return np.concatenate([head, np.packbits(rows, axis=1, bitorder="little")], axis=1)

    def cohort_of(self, reports: Reports) -> Steps:
        """The cohort of each report."""
        return np.ascontiguousarray(reports[:, : COHORT.itemsize]).view(COHORT)[:, 0].astype(np.int64)

    def bits_of(self, reports: Reports) -> BitRows:
        """The bits of each report, in a row."""
        return np.unpackbits(reports[:, COHORT.itemsize :], axis=1, count=self.bits, bitorder="little")


def blooms_of(setup: RapporParameters, values: Sequence[str], cohorts: Steps) -> BitRows:
    """The filter of each value in its cohort."""
    found: dict[tuple[str, int], tuple[int, ...]] = {}
    for pair in zip(values, cohorts.tolist(), strict=True):
        if pair not in found:
            found[pair] = bloom_positions(setup, *pair)
    positions = [found[pair] for pair in zip(values, cohorts.tolist(), strict=True)]
    return bloom_rows(setup, np.array(positions, np.int64).reshape(len(positions), setup.hashes))


def instantaneous(setup: RapporParameters, permanents: BitRows, bits: Bits) -> BitRows:
    """What is reported of permanent responses: a 1 with probability q where there is one, and p where there is none."""
    return bernoulli(bits, permanents.shape, np.where(permanents, setup.q, setup.p)).astype(np.uint8)
