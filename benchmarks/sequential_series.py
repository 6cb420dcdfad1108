"""Series of 500 times that people add to, each of whom may be there at all of them: mean relative errors.

    python -m benchmarks.sequential series

Every method protects a whole user with pure epsilon: independent Laplace noise of 500 / epsilon on every number, the
lowest frequencies of the series (chosen by a curator, for a quarter of epsilon), and FAST with 100 samples, at times of
its own choice, at equal intervals, and at those of the controller as published. w-event streams protect 50 consecutive
times instead, as independent noise of 50 / epsilon does.
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.rows import Row, at_most, printed
from discreet import Budget
from discreet.core.grid import Array
from discreet.mechanisms import Laplace
from discreet.sequential import (
    FAST,
    BudgetAbsorption,
    BudgetDistribution,
    PIDController,
    WindowedFAST,
    series_of_people,
)
from discreet.sequential.series.series_stream import SeriesStream

TIMES, PEOPLE, SAMPLES, WINDOW, RUNS = 500, 10_000, 100, 50, 10
EPSILONS = (0.1, 1.0)


def invented() -> dict[str, Array]:
    """How many of 10,000 people are there at each time."""
    t, rng = np.arange(TIMES), np.random.default_rng(0)
    season = 5000 + 3000 * np.sin(2 * np.pi * t / 100) + 800 * np.sin(2 * np.pi * t / 25)
    walk = 5000 + np.cumsum(rng.normal(0, 100, TIMES))
    bursts = 1000 + sum(6000 * np.exp(-(((t - when) / 8) ** 2)) for when in (60, 190, 300, 310, 430))
    series = {"seasonal": season, "random walk": walk, "bursts": np.asarray(bursts)}
    return {name: np.clip(np.round(one), 0, PEOPLE) for name, one in series.items()}


def relative(found: Array, exact: Array) -> float:
    """The mean of relative errors; small counts are taken as a hundredth of the people."""
    return float(np.mean(np.abs(found - exact) / np.maximum(exact, PEOPLE / 100)))


def independent(exact: Array, epsilon: float, times: int) -> float:
    """Of noise for so many times on each number."""
    noise = np.random.default_rng(1).laplace(0, times / epsilon, (RUNS, TIMES))
    return relative(exact + noise, np.broadcast_to(exact, (RUNS, TIMES)))


def frequencies(exact: Array, epsilon: float) -> float:
    """Of a matrix of people and times, in which as many of the first people are there as the series says."""
    places = np.arange(PEOPLE)[:, None]
    people = (places < exact[None, :]).astype(np.float64)
    found = [series_of_people(people, bounds=(0, 1), epsilon=epsilon) for _ in range(RUNS // 2)]
    return float(np.mean([relative(one.values, exact) for one in found]))


def followed(exact: Array, described: SeriesStream) -> float:
    """The error of a stream, which follows several copies of the series side by side."""
    found, stream = [], described.open(Budget(1.0))
    for number in exact:
        places = np.repeat(np.arange(RUNS), int(number))
        found.append(stream.update(np.ones(len(places)), places))
    return relative(np.array(found), np.repeat(exact[:, None], RUNS, axis=1))


def ordering(claim: str, first: float, second: float) -> Row:
    """Whether an error is the lesser one, as its paper says; a tenth of it is within the noise of these runs."""
    ratio = first / second
    words = "about equal" if 0.9 < ratio < 1.1 else "as published" if ratio < 1 else "not as published"
    return printed(claim, f"{ratio:.3f}, {words}")


def of_users(where: str, exact: Array, epsilon: float) -> list[Row]:
    """The errors of what protects whole users."""
    alone, noise = independent(exact, epsilon, TIMES), Laplace(1 / epsilon)
    fast = followed(exact, FAST(TIMES, noise, SAMPLES, series=RUNS))
    equal = followed(exact, FAST(TIMES, noise, SAMPLES, series=RUNS, sampling="fixed"))
    published = FAST(TIMES, noise, SAMPLES, series=RUNS, controller=PIDController(leeway=math.inf))
    return [
        printed(f"{where} independent noise", alone),
        at_most(f"{where} lowest frequencies", frequencies(exact, epsilon), alone),
        at_most(f"{where} FAST", fast, alone),
        at_most(f"{where} FAST at equal intervals", equal, alone),
        printed(f"{where} FAST, controller as published", followed(exact, published)),
        ordering(f"{where} FAST, over that at equal intervals", fast, equal),
    ]


def of_windows(where: str, exact: Array, epsilon: float) -> list[Row]:
    """The errors of what protects 50 consecutive times."""
    alone, table = independent(exact, epsilon, WINDOW), []
    for kind in (BudgetDistribution, BudgetAbsorption):
        error = followed(exact, kind(WINDOW, epsilon, series=RUNS))
        table += [
            printed(f"{where} {kind.purpose}", error),
            ordering(f"{where} {kind.purpose}, over independent noise", error, alone),
        ]
    error = followed(exact, WindowedFAST(WINDOW, Laplace(1 / epsilon), WINDOW // 2, series=RUNS))
    table.append(printed(f"{where} windowed FAST, {WINDOW // 2} samples", error))
    return [printed(f"{where} independent noise for {WINDOW} times", alone), *table]


def rows() -> list[Row]:
    """The errors, beside those of independent noise."""
    table = []
    for name, exact in invented().items():
        for epsilon in EPSILONS:
            where = f"{name}, epsilon {epsilon:g}: mean relative error of"
            table += of_users(where, exact, epsilon) + of_windows(where, exact, epsilon)
    return table
