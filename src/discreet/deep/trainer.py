"""Private stochastic gradient descent."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discreet import __version__
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.events import written
from discreet.core.grid import Grid
from discreet.core.knob import check_whole
from discreet.core.ledger import Reservation
from discreet.deep.check import check
from discreet.deep.clipped_sum import Losses, clipped_sum
from discreet.deep.device_noise import DeviceNoise
from discreet.deep.private_tensors import Chunk, PrivateTensors
from discreet.deep.training_plan import TrainingPlan
from discreet.trust.permit import KEPT

FINENESS = 2.0**-30  # of the clip: the grid that sums are rounded to, so that their noise is exact
ASKED = "train"


@dataclass(frozen=True)
class Step:
    """What is public after a step.

    Parameters
    ----------
    number, of : int
        How many steps were made, and how many are planned.
    """

    number: int
    of: int


class Trainer:
    """Train a plain module by private gradient descent: clipped gradients of secret samples, with exact Gaussian noise.

    Abadi et al. 2016, with Poisson sampling as the accountant prices it. Steps are charged to the ledger in blocks,
    each before its first sample is drawn: a run that is killed has never drawn more than it was charged for. A run that
    goes on from an older checkpoint draws fresh noise, and pays for its steps again.

    Parameters
    ----------
    model : Module
        Public. Its weights are released after every step.
    optimizer : Optimizer
        Public. Any: what it does with noisy gradients costs nothing.
    losses : callable
        Public. Of what the model gives and the targets: one loss for each record.
    data : PrivateTensors
        The records, and the account that pays.
    plan : TrainingPlan
        Public. Steps, samples, noise.
    chunk : int
        Public. How many records are computed at a time; results do not depend on it.
    block : int, optional
        Public. How many steps are charged at a time; all of them by default, as an account for a single plan needs.

    Guarantee
    ---------
    `plan.event` for all steps together, for neighbors that differ by one record, added or removed. Sums are rounded to
    a grid and get the noise of the real Gaussian variable, rounded; that they are added up in float32 is covered by a
    margin of the clip (`clipped_sum`), and not by a proof. On a device that is no processor, noise too is in float32.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> torch.manual_seed(0)  # doctest: +ELLIPSIS
    <torch...>
    >>> x = torch.randn(4000, 2)
    >>> data = PrivateTensors(x, (x[:, 0] > 0).long(), Budget(3.0, 1e-5))
    >>> plan = TrainingPlan.of(Budget(3.0, 1e-5), batch=400, expected_size=4000, epochs=5)
    >>> model, each = nn.Linear(2, 2), nn.CrossEntropyLoss(reduction="none")
    >>> trainer = Trainer(model, torch.optim.SGD(model.parameters(), lr=1.0), each, data, plan)
    >>> trainer.run().number
    50
    >>> bool((model(x).argmax(dim=1) == (x[:, 0] > 0)).float().mean() > 0.9)
    True
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        losses: Losses,
        data: PrivateTensors,
        plan: TrainingPlan,
        *,
        chunk: int = 256,
        block: int | None = None,
    ) -> None:
        check_whole(ASKED, "chunk", chunk)
        check_whole(ASKED, "block", plan.steps if block is None else block)
        check(model)
        self._trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
        held = {id(one) for group in optimizer.param_groups for one in group["params"]}
        foreign = [name for name, one in self._trained.items() if id(one) not in held]
        if foreign:
            raise ParameterError(ASKED, f"the optimizer does not hold {foreign[0]}", "Give it model.parameters().")
        self.model, self.optimizer, self.plan = model, optimizer, plan
        self._losses, self._data, self._chunk, self._block = losses, data, chunk, block or plan.steps
        self._device = next(iter(self._trained.values())).device
        self._device_noise = None if self._device.type == "cpu" else DeviceNoise(self._device)
        self._done = 0

    def steps(self) -> Iterator[Step]:
        """Make the steps that are left, one at a time."""
        self._sums([self._data.blank(self._chunk, self._device)])  # what fails for any records fails before the charge
        while self._done < self.plan.steps:
            count = min(self._block, self.plan.steps - self._done)
            charge = self._data.ledger.reserve(self.plan.event_of(count), ASKED, request=self._request(count))
            assert isinstance(charge, Reservation)  # its key is fresh
            for _ in range(count):
                try:
                    self._step()
                except DiscreetError as error:
                    error.settle(KEPT)
                    raise
                self._done += 1
                yield Step(self._done, self.plan.steps)
            self._data.ledger.commit(charge, self._digest())

    def run(self) -> Step:
        """Make all steps that are left."""
        for _ in self.steps():
            pass
        return Step(self._done, self.plan.steps)

    def checkpoint(self) -> dict[str, Any]:
        """What a later run needs to go on from here: it is all released already. What was spent is in the ledger."""
        return {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "done": self._done}

    def resume(self, checkpoint: dict[str, Any]) -> None:
        """Go on from a checkpoint. Steps after it are drawn anew and charged, even if they were made before."""
        self.model.load_state_dict(checkpoint["model"])
        self.optimizer.load_state_dict(checkpoint["optimizer"])
        self._done = int(checkpoint["done"])

    def release(self, path: str | Path) -> None:
        """Write the weights, with a card that says what they cost: `card.json` beside them has the same text."""
        card = self.card()
        torch.save({"weights": self.model.state_dict(), "card": json.dumps(card)}, path)
        Path(f"{path}.card.json").write_text(json.dumps(card, indent=1))

    def card(self) -> dict[str, Any]:
        """What the weights cost and whom they protect, in plain numbers: of the whole account, all runs together."""
        ledger, balance = self._data.ledger, self._data.ledger.balance()
        return {
            "unit": "record",
            "neighbors": "add_remove",
            "epsilon": balance.spent,
            "delta": ledger.budget.delta,
            "steps": self._done,
            "event": json.loads(written(self.plan.event)),
            "clip": self.plan.clip,
            "ledger_head": ledger.head,
            "versions": {"discreet": __version__, "torch": torch.__version__},
        }

    def _step(self) -> None:
        least = math.ceil(self.plan.batch / self._chunk)
        sums = self._sums(self._data.chunks(self.plan.sample, self._chunk, self._device, least))
        for name, noisy in self._noisy(sums).items():
            self._trained[name].grad = noisy / self.plan.batch
        self.optimizer.step()

    def _sums(self, chunks: Iterable[Chunk]) -> dict[str, Tensor]:
        """The clipped sums over all chunks together."""
        sums: dict[str, Tensor] = {}
        for part in chunks:
            found = clipped_sum(
                self.model, self._losses, part.inputs, part.targets, clip=self.plan.clip, there=part.there
            ).gradients
            sums = {name: sums[name] + one if sums else one for name, one in found.items()}
        return sums

    def _noisy(self, sums: dict[str, Tensor]) -> dict[str, Tensor]:
        """The sums on a fine grid, with exact noise for the clip and the grid; on another device in float32."""
        if self._device_noise is not None:
            return self._device_noise.added(sums, self.plan.noise.multiplier * self.plan.clip)
        whole = torch.cat([one.detach().double().flatten() for one in sums.values()]).cpu().numpy()
        grid = Grid(math.floor(math.log2(self.plan.clip * FINENESS)))
        reach = self.plan.clip / grid.step + math.sqrt(len(whole))
        noise = self.plan.noise.noise(self._data.bits, whole.shape, self.plan.noise.multiplier * reach)
        noisy = grid.values(np.rint(whole / grid.step).astype(np.int64) + noise)
        parts = torch.split(torch.from_numpy(noisy), [one.numel() for one in sums.values()])
        return {name: part.view_as(one).to(one) for part, (name, one) in zip(parts, sums.items(), strict=True)}

    def _request(self, count: int) -> str:
        return json.dumps({"steps": [self._done, self._done + count], "clip": self.plan.clip, "batch": self.plan.batch})

    def _digest(self) -> bytes:
        digest = hashlib.sha256()
        for name, one in self._trained.items():
            digest.update(name.encode() + one.detach().cpu().contiguous().numpy().tobytes())
        return digest.digest()
