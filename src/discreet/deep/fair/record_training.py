"""Fair training that protects whole records: features, class and group."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from discreet.core.grid import Array
from discreet.core.held import Held, exclusive
from discreet.core.progress_bar import tracked
from discreet.core.receipt import Receipt
from discreet.deep.checks.check import check
from discreet.deep.checks.rehearsal import rehearsed
from discreet.deep.fair.constraint import SHARPNESS, Constraint
from discreet.deep.fair.descent import Descent, Walk
from discreet.deep.fair.fair_plan import FairPlan
from discreet.deep.fair.multipliers import Multipliers, deviation, floored_shares, weights
from discreet.deep.noise.histogram_then_gradient import HistogramThenGradient
from discreet.deep.questions.fair_sums import ASKED, CHUNK, CPU, CountsByCell, RecordSample, SecretRecords
from discreet.deep.questions.records_as_tensors import RecordsAsTensors
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.released_weights import digest
from discreet.trust.permit import Permit

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
    data : PrivateTensors, or RecordsAsTensors with a permit
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
        data: PrivateTensors | RecordsAsTensors,
        groups: int,
        plan: FairPlan,
        descent: Descent,
        size: int,
    ) -> None:
        check(model)
        self.model, self.plan, self.descent = model, plan, descent
        self._records = SecretRecords(model, constraint, data, groups)
        self._data, self._batch, self._size = data, plan.sample.rate * size, size
        self.multipliers: Multipliers

    @exclusive
    def run(self, permit: Permit | None = None) -> Receipt | None:
        """Pay for everything, unless an open permit is given that has paid, and train."""
        self._rehearse()
        if permit is not None:
            permit.check_pays(self.plan.event)
            self._train(permit)
            return None
        assert isinstance(self._data, PrivateTensors)
        with self._data.permit(self.plan.event, ASKED) as paid:
            self._train(paid)
            paid.commit(digest(self.model.state_dict()))
        return paid.receipt

    def _rehearse(self) -> None:
        """What fails for any records fails here, before a charge."""
        records, blank = self._records, self._data.blank(CHUNK, CPU)
        records.scores(blank)
        taken = rehearsed(self.model, records.losses, blank.inputs, blank.targets.to(blank.inputs))
        self._records = records = replace(records, taken=taken)
        records.gradients([blank], np.zeros((records.cells.strata, records.cells.groups)), self.descent.clip)

    @property
    def multipliers_stddev(self) -> Array:
        """How far noise may have moved each multiplier: the standard deviation of all steps together, unprojected."""
        one = self.plan.histogram_noise.multiplier * 0.5 / (self._shares * self._batch)
        return deviation(self.descent.multiplier_rate, one, self.plan.steps)

    def _train(self, permit: Permit) -> None:
        self._count(permit)
        most = np.minimum(self.descent.most, self._heaviest * self._shares / 2)
        self.multipliers = Multipliers(self._shares, self.descent.multiplier_rate, self.descent.tolerance, most)
        walk = Walk(self.model, self.descent.learning_rate, self.plan.steps)
        for _ in tracked(self.plan.steps, "steps of training"):
            walk.step(self._gradient(permit))
        walk.finish()

    def _count(self, permit: Permit) -> None:
        """Release how many records each cell has."""
        noisy = permit.ask(CountsByCell(self._records, self._data.columns), self.plan.counts_noise)
        self._shares = floored_shares(self._by_cell(noisy), self._size, self.descent.smallest_share)

    def _gradient(self, permit: Permit) -> dict[str, Tensor]:
        """Of the loss and the constraint together, after the histogram of the same sample has moved the multipliers."""
        question = RecordSample(self._records, self.plan.sample, self._clip, self._data.columns)
        noises = self.plan.histogram_noise, self.plan.gradient_noise
        noisy = permit.ask(question, HistogramThenGradient(self.plan.sample, *noises, self._weights)) / self._batch
        trained = {name: one for name, one in self.model.named_parameters() if one.requires_grad}
        parts = torch.split(torch.from_numpy(noisy), [one.numel() for one in trained.values()])
        return {name: part.view_as(one).to(one) for part, (name, one) in zip(parts, trained.items(), strict=True)}

    def _weights(self, histogram: Array) -> Array:
        """The weights of cells after the multipliers moved by how far mean scores of groups are above that of all."""
        means = np.clip(self._by_cell(histogram) / (self._shares * self._batch), -0.5, 0.5)
        whole = (means * self._shares).sum(axis=1, keepdims=True) / self._shares.sum(axis=1, keepdims=True)
        self.multipliers.move(means - whole)
        return weights(self.multipliers)

    def _by_cell(self, released: Array) -> Array:
        return released.reshape(self._records.cells.strata, self._records.cells.groups)

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
