"""Private stochastic gradient descent."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler

from discreet import __version__
from discreet.core.checks import check_whole
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.events import Event
from discreet.core.held import Held, exclusive
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.progress_bar import Progress, patient_bar
from discreet.deep.checks.check import check
from discreet.deep.checks.optimizer_check import check_optimizer
from discreet.deep.clipping.augmentation_multiplicity import AugmentationMultiplicity
from discreet.deep.questions.records_as_tensors import RecordsAsTensors
from discreet.deep.questions.sampled_gradient import RecordCount, SampledGradient
from discreet.deep.training.checkpoint import checked_checkpoint, load_checkpoint
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.processes import current_processes
from discreet.deep.training.released_weights import as_table, as_text, digest, written_aside
from discreet.deep.training.step import Step
from discreet.deep.training.training_plan import TrainingPlan
from discreet.deep.training.weight_average import WeightAverage
from discreet.releases.privacy_card import PrivacyCard
from discreet.trust.holder import Described
from discreet.trust.permit import KEPT, Permit

if TYPE_CHECKING:
    from discreet.deep.clipping.clipped_sum import Losses
    from discreet.deep.clipping.compiled_sum import Compiler

ASKED = "train"


class SlowLayers(UserWarning):
    """Some layers have no rule: the gradients of single records are written out, in a second pass through them.

    Examples
    --------
    >>> import warnings
    >>> warnings.filterwarnings("ignore", category=SlowLayers)  # for models that are known to be slow
    """


class Trainer(Held):
    """Train a plain module by private gradient descent: clipped gradients of secret samples, with exact Gaussian noise.

    Abadi et al. 2016, with Poisson sampling as the accountant prices it. Each step asks a permit, which is paid for a
    block of steps before the first sample of it is drawn: a run that is killed has never drawn more than it was charged
    for. A run that goes on from an older checkpoint draws fresh noise, and pays for its steps again.

    Before the first charge model and loss are run on made-up records: where one record changes what another adds, or a
    forward pass notes what it saw, the run is refused. A record that the model cannot compute, such as one with a label
    out of range, counts for nothing. Dropout draws from secret bits. Only trained parameters change.

    Where `torch.distributed` was started, all its processes train one model, each on records of its own; see
    `DistributedProcesses`. The account of the first one pays for all.

    Parameters
    ----------
    model : Module
        Public. Its weights are released after every step.
    optimizer : Optimizer
        Public. Any: what it does with noisy gradients costs nothing.
    losses : callable
        Public. Of what the model gives and the targets: one loss for each record.
    data : PrivateTensors, or RecordsAsTensors with a permit
        The records, and the account that pays.
    plan : TrainingPlan
        Public. Steps, samples, noise.
    chunk : int
        Public. How many records are computed at a time; results do not depend on it, but for rounding.
    block : int, optional
        Public. How many steps are charged at a time; all of them by default: a whole plan costs least.
    augmentation : AugmentationMultiplicity, optional
        Public. Several views of each record, whose gradients are averaged before the clip, at the price of one.
    schedule : LRScheduler, optional
        Public. Of the optimizer's learning rate; it moves on after every step.
    ema_decay : float, optional
        Public. Keeps an exponential moving average of the weights, `average`, with this decay.
    precision : torch.dtype, optional
        Public. Of the products of the passes, such as `torch.bfloat16`; parameters stay in float32, and gradients are
        added up in float32 at least.
    compiler : callable, optional
        Public. What makes one fast graph of each step's computation, such as `torch.compile`, or with a mode
        `functools.partial(torch.compile, mode="reduce-overhead")` for CUDA graphs; by default, none.
    permit : Permit, optional
        Open, paid for by the account of the data, and of a plan that has the steps among its releases: it is asked for
        every step. By default, the account is charged for each block.

    Guarantee
    ---------
    `plan.event` for all steps together, for neighbors that differ by one record, added or removed: Abadi et al. 2016,
    Algorithm 1, at the price of sampled Gaussian noise (Zhu, Dong and Wang 2022, Theorem 11). Records are dealt to
    chunks so that one record changes one place (`chunks.md`), chunks are added up exactly on a grid, and what rounding
    may do inside them is in a margin of the clip (`forms/rounding.md`). Sums get the noise of the real Gaussian
    variable, rounded. On a device that is no processor noise is in float32; on a GPU the margin rests on what is known
    of its matrix instructions.

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
        data: PrivateTensors | RecordsAsTensors,
        plan: TrainingPlan,
        *,
        chunk: int = 256,
        block: int | None = None,
        augmentation: AugmentationMultiplicity | None = None,
        schedule: LRScheduler | None = None,
        ema_decay: float | None = None,
        precision: torch.dtype | None = None,
        compiler: Compiler | None = None,
        permit: Permit | None = None,
    ) -> None:
        check_whole(ASKED, "chunk", chunk)
        check_whole(ASKED, "block", plan.steps if block is None else block)
        _check_payer(data, permit)
        self.checked = check(model)
        if self.checked.one_by_one:
            warnings.warn(str(self.checked), SlowLayers, stacklevel=2)
        self._processes = current_processes()
        how = chunk, augmentation, self._processes, precision, compiler
        self._gradient = SampledGradient(model, losses, data, plan, *how)
        check_optimizer(optimizer, schedule, self._gradient.trained)
        self.model, self.optimizer, self.plan = model, optimizer, plan
        self._schedule = schedule
        self._average = None if ema_decay is None else WeightAverage(model, ema_decay)
        self._data, self._block, self._done, self._opened = data, block or plan.steps, 0, False
        self._given, self._permits = permit, dict[int, Permit]()
        self._current: int | None = None
        self._blocks = self._end = 0
        self._charged = data.ledger.balance().certified

    def steps(self) -> Iterator[Step]:
        """Make the steps that are left, one at a time."""
        shapes = {name: tuple(one.shape) for name, one in self._gradient.trained.items()}
        agreed = repr((self.plan, shapes, self._block, self._done, self._opened, self._gradient.terms))
        self._processes.start(self.model, agreed, self._gradient.rehearse)
        if whole := self._gradient.by_whole_model:
            text = f"{', '.join(whole)} used outside of a layer, or once for all records: taken with the whole model"
            warnings.warn(text, SlowLayers, stacklevel=2)
        while (block := self._paid()) is not None:
            while (step := self._stepped(block)) is not None:
                yield step
            self._committed(block)

    @exclusive
    def _paid(self) -> int | None:
        """Pay for the next block of steps; its number, which is the present one from now on. None after the last."""
        count = min(self._block, self.plan.steps - self._done)
        if count == 0:
            return None
        event = self.plan.event_of(count)
        event = event if self._opened else self.plan.opened(event)
        self._blocks += 1
        self._charged = self._processes.told(partial(self._pay, event, count))
        if self._given is not None:
            self._permits[self._blocks] = self._given
        elif not self._processes.first:
            assert isinstance(self._data, PrivateTensors)
            self._permits[self._blocks] = self._data._paid_elsewhere(event, ASKED).__enter__()
        self._gradient.end_round()
        self._current, self._end = self._blocks, self._done + count
        return self._blocks

    @exclusive
    def _stepped(self, block: int) -> Step | None:
        """A step of a block; none after its last, or where the run went back or on elsewhere: the rest is forfeited."""
        if self._current != block or self._done == self._end:
            return None
        permit, gradient = self._permits[block], self._gradient
        try:
            if not self._opened:
                self._open(permit)
            gradient.move(permit.ask(gradient.question, gradient.mechanism))
            self._move()
        except BaseException as error:
            gradient.begin()  # a turn may have passed without a row of noise
            if isinstance(error, DiscreetError):
                error.settle(KEPT)
            raise
        self._done += 1
        return self._now()

    def _open(self, permit: Permit) -> None:
        """Ask what a run asks before its first step: whether samples are truncated."""
        truncation = self.plan.truncation
        if truncation is not None and permit.ask(RecordCount(self._gradient), truncation):
            self._gradient.most = truncation.most
        self._opened = True

    @exclusive
    def _committed(self, block: int) -> None:
        permit = self._permits.pop(block)
        if self._given is None:
            self._processes.told(partial(self._commit, permit))

    @property
    def average(self) -> nn.Module:
        """The model with the running average of its weights; released, as they are."""
        if self._average is None:
            raise ParameterError(ASKED, "no average of the weights is kept", "Give an ema_decay, such as 0.999.")
        return self._average.model

    def run(self, progress: Progress | None = None) -> Step:
        """Make all steps that are left.

        Parameters
        ----------
        progress : callable, optional
            Called with the steps made, the steps planned and what was charged; by default, a bar after a second.
        """
        quiet = _silent if self._given is not None else patient_bar()  # a permit that was given shows its own
        told = quiet if progress is None else progress
        for step in self.steps():
            told(step.number, step.of, f"epsilon {step.charged:.4g} charged")
        return self._now()

    @exclusive
    def checkpoint(self) -> dict[str, Any]:
        """What a later run needs to go on from here: it is all released already. What was spent is in the ledger."""
        return {**{name: one.state_dict() for name, one in self._parts().items()}, "done": self._done}

    @exclusive
    def resume(self, checkpoint: dict[str, Any]) -> None:
        """Go on from a checkpoint. Steps after it are drawn anew and charged, even if they were made before.

        What this run could not have written is refused, and then nothing is changed.
        """
        parts = self._parts()
        done = checked_checkpoint(checkpoint, parts, self.plan.steps)
        self._gradient.check_state(checkpoint["gradients"])
        load_checkpoint(checkpoint, parts)
        self._done = done
        self._current = None

    @exclusive
    def release(self, path: str | Path) -> None:
        """Write the weights, with a card that says what they cost: `card.json` beside them has the same text.

        A file of an earlier release is there until the new one is whole.
        """
        card = self.card()
        average = {} if self._average is None else {"average": self.average.state_dict()}
        with written_aside(path) as part:
            torch.save({"weights": self.model.state_dict(), **average, "card": card.to_json()}, part)
        with written_aside(f"{path}.card.json") as part:
            part.write_text(card.to_json(), encoding="utf-8")

    def card(self) -> PrivacyCard:
        """What the weights cost and whom they protect: of the whole account, all runs together."""
        if not self._processes.first:
            raise ParameterError("card", "the account is with the first process", "Ask there.")
        ledger = self._data.ledger
        balance = ledger.balance()
        return PrivacyCard(
            about=f"weights of {type(self.model).__name__}",
            kind="model",
            event=self.plan.event,
            epsilon=balance.certified,
            delta=balance.budget.delta,
            neighbors=Neighbors.ADD_REMOVE,
            unit=RECORD,
            secret=all(entry.secret for entry in ledger.entries()),
            together=True,
            head=ledger.head,
            facts={"steps": str(self._done), "clip": f"{self.plan.clip:g}, the greatest length of a record's gradient"},
            balance=balance,
            versions={"discreet": __version__, "torch": str(torch.__version__)},
        )

    def lines(self) -> dict[str, str]:
        """What is trained, how, and how far it is."""
        return {"made": str(self._now()), **self.plan.lines(), "layers": str(self.checked)}

    def __str__(self) -> str:
        return as_text(self.lines())

    def _repr_html_(self) -> str:
        return as_table(self.lines())

    def _now(self) -> Step:
        return Step(self._done, self.plan.steps, self._charged, self.plan, self._data.ledger.budget.delta)

    def _pay(self, event: Event, count: int) -> float:
        """Pay for so many steps by a permit of the data, unless one was given; what the account has paid."""
        if self._given is not None:
            self._given.check_pays(event)
        else:
            assert isinstance(self._data, PrivateTensors)
            permit = self._data.permit(Described(event, self._request(count)), ASKED)
            permit.progress = _silent
            self._permits[self._blocks] = permit.__enter__()
        return self._data.ledger.balance().certified

    def _commit(self, permit: Permit) -> None:
        permit.commit(digest(self._gradient.trained))
        permit.__exit__(None, None, None)

    def _move(self) -> None:
        """What follows from the noisy gradients alone."""
        self.optimizer.step()
        if self._schedule is not None:
            self._schedule.step()
        if self._average is not None:
            self._average.update(self._done)

    def _parts(self) -> dict[str, Any]:
        """Whatever has a state that a later run needs."""
        average = None if self._average is None else self._average.model
        parts = {"model": self.model, "optimizer": self.optimizer, "schedule": self._schedule, "average": average}
        parts["gradients"] = self._gradient
        return {name: one for name, one in parts.items() if one is not None}

    def _request(self, count: int) -> str:
        return json.dumps({"steps": [self._done, self._done + count], "clip": self.plan.clip, "batch": self.plan.batch})


def _check_payer(data: PrivateTensors | RecordsAsTensors, permit: Permit | None) -> None:
    """Refuse a permit of another account, and records that only a permit shows without one."""
    if permit is None and not isinstance(data, PrivateTensors):
        raise ParameterError(ASKED, "these records are behind a permit, which is not given", "Give it.")
    if permit is not None and isinstance(data, PrivateTensors) and not permit.pays_from(data.ledger):
        remedy = "Give a permit of the data, or of what they were made from, or none."
        raise ParameterError(ASKED, "another account than that of the data has paid for the permit", remedy)


def _silent(done: int, total: int, what: str) -> None:
    """Progress that is shown elsewhere."""
