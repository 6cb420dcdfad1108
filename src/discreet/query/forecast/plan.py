"""What questions would cost, and how far off their answers would be: known before anything is spent."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, cast

import numpy as np

from discreet.core.budget import Budget
from discreet.core.checks import check_whole, is_number
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.progress_bar import patient_bar
from discreet.query.forecast.expected_error import Tried, tried
from discreet.query.forecast.forecast import Expectation, Forecast
from discreet.query.forecast.planned_question import ASKED, PlannedQuestion, is_tables, joined, planned_question
from discreet.query.forecast.practice import Practice, PracticeLedger
from discreet.questions.tables.cells import Edges
from discreet.schema.plain_schema import PlainSchema, schema_of
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.public_table import PublicTable

EPSILONS = (0.1, 0.3, 1.0, 3.0)
MOST_ROWS = 10_000_000
LEAST_EPSILON, MOST_EPSILON = 1e-4, 100.0
CLOSE = 0.02  # of the error that is looked for
SEARCHES = 12
MOST_TIMES = 10_000


def plan(
    data: PrivateData | PlainSchema | Mapping[str, PrivateData | PublicTable],
    *questions: Any,
    n: int | None = None,
    epsilon: float | Sequence[float] | None = None,
    delta: float = 0.0,
    for_error: float | None = None,
    most: int | None = None,
    edges: Edges | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> Forecast:
    """Say what questions would cost and how far off their answers would be, without asking them.

    Nothing is read but what is public: the schema, the relation, the unit and the trust model. The questions are put to
    made-up records of that kind, of four different shapes. An answer that has an interval states its error itself, by
    the law of its noise. Where the error depends on the records, a row shows it for a middling shape, and from the best
    to the worst shape. Where records are few, so that chance moves it from table to table of one shape, this range is
    wider by two standard deviations at both ends: one table in twenty of a shape is farther off.
    Anything else is simulated, and its row says so: repeated answers are compared with one that has hardly any noise.

    Parameters
    ----------
    data : PrivateData, Schema, or mapping of str to columns or to tables
        What is asked about; for a SELECT that joins, all its tables. The account of private data says how often it
        could pay; nothing is charged.
    *questions : str, callable or learner
        Public. In words: "mean of age", "contingency of sex and department", "quantile of age q=0.9", "mean of stay by
        ward where age >= 65", "KMeans n_clusters=4", "report". Or a function of data, epsilon and delta, such as
        `functools.partial(discreet.mean, column="age", population=True)`; or a learner.
    n : int
        Public. The number of records or users that is assumed. Not needed where it is public.
    epsilon : float or sequence of float, optional
        Public. The prices, for each question by itself. By default 0.1, 0.3, 1 and 3.
    delta : float
        Public. The delta of each question.
    for_error : float, optional
        Public. Instead of prices, the error for which the least epsilon of each figure is looked for; infinite, where
        not even 100 is enough.
    most, edges, bounds : optional
        Public. What is said beside a SELECT; see `sql`.

    Returns
    -------
    Forecast
        A row for each question and price. It prints, plots, and becomes a data frame or JSON.

    Examples
    --------
    >>> schema = {"age": (0, 110), "sex": ["f", "m"]}
    >>> print(plan(schema, "mean of age", "histogram of sex", n=5000, epsilon=0.5))
    expected errors, if n is 5,000; nothing was asked
            question  epsilon         basis                 error
         mean of age      0.5  95% interval  0.091 [0.090, 0.116]
    histogram of sex      0.5  95% interval                     6
    >>> round(plan(schema, "mean of age", n=5000, for_error=0.5).epsilon, 2)
    0.09
    """
    if not questions:
        raise ParameterError(ASKED, "no question is given", 'Ask something, such as "mean of age".')
    if epsilon is not None and for_error is not None:
        raise ParameterError(
            ASKED, "both epsilon and for_error are given", "Give one of them: each determines the other."
        )
    if for_error is not None and not 0 < for_error < math.inf:
        raise ParameterError(ASKED, f"for_error is {for_error}", "Give a positive error.")
    beside: dict[str, Any] = {"edges": edges, "bounds": bounds}
    if is_tables(data):
        found = [joined(data, question, delta, beside | {"most": most}) for question in questions]
        each = [plan(one.data, one, n=n, epsilon=epsilon, delta=delta, for_error=for_error) for one in found]
        return Forecast(each[0].n, tuple(row for one in each for row in one.expectations), for_error)
    of = data if isinstance(data, PrivateData) else schema_of(cast(PlainSchema, data))
    practice = Practice(of, _assumed(of, n), delta)
    meant = [planned_question(question, beside) for question in questions]
    prices = [Budget(one, delta) for one in (EPSILONS if epsilon is None else _several(epsilon))]
    rows, bar = [], patient_bar()
    for done, question in enumerate(meant):
        bar(done, len(meant), question.name)
        if for_error is not None:
            rows += _searched(question, practice, delta, for_error)
        else:
            rows += [row for price in prices for row in _rows(tried(question, practice, price), practice, price)]
    bar(len(meant), len(meant), "done")
    return Forecast(practice.n, tuple(rows), for_error)


def _several(epsilon: float | Sequence[float]) -> list[float]:
    """One price or more, as plain numbers; what is no number is left for `Budget` to refuse."""
    found: list[float] = np.array(epsilon, dtype=object).ravel().tolist()
    return [float(one) if is_number(one) else one for one in found]


def _assumed(data: PrivateData | Schema, n: int | None) -> int:
    known = data.public_size if isinstance(data, PrivateData) else None
    if n is None and known is None:
        obstacle = "the number of records is secret, and none is assumed"
        raise ParameterError(ASKED, obstacle, "Give n=..., from what you know without the data.")
    assumed = known if n is None else n
    assert assumed is not None
    check_whole(ASKED, "n", assumed, most=MOST_ROWS // (1 if isinstance(data, Schema) else data.unit.rows))
    return int(assumed)


def _rows(found: Tried, practice: Practice, price: Budget) -> list[Expectation]:
    of = practice.of
    counted = isinstance(of, PrivateData) and not isinstance(of.ledger, PracticeLedger)
    times = affordable(of, found.event) if counted and isinstance(of, PrivateData) else None
    return [
        Expectation(
            each.what,
            price.epsilon,
            price.delta,
            each.error,
            each.low,
            each.high,
            each.basis,
            times,
        )
        for each in found.errors
    ]


def _searched(question: PlannedQuestion, practice: Practice, delta: float, wanted: float) -> list[Expectation]:
    """For each figure of a question, what to expect at the least epsilon that makes its error small enough."""

    @cache
    def at(epsilon: float) -> dict[str, Expectation]:
        price = Budget(epsilon, delta)
        return {row.question: row for row in _rows(tried(question, practice, price), practice, price)}

    def figure(name: str) -> Callable[[float], Expectation]:
        return lambda epsilon: at(epsilon).get(name, at(1.0)[name])

    return [_least(figure(name), wanted) for name in at(1.0)]


def _least(at: Callable[[float], Expectation], wanted: float) -> Expectation:
    """What to expect at the least epsilon whose error is small enough: found as if errors were inverse to epsilon."""
    low, high, found, guess = LEAST_EPSILON, MOST_EPSILON, None, 1.0
    for _ in range(SEARCHES):
        row = at(float(f"{guess:.4g}"))
        if row.error <= wanted:
            high, found = guess, row
        else:
            low = guess
        if low >= MOST_EPSILON or (found and (high <= low * (1 + CLOSE) or 0 <= 1 - row.error / wanted <= CLOSE)):
            break
        inverse = guess * row.error / wanted * (1 + CLOSE / 4)
        guess = inverse if low < inverse < high else math.sqrt(low * high) if found else MOST_EPSILON
    return found if found is not None else dataclasses.replace(at(MOST_EPSILON), epsilon=math.inf)


def affordable(data: PrivateData, event: Event) -> int:
    """How often the account of these data could pay for an event from now on, one after the other; at most 10,000.

    Examples
    --------
    >>> from discreet.core.events import PureLoss
    >>> from discreet.query.sample.sample import sample
    >>> affordable(sample(epsilon=1.0, delta=0.0), PureLoss(0.25))
    4
    """
    return data.ledger.often(event, MOST_TIMES)
