"""What a stream brings for the trial that all streams are put through: `TRIAL` in its own test file.

A stand-in for noise shows which linear map of updates a stream releases, and which one of its noise: A x + B z, with
as many draws z as releases. So updates that differ by d look like noise that differs by B^-1 A d. The price is right if
that is never longer than what the scale of the noise was made for; it is not too high if it is about as long for some.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np
import pytest

from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.system_bits import system_bits
from discreet.sequential.bandits.reward_map import Clipped
from discreet.sequential.continual_release import ContinualRelease
from discreet.trust.grant import Grant

TIMES = 4
ROUNDING = 1e-4  # what grids and longer grids of noise change
ONE_SIGN, BOTH_SIGNS = Bound("linf", 1.0, nonnegative=True), Bound("linf", 1.0)
LARGE = 2**30  # steps of noise, beside which no rounding of a release shows

USUAL: dict[str, tuple[Any, Any]] = {
    "bound": (BOTH_SIGNS, Bound("linf", 2.0)),
    "bounds": ((0.0, 1.0), (0.0, 2.0)),
    "contributions": (1, 2),
    "epsilon": (1.0, 2.0),
    "horizon": (16, 17),
    "memberships": (1, 2),
    "neighbors": (Neighbors.REPLACE, Neighbors.ADD_REMOVE),
    "noise": (Gaussian(1.0), Gaussian(2.0)),
    "reward_map": (Clipped(), Clipped(0.0, 2.0)),
    "runs": (2, 3),
    "samples": (3, 4),
    "series": (2, 3),
    "size": (1, 2),
    "streams": (1, 100),
    "window": (5, 6),
}
"""Two values of parameters that many streams have; others are brought by the stream that has them."""


@dataclass(frozen=True)
class StreamTrial:
    """A stream, two values of each of its parameters, and how it is updated.

    Parameters
    ----------
    kind : type
        The description.
    values : dict of str to (Any, Any)
        Two values of each public parameter that is not in `USUAL`, or for which these will not do; either will do.
    """

    kind: Any
    values: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, tuple[Any, Any]]:
        """Two values of each public parameter."""
        return {one.name: (USUAL | self.values)[one.name] for one in fields(self.kind)}

    def made(self, kind: type[Any]) -> Any:
        """The stream with the first value of each parameter."""
        assert kind is self.kind
        return self.described()

    def described(self, **others: Any) -> Any:
        """The stream with the first value of each parameter, except for these."""
        return self.kind(**{name: both[0] for name, both in self.parameters.items()} | others)

    def update(self, stream: Any, value: float = 0.5) -> Any:
        """What one update of this number, wherever numbers are given, releases."""
        return stream.update(value)

    def losses(self) -> Iterator[float]:
        """How far two streams that one unit makes different are apart at most, in units of the price: 1 at most.

        One number for each of many choices of parameters.
        """
        raise NotImplementedError


def opened(description: ContinualRelease, bits: Bits | None = None) -> Any:
    """An open stream, as a permit opens it, without a ledger: for trials that open many."""
    return description.opened(Grant(description, system_bits() if bits is None else bits, None))


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
    assert len(scales) == len(rest), "every number that is released has noise of its own, or a sum of such"
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
    """Both signs and one, both relations, and so many contributions."""
    for bound, neighbors, each in itertools.product((ONE_SIGN, BOTH_SIGNS), Neighbors, contributions):
        yield bound, {"neighbors": neighbors, "contributions": each}


def updated(description: ContinualRelease, x: Array) -> Array:
    """All numbers that a counter releases of these updates."""
    stream = opened(description)
    return np.ravel([stream.update(row) for row in x])


@dataclass(frozen=True)
class CounterTrial(StreamTrial):
    """A counter of `horizon` updates: one update is one unit's, and another one takes its place.

    Parameters
    ----------
    given : dict of str to Any
        Parameters for the trial of its price, beside noise, bound, neighbors and contributions.
    """

    given: dict[str, Any] = field(default_factory=lambda: {"horizon": TIMES})

    def losses(self) -> Iterator[float]:
        """With Gaussian noise, and with Laplace noise where it takes that."""
        for noise in (Gaussian(1.0), Laplace(1.0)):
            for bound, more in options():
                try:
                    description = self.kind(noise=noise, bound=bound, **self.given, **more)
                except ParameterError:  # its noise is Gaussian alone
                    assert noise == Laplace(1.0)
                    continue
                mapped = linear_map(partial(updated, description), noise, (TIMES, 1))
                found = units(more["contributions"], 1, 1, bound)
                yield farthest(mapped, noise, moves(found, more["neighbors"], in_place=True))


def sampled(description: ContinualRelease, x: Array) -> Array:
    """The sums that got noise, of all series; each place has a person."""
    stream, found = opened(description), []
    for row in x:
        stream.update(row, np.arange(len(row)))
        found.append(stream.measured[np.isfinite(stream.measured)])
    return np.concatenate(found)


def filtered(description: ContinualRelease, x: Array) -> Array:
    """What got noise in a filter."""
    stream, found = opened(description), []
    for row in x:
        stream.update(row if len(row) > 1 else row[0])
        found.append(stream.noisy.ravel())
    return np.concatenate(found)


def added_up(counter: Any, values: Array, contributions: int) -> float:
    """Of a counter whose updates are one of these vectors each, of which one takes the place of another."""
    mapped = linear_map(partial(updated, counter), counter.noise, (TIMES, values.shape[1]))
    apart = (values[:, None] - values).reshape(-1, values.shape[1])
    apart = apart[np.argsort(np.linalg.norm(apart, axis=1))[-4:]]
    found = []
    for when in itertools.combinations(range(TIMES), contributions):
        for chosen in itertools.product(apart, repeat=contributions):
            x = np.zeros((TIMES, values.shape[1]))
            x[list(when)] = chosen
            found.append(x)
    return farthest(mapped, counter.noise, np.array(found))


@dataclass(frozen=True)
class SeriesTrial(StreamTrial):
    """Series that people add to."""

    def update(self, stream: Any, value: float = 0.5) -> Any:
        """Two people, one in each of two series."""
        return stream.update(np.full(2, value), np.arange(2))


@dataclass(frozen=True)
class OnlineTrial(StreamTrial):
    """A statistic of a stream: all values between the bounds, and none, where there may be none."""

    asked: dict[str, Any] = field(default_factory=dict)

    def losses(self) -> Iterator[float]:
        """Of what its counter adds up."""
        for neighbors, each in itertools.product(Neighbors, (1, 2)):
            given = {"bounds": (0.0, 1.0), "noise": Gaussian(1.0), "horizon": TIMES, **self.asked}
            description = self.kind(**given, neighbors=neighbors, contributions=each)
            values = np.array([description.added(value) for value in np.linspace(0, 1, 65)])
            if neighbors is Neighbors.REPLACE:
                yield added_up(description.counter, values, each)
                continue
            mapped = linear_map(partial(updated, description.counter), Gaussian(1.0), (TIMES, values.shape[1]))
            longest = values[np.linalg.norm(values, axis=1).argmax()]
            when = itertools.combinations(range(TIMES), each)
            tried = [[longest if time in one else 0 * longest for time in range(TIMES)] for one in when]
            yield farthest(mapped, Gaussian(1.0), np.array(tried))


@dataclass(frozen=True)
class RewardTrial(StreamTrial):
    """A curator of rewards: a reward of one takes the place of zero.

    Parameters
    ----------
    given : dict of str to Any
        Parameters for the trial of its price, of epsilon 1.
    ends : list of list of bool
        When episodes end.
    """

    given: dict[str, Any] = field(default_factory=dict)
    ends: tuple[tuple[bool, ...], ...] = ((True,) * TIMES,)

    def update(self, stream: Any, value: float = 0.5) -> Any:
        """A reward in each of two runs."""
        return stream.privatise(np.full(2, value), np.zeros(2, np.int64), np.ones(2, np.bool_))

    def losses(self) -> Iterator[float]:
        """Of Laplace noise."""
        for ends in self.ends:
            mapped = linear_map(partial(self._rewarded, ends), Laplace(1.0), (TIMES, 1))
            yield farthest(mapped, Laplace(1.0), np.eye(TIMES)[:, :, None])

    def _rewarded(self, ends: tuple[bool, ...], x: Array) -> Array:
        stream = opened(self.kind(epsilon=1.0, **self.given))
        found = np.array([stream.privatise(row[0], 0, last) for row, last in zip(x, ends, strict=True)])
        return found[np.isfinite(found)]


def together(rows: int, places: int, bound: Bound) -> Array:
    """What rows of one unit may add, all of one sign, wherever they are: also at one time, in one place."""
    where = np.array(list(itertools.combinations_with_replacement(range(TIMES * places), rows)))
    found = (where[:, :, None] == np.arange(TIMES * places)).sum(axis=1).reshape(-1, TIMES, places).astype(float)
    return found if bound.nonnegative else np.concatenate([found, -found])


def rows_of(description: Any, run: Any, places: int) -> tuple[int, float]:
    """How many rows the price of a stream is for, and how far these move it at most."""
    mapped = linear_map(partial(run, description), description.noise, (TIMES, places))
    found = together(description.rows, places, description.bound)
    if description.neighbors is Neighbors.REPLACE:
        found = (found[:, None] - found).reshape(-1, TIMES, places)
    return description.rows, farthest(mapped, description.noise, found)
