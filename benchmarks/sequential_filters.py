"""Private filters and online statistics: measured errors beside their formulas.

python -m benchmarks.sequential_filters
"""

from __future__ import annotations

import math
import time

import numpy as np
from scipy import signal

from benchmarks.rows import Row, at_least, at_most, printed, report
from discreet import Budget
from discreet.core.bound import Bound
from discreet.core.grid import Array
from discreet.mechanisms import Gaussian
from discreet.sequential import (
    FilterStream,
    KalmanModel,
    KalmanStream,
    OnlineMoments,
    OnlineQuantiles,
    TransferFunction,
    better_placement,
    kalman_smoother,
)
from discreet.sequential.filters.placement import PLACES, Adjacency, Place

STREAMS, SETTLED, TIMES = 4000, 50, 150
FILTERS = {
    "exponential average": TransferFunction([0.1], [1.0, -0.9]),
    "mean of 20": TransferFunction(np.full(20, 0.05)),
    "Butterworth low-pass": TransferFunction(*signal.butter(2, 0.1)),
}
WALK = KalmanModel(A=0.95, C=1.0, Q=0.05, R=0.5)
WIDE = Bound("linf", 10.0)
BUDGET = Budget(500.0, 1e-6)  # for each stream


def measured(system: TransferFunction, place: Place, adjacency: Adjacency) -> float:
    """The mean square of errors at 150 times, as a share of the formula."""
    described = FilterStream(system, Gaussian(1.0), placement=place, adjacency=adjacency, streams=STREAMS)
    stream = described.open(BUDGET)
    values = np.random.default_rng(0).random((SETTLED + TIMES, STREAMS)) / 100  # signals of an energy below one
    exact = signal.lfilter(system.b, system.a, values, axis=0)
    found = np.array([stream.update(value) for value in values])
    formula = np.mean([described.stddev(time) ** 2 for time in range(SETTLED + 1, SETTLED + TIMES + 1)])
    return float(np.square((found - exact)[SETTLED:]).mean() / formula)


def filters() -> list[Row]:
    rows = []
    for name, system in FILTERS.items():
        for place in PLACES:
            off = abs(measured(system, place, "event") - 1)
            rows.append(at_most(f"{name}, noise at {place}: variance off its formula by", off, 0.03))
        errors = better_placement(system).mean_squared_errors
        ratio = errors["input"] / errors["zero_forcing"]
        rows.append(at_least(f"{name}: error at the input, in that of zero forcing", ratio, 1.0))
    off = abs(measured(FILTERS["mean of 20"], "output", "signal") - 1)
    rows.append(at_most("mean of 20, whole signals, noise at output: variance off its formula by", off, 0.03))
    for name, system in FILTERS.items():
        errors = better_placement(system, adjacency="signal").mean_squared_errors
        ratio = errors["output"] / errors["input"]
        rows.append(at_least(f"{name}, whole signals: error at the output, in that of the input", ratio, 1.0))
    return rows


def lived(streams: int, times: int) -> tuple[Array, Array]:
    """States and measurements of the model, from its stationary law."""
    rng, states = np.random.default_rng(0), []
    state = rng.standard_normal(streams) * math.sqrt(0.05 / (1 - 0.95**2))
    for _ in range(times):
        states.append(state)
        state = 0.95 * state + math.sqrt(0.05) * rng.standard_normal(streams)
    return np.array(states), np.array(states) + math.sqrt(0.5) * rng.standard_normal((times, streams))


def kalman() -> list[Row]:
    rows = []
    states, values = lived(STREAMS, TIMES)
    noise = Gaussian(0.1)
    for place in PLACES:
        described = KalmanStream(WALK, noise, WIDE, placement=place, streams=STREAMS)
        stream, formula = described.open(BUDGET), described.stddev() ** 2
        errors = np.array([stream.update(value) for value in values]) - states
        found = float(np.square(errors[SETTLED:]).mean())
        rows.append(at_most(f"Kalman filter, noise at {place}: error off", abs(found / formula - 1), 0.05))
        rows.append(printed(f"Kalman filter, noise at {place}: mean squared error", found))
    rows.append(printed("Kalman filter without noise: mean squared error", WALK.steady_covariance(0.0).item()))
    untold = WALK.steady_covariance(1.0, design=0.0).item() / WALK.steady_covariance(1.0).item()
    rows.append(at_least("Kalman filter that does not know of the noise: error, in that of one that does", untold, 1.0))
    return [*rows, smoother(states, values, noise)]


def smoother(states: Array, values: Array, noise: Gaussian) -> Row:
    described, noisy = KalmanStream(WALK, noise, WIDE, placement="input", streams=200), []
    stream = described.open(BUDGET)
    for row in values[:, :200]:
        stream.update(row)
        noisy.append(stream.noisy)
    found = [kalman_smoother(WALK, one, described.extra).values[:, 0] for one in np.moveaxis(np.array(noisy), 1, 0)]
    middle = slice(SETTLED, -SETTLED)
    error = float(np.square((np.array(found).T - states[:, :200])[middle]).mean())
    return at_most("Kalman smoother: error, in that of the filter", error / described.stddev() ** 2, 1.0)


def online() -> list[Row]:
    """Errors after 1,000 records; if each of 1,024 releases were paid by itself, it would have a 32nd of mu."""
    rng, updates, runs = np.random.default_rng(0), 1000, 8
    errors: dict[str, list[float]] = {"mean": [], "variance": [], "median": []}
    widths: list[float] = []
    start = time.process_time()
    for _ in range(runs):
        values = np.clip(rng.normal(40, 15, updates), 0, 100)
        moments = OnlineMoments((0.0, 100.0), Gaussian(1.0), 1024).open(BUDGET)
        median = OnlineQuantiles(0.5, (0.0, 100.0), Gaussian(1.0), 1024, bins=128).open(BUDGET)
        for value in values:
            found, (middle,) = moments.update(value), median.update(value)
        errors["mean"].append(found.mean.value - values.mean())
        errors["variance"].append(found.variance.value - values.var())
        errors["median"].append(middle.value - float(np.median(values)))
        widths.append(middle.high - middle.low)
    seconds = time.process_time() - start
    rows = [printed(f"online {name} of 1,000 ages, mu = 1: RMSE", rms(each)) for name, each in errors.items()]
    alone = 50.0 * 2 * math.sqrt(1024) / updates  # one sum, moved by 2, with a 32nd of mu
    rows.append(at_most("online mean: RMSE, in that of releases paid one by one", rms(errors["mean"]) / alone, 0.2))
    rows.append(printed("online median: width of its 95 % interval", float(np.mean(widths))))
    rows.append(printed("online statistics: updates a second", 2 * runs * updates / seconds))
    return rows


def rms(values: list[float]) -> float:
    return math.sqrt(float(np.square(values).mean()))


def rows() -> list[Row]:
    return [*filters(), *kalman(), *online()]


if __name__ == "__main__":
    report("sequential_filters", rows())
