"""Records that a training run cannot hide behind one another: for an audit from a single run."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.ledger import Ledger
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.noise.bernoulli import bernoulli
from discreet.noise.system_bits import system_bits

STEEP = 1e3  # how much longer a gradient is than any clip that makes sense


class DiracCanaries:
    """Made-up records, each in the data by a fair coin, whose gradients are long and orthogonal to one another.

    Every canary moves a weight and a bias of its own, of a linear model, always in the same direction and as far as the
    clip lets it: nothing that a record can do to a sum of clipped gradients is easier to see (Nasr et al. 2023). After
    one run the model says about each of them whether it seems to have been in, and `discreet.audit.one_run` says what
    so many right guesses prove. It is the trainer and its plan that are audited, and no real record is needed.

    Parameters
    ----------
    count : int
        Public. How many, in or not.
    bits : Bits, optional
        Where the coins come from.

    Attributes
    ----------
    included : array of bool
        The coins: to be compared with guesses, and never shown to whoever guesses.

    Examples
    --------
    >>> from discreet.audit.one_run import one_run
    >>> from discreet.deep import Trainer, TrainingPlan
    >>> canaries, budget = DiracCanaries(500), Budget(8.0, 1e-5)
    >>> plan, model = TrainingPlan.of(budget, batch=50, expected_size=250, epochs=2), canaries.model()
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    >>> trainer = Trainer(model, optimizer, canaries.losses, canaries.data(budget), plan)
    >>> trainer.run().number
    10
    >>> one_run(plan.event, canaries.scores(model), canaries.included).holds
    True
    """

    def __init__(self, count: int, *, bits: Bits | None = None) -> None:
        check_whole("canaries", "count", count)
        self.included: NDArray[np.bool_] = bernoulli(system_bits() if bits is None else bits, count, 0.5).astype(bool)

    def model(self) -> nn.Linear:
        """A model with a weight and a bias for each canary, all zero."""
        found = nn.Linear(1, len(self.included))
        nn.init.zeros_(found.weight)
        nn.init.zeros_(found.bias)
        return found

    def data(self, ledger: Ledger | Budget, *, bits: Bits | None = None) -> PrivateTensors:
        """The canaries that are in."""
        inside = torch.from_numpy(np.flatnonzero(self.included))
        return PrivateTensors(torch.ones(len(inside), 1), inside, ledger, bits=bits)

    @staticmethod
    def losses(given: Tensor, wanted: Tensor) -> Tensor:
        """One for each canary: it falls as fast as its own output grows."""
        return -STEEP * given.gather(1, wanted[:, None])[:, 0]

    @staticmethod
    def scores(model: nn.Linear) -> NDArray[np.float64]:
        """How far the model moved towards each canary."""
        moved: NDArray[np.float64] = (model.weight[:, 0] + model.bias).detach().double().cpu().numpy()
        return moved
