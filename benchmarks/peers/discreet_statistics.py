"""Statistics of a column by this library. Prints JSON; the argument is `errors` or `seconds`.

For errors, what is the same in every repetition is done once where that is simple, as with the peers; the first release
is held against that of the public function for the same bits. Deciles of a secret number of values are found in the two
ways that there are, and the lesser error counts, as with OpenDP; of a public number, in the default way.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.peers.columns import BINS, SINGLE, STEPS, ColumnQuestion
from benchmarks.peers.trials import Releases, error, main
from discreet.accounting.calibration import calibrate
from discreet.core.answer import Answer, Records
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.system_bits import system_bits
from discreet.questions.columns.moments import moments_of
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.releases.ask import ColumnOf
from discreet.releases.joint_plan import JointPlan
from discreet.releases.least_noise import least_noise
from discreet.schema.schema import Number, Schema
from discreet.statistics.moments.column_moments import Moments
from discreet.statistics.moments.mean import mean
from discreet.statistics.moments.variance import variance
from discreet.statistics.ranks.quantile import quantile
from discreet.statistics.ranks.quantile_request import Method, QuantileRequest
from discreet.statistics.tables.histogram import histogram
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix


def schema(asked: ColumnQuestion) -> Schema:
    return Schema({"x": Number(*asked.of.bounds)})


def step(asked: ColumnQuestion) -> float | None:
    return (asked.of.upper - asked.of.lower) / STEPS if asked.on_grid else None


def private(asked: ColumnQuestion, values: np.ndarray, bits: Bits | None = None) -> PrivateData:
    neighbors = Neighbors(asked.relation)
    return PrivateData.of(values[:, None], schema(asked), Budget(asked.epsilon), neighbors=neighbors, bits=bits)


def whole(asked: ColumnQuestion, values: np.ndarray, bits: Bits | None = None, method: Method | None = None) -> Any:
    """One release by the public function."""
    data, epsilon = private(asked, values, bits), asked.epsilon
    match asked.statistic:
        case "mean":
            return mean(data, "x", epsilon=epsilon).value
        case "variance":
            return variance(data, "x", epsilon=epsilon).value
        case "histogram":
            return histogram(data, "x", bins=BINS, epsilon=epsilon).counts
        case "nonnegative histogram":
            return histogram(data, "x", bins=BINS, epsilon=epsilon).nonnegative().counts
        case _:
            found: Any = quantile(
                data, "x", asked.shares, step=step(asked), confidence=None, method=method, epsilon=epsilon
            )
            return found.values


def job(asked: ColumnQuestion) -> Callable[[], Any]:
    values = asked.values
    return lambda: whole(asked, values)


def releases(asked: ColumnQuestion) -> Releases:
    values = asked.values
    if asked.statistic == "variance" or (asked.statistic == "deciles" and asked.relation == "replace"):
        return lambda count: [whole(asked, values) for _ in range(count)]
    if asked.statistic == "deciles":
        ways = [partial(many, asked, values, method) for method in ("records", "tree")]
        return min(ways, key=lambda way: error(way, asked.exact())["rmse"])
    first, sure = apart(asked, DeterministicBits(1))(1), whole(asked, values, DeterministicBits(1))
    if not np.array_equal(np.ravel(first), np.ravel(sure)):
        raise SystemExit(f"{asked}: {first} is not what is released, which is {sure}")
    return apart(asked, system_bits())


def many(asked: ColumnQuestion, values: np.ndarray, method: Method, count: int) -> Any:
    return [whole(asked, values, method=method) for _ in range(count)]


def apart(asked: ColumnQuestion, bits: Bits) -> Releases:
    """Releases of a sum that is added up once, or of records that are looked at once."""
    values, budget, neighbors = asked.values, Budget(asked.epsilon), Neighbors(asked.relation)
    data, size = private(asked, values), asked.size if asked.relation == "replace" else None
    if asked.statistic in SINGLE:
        wanted = QuantileRequest(ColumnOf(data, "x", budget=budget), asked.shares, None, False, step(asked))
        (mechanism,) = calibrate(JointPlan(wanted.way.parts), budget).mechanisms
        records = Records(np.clip(values, *asked.of.bounds)[:, None], 1, neighbors)
        return lambda count: mechanism.release(records.stacked(count), bits)
    if asked.statistic == "mean":
        question = moments_of(schema(asked), "x", 1, size is not None)
        noise = least_noise(data, question, budget).noise
        answer = added_up(question, values, asked)
        number = schema(asked).number("x")
        return lambda count: [
            Moments(sums, number, size).mean().value for sums in noise.release(answer.stacked(count), bits)
        ]
    question = contingency_of(schema(asked), ("x",), (BINS,))
    noise, answer = least_noise(data, question, budget).noise, added_up(question, values, asked)
    least = 0.0 if asked.statistic == "nonnegative histogram" else -np.inf
    return lambda count: np.maximum(noise.release(answer.stacked(count), bits), least)


def added_up(question: BoundedSum, values: np.ndarray, asked: ColumnQuestion) -> Answer:
    steps = Matrix(values[:, None], schema(asked)).sum(question)
    return Answer(steps, question.grid, question.bound, Neighbors(asked.relation))


if __name__ == "__main__":
    main("discreet", releases, job)
