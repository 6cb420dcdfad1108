"""Every stream's price, computed again from what it releases: of all pairs of streams that one unit makes different.

A stand-in for noise shows which linear map of updates a stream releases, and which one of its noise: A x + B z, with
as many draws z as releases. So updates that differ by d look like noise that differs by B^-1 A d. The price is right if
that is never longer than what the scale of the noise was made for; it is not too high if it is about as long for some.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pytest

from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.sequential import (
    FAST,
    BudgetAbsorption,
    BudgetDistribution,
    DoublingCounter,
    EpisodeSums,
    FilterStream,
    GramSums,
    KalmanModel,
    KalmanStream,
    OnlineMoments,
    OnlineQuantiles,
    RunningSums,
    SquareRootCounter,
    StateSpace,
    TransferFunction,
    TreeCounter,
    WindowedFAST,
)
from discreet.sequential.filters.placement import PLACES
from discreet.sequential.series.w_event import WEventStream
from tests.conformance.walk import public_classes

TIMES = 4
ONE_SIGN, BOTH_SIGNS = Bound("linf", 1.0, nonnegative=True), Bound("linf", 1.0)
ROUNDING = 1e-4  # what grids and longer grids of noise change
LARGE = 2**30  # steps of noise, beside which no rounding of a release shows


@dataclass
class Draws:
    """What stands in for noise: zeros, but for one draw; and a note of every scale."""

    at: int | None = None
    scales: list[float] = field(default_factory=list)

    def noise(self, own: Any, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        steps = np.zeros(math.prod(shape), np.int64)
        if self.at is not None and 0 <= self.at - len(self.scales) < len(steps):
            steps[self.at - len(self.scales)] = LARGE
        self.scales += [scale] * len(steps)
        return steps.reshape(shape)


Run = Callable[[Array], Array]
"""All numbers that a new stream releases of updates of shape (times, places)."""


def shown(run: Run, noise: Any, updates: Array, at: int | None = None) -> tuple[Array, list[float]]:
    """What is released with a stand-in for noise, and the scales that noise would have."""
    draws = Draws(at)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(noise), "noise", lambda *given: draws.noise(*given))
        return run(updates), draws.scales


def linear_map(run: Run, noise: Any, shape: tuple[int, int]) -> Array:
    """B^-1 A, in units of the noise: a column for each number of the updates."""
    zero = np.zeros(shape)
    rest, scales = shown(run, noise, zero)
    of_noise = [shown(run, noise, zero, at)[0] - rest for at in range(len(scales))]
    of_updates = []
    for one in range(zero.size):
        x = zero.copy()
        x.flat[one] = 1.0
        of_updates.append(shown(run, noise, x)[0] - rest)
    drawn = np.array(of_noise).T / LARGE * scales
    return np.asarray(np.linalg.solve(drawn, np.array(of_updates).T)) * noise.multiplier


def farthest(mapped: Array, noise: Any, moves: Array) -> float:
    """Of all moves of the updates, a row each, in units of the price."""
    apart = moves.reshape(len(moves), -1) @ mapped.T
    return float((np.abs(apart).sum(axis=1) if noise.norm == "l1" else np.linalg.norm(apart, axis=1)).max())


def units(contributions: int, places: int, memberships: int, bound: Bound) -> Array:
    """All that one unit may add: to so many places, at so many times."""
    signs = (0.0, 1.0) if bound.nonnegative else (-1.0, 1.0)
    found = []
    for where in itertools.combinations(range(places), memberships):
        for when in itertools.combinations(range(TIMES), contributions):
            for values in itertools.product(signs, repeat=contributions * memberships):
                x = np.zeros((TIMES, places))
                x[np.ix_(when, where)] = np.reshape(values, (contributions, memberships))
                found.append(x)
    return np.unique(np.array(found), axis=0)


def within(found: Array, window: int) -> Array:
    """Those of a unit that is only there within one window."""
    times = [np.flatnonzero(np.abs(one).sum(axis=1)) for one in found]
    return found[[len(when) == 0 or int(when[-1] - when[0]) < window for when in times]]


def moves(found: Array, neighbors: Neighbors, in_place: bool) -> Array:
    """How two streams differ if one unit is removed, or replaced by any other; in place: by one at the same times."""
    if neighbors is Neighbors.ADD_REMOVE:
        return found
    if not in_place:
        return np.unique((found[:, None] - found).reshape(-1, *found.shape[1:]), axis=0)
    return 2 * found if (found < 0).any() else found  # one takes the place of minus one, or of zero


def options(contributions: tuple[int, ...] = (1, 2, TIMES)) -> Iterator[tuple[Bound, dict[str, Any]]]:
    for bound, neighbors, each in itertools.product((ONE_SIGN, BOTH_SIGNS), Neighbors, contributions):
        yield bound, {"neighbors": neighbors, "contributions": each}


def counted(make: Callable[[], Any], x: Array) -> Array:
    stream = make()
    return np.ravel([stream.update(row) for row in x])


def counters(kind: Any) -> Iterator[float]:
    """One update is one unit's: another one takes its place."""
    for noise in (Gaussian(1.0), *((Laplace(1.0),) if kind is not SquareRootCounter else ())):
        for bound, more in options():
            given = (TIMES, noise, bound) if kind is not DoublingCounter else (noise, bound)
            first = {"first": TIMES, "kind": "tree"} if kind is DoublingCounter else {}
            mapped = linear_map(partial(counted, partial(kind, *given, **first, **more)), noise, (TIMES, 1))
            found = units(more["contributions"], 1, 1, bound)
            yield farthest(mapped, noise, moves(found, more["neighbors"], in_place=True))


def sampled(make: Callable[[], Any], x: Array) -> Array:
    """The sums that got noise, of all series; each place has a person."""
    stream, found = make(), []
    for row in x:
        stream.update(row, np.arange(len(row)))
        found.append(stream.measured[np.isfinite(stream.measured)])
    return np.concatenate(found)


def series(kind: type[FAST]) -> Iterator[float]:
    """A unit takes part at several times in several series; another may at others."""
    windowed = kind is WindowedFAST
    for noise, samples, (places, memberships) in itertools.product(
        (Laplace(1.0), Gaussian(1.0)), (1, 2) if windowed else (1, 3, TIMES), ((1, 1), (2, 1), (2, 2))
    ):
        for bound, more in options((2,) if windowed else (1, 2, TIMES)):
            given = {"series": places, "memberships": memberships, "sampling": "fixed", **more}
            horizon = given.pop("contributions") if windowed else TIMES
            make = partial(kind, horizon, noise, samples, bound, **given)
            mapped = linear_map(partial(sampled, make), noise, (TIMES, places))
            found = units(more["contributions"], places, memberships, bound)
            found = within(found, horizon)
            yield farthest(mapped, noise, moves(found, more["neighbors"], in_place=False))


def filtered(make: Callable[[], Any], x: Array) -> Array:
    stream, found = make(), []
    for row in x:
        stream.update(row if len(row) > 1 else row[0])
        found.append(stream.noisy.ravel())
    return np.concatenate(found)


SYSTEMS = (
    TransferFunction([1.0, 0.5], [1.0, -0.6]),
    TransferFunction([1.0, -0.75]),
    StateSpace([[0.5]], [[1.0, -1.0]], [[1.0]], [[0.0, 0.0]]),
)


def filters(kind: type[FilterStream]) -> Iterator[float]:
    """People add up in each sample, so a unit that is replaced may turn up in other samples, or at another input."""
    models: Any = SYSTEMS if kind is FilterStream else (KalmanModel(A=0.9, C=1.0, Q=0.1, R=0.1),)
    noise = Gaussian(1.0)
    for model, place in itertools.product(models, PLACES if kind is FilterStream else PLACES[:2]):
        for bound, more in options((1, 2)):
            make = partial(kind, model, noise, bound, placement=place, horizon=TIMES, **more)
            inputs = make().system.inputs
            mapped = linear_map(partial(filtered, make), noise, (TIMES, inputs))
            found = units(more["contributions"], inputs, 1, bound)
            yield farthest(mapped, noise, moves(found, more["neighbors"], in_place=False))


def added_up(noise: Any, counter: Callable[[], Any], values: Array, contributions: int) -> float:
    """Of a counter whose updates are one of these vectors each, of which one takes the place of another."""
    mapped = linear_map(partial(counted, counter), noise, (TIMES, values.shape[1]))
    apart = (values[:, None] - values).reshape(-1, values.shape[1])
    apart = apart[np.argsort(np.linalg.norm(apart, axis=1))[-4:]]
    found = []
    for when in itertools.combinations(range(TIMES), contributions):
        for chosen in itertools.product(apart, repeat=contributions):
            x = np.zeros((TIMES, values.shape[1]))
            x[list(when)] = chosen
            found.append(x)
    return farthest(mapped, noise, np.array(found))


def counter_of(make: Callable[[], Any]) -> Any:
    return make()._counter


def online(kind: Any) -> Iterator[float]:
    """Of all values between the bounds, and of none, where there may be none."""
    noise, asked = Gaussian(1.0), ((0.25, 0.5),) if kind is OnlineQuantiles else ()
    bins = {"bins": 8} if kind is OnlineQuantiles else {}
    for neighbors, contributions in itertools.product(Neighbors, (1, 2)):
        make = partial(kind, *asked, (0.0, 1.0), noise, TIMES, neighbors=neighbors, contributions=contributions, **bins)
        values = np.array([make()._added(value) for value in np.linspace(0, 1, 65)])
        if neighbors is Neighbors.REPLACE:
            yield added_up(noise, partial(counter_of, make), values, contributions)
            continue
        mapped = linear_map(partial(counted, partial(counter_of, make)), noise, (TIMES, values.shape[1]))
        longest = values[np.linalg.norm(values, axis=1).argmax()]
        when = itertools.combinations(range(TIMES), contributions)
        tried = [[longest if time in each else 0 * longest for time in range(TIMES)] for each in when]
        yield farthest(mapped, noise, np.array(tried))


def rewarded(make: Callable[[], Any], ends: list[bool], x: Array) -> Array:
    stream = make()
    found = np.array([stream.privatise(row[0], 0, last) for row, last in zip(x, ends, strict=True)])
    return found[np.isfinite(found)]


def rewards(kind: Any) -> Iterator[float]:
    """A reward of one in place of zero."""
    make = partial(kind, 1, TIMES, 1.0) if kind is RunningSums else partial(kind, 1.0)
    for ends in ([True] * TIMES, [False, True, False, True]):
        if kind is RunningSums and not all(ends):
            continue
        mapped = linear_map(partial(rewarded, make, ends), Laplace(1.0), (TIMES, 1))
        yield farthest(mapped, Laplace(1.0), np.eye(TIMES)[:, :, None])


def grams(kind: type[GramSums]) -> Iterator[float]:
    """Contexts on a circle, and both rewards."""
    curator = partial(kind, 2, TIMES, 1.0, 1e-6)
    angles = np.linspace(0, 2 * np.pi, 17)
    rows = np.array([(np.cos(a), np.sin(a), reward) for a in angles for reward in (0.0, 1.0)])
    upper = curator()._upper
    values = rows[:, upper[0]] * rows[:, upper[1]] * curator()._weights
    noise = curator()._counter._updates.noise
    yield added_up(noise, partial(counter_of, curator), values, 1)


def windows(kind: type[WEventStream]) -> Iterator[float]:
    """Scales of all draws at each time, if every series is published as often as it can be.

    A distance and a publication each lose what the sum moves by over their scale.
    """
    for neighbors, bound, (places, memberships) in itertools.product(
        Neighbors, (ONE_SIGN, BOTH_SIGNS), ((1, 1), (2, 1), (2, 2))
    ):
        for window in (1, 2):
            draws, losses = Draws(), []
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Laplace, "noise", lambda *given, draws=draws: draws.noise(*given))
                given: dict[str, Any] = {"series": places, "memberships": memberships, "neighbors": neighbors}
                stream = kind(window, 1.0, bound, **given)
                for time in range(TIMES):
                    before = len(draws.scales)
                    crowd = np.repeat(np.arange(places), 10_000 * (time + 1))
                    stream.update(np.ones(len(crowd)), crowd)
                    drawn = np.array(draws.scales[before:]) * stream.grid.step
                    losses.append((1 / drawn).sum() / places)
            found = within(units(window, places, memberships, bound), window)
            apart = np.abs(moves(found, neighbors, in_place=False)).sum(axis=2)
            yield float((apart @ losses).max())


CLAIMS: dict[Any, Callable[[Any], Iterator[float]]] = {
    TreeCounter: counters,
    SquareRootCounter: counters,
    DoublingCounter: counters,
    FAST: series,
    WindowedFAST: series,
    FilterStream: filters,
    KalmanStream: filters,
    OnlineMoments: online,
    OnlineQuantiles: online,
    RunningSums: rewards,
    EpisodeSums: rewards,
    GramSums: grams,
    BudgetDistribution: windows,
    BudgetAbsorption: windows,
}


def together(rows: int, places: int, bound: Bound) -> Array:
    """What rows of one unit may add, all of one sign, wherever they are: also at one time, in one place."""
    where = np.array(list(itertools.combinations_with_replacement(range(TIMES * places), rows)))
    found = (where[:, :, None] == np.arange(TIMES * places)).sum(axis=1).reshape(-1, TIMES, places).astype(float)
    return found if bound.nonnegative else np.concatenate([found, -found])


def rows_of(make: Callable[[], Any], run: Any, places: int, bound: Bound) -> tuple[int, float]:
    """How many rows the price of a stream is for, and how far these move it at most."""
    stream = make()
    noise, rows = stream._updates.noise, stream.rows
    mapped = linear_map(partial(run, make), noise, (TIMES, places))
    found = together(rows, places, bound)
    if stream.neighbors is Neighbors.REPLACE:
        found = (found[:, None] - found).reshape(-1, TIMES, places)
    return rows, farthest(mapped, noise, found)


def test_rows_that_fall_together_move_a_stream_of_series_no_farther_than_the_price() -> None:
    """Three rows of a unit in one sum move it by 3, and in three sums by sqrt(3) in l2."""
    found = []
    for noise, samples, (places, memberships) in itertools.product(
        (Laplace(1.0), Gaussian(1.0)), (1, TIMES), ((1, 1), (2, 1), (2, 2))
    ):
        for bound, more in options((TIMES,)):
            given = {"series": places, "memberships": memberships, "sampling": "fixed", **more}
            found.append(rows_of(partial(FAST, TIMES, noise, samples, bound, **given), sampled, places, bound))
    assert max(moved for _, moved in found) <= 1 + ROUNDING
    assert max(rows for rows, _ in found) == TIMES
    assert max(moved for rows, moved in found if rows > 1) > 0.85


def test_rows_that_fall_together_move_a_filter_no_farther_than_the_price() -> None:
    found, models = [], (*SYSTEMS[1:], TransferFunction([1.0], [1.0, -0.95]))
    model: Any
    for model, place in itertools.product(models, PLACES[:2]):
        for bound, more in options((3,)):
            make = partial(FilterStream, model, Gaussian(1.0), bound, placement=place, horizon=TIMES, **more)
            found.append(rows_of(make, filtered, model.inputs, bound))
    assert max(moved for _, moved in found) <= 1 + ROUNDING
    assert max(rows for rows, _ in found) > 1


def test_every_stream_is_here() -> None:
    """What has contributions and can be made; what it is made of has no releases of its own."""
    found = {kind for kind in public_classes("sequential") if hasattr(kind, "contributions")}
    found = {kind for kind in found if not inspect.isabstract(kind)}
    assert {kind for kind in found if hasattr(kind, "update") or hasattr(kind, "privatise")} == set(CLAIMS)


@pytest.mark.parametrize("kind", CLAIMS, ids=lambda kind: kind.__name__)
def test_no_pair_of_streams_is_farther_apart_than_the_price(kind: Any) -> None:
    found = list(CLAIMS[kind](kind))
    assert max(found) <= 1 + ROUNDING
    assert min(found) > 0.5
    assert max(found) > 0.85
