"""Records as tensors, with the ledger that is charged for every step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.held import Secret
from discreet.core.ledger import Ledger
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import RECORD, Neighbors
from discreet.deep.clipping.chunks import dealt_to_chunks
from discreet.deep.training.truncation import Truncation
from discreet.deep.training.turns import Turns
from discreet.ledger.memory_ledger import account_of
from discreet.noise.bernoulli import bernoulli
from discreet.noise.system_bits import system_bits
from discreet.trust.holder import Holder


@dataclass(frozen=True)
class Chunk(Secret):
    """Some records of a sample, filled up to a fixed number."""

    inputs: Tensor = field(repr=False)
    targets: Tensor = field(repr=False)
    there: Tensor = field(repr=False)


class PrivateTensors(Holder, Secret):
    """A data set of inputs and targets that a trainer may sample, and nobody may look at.

    Neighbors differ in one record, which is added or removed: the number of records is secret.

    Parameters
    ----------
    inputs, targets : Tensor
        The records, along the first axis.
    ledger : Ledger or Budget
        The account. A budget alone is an account in memory, for as many plans as it pays.
    bits : Bits, optional
        Where samples and noise come from; anything but the system's makes a model that is not private.

    Examples
    --------
    >>> import torch
    >>> PrivateTensors(torch.zeros(100, 2), torch.zeros(100), Budget(1.0, 1e-6)).ledger.budget
    Budget(epsilon=1.0, delta=1e-06)
    """

    neighbors, unit = Neighbors.ADD_REMOVE, RECORD

    def __init__(self, inputs: Tensor, targets: Tensor, ledger: Ledger | Budget, *, bits: Bits | None = None) -> None:
        for part in (inputs, targets):
            if not isinstance(part, Tensor) or part.dim() == 0:
                obstacle = f"a {type(part).__name__} is not records along the first axis of a tensor"
                remedy = "Give tensors: the trainer draws samples itself, as they are paid for, and no loader does."
                raise ParameterError("private tensors", obstacle, remedy)
        if len(inputs) != len(targets):
            raise ParameterError(
                "private tensors", "inputs and targets differ in their number", "Give one target each."
            )
        self._inputs, self._targets = inputs, targets
        self.ledger = account_of(ledger, Neighbors.ADD_REMOVE, RECORD)
        if self.ledger.neighbors not in (None, Neighbors.ADD_REMOVE) or self.ledger.unit not in (None, RECORD):
            obstacle = f"the ledger was opened for {self.ledger.neighbors} and {self.ledger.unit}"
            raise ParameterError("private tensors", obstacle, "Open one for records that are added or removed.")
        self.bits = system_bits() if bits is None else bits

    @property
    def secret(self) -> bool:
        """Whether samples and noise are from secret bits."""
        return self.bits.secret

    def __repr__(self) -> str:
        return f"PrivateTensors(inputs of shape (secret, {', '.join(map(str, self._inputs.shape[1:]))}))"

    def blank(self, size: int, device: torch.device) -> Chunk:
        """Zeros in the shape of records, none of which is there: public."""
        inputs, targets = (
            part.new_zeros(size, *part.shape[1:], device=device) for part in (self._inputs, self._targets)
        )
        return Chunk(inputs, targets, torch.zeros(size, dtype=torch.bool, device=device))

    def _passes(self, truncation: Truncation) -> bool:
        """Whether samples may be truncated: a release, which must have been charged."""
        return truncation.passes(len(self._inputs), self.bits)

    def _turns(self, count: int) -> Turns:
        """So many groups of records that take turns, dealt anew."""
        return Turns(len(self._inputs), count, self.bits)

    def _chunks(
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
        asked = np.arange(len(self._inputs)) if turns is None else turns.next()
        drawn = asked[np.flatnonzero(bernoulli(self.bits, len(asked), sample.rate))[:most]]
        for dealt in dealt_to_chunks(self.bits, len(drawn), least, size):
            place, there = torch.from_numpy(np.append(drawn, 0)[dealt]), torch.from_numpy(dealt < len(drawn))
            if len(self._inputs):
                yield Chunk(self._inputs[place].to(device), self._targets[place].to(device), there.to(device))
            else:
                yield self.blank(size, device)
