"""Whole records rebuilt from published counts."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import WORST, AttackResult
from discreet.attacks.control_rate import control_rate
from discreet.attacks.table_columns import TableColumns, read_column, shared_codes
from discreet.core.checks import check_positive, check_size, names_of, quoted
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

ASKED = "CountReconstruction"
MOST_CELLS = 2**12
LITTLE = 1e-4  # of an error of one: what a unit of surprise costs


@dataclass(frozen=True)
class CountReconstruction:
    """The whole records that fit published counts of some columns at a time, by integer programming.

    Parameters
    ----------
    truth : table
        The true records, to count what is right.
    others : table
        Records of the same population that are not in the target, from which anybody would guess.
    categories : mapping of str to sequence
        Public. The values that each column can have.
    seconds : float
        Public. How long the program may be searched; the best that it found counts.

    Notes
    -----
    One whole number for each combination of values, such that the sum of absolute differences from all published counts
    is least; counts that are missing, as where small ones are suppressed, are left out. Among many that fit, the one is
    taken whose combinations are most frequent among the others. A record is rebuilt if its combination is there: the
    sum over combinations of the smaller of the true and the found count. Chance is the upper end of the interval of
    what the shares of the others rebuild, as counts of the same sum. Garfinkel, Abowd and Martindale 2018 rebuild a
    census block by satisfiability; not checked against the paper.

    Examples
    --------
    >>> people = {"age": ["young", "old", "old"], "sex": ["f", "f", "m"], "ill": ["no", "yes", "no"]}
    >>> values = {"age": ["young", "old"], "sex": ["f", "m"], "ill": ["no", "yes"]}
    >>> others = {name: [values[name][place % 2] for place in range(8)] for name in values}
    >>> counts = {("age", "sex"): [[1, 0], [1, 1]], ("sex", "ill"): [[1, 1], [1, 0]], ("age", "ill"): [[1, 0], [1, 1]]}
    >>> CountReconstruction(people, others, values).run(counts).right
    3
    """

    truth: Any = field(repr=False)
    others: Any = field(repr=False)
    categories: Mapping[str, Sequence[Any]] = field(repr=False)
    seconds: float = 60.0
    paper: ClassVar[str] = "Garfinkel, Abowd and Martindale, Understanding database reconstruction attacks, 2018"
    threat: ClassVar[ThreatModel] = ThreatModel("published counts", "other records like them")

    def __post_init__(self) -> None:
        check_positive(ASKED, "seconds", self.seconds)
        check_size(ASKED, prod(self._shape), MOST_CELLS)

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(len(values) for values in self.categories.values())

    def run(self, target: Mapping[Any, Any]) -> AttackResult:
        """Rebuild records from counts: a mapping of names of columns to an array with one axis for each of them."""
        start = time.perf_counter()
        rows, others = self._cells(self.truth), self._cells(self.others)
        cells = prod(self._shape)
        true, prior = (np.bincount(own, minlength=cells) for own in (rows, others))
        found = self._fitting(*self._sums(target), -np.log((prior + 0.5) / (len(others) + 0.5 * cells)))
        guessed = np.minimum(_rounded(prior.astype(np.float64) * len(rows) / len(others), len(rows)), true)
        rebuilt = np.minimum(found, true)
        alone = np.flatnonzero((true[rows] == 1) & (rebuilt[rows] == 1))
        single = max(int((true == 1).sum()), 1)
        return AttackResult(
            ASKED,
            self.threat,
            "records rebuilt",
            int(rebuilt.sum()),
            len(rows),
            control_rate(int(guessed.sum()), len(rows)),
            time.perf_counter() - start,
            0,
            worst=tuple(alone[:WORST].tolist()),
            details={"of those alone in their cell": len(alone) / single, "guessed": float(guessed.sum() / len(rows))},
        )

    def _cells(self, table: Any) -> NDArray[np.int64]:
        """The combination of values that each record has, as a number."""
        read = TableColumns.of(ASKED, table)
        codes = []
        for name, values in self.categories.items():
            domain = read_column(list(values))
            own = shared_codes(domain, read[name])
            places = np.full(int(max(own[0].max(), own[1].max())) + 1, -1)
            places[own[0]] = np.arange(len(domain))
            codes.append(np.where(own[1] < 0, -1, places[own[1]]))
            if (codes[-1] < 0).any():
                obstacle = f"column {quoted(name)} has a value that is not among its categories"
                raise ParameterError(ASKED, obstacle, "List all values, and leave out records with missing ones.")
        return np.ravel_multi_index(tuple(codes), self._shape).astype(np.int64)

    def _sums(self, target: Mapping[Any, Any]) -> tuple[sparse.csr_array, Array]:
        """A row of ones for the combinations that each published count adds up, and the counts."""
        if not isinstance(target, Mapping) or not target:
            raise ParameterError(ASKED, "there are no counts", "Give a mapping of names of columns to arrays.")
        places = np.stack(np.unravel_index(np.arange(prod(self._shape)), self._shape))
        parts, counts = [], []
        for columns, given in target.items():
            names = names_of(columns)
            if not set(names) <= set(self.categories):
                raise ParameterError(ASKED, "counts have columns without categories", "Give the values of each column.")
            own = [[*self.categories].index(name) for name in names]
            shape, found = tuple(self._shape[place] for place in own), np.asarray(given, dtype=np.float64)
            if found.shape != shape:
                obstacle = f"counts of {', '.join(names)} have shape {found.shape}"
                raise ParameterError(ASKED, obstacle, f"Give them in shape {shape}, as the categories are listed.")
            cells = np.ravel_multi_index(tuple(places[own]), shape)
            known = np.isfinite(found.ravel())
            sums = sparse.csr_array((np.ones(len(cells)), (cells, np.arange(len(cells)))), (found.size, len(cells)))
            parts.append(sums[known])
            counts.append(found.ravel()[known])
        return sparse.csr_array(sparse.vstack(parts)), np.concatenate(counts)

    def _fitting(self, sums: sparse.csr_array, counts: Array, surprise: Array) -> NDArray[np.int64]:
        """The least sum of errors, each the difference of two numbers above zero; of equals the least surprising."""
        cells, number = sums.shape[1], len(counts)
        errors = sparse.eye_array(number, format="csr")
        matrix = sparse.hstack([sums, errors, -errors], format="csr")
        solved = optimize.milp(
            np.concatenate([LITTLE * surprise, np.ones(2 * number)]),
            integrality=np.concatenate([np.ones(cells), np.zeros(2 * number)]),
            constraints=optimize.LinearConstraint(matrix, counts, counts),
            options={"time_limit": float(self.seconds)},
        )
        found = np.zeros(cells) if solved.x is None else solved.x[:cells]
        return np.rint(found).astype(np.int64)


def _rounded(shares: Array, total: int) -> NDArray[np.int64]:
    """Whole numbers of this sum: rounded down, and one more where most was cut off."""
    whole = np.floor(shares).astype(np.int64)
    order = np.argsort(whole - shares, kind="stable")
    whole[order[: total - int(whole.sum())]] += 1
    return whole
