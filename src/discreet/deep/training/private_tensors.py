"""Records as tensors, with the ledger that is charged for every step."""

from __future__ import annotations

import torch
from torch import Tensor

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.held import Secret
from discreet.core.ledger import Ledger, Reservation
from discreet.core.neighbors import RECORD, Neighbors
from discreet.deep.questions.tensors_view import Chunk, TensorsView, blank_chunk
from discreet.deep.training.processes import current_processes
from discreet.ledger.memory_ledger import account_of
from discreet.noise.system_bits import system_bits
from discreet.trust.curator import ViewCurator
from discreet.trust.holder import Holder
from discreet.trust.permit import Description, Permit

PAID_ELSEWHERE = Reservation("paid by the first process", 0, "")


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
    columns: tuple[str, ...] = ()

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
        self._curator = ViewCurator(TensorsView(inputs, targets, system_bits() if bits is None else bits))
        self._like = inputs.new_empty(0, *inputs.shape[1:]), targets.new_empty(0, *targets.shape[1:])
        self.ledger = account_of(ledger, Neighbors.ADD_REMOVE, RECORD)
        if self.ledger.neighbors not in (None, Neighbors.ADD_REMOVE) or self.ledger.unit not in (None, RECORD):
            obstacle = f"the ledger was opened for {self.ledger.neighbors} and {self.ledger.unit}"
            raise ParameterError("private tensors", obstacle, "Open one for records that are added or removed.")

    def _promise(self, plan: Event | Description) -> ViewCurator:
        return self._curator

    def _paid_elsewhere(self, plan: Event, purpose: str) -> Permit:
        """A permit that the account of the first process has paid for, in another one of those that train one model."""
        if current_processes().first:
            raise NotPermitted(purpose, "no other process has paid", "Ask for a permit of these records.")
        return Permit(self._curator, self.ledger, PAID_ELSEWHERE, plan, purpose, keyed=False)

    @property
    def device(self) -> torch.device:
        """Where the inputs are."""
        return self._like[0].device

    def __repr__(self) -> str:
        return f"PrivateTensors(inputs of shape (secret, {', '.join(map(str, self._like[0].shape[1:]))}))"

    def blank(self, size: int, device: torch.device) -> Chunk:
        """Zeros in the shape of records, none of which is there: public."""
        return blank_chunk(*self._like, size, device)
