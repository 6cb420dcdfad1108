"""One of several attributes, drawn by the device, at the price of the whole budget."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.local.frequencies import Frequencies
from discreet.local.frequency_oracle import KINDS, frequency_oracle
from discreet.local.oracle import Domain, Oracle
from discreet.local.randomizer import Randomizer, Reports, WorstPair, refused
from discreet.noise.uniform import uniform_integers
from discreet.releases.spread import CONFIDENCE

BY_KIND = {kind.kind: kind for kind in KINDS}
MOST_ATTRIBUTES = 255


@dataclass(frozen=True)
class AttributesReport(Randomizer):
    """A randomiser of several attributes of a person, each by an oracle.

    Parameters
    ----------
    domains : tuple of int or of tuples of str
        Public. The values of each attribute, as for an oracle. A person's value is one of each.
    """

    domains: tuple[Domain, ...] = (4, 3)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= len(self.domains) <= MOST_ATTRIBUTES:
            obstacle = f"there are {len(self.domains)} domains"
            raise ParameterError(type(self).__name__, obstacle, f"Give 2 to {MOST_ATTRIBUTES}.")
        domains = tuple(tuple(map(str, one)) if isinstance(one, Iterable) else int(one) for one in self.domains)
        object.__setattr__(self, "domains", domains)

    @property
    @abstractmethod
    def oracles(self) -> Sequence[Oracle]:
        """An oracle for each attribute."""

    @property
    def worst_pair(self) -> WorstPair:
        """Two people who agree in no attribute."""
        pairs = [oracle.worst_pair for oracle in self.oracles]
        return WorstPair(tuple(pair.first for pair in pairs), tuple(pair.second for pair in pairs))

    def content(self, value: Any) -> bytes:
        columns = zip(self.oracles, self.columns([value]), strict=True)
        return b"".join(oracle.content(column[0]) for oracle, column in columns)

    def stand_in(self, bits: Bits) -> tuple[Any, ...]:
        return tuple(oracle.stand_in(bits) for oracle in self.oracles)

    def columns(self, values: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """The values of each attribute, from those of each person."""
        asked, attributes = f"report by {type(self).__name__}", len(self.oracles)
        if any(len(person) != attributes for person in values):
            raise ParameterError(asked, f"a person does not have {attributes} values", "Give one for each attribute.")
        return [[person[place] for person in values] for place in range(attributes)]


@dataclass(frozen=True)
class SampledAttribute(AttributesReport):
    """Report one attribute, which the device draws, with the whole epsilon.

    With m attributes, each is estimated from the reports of about n / m people; to divide epsilon among all attributes
    instead would make errors larger by a factor of about sqrt(m).

    Parameters
    ----------
    kinds : tuple of str
        Public. The kind of oracle for each attribute; by default as `frequency_oracle` chooses.

    Guarantee
    ---------
    Pure, epsilon, where all values of a person are replaced by any others: the attribute does not depend on the values,
    and given it the report is that of a pure oracle. Nguyen et al. 2016; Arcolezi et al. 2021, SMP.

    Examples
    --------
    >>> SampledAttribute(1.0, (("no", "yes"), 1000)).kinds
    ('grr', 'pgr')
    """

    kinds: tuple[str, ...] = ()
    kind: ClassVar[str] = "smp"

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        kinds = tuple(self.kinds) or tuple(frequency_oracle(one, self.epsilon).oracle.kind for one in self.domains)
        if len(kinds) != len(self.domains) or not set(kinds) <= BY_KIND.keys():
            raise ParameterError(name, f"the kinds are {kinds}", f"Give one of {', '.join(BY_KIND)} for each domain.")
        object.__setattr__(self, "kinds", kinds)
        _ = self.oracles

    @cached_property
    def oracles(self) -> tuple[Oracle, ...]:
        pairs = zip(self.kinds, self.domains, strict=True)
        return tuple(BY_KIND[kind](self.epsilon, domain) for kind, domain in pairs)

    @cached_property
    def form(self) -> np.dtype[Any]:
        """The number of the attribute in one byte, the report on it, and zeros up to the length of the longest."""
        return np.dtype((np.uint8, (1 + max(oracle.form.itemsize for oracle in self.oracles),)))

    def reports(self, values: Any, bits: Bits) -> Reports:
        """A report on one attribute of each. All values are checked, whichever is drawn."""
        places = [oracle.places(column) for oracle, column in zip(self.oracles, self.columns(values), strict=True)]
        attribute = uniform_integers(bits, len(values), len(self.oracles))
        made = np.zeros((len(values), *self.form.shape), np.uint8)
        made[:, 0] = attribute
        for number, oracle in enumerate(self.oracles):
            rows = np.flatnonzero(attribute == number)
            drawn = oracle.reports(oracle.at(places[number][rows]), bits).astype(oracle.form.base, copy=False)
            made[rows, 1 : 1 + oracle.form.itemsize] = (
                np.ascontiguousarray(drawn).view(np.uint8).reshape(len(rows), oracle.form.itemsize)
            )
        return made

    def score(self, reports: Reports) -> Steps:
        """The attribute, and which of the two people the report on it supports."""
        found = np.zeros(len(reports), np.int64)
        for number, oracle in enumerate(self.oracles):
            rows = np.flatnonzero(reports[:, 0] == number)
            found[rows] = 4 * number + oracle.score(self._inner(number, reports[rows]))
        return found

    def accepted(self, reports: Reports) -> Reports:
        """Attributes that exist, reports that their oracles accept, and zeros."""
        if reports.dtype != np.uint8 or reports.shape[1:] != self.form.shape:
            raise refused(self, f"they have the type {reports.dtype} and the shape {reports.shape}")
        if len(reports) and reports[:, 0].max() >= len(self.oracles):
            raise refused(self, f"one is on an attribute above {len(self.oracles) - 1}")
        for number, oracle in enumerate(self.oracles):
            of = reports[reports[:, 0] == number]
            if of[:, 1 + oracle.form.itemsize :].any():
                raise refused(self, "one goes on after its end")
            oracle.accepted(self._inner(number, of))
        return reports

    def tallied(self, reports: Reports) -> Steps:
        """The number of reports on each attribute and the tally of these, one after the other."""
        parts = []
        for number, oracle in enumerate(self.oracles):
            inner = self._inner(number, reports[reports[:, 0] == number])
            parts += [np.array([len(inner)]), oracle.tallied(inner).ravel()]
        return np.concatenate(parts)

    def tally_misfit(self, tally: Steps, n: int) -> str:
        parts = self._parts(tally)
        numbers = [int(part[0]) for part in parts]
        if min(numbers) < 0 or sum(numbers) != n:
            return f"the attributes do not have {n} reports in all"
        inner = zip(self.oracles, self._shaped(parts), numbers, strict=True)
        return next(filter(None, (oracle.tally_misfit(part, number) for oracle, part, number in inner)), "")

    def estimated(
        self, tally: Steps, n: int, *, simulated: bool = False, confidence: float = CONFIDENCE
    ) -> tuple[Frequencies, ...]:
        """The shares of the values of each attribute, with intervals for the population, since those who report on an
        attribute are a sample of all.
        """
        found = []
        parts = self._parts(tally)
        for oracle, part, inner in zip(self.oracles, parts, self._shaped(parts), strict=True):
            if not part[0]:
                raise ParameterError(
                    f"estimate by {type(self).__name__}", "an attribute has no reports", "Add more.", ""
                )
            estimate = oracle.estimated(
                inner, int(part[0]), confidence=confidence, population=True, simulated=simulated
            )
            found.append(estimate)
        return tuple(found)

    @cached_property
    def _shapes(self) -> list[tuple[int, ...]]:
        """The shape of the tally of each attribute."""
        return [oracle.tallied(np.empty((0, *oracle.form.shape), oracle.form.base)).shape for oracle in self.oracles]

    def _parts(self, tally: Steps) -> list[Steps]:
        """The number of reports on each attribute, with the tally of these."""
        sizes = [1 + math.prod(shape) for shape in self._shapes]
        return np.split(tally, list(accumulate(sizes))[:-1])

    def _shaped(self, parts: list[Steps]) -> list[Steps]:
        """The tally of each attribute, in its own shape."""
        return [part[1:].reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]

    def _inner(self, number: int, reports: Reports) -> Reports:
        form = self.oracles[number].form
        cells = np.ascontiguousarray(reports[:, 1 : 1 + form.itemsize])
        return np.frombuffer(cells.tobytes(), form.base).reshape(len(reports), *form.shape)
