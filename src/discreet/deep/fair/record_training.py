"""Fair training that protects whole records: features, class and group."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.held import Held, exclusive
from discreet.core.mechanism import SecretSample
from discreet.core.progress_bar import tracked
from discreet.core.receipt import Receipt
from discreet.deep.checks.check import check
from discreet.deep.checks.model_state import ModelState
from discreet.deep.checks.rehearsal import rehearsed
from discreet.deep.checks.secret_draws import secret_draws
from discreet.deep.clipping.capture import Layer
from discreet.deep.clipping.clipped_sum import ClippedSum, clipped_sum
from discreet.deep.fair.cells import Cells
from discreet.deep.fair.constraint import SHARPNESS, Constraint
from discreet.deep.fair.descent import Descent, Walk
from discreet.deep.fair.fair_plan import FairPlan
from discreet.deep.fair.multipliers import Multipliers, deviation, floored_shares, weights
from discreet.deep.noise.noisy_sum import noisy_sum, on_grid, rounding_on_grid
from discreet.deep.training.digest import digest
from discreet.deep.training.private_tensors import Chunk, PrivateTensors

ASKED = "train a fair network"
CHUNK = 128  # records that are handed over at a time
NOISIEST = 0.6  # the greatest length of the noise of a gradient, about, over that of one record's gradient
LIGHTEST = 1.0  # a weight that is allowed however noisy gradients are


class RecordTraining(Held):
    """Primal and dual steps from noisy histograms and clipped gradients of secret samples of records.

    As `AttributeTraining`, but nothing about a record is known, not even whether it is there: the gradients of the loss
    and of the constraint are clipped together and share their noise (DP-SGD), and the histogram is of whole cells.
    Heavier weights of the constraint mean a longer clip and so more noise: where records are few, multipliers are
    bounded so that noise does not drown the gradient (bounded dual iterates: Nedic and Ozdaglar 2009).

    Parameters
    ----------
    model : Module
        Public. One logit for each record; its weights are released.
    constraint : Constraint
        Public.
    data : PrivateTensors
        Records: features, and targets of two columns, the class as 0 or 1 and the place of the group, -1 for none.
    groups : int
        Public. How many groups there are.
    plan : FairPlan
        Public. Samples and noises.
    descent : Descent
        Public. How weights and multipliers move.
    size : int
        Public. How many records there are, about.

    Guarantee
    ---------
    `plan.event` for neighbors that differ by one record, added or removed. Counts move by 1, the histogram by 1/2 and
    the gradient by its clip, which follows from the weights; Poisson samples as Zhu, Dong and Wang 2022, Theorem 11.
    After RaCO-DP, arXiv 2505.22703.
    """

    def __init__(
        self,
        model: nn.Module,
        constraint: Constraint,
        data: PrivateTensors,
        groups: int,
        plan: FairPlan,
        descent: Descent,
        size: int,
    ) -> None:
        check(model)
        self.model, self.constraint, self.plan, self.descent = model, constraint, plan, descent
        self._data, self._cells, self._batch = data, Cells(constraint.strata, groups), plan.sample.rate * size
        self._size = size
        self._device = torch.device("cpu")
        self.multipliers: Multipliers
        self._taken: list[Layer] | None = None

    @exclusive
    def run(self) -> Receipt:
        """Pay for everything, and train."""
        blank = self._data.blank(CHUNK, self._device)  # what fails for any records fails before the charge
        self._score(blank)
        self._taken = rehearsed(self.model, self._losses, blank.inputs, blank.targets.to(blank.inputs))
        self._sums([blank], np.zeros((self._cells.strata, self._cells.groups)))
        with self._data.permit(self.plan.event, ASKED) as permit:
            self._train()
            permit.commit(digest(self.model.state_dict()))
        return permit.receipt

    @property
    def multipliers_stddev(self) -> Array:
        """How far noise may have moved each multiplier: the standard deviation of all steps together, unprojected."""
        one = self.plan.histogram_noise.multiplier * 0.5 / (self._shares * self._batch)
        return deviation(self.descent.multiplier_rate, one, self.plan.steps)

    def _train(self) -> None:
        self._count()
        most = np.minimum(self.descent.most, self._heaviest * self._shares / 2)
        self.multipliers = Multipliers(self._shares, self.descent.multiplier_rate, self.descent.tolerance, most)
        walk = Walk(self.model, self.descent.learning_rate, self.plan.steps)
        state = ModelState(self.model)
        for _ in tracked(self.plan.steps, "steps of training"):
            drawn = self._drawn(self.plan.sample)
            with secret_draws(self._data.bits, self._device):
                self.multipliers.move(self._excess(drawn))
                gradient = self._gradient(drawn, weights(self.multipliers))
            state.restore()
            walk.step(gradient)
            state.renew()
        walk.finish()

    def _drawn(self, sample: SecretSample) -> list[Chunk]:
        """The records of a fresh secret sample, dealt to chunks."""
        return list(self._data._chunks(sample, CHUNK, self._device))

    def _count(self) -> None:
        """Release how many records each cell has."""
        exact = self._cell_sums(self._drawn(SecretSample(1.0)), lambda part: np.ones(len(part.inputs)))
        noisy = noisy_sum(exact, 1.0, self.plan.counts_noise, self._data.bits)
        self._shares = floored_shares(noisy, self._size, self.descent.smallest_share)

    def _excess(self, drawn: list[Chunk]) -> Array:
        """How far the mean score of each group is above that of all, from the noisy histogram of a secret sample."""
        exact = self._cell_sums(drawn, lambda part: self._score(part) - 0.5)
        noisy = noisy_sum(exact, 0.5, self.plan.histogram_noise, self._data.bits)
        means = np.clip(noisy / (self._shares * self._batch), -0.5, 0.5)
        whole = (means * self._shares).sum(axis=1, keepdims=True) / self._shares.sum(axis=1, keepdims=True)
        return means - whole

    def _gradient(self, drawn: list[Chunk], found: Array) -> dict[str, Tensor]:
        """Of the loss and the constraint together, clipped for each record, with noise."""
        clip = self._clip(found)
        flat = self._sums(drawn, found).numpy()
        rounding = rounding_on_grid(len(flat))
        noisy = noisy_sum(flat, clip, self.plan.gradient_noise, self._data.bits, rounding) / self._batch
        trained = {name: one for name, one in self.model.named_parameters() if one.requires_grad}
        parts = torch.split(torch.from_numpy(noisy), [one.numel() for one in trained.values()])
        return {name: part.view_as(one).to(one) for part, (name, one) in zip(parts, trained.items(), strict=True)}

    @property
    def _heaviest(self) -> float:
        """The greatest weight of a cell, if multipliers are at most half of it times their shares: then neither their
        quotients nor the mean of these exceed half of it. Its clip makes noise `NOISIEST` as long as a plain clip.
        """
        size = sum(one.numel() for one in self.model.parameters() if one.requires_grad)
        plain = self.plan.gradient_noise.multiplier * math.sqrt(size) / self._batch
        return max(LIGHTEST, 4 / SHARPNESS * (NOISIEST / plain - 1))

    def _clip(self, found: Array) -> float:
        """The clip for these weights, which are public: a weight w makes a gradient (1 + w SHARPNESS / 4) times longer.

        With a fixed one, heavy groups would be cut and the others not, and all would be pushed to one class.
        """
        return self.descent.clip * (1 + SHARPNESS / 4 * float(np.abs(found).max()))

    def _sums(self, drawn: list[Chunk], found: Array) -> Tensor:
        """The clipped sums of all chunks, each put on a fine grid by itself: so they add up exactly."""
        clip = self._clip(found)
        each = [self._clipped(part, found, clip).gradients.values() for part in drawn]
        fine = [on_grid(torch.cat([one.double().flatten() for one in part]), clip) for part in each]
        return torch.stack(fine).sum(dim=0)

    def _clipped(self, part: Chunk, found: Array, clip: float) -> ClippedSum:
        table = torch.from_numpy(np.concatenate([found, np.zeros((len(found), 1))], axis=1))  # in no group: no weight
        labels, groups = part.targets.T
        factors = table[self.constraint.stratum(labels), groups.long()]
        targets = torch.stack([labels.to(part.inputs), factors.to(part.inputs)], dim=1)
        given = self.model, self._losses, part.inputs, targets
        return clipped_sum(*given, clip=clip, there=part.there, taken=self._taken)

    def _losses(self, logits: Tensor, wanted: Tensor) -> Tensor:
        """Of classes, and of factors times scores."""
        lost = binary_cross_entropy_with_logits(logits[:, 0], wanted[:, 0], reduction="none")
        return lost + wanted[:, 1] * self.constraint.scores(logits[:, 0], wanted[:, 0])

    def _cell_sums(self, drawn: list[Chunk], values: Callable[[Chunk], Array]) -> Array:
        """Of the records that are there; each cell's sum is exact."""
        total = np.zeros((self._cells.strata, self._cells.groups))
        for part in drawn:
            there = part.there.numpy()
            labels, groups = part.targets[part.there].T
            strata = self.constraint.stratum(labels).numpy()
            total += self._cells.sums(values(part)[there], strata, groups.long().numpy())
        return total

    def _score(self, drawn: Chunk) -> Array:
        with torch.no_grad():
            logits = self.model(drawn.inputs)
            if logits.shape != (len(drawn.inputs), 1):
                obstacle = f"the model gives shape {tuple(logits.shape)} for {len(drawn.inputs)} records"
                raise ParameterError(ASKED, obstacle, "Give a model with one logit for each record.")
            return self.constraint.scores(logits[:, 0], drawn.targets[:, 0]).double().numpy()
