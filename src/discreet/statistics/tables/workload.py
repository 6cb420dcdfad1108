"""Private answers to many counting queries at once."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Norm
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.core.question import BoundedSum
from discreet.core.receipt import Receipt
from discreet.mechanisms.online.mwem import MWEM
from discreet.mechanisms.online.queries import Queries
from discreet.questions.contingency import contingency_of
from discreet.questions.domain import BINS, Bins, Condition, Domain
from discreet.questions.workload import length_of, weights_of, workload_of
from discreet.releases.ask import asked, columns_of
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.statistics.tables.workload_answers import WorkloadAnswers, in_words
from discreet.trust.as_private import Bounds
from discreet.trust.permit import releases
from discreet.trust.private_data import PrivateData

Method = Literal["best", "queries", "cells", "mwem"]
FEWEST_ROUNDS, MOST_ROUNDS = 4, 64
OFF = 5.0  # MWEM's farthest answer is off by about this many times sqrt(n / epsilon), on tables of binary columns


def workload(
    data: Any,
    columns: Sequence[str] | None = None,
    queries: Sequence[Condition] | Array | None = None,
    *,
    bounds: Bounds | None = None,
    bins: Bins = BINS,
    epsilon: float = 1.0,
    delta: float = 0.0,
    method: Method = "best",
    records: int | None = None,
    rounds: int | None = None,
    key: str | None = None,
) -> WorkloadAnswers:
    """Release the answers to many counting queries over the cells of some columns.

    Parameters
    ----------
    data : PrivateData, array of shape (n, columns), or data frame
        The records.
    columns : sequence of str, optional
        Public. Numbers, each cut into equal cells between its bounds, and categories; all their combinations are cells.
    queries : sequence of conditions, or array of shape (queries, cells), optional
        Public. What to count: conditions as in `Domain.where`, or how much each cell counts, in [0, 1]. Where not
        given, every cell of every column and of every pair of columns.
    bounds : (lower, upper) or Schema, optional
        Public. For an array or data frame: two numbers, or two sequences with one number per column; or a schema.
    bins : int, or mapping of str to int
        Public. The number of cells of each numeric column.
    epsilon, delta : float
        Public. What this may cost, in all.
    method : {"best", "queries", "cells", "mwem"}
        Public. Noise on each answer; noise on each cell of the table, whose sums are the answers; MWEM, which can be
        closer if there are many cells and few records. The best is the one that minimises the expected error of the
        farthest answer. For MWEM that is a rule of thumb, 5 sqrt(records / epsilon); a curator alone can use it.
    records : int, optional
        Public. About how many records there are, if that is known; MWEM is not thought of where it is not.
    rounds : int, optional
        Public. Of MWEM; a quarter of the square root of epsilon times the records where not given.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    WorkloadAnswers
        Noise has error bars in closed form. How far MWEM is off depends on the data, so it is measured, privately.

    Guarantee
    ---------
    The event on the receipt: one `Laplace`, `DiscreteLaplace` or `Gaussian` release, or one `MWEM`.

    Examples
    --------
    >>> from discreet.core.schema import Category, Number, Schema
    >>> schema = Schema({"age": Number(0, 80), "sex": Category(("f", "m"))})
    >>> people, queries = {"age": [30.0] * 500, "sex": ["f"] * 500}, [{"age": (20, 40), "sex": "f"}, {"sex": "m"}]
    >>> found = workload(people, ("age", "sex"), queries, bounds=schema, bins=4, epsilon=1.0)
    >>> bool(abs(found.values[0] - 500) < 50), found.method
    (True, 'queries')
    """
    budget = Budget(epsilon, delta)
    of = columns_of("workload", data, columns, bounds, budget)
    domain = Domain.listed(of.data.schema, of.columns, bins)
    asker = _Asker(of.data, domain, _written(domain, queries), budget, key)
    known = of.data.public_size if records is None else records
    if method == "best":
        method = asker.best(known)
    match method:
        case "queries":
            return asker.by_queries()
        case "cells":
            return asker.by_cells()
        case "mwem":
            return asker.by_mwem(_rounds(epsilon, known) if rounds is None else rounds)
        case _:
            raise ParameterError("workload", f"method is {method!r}", 'Use "best", "queries", "cells" or "mwem".')


def _written(domain: Domain, queries: Sequence[Condition] | Array | None) -> Array | str:
    """Queries in a form that can be sent: weights, or conditions as JSON."""
    if isinstance(queries, np.ndarray):
        if np.atleast_2d(queries).shape[1:] != (domain.size,):
            raise ParameterError(
                "workload",
                f"the weights have the shape {queries.shape} and there are {domain.size} cells",
                f"Give a row for each query; cells are those of an array of shape {domain.shape}, row after row.",
            )
        return np.atleast_2d(queries).astype(np.float64)
    if queries is None:
        queries = [*domain.marginals(1), *(domain.marginals(2) if len(domain.columns) > 1 else ())]
    return json.dumps([dict(one) for one in queries], default=list)


def _rounds(epsilon: float, records: int | None) -> int:
    """More records stand more noise, and so more rounds: what did well on tables of binary columns."""
    wanted = 10 if records is None else round(math.sqrt(epsilon * max(records, 0)) / 4)
    return min(max(wanted, FEWEST_ROUNDS), MOST_ROUNDS)


@dataclass(frozen=True)
class _Asker:
    data: PrivateData
    domain: Domain
    written: Array | str
    budget: Budget
    key: str | None

    @cached_property
    def labels(self) -> tuple[str, ...]:
        if isinstance(self.written, str):
            return tuple(in_words(one) for one in json.loads(self.written))
        return tuple(f"query {place}" for place in range(len(self.written)))

    @cached_property
    def queries(self) -> Queries:
        if isinstance(self.written, str):
            return Queries(weights_of(self.domain, json.loads(self.written)))
        return Queries(self.written)

    @property
    def purpose(self) -> str:
        return f"{len(self.queries)} queries on {', '.join(self.domain.columns)}"

    @cached_property
    def table(self) -> BoundedSum:
        return contingency_of(self.data.schema, self.domain.columns, self.domain.bins)

    @cached_property
    def norm(self) -> Norm:
        """The norm whose noise moves the answers least."""
        return min(("l1", "l2") if self.budget.delta > 0 else ("l1",), key=lambda norm: self._noise(norm).stddev)

    def _noise(self, norm: Norm) -> Spread:
        bound = length_of(self.queries.weights.astype(np.float64), norm)
        sums = dataclasses.replace(self.table, bound=bound, grid=Grid(0), total=None, tally=None, recipe=None)
        return least_noise(self.data, sums, self.budget)

    def best(self, records: int | None) -> Method:
        """The method whose farthest answer is off least, as far as public knowledge goes."""
        at_once = 1 - (1 - CONFIDENCE) / len(self.queries)
        on_cells = least_noise(self.data, self.table, self.budget)
        off: dict[Method, float] = {
            "queries": self._noise(self.norm).half_width([1.0], at_once),
            "cells": float(self._errors(on_cells, at_once).max()),
        }
        if records is not None and all(self.data.keeps(event) for event in releases(MWEM().event)):
            off["mwem"] = OFF * math.sqrt(max(records, 0) / self.budget.epsilon)
        return min(off, key=lambda method: off[method])

    def by_queries(self) -> WorkloadAnswers:
        """Noise on each answer."""
        question = workload_of(self.data.schema, self.domain.columns, self.domain.bins, self.written, self.norm)
        released = asked(self.data, question, self.budget, self.purpose, self.key)
        errors = np.full(len(self.queries), released.spread.half_width([1.0]))
        return self._answers("queries", released.values, errors, None, released.receipt)

    def by_cells(self) -> WorkloadAnswers:
        """Noise on each cell."""
        released = asked(self.data, self.table, self.budget, self.purpose, self.key)
        values = self.queries.answers(released.values)
        return self._answers("cells", values, self._errors(released.spread), released.values, released.receipt)

    def _errors(self, spread: Spread, confidence: float = CONFIDENCE) -> Array:
        """How far noise on the cells moves each answer; the same for queries of the same length."""
        lengths = np.square(self.queries.weights.astype(np.float64)).sum(axis=1)
        _, first, like = np.unique(lengths, return_index=True, return_inverse=True)
        return np.array([spread.half_width(self.queries.weights[place], confidence) for place in first])[like]

    def by_mwem(self, rounds: int) -> WorkloadAnswers:
        """A public histogram; its farthest distance comes with Laplace noise, and with half a record for rounding."""
        mechanism = calibrate(MWEM(rounds=rounds, queries=self.queries), self.budget)
        table = self.table
        with self.data.permit(mechanism.event, self.purpose, key=self.key) as permit:
            release = permit.ask(table, mechanism)
        histogram = mechanism.histogram(release)
        scale = mechanism.noise.stddev(table.bound.times(self.data.unit.rows), 1, self.data.neighbors) / math.sqrt(2)
        error = max(float(release[1, -1]), 0.0) + scale * math.log(1 / (2 * (1 - CONFIDENCE))) + 0.5
        errors = np.full(len(self.queries), error)
        return self._answers("mwem", self.queries.answers(histogram), errors, histogram, permit.receipt)

    def _answers(
        self, method: str, values: Array, errors: Array, table: Array | None, receipt: Receipt
    ) -> WorkloadAnswers:
        shaped = None if table is None else table.reshape(self.domain.shape)
        together = method == "mwem"
        return WorkloadAnswers(self.labels, values, errors, together, method, self.domain, shaped, CONFIDENCE, receipt)
