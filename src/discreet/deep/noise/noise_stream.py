"""Sums of successive steps, released with correlated noise."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any, ClassVar

from discreet.core.answer import NeighborPair, SampledAnswer
from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Composed, Event
from discreet.core.held import Held, exclusive
from discreet.core.mechanism import SecretSample
from discreet.deep.noise.banded_factorization import BandedFactorization
from discreet.deep.noise.exact_sum import ExactSum, numbers, with_numbers
from discreet.deep.noise.fine_grid import OF_CHUNKS
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.trust.on_sample import OnSample
from discreet.trust.permit import KEPT


class NoiseStream(Held):
    """Releases C g + z row by row, and gives back g + C^-1 z: what is private, and what is useful.

    It keeps the exact sums of the last steps, which are secret, and so it is in no checkpoint. A round is as many steps
    as there are bands: the first of them pays for all.

    Parameters
    ----------
    bands : BandedFactorization
        Public. C.

    Examples
    --------
    >>> import torch
    >>> from discreet.deep.noise.exact_sum import exact_sum
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> stream, bits = NoiseStream(BandedFactorization((0.8, 0.6))), DeterministicBits(0)
    >>> nobody = exact_sum(torch.zeros(1, dtype=torch.float64), 1.0, 2.0)
    >>> first, second = (stream.released(nobody, Gaussian(1e-9), bits, pays) for pays in (True, False))
    >>> bool(abs(first[0]) < 1e-7), stream.left
    (True, 0)
    """

    def __init__(self, bands: BandedFactorization) -> None:
        self._column = bands.coefficients
        self._slack = OF_CHUNKS + math.sqrt(bands.count)  # times coefficients whose squares add up to 1; and each row
        self._sums: deque[Any] = deque(maxlen=bands.count - 1)
        self._released: deque[Any] = deque(maxlen=bands.count - 1)
        self.left = 0

    @exclusive
    def end_round(self) -> None:
        """Let the next step pay for a round of its own."""
        self.left = 0

    @exclusive
    def released(self, answer: ExactSum, noise: Gaussian, bits: Bits, pays: bool) -> Any:
        """The sums of the next step, with noise; refused where neither it nor an earlier step of its round pays."""
        if not pays and self.left == 0:
            raise NotPermitted("correlated noise", "no step of this round was paid for", "Pay for a round.", KEPT)
        self.left = (len(self._column) if pays else self.left) - 1
        sums = numbers(answer)
        mixed = with_numbers(answer, self._added(self._column[0] * sums, self._sums, 1.0), self._slack)
        row = noise.release(mixed, bits)  # type: ignore[arg-type]
        found = self._added(row, self._released, -1.0) / self._column[0]
        self._sums.appendleft(sums)
        self._released.appendleft(found)
        return found

    def _added(self, first: Any, earlier: deque[Any], sign: float) -> Any:
        for factor, one in zip(self._column[1:], earlier, strict=False):
            first = first + sign * factor * one
        return first


@dataclass(frozen=True)
class OnTurn:
    """Release a sum over a secret sample of the group of records whose turn it is, with noise of a stream.

    Every record is in one group, and groups take turns. So the steps of a round, in which every group has its turn
    once, cost together what one of them costs, and the first pays.

    Parameters
    ----------
    noise : Gaussian
        Public. The independent noise of each row.
    sample : SecretSample
        Public. How the sample of a group is drawn.
    stream : NoiseStream
        Public. How the noise of steps is correlated; the sums of earlier steps, which it keeps, are secret.

    Guarantee
    ---------
    `Sampled(noise.event, rate, scheme)` for each round of steps, by banded matrix factorisation (Choquette-Choo et al.
    2023; see `BandedFactorization`).
    """

    noise: Gaussian = field(default_factory=Gaussian)
    sample: SecretSample = field(default_factory=lambda: SecretSample(0.5))
    stream: NoiseStream = field(kw_only=True, repr=False)
    pays: bool = field(init=False)
    calibrated: ClassVar[str] = "noise"

    def __post_init__(self) -> None:
        if not isinstance(self.stream, NoiseStream):
            obstacle = f"{self.stream!r:.60} is no stream of noise"
            raise ParameterError("correlated noise", obstacle, "Give a NoiseStream.")
        object.__setattr__(self, "pays", self.stream.left == 0)

    @property
    def event(self) -> Event:
        """The price of a round, for its first step."""
        return self._alone.event if self.pays else Composed(())

    def release(self, answer: SampledAnswer, bits: Bits) -> Any:
        """The sum over the sample, with noise."""
        self._alone.check_sample(answer)
        return self.stream.released(answer.answer, self.noise, bits, self.pays)

    def worst_neighbors(self) -> NeighborPair:
        """An empty sample, and one with a unit of the whole bound."""
        return self._alone.worst_neighbors()

    @property
    def _alone(self) -> OnSample:
        """The same of one step by itself."""
        return OnSample(self.noise, self.sample)
