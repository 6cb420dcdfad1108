"""A private filter: the filtered signal with noise, released after every sample."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bound import Bound
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.exact import Exact
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.sequential.continual_release import State, fitting, fitting_clock
from discreet.sequential.counters.counter import MOST_NUMBERS, UNIT, Counter, OpenCounter, Updates
from discreet.sequential.filters.finite_filter import MovingWindow
from discreet.sequential.filters.linear_filter import LinearFilter
from discreet.sequential.filters.placement import Adjacency, Place, Placement, better_placement, placed
from discreet.sequential.reading import sample_of
from discreet.trust.grant import Grant

CELLS = 16  # bits between the bound and the grid
CAP = 2**31  # steps of a sample at most, so that its products with all weights fit 63 bits
ENDLESS = 2**62


@dataclass(frozen=True)
class Change:
    """What one unit changes of the samples.

    Parameters
    ----------
    samples : int
        How many samples of an input, for events.
    reach : float
        By how much each; or the whole of a signal in l2. Rounded up.
    """

    samples: int
    reach: float


def change_of(bound: Bound, adjacency: Adjacency, neighbors: Neighbors, contributions: int, inputs: int) -> Change:
    """What a unit with so many contributions changes.

    A unit that is replaced takes c samples away, and another adds to c. Where values have both signs, they are the
    farthest apart in the same samples, each by two bounds. Where they have one, in different samples: 2 c of them
    change by one bound each. With several inputs another unit may feed an input whose response has the other sign: then
    it is as if values had both.
    """
    check_whole("filter", "contributions", contributions, most=ENDLESS)
    if adjacency == "signal":
        whole = Bound("l2", bound.radius, bound.nonnegative)
        return Change(int(contributions), whole.sensitivity("l2", 2, neighbors))
    if bound.nonnegative and neighbors is Neighbors.REPLACE and inputs == 1:
        return Change(2 * int(contributions), bound.radius)
    return Change(int(contributions), Bound("l2", bound.radius).sensitivity("l2", 1, neighbors))


class PrivateFilter(Counter):
    """A filter and where its noise is: what `FilterStream` and `KalmanStream` share.

    Parameters
    ----------
    noise : Gaussian
        Public. Its multiplier is in units of what one unit moves by, over all times together.
    adjacency : {"event", "signal"}
        Public. What is hidden: single samples, which are events, or the whole signal of one input. In both cases a unit
        feeds one input.
    horizon : int, optional
        Public. How many samples there are at most; without it, the stream has no end.
    neighbors : Neighbors
        Public. Whether zeros (`ADD_REMOVE`) or what any other unit contributes (`REPLACE`), also to other samples or
        inputs, takes the place of what a unit contributes.
    contributions : int
        Public. In how many samples of its input a unit takes part at most, once in each, with adjacency "event".
    streams : int
        Public. How many signals are filtered side by side, each by a filter of its own; a unit is in one of them.
    """

    longer: ClassVar[str] = "Plan for more, or leave out the horizon."
    noise: Additive
    bound: Bound
    placement: Place | None
    adjacency: Adjacency
    horizon: int | None
    streams: int

    def check(self) -> None:
        check_whole(self.purpose, "horizon", 1 if self.horizon is None else self.horizon, most=ENDLESS)
        check_whole(self.purpose, "streams", self.streams, most=MOST_NUMBERS)
        if self.noise.norm != "l2":
            raise ParameterError(self.purpose, f"the noise is {self.noise}", "Give Gaussian noise.")

    @property
    @abstractmethod
    def filter(self) -> LinearFilter:
        """What samples go through."""

    @cached_property
    def change(self) -> Change:
        """What one unit changes of the samples."""
        return change_of(self.bound, self.adjacency, self.neighbors, self.contributions, self.filter.inputs)

    @property
    @abstractmethod
    def placed(self) -> Placement:
        """Where the noise is, and what comes before and after it."""

    @cached_property
    def updates(self) -> Updates:
        """Samples whose unit moves what gets noise by the gain."""
        factor = self.placed.gain * self.change.reach / self.bound.sensitivity("l2", 1, self.neighbors)
        return Updates(self.noise, self.bound, 1, self.neighbors, factor, CELLS, self.placed.before.binary)

    @property
    def last_clock(self) -> int:
        return ENDLESS if self.horizon is None else self.horizon

    @property
    def rows(self) -> int:
        """How many rows of a unit the price is for, wherever they are: any number, where whole signals are hidden.

        Of events, r rows move what gets noise by at most r times what one does, and that far where they fall together.
        """
        if self.adjacency == "signal":
            return ENDLESS
        units = self.change.samples // self.contributions
        covered = self.placed.gain / (self.placed.before.event_gain(1) * units)
        return min(self.contributions, max(1, math.floor(covered)))

    def stddev(self, time: int | None = None) -> float:
        """The root mean square, over outputs, of the noise after so many samples, or after very many."""
        return math.sqrt(float(np.square(self.stddevs(time)).mean()))

    def stddevs(self, time: int | None = None) -> Array:
        """The standard deviation of the noise on each output after so many samples, or after very many."""
        return np.asarray(self.updates.scale / self.placed.gain * np.sqrt(self.placed.variances(time)))

    def shape(self, numbers: int) -> tuple[int, ...]:
        """Of so many numbers for each stream, without axes of length 1."""
        return tuple(each for each in (self.streams, numbers) if each > 1)

    def opened(self, grant: Grant) -> OpenFilter:
        return OpenFilter(grant)


@dataclass(frozen=True, eq=False)
class FilterStream(PrivateFilter):
    """Release a filtered signal after every sample, with Gaussian noise.

    Parameters
    ----------
    system : TransferFunction or StateSpace
        Public. The filter.
    bound : Bound
        Public. What each number of a sample is clipped to, by default to 0 to 1; with adjacency "signal", also the l2
        norm of each input over all times: what would be more is cut off.
    placement : {"input", "output", "zero_forcing"}, optional
        Public. Where the noise is added; by default where it leaves the least mean squared error: see
        `better_placement`.

    Guarantee
    ---------
    `noise.event` for all releases together, however many there are. Samples are whole grid steps and weights multiples
    of a power of two, so what gets noise is on the grid of the noise, without error. One unit moves it, at all times
    together, by at most `Placement.gain` bounds in l2: the H2 norm of what comes before the noise for a single event,
    since an event is moved on by the whole response to it, and the H-infinity norm for a signal. What comes after the
    noise sees no sample. Le Ny and Pappas 2014; where samples are chosen after looking at earlier releases, Denisov,
    McMahan, Rush, Smith and Guha Thakurta 2022, Theorem 2.1.

    A response is cut off where less than 2^-44 of its energy remains, so it ends, and all of it is paid.

    Notes
    -----
    `noisy` of the open stream is what got noise in the latest update. It may be published, since releases are computed
    from it.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.mechanisms import Gaussian
    >>> from discreet.sequential import TransferFunction
    >>> stream = FilterStream(TransferFunction([0.5, 0.5]), Gaussian(0.01)).open(Budget(1e4, 1e-6))
    >>> [round(float(stream.update(x)), 1) for x in (1.0, 0.0, 1.0)]
    [0.5, 0.5, 0.5]
    >>> round(float(stream.update([1.0, 1.0, 1.0])))  # a sum of what three people contribute, each clipped
    2
    """

    purpose: ClassVar[str] = "filter"

    system: LinearFilter
    noise: Additive
    bound: Bound = UNIT
    _: KW_ONLY
    placement: Place | None = None
    adjacency: Adjacency = "event"
    horizon: int | None = None
    neighbors: Neighbors = Neighbors.ADD_REMOVE
    contributions: int = 1
    streams: int = 1

    @property
    def filter(self) -> LinearFilter:
        """What samples go through."""
        return self.system

    @cached_property
    def placed(self) -> Placement:
        """Where the noise is, and what comes before and after it."""
        samples = self.change.samples
        if self.placement is None:
            given = {"adjacency": self.adjacency, "contributions": samples, "horizon": self.horizon}
            return better_placement(self.filter, **given).best  # type: ignore[arg-type]
        return placed(self.filter, self.placement, self.adjacency, samples, self.horizon)


@dataclass
class _Samples:
    """What is remembered of samples: those that what gets noise depends on, and the energy of each signal so far."""

    window: MovingWindow
    spent: Steps


class OpenFilter(OpenCounter[PrivateFilter]):
    """A filter that is paid for.

    Attributes
    ----------
    noisy : array of shape (streams, outputs of what comes before the noise)
        What got noise in the latest update; it may be published.
    """

    def __init__(self, grant: Grant) -> None:
        super().__init__(grant)
        own = self.description
        self._updates, self.clock = own.updates, 0
        self.noisy: Array = np.zeros((own.streams, own.placed.before.outputs))
        spent: Steps = np.zeros((own.streams, own.filter.inputs), np.int64)
        self._samples = Exact(_Samples(own.placed.before.running(own.streams), spent))
        self._after = own.placed.after.running(own.streams)
        self._energy = int((Fraction(own.bound.radius) / Fraction(own.updates.grid.step)) ** 2)

    def update(self, value: ArrayLike) -> Array:
        """Take one sample, and release the output of the filter.

        Parameters
        ----------
        value : float or array
            Secret. A number for each input of each stream: of shape (streams, inputs), without an axis of length 1.
            With adjacency "event" there may be one axis more, in front: what several people contribute to this sample.
            Each number is clipped, and they are added.

        Returns
        -------
        array of shape (streams, outputs), without an axis of length 1
        """
        own = self.description
        rows = self._rows(sample_of(value, own.shape(own.filter.inputs), several=own.adjacency == "event"))

        def before(samples: _Samples) -> Steps:
            return samples.window.push(self._limited(rows, samples))

        noise = self._updates.drawn(self._bits, self.noisy.shape)
        self.clock += 1
        self.noisy = np.asarray(self._samples.noised(before, noise) * self._updates.noise_step, np.float64)
        return self._after.push(self.noisy).reshape(own.shape(own.filter.outputs))

    def _state(self) -> State:
        """The samples that are still remembered, and what was made of the noisy ones."""
        samples = self._samples.saved()
        held = {"before": samples.window.state(), "after": self._after.state(), "spent": samples.spent}
        return {"clock": np.array(self.clock), **held}

    def _restore(self, state: State) -> None:
        samples = self._samples.saved()
        clock = fitting_clock(state, np.array(self.clock), self.description.last_clock)
        spent, before = fitting(state, "spent", samples.spent), fitting(state, "before", samples.window.state())
        after = fitting(state, "after", self._after.state())
        self.clock, samples.spent = int(clock), spent
        samples.window.restore(before)
        self._after.restore(after)

    def _rows(self, given: Array) -> Steps:
        """One sample in whole steps; what is not finite counts as zero."""
        own = self.description
        shape, inputs = own.shape(own.filter.inputs), own.filter.inputs
        summed = own.adjacency == "event" and given.ndim == len(shape) + 1
        self.admit(given.shape[1:] if summed else given.shape, shape, self.clock)
        each = self._updates.steps(given[..., None])[..., 0]
        return (each.sum(axis=0) if summed else each).reshape(own.streams, inputs)

    def _limited(self, rows: Steps, samples: _Samples) -> Steps:
        """Samples whose products fit; of signals, what is left when the energy of each is limited."""
        if self.description.adjacency == "event":
            return np.clip(rows, -CAP, CAP)
        most = np.sqrt((self._energy - samples.spent).astype(np.float64)).astype(np.int64)
        kept = np.clip(rows, -most, most)
        samples.spent = samples.spent + kept**2
        return kept
