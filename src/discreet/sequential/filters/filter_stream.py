"""A private filter: the filtered signal with noise, released after every sample."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.sequential.counters.counter import Counter
from discreet.sequential.counters.updates import MOST_NUMBERS, UNIT, Updates
from discreet.sequential.filters.better_placement import better_placement
from discreet.sequential.filters.linear_filter import LinearFilter
from discreet.sequential.filters.placement import Adjacency, Place, placed
from discreet.sequential.reading import sample_of
from discreet.sequential.resumable import State, fitting, fitting_clock

CELLS = 16  # bits between the bound and the grid
CAP = 2**31  # steps of a sample at most, so that its products with all weights fit 63 bits
ENDLESS = 2**62


class FilterStream(Counter):
    """Release a filtered signal after every sample, with Gaussian noise.

    Parameters
    ----------
    system : TransferFunction or StateSpace
        Public. The filter.
    noise : Gaussian
        Public. Its multiplier is in units of what one unit moves by, over all times together.
    bound : Bound
        Public. What each number of a sample is clipped to, by default to 0 to 1; with adjacency "signal", also the l2
        norm of each input over all times: what would be more is cut off.
    placement : {"input", "output", "zero_forcing"}, optional
        Public. Where the noise is added; by default where it leaves the least mean squared error: see
        `better_placement`.
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
    bits : Bits, optional
        Where noise comes from; secret bits of this process by default.

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
    `noisy` is what got noise in the latest update. It may be published, since releases are computed from it.

    Examples
    --------
    >>> from discreet.mechanisms import Gaussian
    >>> from discreet.sequential import TransferFunction
    >>> stream = FilterStream(TransferFunction([0.5, 0.5]), Gaussian(1e-4))
    >>> [round(float(stream.update(x)), 1) for x in (1.0, 0.0, 1.0)]
    [0.5, 0.5, 0.5]
    >>> round(float(stream.update([1.0, 1.0, 1.0])))  # a sum of what three people contribute, each clipped
    2
    """

    purpose: ClassVar[str] = "filter"
    longer: ClassVar[str] = "Plan for more, or leave out the horizon."

    def __init__(
        self,
        system: LinearFilter,
        noise: Additive,
        bound: Bound = UNIT,
        *,
        placement: Place | None = None,
        adjacency: Adjacency = "event",
        horizon: int | None = None,
        neighbors: Neighbors = Neighbors.ADD_REMOVE,
        contributions: int = 1,
        streams: int = 1,
        bits: Bits | None = None,
    ) -> None:
        check_whole(self.purpose, "horizon", 1 if horizon is None else horizon, most=ENDLESS)
        check_whole(self.purpose, "streams", streams, most=MOST_NUMBERS)
        if noise.norm != "l2":
            raise ParameterError(self.purpose, f"the noise is {noise}", "Give Gaussian noise.")
        planned = None if horizon is None else int(horizon)
        self.system, self.streams = system, int(streams)
        change = change_of(bound, adjacency, neighbors, contributions, system.inputs)
        self._change = change
        self.placement = (
            better_placement(system, adjacency=adjacency, contributions=change.samples, horizon=planned).best
            if placement is None
            else placed(system, placement, adjacency, change.samples, planned)
        )
        factor = self.placement.gain * change.reach / bound.sensitivity("l2", 1, neighbors)
        before = self.placement.before
        updates = Updates(noise, bound, 1, neighbors, factor, int(contributions), CELLS, before.binary)
        super().__init__(ENDLESS if planned is None else planned, updates, bits)
        self.clock = 0
        self.noisy: Array = np.zeros((self.streams, self.placement.before.outputs))
        self._before = self.placement.before.running(self.streams)
        self._after = self.placement.after.running(self.streams)
        self._spent: Steps = np.zeros((self.streams, system.inputs), np.int64)  # energy of each signal so far
        self._energy = int((Fraction(bound.radius) / Fraction(updates.grid.step)) ** 2)

    @property
    def contributions(self) -> int:
        """In how many samples a unit takes part at most."""
        return ENDLESS if self.placement.adjacency == "signal" else super().contributions

    @property
    def rows(self) -> int:
        """How many rows of a unit the price is for, wherever they are.

        Of events, r rows move what gets noise by at most r times what one does, and that far where they fall together.
        """
        placement, units = self.placement, self._change.samples // self.contributions
        if placement.adjacency == "signal":
            return self.contributions
        covered = placement.gain / (placement.before.event_gain(1) * units)
        return min(self.contributions, max(1, math.floor(covered)))

    def stddev(self, time: int | None = None) -> float:
        """The root mean square, over outputs, of the noise after so many samples, or after very many."""
        return math.sqrt(float(np.square(self.stddevs(time)).mean()))

    def stddevs(self, time: int | None = None) -> Array:
        """The standard deviation of the noise on each output after so many samples, or after very many."""
        return np.asarray(self._updates.scale / self.placement.gain * np.sqrt(self.placement.variances(time)))

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
        shape, events = self._shape(self.system.inputs), self.placement.adjacency == "event"
        steps = self._steps(sample_of(value, shape, several=events))
        exact = self._before.push(steps)
        noisy = exact + self._updates.drawn(self._bits, exact.shape)
        self.clock += 1
        self.noisy = np.asarray(noisy * self._updates.noise_step, np.float64)
        return self._after.push(self.noisy).reshape(self._shape(self.system.outputs))

    def state(self) -> State:
        """The samples that are still remembered, and what was made of the noisy ones."""
        held = {"before": self._before.state(), "after": self._after.state(), "spent": self._spent}
        return {"clock": np.array(self.clock), **held}

    def restore(self, state: State) -> None:
        """Go on from a state of a filter with the same parameters."""
        clock, spent = fitting_clock(state, np.array(self.clock), self.horizon), fitting(state, "spent", self._spent)
        before = fitting(state, "before", self._before.state())
        after = fitting(state, "after", self._after.state())
        self.clock, self._spent = int(clock), spent
        self._before.restore(before)
        self._after.restore(after)

    def _shape(self, numbers: int) -> tuple[int, ...]:
        return tuple(each for each in (self.streams, numbers) if each > 1)

    def _steps(self, given: Array) -> Steps:
        """One sample in whole steps; what is not finite counts as zero."""
        shape, events = self._shape(self.system.inputs), self.placement.adjacency == "event"
        summed = events and given.ndim == len(shape) + 1
        self.admit(given.shape[1:] if summed else given.shape, shape, self.clock)
        each = self._updates.steps(given[..., None])[..., 0]
        rows = (each.sum(axis=0) if summed else each).reshape(self.streams, self.system.inputs)
        return np.clip(rows, -CAP, CAP) if events else self._limited(rows)

    def _limited(self, rows: Steps) -> Steps:
        """What is left of samples when the energy of each signal is limited."""
        most = np.sqrt((self._energy - self._spent).astype(np.float64)).astype(np.int64)
        kept = np.clip(rows, -most, most)
        self._spent = self._spent + kept**2
        return kept


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
