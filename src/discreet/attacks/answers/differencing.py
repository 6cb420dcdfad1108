"""One record's secret bit, as the difference of answers about sets that differ in that record."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.answers.asked_queries import Answers, AskedQueries, blocks, likelier, secret_bits
from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

MOST = 2**22  # numbers in the queries of one call


@dataclass(frozen=True)
class Differencing:
    """One record's secret bit, as the difference of the sums over everybody and over everybody else.

    Refusing small sets does not help: both sets are as large as they can be. Where answers have fresh noise, both
    are asked again and again, and averaged.

    Parameters
    ----------
    truth : array-like of 0 and 1
        The secret bits, to count what is right.
    repeats : int
        Public. How often each of the two sets is asked.
    rows : sequence of int, optional
        Public. The records that are attacked; by default the first hundred.

    Notes
    -----
    Denning, Denning and Schwartz 1979 for trackers; that fresh noise averages out is in every textbook.

    Examples
    --------
    >>> bits = np.random.default_rng(0).integers(0, 2, 50)
    >>> Differencing(bits).run(lambda queries: queries @ bits).success
    1.0
    """

    truth: ArrayLike = field(repr=False)
    repeats: int = 1
    rows: ArrayLike | None = field(default=None, repr=False)
    paper: ClassVar[str] = "Denning, Denning and Schwartz, The tracker: a threat to statistical database security, 1979"
    threat: ClassVar[ThreatModel] = ThreatModel(
        "answers", "which records there are, and no bit of them", "sums over sets of its choice, again and again"
    )

    def __post_init__(self) -> None:
        bits = secret_bits("Differencing", self.truth)
        check_whole("Differencing", "repeats", self.repeats)
        rows = self._rows(len(bits))
        if rows.ndim != 1 or not len(rows) or not np.isin(rows, np.arange(len(bits))).all():
            raise ParameterError("Differencing", "`rows` names records that are not there", "Give rows of `truth`.")

    def _rows(self, records: int) -> Any:
        return np.arange(min(records, 100)) if self.rows is None else np.asarray(self.rows)

    def run(self, target: Answers) -> AttackResult:
        """Ask the target, a function that takes an array of queries by records, and gives a number for each query."""
        start, bits = time.perf_counter(), secret_bits("Differencing", self.truth)
        asked, rows = AskedQueries("Differencing", target), self._rows(len(bits))
        everybody = self._averaged(asked, np.ones(len(bits)))
        found = [everybody - self._averaged(asked, _all_but(row, len(bits))) > 0.5 for row in rows]
        right = np.array(found) == bits[rows]
        return AttackResult(
            "Differencing" if self.repeats == 1 else f"Differencing of {self.repeats} averaged answers",
            self.threat,
            "bits",
            int(right.sum()),
            len(rows),
            likelier(bits[rows]),
            time.perf_counter() - start,
            asked.questions,
            details={"queries refused": asked.refused},
        )

    def _averaged(self, asked: AskedQueries, query: Array) -> float:
        """The mean of the answers; nan, from which no bit follows, where none came."""
        size = max(1, MOST // len(query))
        answers = [asked(np.tile(query, (part, 1))) for part in blocks(int(self.repeats), size)]
        given = np.concatenate(answers)
        given = given[~np.isnan(given)]
        return float(given.mean()) if len(given) else np.nan


def _all_but(row: int, records: int) -> Array:
    query = np.ones(records)
    query[row] = 0.0
    return query
