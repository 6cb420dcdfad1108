"""Records as tensors, as a permit shows them to a question: secret samples of them, dealt to chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from discreet.core.bits import Bits
from discreet.core.grid import Steps
from discreet.core.held import Held, Secret, exclusive
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.deep.clipping.chunks import dealt_to_chunks
from discreet.noise.bernoulli import bernoulli
from discreet.noise.choice import uniform_below


@dataclass(frozen=True)
class Chunk(Secret):
    """Some records of a sample, filled up to a fixed number."""

    inputs: Tensor = field(repr=False)
    targets: Tensor = field(repr=False)
    there: Tensor = field(repr=False)


def blank_chunk(inputs: Tensor, targets: Tensor, size: int, device: torch.device) -> Chunk:
    """Zeros in the shape of records, none of which is there: public."""
    first, second = (part.new_zeros(size, *part.shape[1:], device=device) for part in (inputs, targets))
    return Chunk(first, second, torch.zeros(size, dtype=torch.bool, device=device))


class Turns(Held):
    """Every record is in one of so many groups, by a secret coin of its own; step after step the next group is asked.

    Parameters
    ----------
    size : int
        How many records there are: secret.
    count : int
        Public. How many groups.
    bits : Bits
        Where coins come from.
    """

    def __init__(self, size: int, count: int, bits: Bits) -> None:
        self._groups, self._count, self._step = uniform_below(bits, np.full(size, count)), count, 0

    @exclusive
    def next(self) -> Steps:
        """The places of the records of the group whose turn it is."""
        found = np.flatnonzero(self._groups == self._step % self._count)
        self._step += 1
        return found


@dataclass(frozen=True)
class TensorsView(Secret):
    """Inputs and targets, along the first axis. Neighbors differ in one record, added or removed."""

    inputs: Tensor = field(repr=False)
    targets: Tensor = field(repr=False)
    bits: Bits = field(repr=False)
    neighbors: ClassVar[Neighbors] = Neighbors.ADD_REMOVE
    unit: ClassVar[Unit] = RECORD

    @property
    def size(self) -> int:
        """How many records there are: secret."""
        return len(self.inputs)

    def chunks(
        self,
        sample: SecretSample,
        size: int,
        device: torch.device,
        least: int = 1,
        most: int | None = None,
        turns: Turns | None = None,
    ) -> Iterator[Chunk]:
        """A fresh secret sample, dealt to chunks of a fixed size: at least so many, however few records were drawn.

        One record more is in one place of one chunk, and nobody else moves, or one record where all are full. With
        `most`, which a truncation that passed allows, only so many records are looked at; with `turns`, those of the
        group whose turn it is.
        """
        asked = np.arange(self.size) if turns is None else turns.next()
        drawn = asked[np.flatnonzero(bernoulli(self.bits, len(asked), sample.rate))[:most]]
        for dealt in dealt_to_chunks(self.bits, len(drawn), least, size):
            place, there = torch.from_numpy(np.append(drawn, 0)[dealt]), torch.from_numpy(dealt < len(drawn))
            if self.size:
                yield Chunk(self.inputs[place].to(device), self.targets[place].to(device), there.to(device))
            else:
                yield blank_chunk(self.inputs, self.targets, size, device)
