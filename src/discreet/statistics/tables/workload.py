"""Private answers to many counting queries at once."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Unpack

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Norm
from discreet.core.budget import Budget
from discreet.core.checks import check_whole, shown
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.core.receipt import Receipt
from discreet.mechanisms.online import mwem, query_boosting
from discreet.mechanisms.online.mwem import MWEM
from discreet.mechanisms.online.queries import Queries
from discreet.mechanisms.online.query_boosting import QueryBoosting
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.tables.domain import BINS, Bins, Condition, Domain
from discreet.questions.tables.workload import length_of, weights_of, workload_of
from discreet.releases.ask import ColumnsOf, asked
from discreet.releases.least_noise import least_noise
from discreet.releases.release import check_population
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.releases.statistic import SharedOptions, statistic
from discreet.statistics.tables.workload_answers import WorkloadAnswers, in_words
from discreet.trust.permit import releases
from discreet.trust.private_data import PrivateData

Method = Literal["best", "queries", "cells", "mwem", "boosting"]
FEWEST, MOST = 4, 64  # iterations of MWEM
ROUNDS, SAMPLE = 3, 32  # of boosting, and queries in each: what did well on tables of binary columns
TOGETHER = ("mwem", "boosting")
ALL = "its intervals hold for all answers at once"
OFF = 5.0  # MWEM's farthest answer is off by about this many times sqrt(n / epsilon), on tables of binary columns


@statistic(no_by="its queries are conditions already: write those that make groups into them")
def workload(
    of: ColumnsOf,
    queries: Sequence[Condition] | Array | None = None,
    *,
    bins: Bins = BINS,
    method: Method = "best",
    expected_size: int | None = None,
    max_iter: int | None = None,
    confidence: float = CONFIDENCE,
    population: bool = False,
    **_: Unpack[SharedOptions],
) -> WorkloadAnswers:
    """Release the answers to many counting queries over the cells of some columns.

    Parameters
    ----------
    columns : sequence of str, optional
        Public. Numbers, each cut into equal cells between its bounds, and categories; all their combinations are cells.
    queries : sequence of conditions, or array of shape (queries, cells), optional
        Public. What to count: conditions as in `Domain.where`, or how much each cell counts, in [0, 1]. Where not
        given, every cell of every column and of every pair of columns.
    method : {"best", "queries", "cells", "mwem", "boosting"}
        Public. Noise on each answer; noise on each cell of the table, whose sums are the answers; MWEM, which can be
        closer if there are many cells and few records; boosting for queries, which rarely is. The best is the one of
        the first three that minimises the expected error of the farthest answer. For MWEM that is a rule of thumb, 5
        sqrt(n / epsilon). A curator alone can use the last two.
    expected_size : int, optional
        Public. About how many records there are, from what is known without the data. By default their number where
        it is public; where it is secret, MWEM is not considered.
    max_iter : int, optional
        Public. The number of iterations: of MWEM, by default sqrt(epsilon n) / 4, for n records; of boosting, by
        default 3, with 32 queries in each.
    population : bool
        Public. Whether the intervals are for the expected counts over samples like this one, not for these data.
        Refusal for MWEM and boosting: their intervals are for all answers at once, and no theory extends them to a
        population.

    Returns
    -------
    WorkloadAnswers
        Noise has intervals in closed form. The errors of MWEM and of boosting depend on the data, so they are measured,
        privately.

    Guarantee
    ---------
    The event on the receipt: one `Laplace`, `DiscreteLaplace` or `Gaussian` release, one `MWEM` or one
    `QueryBoosting`.

    Examples
    --------
    >>> from discreet.schema.schema import Category, Number, Schema
    >>> schema = Schema({"age": Number(0, 80), "sex": Category(("f", "m"))})
    >>> people, queries = {"age": [30.0] * 500, "sex": ["f"] * 500}, [{"age": (20, 40), "sex": "f"}, {"sex": "m"}]
    >>> found = workload(people, ("age", "sex"), queries, bounds=schema, bins=4, epsilon=1.0)
    >>> bool(abs(found.values[0] - 500) < 50), found.method
    (True, 'queries')
    """
    for name, number in (("expected_size", expected_size), ("max_iter", max_iter)):
        if number is not None:
            check_whole("workload", name, number)
    domain = Domain.listed(of.schema, of.columns, bins)
    asker = _Asker(of.data, domain, _written(domain, queries), of.budget, confidence, population, of.key)
    known = of.size if expected_size is None else expected_size
    if method == "best":
        method = asker.best(known)
    if method in TOGETHER:
        check_population(f'workload by "{method}"', population, ALL, 'Use method="queries" or "cells".')
    match method:
        case "queries":
            return asker.by_queries()
        case "cells":
            return asker.by_cells()
        case "mwem":
            return asker.by_mwem(_iterations(of.budget.epsilon, known) if max_iter is None else max_iter)
        case _:
            return asker.by_boosting(ROUNDS if max_iter is None else max_iter)


def _written(domain: Domain, queries: Sequence[Condition] | Array | None) -> Array | str:
    """Queries in a form that can be sent: weights, or conditions as JSON."""
    if isinstance(queries, np.ndarray):
        if np.atleast_2d(queries).shape[1:] != (domain.size,):
            obstacle = f"the weights have the shape {queries.shape} and there are {domain.size} cells"
            remedy = f"Give a row for each query; cells are those of an array of shape {domain.shape}, row after row."
            raise ParameterError("workload", obstacle, remedy)
        return np.atleast_2d(queries).astype(np.float64)
    if queries is None:
        queries = [*domain.marginals(1), *(domain.marginals(2) if len(domain.columns) > 1 else ())]
    several = isinstance(queries, Sequence) and not isinstance(queries, str)
    if not several or not all(isinstance(one, Mapping) for one in queries):
        raise ParameterError("workload", f"the queries are {shown(queries)}", "Give conditions, or weights of cells.")
    return json.dumps([dict(one) for one in queries], default=list)


def _iterations(epsilon: float, size: int | None) -> int:
    """More records stand more noise, and so more iterations: what did well on tables of binary columns."""
    wanted = 10 if size is None else round(math.sqrt(epsilon * max(size, 0)) / 4)
    return min(max(wanted, FEWEST), MOST)


@dataclass(frozen=True)
class _Asker:
    data: PrivateData
    domain: Domain
    written: Array | str
    budget: Budget
    confidence: float
    population: bool
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
        """The norm that minimises the noise of the answers."""
        return min(("l1", "l2") if self.budget.delta > 0 else ("l1",), key=lambda norm: self._noise(norm).stddev)

    def _noise(self, norm: Norm) -> Spread:
        bound = length_of(self.queries.weights.astype(np.float64), norm)
        sums = dataclasses.replace(self.table, bound=bound, grid=Grid(0), total=None, tally=None, recipe=None)
        return least_noise(self.data, sums, self.budget)

    def best(self, size: int | None) -> Method:
        """The method that minimises the error of the farthest answer, as far as public knowledge goes."""
        at_once = 1 - (1 - self.confidence) / len(self.queries)
        on_cells = least_noise(self.data, self.table, self.budget)
        off: dict[Method, float] = {
            "queries": self._noise(self.norm).half_width([1.0], at_once),
            "cells": float(self._errors(on_cells, at_once).max()),
        }
        if size is not None and not self.population and all(self.data.keeps(event) for event in releases(MWEM().event)):
            off["mwem"] = OFF * math.sqrt(max(size, 0) / self.budget.epsilon)
        return min(off, key=lambda method: off[method])

    def by_queries(self) -> WorkloadAnswers:
        """Noise on each answer."""
        question = workload_of(self.data.schema, self.domain.columns, self.domain.bins, self.written, self.norm)
        released = asked(self.data, question, self.budget, self.purpose, self.key)
        spread, number = released.spread, len(self.queries)
        stddevs, reach = np.full(number, spread.stddev), np.full(number, spread.half_width([1.0], self.confidence))
        return self._answers("queries", released.values, stddevs, reach, None, released.receipt)

    def by_cells(self) -> WorkloadAnswers:
        """Noise on each cell."""
        released = asked(self.data, self.table, self.budget, self.purpose, self.key)
        values = self.queries.answers(released.values)
        stddevs = released.spread.stddev * np.sqrt(np.square(self.queries.weights.astype(np.float64)).sum(axis=1))
        reach = self._errors(released.spread, self.confidence)
        return self._answers("cells", values, stddevs, reach, released.values, released.receipt)

    def _errors(self, spread: Spread, confidence: float) -> Array:
        """How far noise on the cells moves each answer; the same for queries of the same length."""
        lengths = np.square(self.queries.weights.astype(np.float64)).sum(axis=1)
        _, first, like = np.unique(lengths, return_index=True, return_inverse=True)
        return np.array([spread.half_width(self.queries.weights[place], confidence) for place in first])[like]

    def by_mwem(self, max_iter: int) -> WorkloadAnswers:
        """A public histogram."""
        check_whole("workload by MWEM", "max_iter", max_iter, most=mwem.MOST_ROUNDS)
        mechanism = calibrate(MWEM(rounds=max_iter, queries=self.queries), self.budget)
        release, reach, receipt = self._measured(mechanism)
        histogram = mechanism.histogram(release)
        return self._answers("mwem", self.queries.answers(histogram), None, reach, histogram, receipt)

    def by_boosting(self, max_iter: int) -> WorkloadAnswers:
        """Medians of the answers of several public histograms."""
        fewest, most = query_boosting.FEWEST_ROUNDS, query_boosting.MOST_ROUNDS
        check_whole("workload by boosting", "max_iter", max_iter, fewest, most)
        mechanism = calibrate(QueryBoosting(rounds=max_iter, sample=SAMPLE, queries=self.queries), self.budget)
        release, reach, receipt = self._measured(mechanism)
        return self._answers("boosting", mechanism.answers(release), None, reach, None, receipt)

    def _measured(self, mechanism: MWEM | QueryBoosting) -> tuple[Array, Array, Receipt]:
        """A release, and how far answers are off: the farthest error, noise, and half a record for rounding."""
        with self.data.permit(mechanism.event, self.purpose, key=self.key) as permit:
            release = permit.ask(self.table, mechanism)
        unit = self.table.bound.times(self.data.unit.rows)
        scale = mechanism.noise.stddev(unit, 1, self.data.neighbors) / math.sqrt(2)
        error = max(float(release[1, -1]), 0.0) + scale * math.log(1 / (2 * (1 - self.confidence))) + 0.5
        return release, np.full(len(self.queries), error), permit.receipt

    def _answers(
        self, method: str, counts: Array, stddevs: Array | None, reach: Array, table: Array | None, receipt: Receipt
    ) -> WorkloadAnswers:
        together = " (intervals for all at once)" if method in TOGETHER else ""
        return WorkloadAnswers(
            name=f"{self.purpose}{together}",
            receipt=receipt,
            confidence=self.confidence,
            population=self.population,
            labels=self.labels,
            counts=counts,
            stddevs=stddevs,
            half_widths=reach,
            together=method in TOGETHER,
            method=method,
            domain=self.domain,
            table=None if table is None else table.reshape(self.domain.shape),
        )
