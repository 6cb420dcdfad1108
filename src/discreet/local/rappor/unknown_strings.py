"""Strings that nobody listed: candidates from reports of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from discreet.core.bits import Bits
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, Event
from discreet.core.grid import Steps
from discreet.local.randomizer import Reports, refused
from discreet.local.rappor.association import StringReports, association
from discreet.local.rappor.decoded_strings import Correction, DecodedStrings, decoded
from discreet.local.rappor.rappor import Rappor
from discreet.noise.uniform import permutations

MOST_GRAMS = 2**14
MOST_CANDIDATES = 2**16
FEW = 63  # parts of one place that are followed up: the most common
SURE = 2.0  # standard errors by which a pair of parts must exceed zero


@dataclass(frozen=True)
class PartReports:
    """What clients send: a report of the whole string, and of two of its parts."""

    whole: Reports  # one report for each client
    places: Steps  # which two parts, in ascending order: public, since they are drawn without looking at the string
    parts: Reports  # their reports


@dataclass(frozen=True)
class UnknownStrings:
    """Collect strings without a list of candidates.

    A string is cut, or padded, to `length` letters, and these into parts of `size` letters. A client reports the whole
    string and two of its parts, at random places. The collector finds the parts that occur at each place, then the
    pairs of parts that occur together by `association`, and joins them: a candidate is a string all of whose pairs of
    parts occur. Candidates are decoded from the reports of whole strings.

    Parameters
    ----------
    string, part : Rappor
        Public. For the whole string and for each of the two parts: what a client sends costs the sum of all three.
    alphabet : str
        Public. The letters; any other becomes the padding, a space.
    length, size : int
        Public. Of a string and of a part, in letters; the first a multiple of the second, at least twice as long.

    Guarantee
    ---------
    `event`: the three reports composed. Fanti, Pihur and Erlingsson 2016, section 4.

    Examples
    --------
    >>> UnknownStrings(Rappor(), Rappor(), "abc", length=6, size=2).parts_of("abca")
    ('ab', 'ca', '  ')
    """

    string: Rappor
    part: Rappor
    alphabet: str
    length: int
    size: int = 2

    def __post_init__(self) -> None:
        check_whole("unknown strings", "size", self.size)
        check_whole("unknown strings", "length", self.length, 2 * self.size)
        if not isinstance(self.alphabet, str):
            raise ParameterError("unknown strings", "the alphabet is not a text", "Give its letters in one text.")
        if self.length % self.size or not self.alphabet or (len(self.alphabet) + 1) ** self.size > MOST_GRAMS:
            raise ParameterError(
                "unknown strings",
                f"length is {self.length}, size is {self.size}, and there are {len(self.alphabet)} letters",
                f"Give a multiple of the size, and letters that form at most {MOST_GRAMS} parts.",
            )

    @property
    def event(self) -> Event:
        """What the three reports of a client cost together."""
        return Composed((self.string.event, self.part.event, self.part.event))

    @property
    def places(self) -> int:
        """How many parts a string has."""
        return self.length // self.size

    def cleaned(self, value: str) -> str:
        """The string as it is reported."""
        return "".join(letter if letter in self.alphabet else " " for letter in value[: self.length]).ljust(self.length)

    def parts_of(self, value: str) -> tuple[str, ...]:
        """The parts of a string."""
        text = self.cleaned(value)
        return tuple(text[start : start + self.size] for start in range(0, self.length, self.size))

    def reports(self, values: Sequence[str], bits: Bits) -> PartReports:
        """What clients send, each of one value."""
        places = np.sort(permutations(bits, len(values), self.places)[:, :2], axis=1)
        parts = [self.parts_of(value) for value in values]
        chosen = [[one[place] for one, place in zip(parts, column, strict=True)] for column in places.T.tolist()]
        whole = self.string.reports([self.cleaned(value) for value in values], bits)
        return PartReports(whole, places, np.stack([self.part.reports(one, bits) for one in chosen], axis=1))

    def accepted(self, reports: PartReports) -> PartReports:
        """The reports, if clients can have sent them: two places of a string in ascending order, and three reports."""
        whole, places, parts = reports.whole, np.asarray(reports.places), reports.parts
        self.string.accepted(whole)
        if parts.shape[:2] != (len(whole), 2) or places.shape != (len(whole), 2) or places.dtype.kind not in "iu":
            raise refused(
                self.part, f"there are {len(whole)} of strings, {places.shape} places, {parts.shape} of parts"
            )
        self.part.accepted(parts.reshape(-1, *parts.shape[2:]))
        if not ((places[:, 0] >= 0) & (places[:, 0] < places[:, 1]) & (places[:, 1] < self.places)).all():
            raise refused(self.part, f"places are not two of {self.places}, in ascending order")
        return reports

    def candidates(self, reports: PartReports, level: float = 0.05) -> tuple[str, ...]:
        """Strings all of whose pairs of parts occur: post-processing."""
        reports = self.accepted(reports)
        common = [self._common(reports, place, level) for place in range(self.places)]
        together = {pair: self._together(reports, pair, common) for pair in combinations(range(self.places), 2)}
        joined: list[tuple[str, ...]] = [(part,) for part in common[0]]
        for place in range(1, self.places):
            joined = [
                (*before, part)
                for before in joined
                for part in common[place]
                if all((one, part) in together[earlier, place] for earlier, one in enumerate(before))
            ]
            if len(joined) > MOST_CANDIDATES:
                raise ParameterError(
                    "unknown strings", f"there are more than {MOST_CANDIDATES} candidates", "Collect more reports.", ""
                )
        return tuple("".join(parts) for parts in joined)

    def decoded(
        self,
        reports: PartReports,
        *,
        level: float = 0.05,
        correction: Correction = "benjamini-hochberg",
        simulated: bool = False,
    ) -> DecodedStrings:
        """The strings that were found, and how many clients have each."""
        candidates = self.candidates(reports, level)
        if not candidates:
            raise ParameterError("unknown strings", "no candidate was found", "Collect more reports.", "")
        tally = self.string.tallied(reports.whole)
        return decoded(
            self.string, tally, candidates=candidates, level=level, correction=correction, simulated=simulated
        )

    def _common(self, reports: PartReports, place: int, level: float) -> list[str]:
        """The parts that occur at a place."""
        here = reports.parts[reports.places == place]
        every = ["".join(letters) for letters in product((*self.alphabet, " "), repeat=self.size)]
        return list(decoded(self.part, self.part.tallied(here), candidates=every, level=level).found[:FEW])

    def _together(self, reports: PartReports, pair: tuple[int, int], common: list[list[str]]) -> set[tuple[str, str]]:
        """The pairs of parts that occur at two places."""
        here = (reports.places == pair).all(axis=1)
        first, second = (
            StringReports(self.part, reports.parts[here, side], common[place]) for side, place in enumerate(pair)
        )
        found = association(first, second)
        rows, columns = np.nonzero(found.shares[:-1, :-1] > SURE * found.errors[:-1, :-1] + 1e-9)
        return {(found.first[row], found.second[column]) for row, column in zip(rows, columns, strict=True)}
