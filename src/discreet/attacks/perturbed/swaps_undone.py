"""Places that records exchanged, put back by whoever has exact tables of the same records."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, sparse

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import WORST, AttackResult
from discreet.attacks.table_columns import TableColumns, read_column, row_codes, shared_codes
from discreet.core.checks import check_positive, check_size, names_of
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

ASKED = "SwapsUndone"
MOST_CELLS = 2**15
BROKEN = 10.0  # moves that a wrong count weighs
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class SwapsUndone:
    """The fewest moves between places after which a swapped table agrees with exact tables.

    Parameters
    ----------
    truth : sequence
        The true place of each row of the target, to count what is right.
    place : str
        Public. The column that was exchanged.
    margins : mapping of str to mapping
        Public. For some other columns, the exact counts by place and value, such as {"work": {("north", 3): 12}}; what
        is not listed is nothing.
    keys : sequence of str
        Public. Columns that swapping kept together with the place.
    seconds : float
        Public. How long the program may be searched; the best that it found counts.

    Notes
    -----
    An integer program: how many records of each kind (all columns except the place) each place has, such that kinds and
    the counts of places and keys stay and the margins are met, with the fewest moves. Among rows of a kind in one
    place, the first ones move. Chance is the share of rows that are in their place as released, so only what the
    margins add counts. Where swaps are many, or margins coarse, other moves meet them as well, and nothing is gained.

    Examples
    --------
    >>> released = {"town": ["a", "a", "b", "b"], "sex": ["f", "m", "f", "m"], "work": [1, 2, 1, 1]}
    >>> exact = {"work": {("a", 1): 2, ("b", 1): 1, ("b", 2): 1}}
    >>> SwapsUndone(["a", "b", "b", "a"], "town", exact, ["sex"]).run(released).success
    1.0
    """

    truth: ArrayLike = field(repr=False)
    place: str
    margins: Mapping[str, Mapping[tuple[Any, Any], float]] = field(repr=False)
    keys: Sequence[str] = ()
    seconds: float = 60.0
    paper: ClassVar[str] = "Garfinkel, Abowd and Martindale, Understanding database reconstruction attacks, 2018"
    threat: ClassVar[ThreatModel] = ThreatModel("the swapped table", "exact counts by place of some columns")

    def __post_init__(self) -> None:
        check_positive(ASKED, "seconds", self.seconds)
        if not self.margins or self.place in self.margins or self.place in names_of(self.keys):
            raise ParameterError(ASKED, "margins are of no other column", "Give counts by place of other columns.")

    def run(self, target: Any) -> AttackResult:
        """Put rows of a released table, a data frame or a mapping of columns, back to their places."""
        start, table = time.perf_counter(), TableColumns.of(ASKED, target)
        truth, domain = _texts(read_column(self.truth)), self._domain(table)
        if len(truth) != len(table):
            obstacle = f"the target has {len(table)} rows, and there are {len(truth)} true places"
            raise ParameterError(ASKED, obstacle, "Give one for each row.")
        places = shared_codes(domain, _texts(table[self.place]))[1]
        kinds = _numbered(table, [name for name in table.columns if name != self.place])
        before = np.zeros((len(domain), int(kinds.max()) + 1))
        check_size(ASKED, before.size, MOST_CELLS)
        np.add.at(before, (places, kinds), 1.0)
        after = self._fewest_moves(before, self._constraints(table, domain, kinds, before))
        found = _moved(places, kinds, after - before)
        right, stayed = domain[found] == truth, domain[places] == truth
        changed = found != places
        return AttackResult(
            ASKED,
            self.threat,
            "rows in their true place",
            int(right.sum()),
            len(truth),
            float(stayed.mean()),
            time.perf_counter() - start,
            0,
            worst=tuple(np.flatnonzero(changed & right)[:WORST].tolist()),
            details={
                "moved rows put back": float((changed & right).sum() / max(1, (~stayed).sum())),
                "rows moved wrongly": int((changed & ~right).sum()),
            },
        )

    def _domain(self, table: TableColumns) -> Any:
        listed = [_text(place) for margin in self.margins.values() for place, _ in margin]
        return np.array(sorted({*_texts(table[self.place]), *listed}), dtype=object)

    def _constraints(
        self, table: TableColumns, domain: Any, kinds: Codes, before: Array
    ) -> list[tuple[Array, Array, bool]]:
        """Which kinds are added up, the sums of these by place, and whether they must hold."""
        first = np.unique(kinds, return_index=True)[1]
        groups = _numbered(table, names_of(self.keys))[first]
        by_key = np.eye(int(groups.max()) + 1)[groups]
        found = [(by_key, before @ by_key, True)]
        for name, margin in self.margins.items():
            cells = {(_text(place), _text(value)): count for (place, value), count in margin.items()}
            texts = _texts(table[name])[first]
            values = sorted({*texts, *(value for _, value in cells)})
            by_value = (texts[:, None] == np.array(values, dtype=object)).astype(np.float64)
            counts = np.array([[float(cells.get((place, value), 0)) for value in values] for place in domain])
            found.append((by_value, counts, False))
        return found

    def _fewest_moves(self, before: Array, constraints: list[tuple[Array, Array, bool]]) -> Array:
        """Cells, their moves in and out, and errors of margins, all above zero; as before, where nothing is found."""
        places, kinds = before.shape
        size, one = before.size, sparse.eye_array(before.size)
        by_kind = sparse.kron(sparse.csr_array(np.ones((1, places))), sparse.eye_array(kinds))
        rows = [sparse.hstack([one, -one, one]), sparse.hstack([by_kind, sparse.csr_array((kinds, 2 * size))])]
        sums, soft = [before.ravel(), before.sum(axis=0)], []
        for which, counts, must in constraints:
            part = sparse.kron(sparse.eye_array(places), sparse.csr_array(which.T))
            rows.append(sparse.hstack([part, sparse.csr_array((part.shape[0], 2 * size))]))
            sums.append(counts.ravel())
            soft.append(np.full(part.shape[0], not must))
        slack = np.r_[np.zeros(size + kinds, dtype=bool), np.concatenate(soft)]
        errors = sparse.csr_array(sparse.diags_array(slack.astype(np.float64)))[:, np.flatnonzero(slack)]
        matrix = sparse.hstack([sparse.vstack(rows), errors, -errors], format="csr")
        weights = np.r_[np.zeros(size), np.ones(2 * size), np.full(2 * int(slack.sum()), BROKEN)]
        target = np.concatenate(sums)
        solved = optimize.milp(
            weights,
            integrality=np.r_[np.ones(size), np.zeros(len(weights) - size)],
            constraints=optimize.LinearConstraint(matrix, target, target),
            options={"time_limit": float(self.seconds)},
        )
        return before if solved.x is None else np.rint(solved.x[:size]).reshape(before.shape)


def _moved(places: Codes, kinds: Codes, change: Array) -> Codes:
    """The place of each row after so many of each kind have left and come."""
    found = places.copy()
    for kind in np.flatnonzero((change != 0).any(axis=0)):
        rows = np.flatnonzero(kinds == kind)
        leaving = [rows[places[rows] == place][: int(-more)] for place, more in enumerate(change[:, kind]) if more < 0]
        coming = np.repeat(np.arange(len(change)), np.maximum(change[:, kind], 0).astype(int))
        found[np.concatenate(leaving)] = coming
    return found


def _numbered(table: TableColumns, names: Sequence[str]) -> Codes:
    """A number for each row, the same where these columns are; a missing value is a value of its own."""
    texts = TableColumns({name: _texts(table[name]) for name in names} or {"": np.zeros(len(table))}, ASKED)
    return row_codes(texts, texts, names)[0]


def _text(value: Any) -> str:
    return str(read_column([value])[0])


def _texts(values: Any) -> Any:
    return np.array([str(value) for value in values], dtype=object)
