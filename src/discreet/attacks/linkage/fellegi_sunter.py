"""People found in a table by columns that agree with a second table more often than by chance."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.linkage.agreement_weights import AgreementWeights
from discreet.attacks.linkage.linked_people import NOBODY, KnownByColumns, LinkedPeople, Places, truth_of
from discreet.attacks.table_columns import Codes, TableColumns, coded_numbers, row_codes
from discreet.core.checks import check_positive, names_of
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

ASKED = "FellegiSunter"
PAIRS = 2**18  # that are compared at a time
MOST_PAIRS = 2**31
MOST_COLUMNS = 12
DIFFERENT, ALIKE, UNKNOWN = 0, 1, 2  # how a column of a pair compares
Block = Callable[[], Iterator[tuple[Places, Places]]]


@dataclass(frozen=True)
class FellegiSunter(KnownByColumns):
    """The row that is most probably a person's, by how much more often each column agrees for the same person.

    Every person is compared with every row of the same block, column by column: alike, different, or unknown. How often
    a column agrees for two records of one person, and of two people, is estimated from the pairs alone, by expectation
    and maximisation. The adversary answers where one row has a posterior probability above the threshold.

    Parameters
    ----------
    known : table
        A row for each person: a data frame, or a mapping of columns. Some of it may be wrong or missing.
    truth : sequence of int
        The row of each person in the target, to count what is right; -1 for who is not there.
    columns : sequence of str, optional
        Public. Those that are compared; by default all that both tables have, except those of blocks.
    tolerances : mapping of str to float
        Public. How far two numbers may be apart that are still alike, by column; 0 for the others.
    blocking : sequence of str
        Public. Only rows with the same values of these are compared. Without any, every person is compared with every
        row.
    threshold : float
        Public. The least probability with which the adversary answers, at least one half.

    Notes
    -----
    Fellegi and Sunter 1969, with columns independent of one another given whether a pair is a match. Only the number of
    pairs of each pattern is kept, so memory grows with the tables and not with their pairs. A person has one row at
    most: with the ratios r of the rows of the block, prior q and n rows, row j has q r_j / (n (1 - q) + q sum r).
    Not checked against the paper.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> people = {name: rng.integers(0, 30, 200) for name in ("day", "street", "work", "school")}
    >>> people["age"] = rng.integers(20, 90, 200)
    >>> wrong = {**people, "street": (people["street"] + (rng.random(200) < 0.2)) % 30, "age": people["age"] + 1}
    >>> FellegiSunter(wrong, range(200), tolerances={"age": 2.0}).run(people).success > 0.9
    True
    """

    known: Any = field(repr=False)
    truth: Sequence[int] = field(repr=False)
    columns: Sequence[str] | None = None
    tolerances: Mapping[str, float] = field(default_factory=dict)
    blocking: Sequence[str] = ()
    threshold: float = 0.5
    paper: ClassVar[str] = "Fellegi and Sunter, A theory for record linkage, 1969"
    threat: ClassVar[ThreatModel] = ThreatModel(
        "the released table", "some columns of people, with their names and some errors"
    )

    def __post_init__(self) -> None:
        check_positive(ASKED, "threshold", self.threshold, least=0.5, most=1.0)
        for name, value in self.tolerances.items():
            check_positive(ASKED, f"the tolerance of {name}", value, least=0.0)

    def run(self, target: Any) -> AttackResult:
        """Look for each person in a released table, a data frame or a mapping of columns."""
        start = time.perf_counter()
        released, known = TableColumns.of(ASKED, target), TableColumns.of(ASKED, self.known)
        truth = truth_of(ASKED, self.truth, len(known), len(released))
        names, pairs = self._names(released, known), self._pairs(released, known)
        sides = [coded_numbers(known, released, name) for name in names]
        tolerances = [self.tolerances.get(name, 0.0) for name in names]
        counts = np.zeros(3 ** len(names))
        for people, rows in pairs():
            counts += np.bincount(_patterns(sides, tolerances, people, rows), minlength=len(counts))
        weights = AgreementWeights.of(counts, len(names), len(known))
        answers, strength = self._answers(pairs, sides, tolerances, weights, len(known))
        details = {"pairs": float(counts.sum()), "people expected in the target": weights.share}
        linked, seconds = LinkedPeople(answers, strength), time.perf_counter() - start
        return linked.result(ASKED, self.threat, truth, len(released), seconds, details)

    def _names(self, released: TableColumns, known: TableColumns) -> tuple[str, ...]:
        names = released.named(self.columns, known)
        kept = tuple(name for name in names if name not in names_of(self.blocking))
        if not 1 <= len(kept) <= MOST_COLUMNS:
            obstacle = f"{len(kept)} columns would be compared"
            raise ParameterError(ASKED, obstacle, f"Name 1 to {MOST_COLUMNS} in `columns`, beside those of blocks.")
        for name in self.tolerances:
            if name not in kept or not released.is_number(name):
                obstacle = f"tolerances has {name!r:.80}, which is no number that is compared"
                raise ParameterError(ASKED, obstacle, "Give tolerances for numbers among the columns.")
        return kept

    def _pairs(self, released: TableColumns, known: TableColumns) -> Block:
        """All pairs of a person and a row of the same block, some at a time."""
        names = released.named(self.blocking, known) if len(self.blocking) else ()
        rows, people = row_codes(released, known, names)
        order = np.argsort(rows, kind="stable")
        first, last = (np.searchsorted(rows[order], people, side=side) for side in ("left", "right"))
        ends = np.cumsum(np.where(people < 0, 0, last - first))
        if not 1 <= ends[-1] <= MOST_PAIRS:
            obstacle = f"there are {ends[-1]} pairs of a person and a row to compare"
            remedy = "Name columns in `blocking` that fewer rows share." if ends[-1] else "Block on other columns."
            raise ParameterError(ASKED, obstacle, remedy, pairs=int(ends[-1]))
        return lambda: _some_pairs(order, first, ends)

    def _answers(
        self,
        pairs: Block,
        sides: list[tuple[Array, Array]],
        tolerances: list[float],
        weights: AgreementWeights,
        number: int,
    ) -> tuple[Places, Array]:
        best, sums, sizes = np.zeros(number), np.zeros(number), np.zeros(number)
        answers = np.full(number, NOBODY, dtype=np.int64)
        for people, rows in pairs():
            ratios = weights.ratios[_patterns(sides, tolerances, people, rows)]
            sums += np.bincount(people, ratios, number)
            sizes += np.bincount(people, minlength=number)
            order = np.lexsort((-rows, ratios, people))  # of rows alike the first, and the best last
            ends = np.flatnonzero(np.r_[np.diff(people[order]) > 0, True])
            top = order[ends]
            better = top[ratios[top] > best[people[top]]]
            best[people[better]], answers[people[better]] = ratios[better], rows[better]
        share = weights.share
        chance = share * best / np.maximum(sizes * (1 - share) + share * sums, 1e-300)
        return np.where(chance > self.threshold, answers, NOBODY), chance


def _some_pairs(order: Codes, first: NDArray[np.intp], ends: Codes) -> Iterator[tuple[Places, Places]]:
    """The pairs in their order, by number: the person is the first whose pairs end behind it."""
    starts = np.r_[0, ends[:-1]]
    for begin in range(0, int(ends[-1]), PAIRS):
        number = np.arange(begin, min(begin + PAIRS, int(ends[-1])))
        people = np.searchsorted(ends, number, side="right")
        yield people.astype(np.int64), order[first[people] + number - starts[people]]


def _patterns(sides: list[tuple[Array, Array]], tolerances: list[float], people: Places, rows: Places) -> Codes:
    """How all columns of each pair compare, as one number in base 3."""
    found = np.zeros(len(people), dtype=np.int64)
    for (known, released), tolerance in zip(sides, tolerances, strict=True):
        with np.errstate(invalid="ignore"):  # two infinities are unknown
            apart = np.abs(known[people] - released[rows])
        levels = np.where(np.isnan(apart), UNKNOWN, np.where(apart <= tolerance, ALIKE, DIFFERENT))
        found = 3 * found + levels
    return found
