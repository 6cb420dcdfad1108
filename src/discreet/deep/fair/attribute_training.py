"""Fair training that protects who is in which group, where all else about the records is known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.held import Held, exclusive
from discreet.core.progress_bar import tracked
from discreet.core.receipt import Receipt
from discreet.deep.checks.check import check
from discreet.deep.checks.model_state import ModelState
from discreet.deep.checks.rehearsal import rehearsed
from discreet.deep.checks.secret_draws import secret_draws
from discreet.deep.clipping.capture import Layer
from discreet.deep.clipping.clipped_sum import clipped_sum
from discreet.deep.fair.cells import Cells
from discreet.deep.fair.constraint import Codes, Constraint
from discreet.deep.fair.descent import Descent, Walk, mean_gradients
from discreet.deep.fair.fair_plan import FairPlan
from discreet.deep.fair.multipliers import Multipliers, PublishedMultipliers, deviation, floored_shares, weights
from discreet.deep.fair.sensitive_attribute import SensitiveAttribute
from discreet.deep.noise.noisy_sum import noisy_sum
from discreet.deep.training.digest import digest
from discreet.trust.permit import Permit

ASKED = "train a fair network"
MOVED = math.sqrt(2)  # how far counts move where one record goes from one group to another


class AttributeTraining(Held):
    """Primal and dual steps from noisy histograms and gradients of secret samples; only the groups are secret.

    At first the number of records in each cell is released. Every step draws a secret sample and releases of it the
    histogram of soft outcomes by group (and class), which moves the multipliers, and then the gradient of the
    constraint with the weights that follow. Features and classes are known, so the gradient of the loss needs no noise;
    it is computed on *other* records, drawn in public: on the same ones it would show who is in the secret sample.

    Parameters
    ----------
    model : Module
        Public. One logit for each record; its weights are released.
    constraint : Constraint
        Public.
    inputs, labels : Tensor
        Public. Features, and classes as 0.0 and 1.0.
    attribute : SensitiveAttribute
        The groups, and the account that pays.
    plan : FairPlan
        Public. Samples and noises.
    descent : Descent
        Public. How weights and multipliers move.
    seed : int
        Public. Of the records that the loss is computed on.

    Guarantee
    ---------
    `plan.event` for neighbors that differ in the group of one record. Counts move by sqrt(2), one record leaving one
    cell and entering another. A centred contribution to the histogram is at most radius / 2 long, one to the gradient
    at most clip times half the spread of the weights; both are in a ball around zero, which is what Poisson samples
    under replace neighbors need (`accounting/pairs/replaced_pair.md`). Denominators are released counts, never exact
    ones. After the histogram repair of rate constraints (RaCO-DP, arXiv 2505.22703).
    """

    def __init__(
        self,
        model: nn.Module,
        constraint: Constraint,
        inputs: Tensor,
        labels: Tensor,
        attribute: SensitiveAttribute,
        plan: Any,
        descent: Descent,
        seed: int = 0,
    ) -> None:
        check(model)
        if not len(inputs) == len(labels) == len(attribute):
            obstacle = f"there are {len(inputs)} inputs, {len(labels)} labels and {len(attribute)} groups"
            raise ParameterError(ASKED, obstacle, "Give one of each for every record.")
        self.plan: FairPlan = plan
        self.model, self.constraint, self.descent = model, constraint, descent
        self._inputs, self._labels, self._attribute = inputs, labels, attribute
        self._trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
        self._strata = constraint.stratum(labels).numpy()
        self._cells = Cells(constraint.strata, len(attribute.groups))
        self._public = torch.Generator().manual_seed(seed)
        self._permit: Permit
        self.multipliers: Multipliers | PublishedMultipliers
        self._taken: list[Layer] | None = None

    @exclusive
    def run(self) -> Receipt:
        """Pay for everything, and train."""
        self._score(self._inputs[:1], self._labels[:1])  # what fails for any records fails before the charge
        self._taken = rehearsed(self.model, self._weighted, self._inputs, self._labels.new_zeros(0, 2))
        few = np.arange(min(1, len(self._inputs)))
        self._clipped(few, np.zeros(len(few)), self.descent.clip)
        with self._attribute.permit(self.plan.event, ASKED) as self._permit:
            self._train()
            self._permit.commit(digest(self.model.state_dict()))
        return self._permit.receipt

    @property
    def multipliers_stddev(self) -> Array:
        """How far noise may have moved each multiplier: the standard deviation of all steps together, unprojected."""
        one = self.plan.histogram_noise.multiplier * self._cells.radius / self.plan.sample.rate
        spread = one / (self._shares * len(self._attribute))
        return deviation(self.descent.multiplier_rate, spread, self.plan.steps)

    def _train(self) -> None:
        self._count()
        self.multipliers = Multipliers(
            self._shares, self.descent.multiplier_rate, self.descent.tolerance, self.descent.most
        )
        walk = Walk(self.model, self.descent.learning_rate, self.plan.steps)
        state = ModelState(self.model)
        for _ in tracked(self.plan.steps, "steps of training"):
            drawn = self._attribute._drawn(self.plan.sample)
            with secret_draws(self._attribute.bits, self._inputs.device):
                self.multipliers.move(self._excess(drawn))
                found = weights(self.multipliers)
                private, public = self._private_gradient(drawn, found), self._public_gradient(found)
            state.restore()
            walk.step({name: one + private[name] for name, one in public.items()})
            state.renew()
        walk.finish()

    def _count(self) -> None:
        """Release how many records each cell has. How many a stratum has is public."""
        ones = np.ones(len(self._attribute))
        centred = self._cells.centred(ones, self._strata, self._permit.records())
        noisy = noisy_sum(centred, MOVED, self.plan.counts_noise, self._attribute.bits)
        self._sizes = np.bincount(self._strata, minlength=self._cells.strata)[:, None]
        self._shares = floored_shares(
            noisy + self._sizes / self._cells.groups, len(self._attribute), self.descent.smallest_share
        )

    def _excess(self, drawn: Codes) -> Array:
        """How far the mean score of each group is above that of all, from the noisy histogram of a secret sample.

        Records say by how much their score is above one half, which is half as far as the score may be from zero.
        """
        scores = self._score(self._inputs, self._labels) - 0.5
        exact = self._cells.centred(scores[drawn], self._strata[drawn], self._permit.records()[drawn])
        noisy = noisy_sum(exact, self._cells.radius, self.plan.histogram_noise, self._attribute.bits)
        return self._above_all(noisy / self.plan.sample.rate, scores)

    def _above_all(self, centred: Array, scores: Array) -> Array:
        """Means of groups less the mean of all, from centred sums: what is in all groups together is public."""
        whole = np.bincount(self._strata, scores, self._cells.strata)[:, None]
        means = (centred + whole / self._cells.groups) / (self._shares * len(self._attribute))
        return np.clip(means, -0.5, 0.5) - whole / np.maximum(self._sizes, 1)

    def _private_gradient(self, drawn: Codes, found: Array) -> dict[str, Tensor]:
        """What depends on the groups: the scores of a secret sample, weighted by how far their cells are off centre.

        A record in no group has the mean weight of its stratum.
        """
        middle, reach = _middle(found)
        if reach == 0:
            return {name: torch.zeros_like(one) for name, one in self._trained.items()}
        table = np.concatenate([found, found.mean(axis=1, keepdims=True)], axis=1) - middle
        off = table[self._strata[drawn], self._permit.records()[drawn]] / reach
        return self._released(drawn, off, reach)

    def _released(self, drawn: Codes, factors: Array, scale: float) -> dict[str, Tensor]:
        """The mean gradient of factor times score over a sample, clipped for each record, with noise, then scaled."""
        sums = self._clipped(drawn, factors, self.descent.clip)
        noisy = noisy_sum(sums, 2 * self.descent.clip, self.plan.gradient_noise, self._attribute.bits)
        scaled = torch.from_numpy(noisy * (scale / (self.plan.sample.rate * len(self._attribute))))
        parts = torch.split(scaled, [one.numel() for one in self._trained.values()])
        return {name: part.view_as(one).to(one) for part, (name, one) in zip(parts, self._trained.items(), strict=True)}

    def _clipped(self, drawn: Codes, factors: Array, clip: float) -> Array:
        """The sum over records of the gradients of factor times score, each at most `clip` long; nobody adds 0."""
        if len(drawn) == 0:
            return np.zeros(sum(one.numel() for one in self._trained.values()))
        places = torch.from_numpy(drawn)
        targets = torch.stack([self._labels[places], torch.from_numpy(factors).to(self._labels)], dim=1)
        given = self.model, self._weighted, self._inputs[places], targets
        sums = clipped_sum(*given, clip=clip, taken=self._taken).gradients
        return torch.cat([one.detach().double().flatten() for one in sums.values()]).numpy()

    def _weighted(self, logits: Tensor, wanted: Tensor) -> Tensor:
        """The factors of records times their scores."""
        return wanted[:, 1] * self.constraint.scores(logits[:, 0], wanted[:, 0])

    def _public_gradient(self, found: Array) -> dict[str, Tensor]:
        """Of the loss, and of the score at the middle of the weights of each stratum: on records drawn in public."""
        size = max(1, round(self.plan.sample.rate * len(self._inputs)))
        places = torch.randint(len(self._inputs), (size,), generator=self._public)
        logits, labels = self.model(self._inputs[places])[:, 0], self._labels[places]
        middle = torch.from_numpy(_middle(found)[0][:, 0]).to(logits)[torch.from_numpy(self._strata)[places]]
        losses = binary_cross_entropy_with_logits(logits, labels, reduction="none")
        return mean_gradients(self.model, (losses + middle * self.constraint.scores(logits, labels)).mean())

    def _score(self, inputs: Tensor, labels: Tensor) -> Array:
        with torch.no_grad():
            logits = self.model(inputs)
            if logits.shape != (len(inputs), 1):
                obstacle = f"the model gives shape {tuple(logits.shape)} for {len(inputs)} records"
                raise ParameterError(ASKED, obstacle, "Give a model with one logit for each record.")
            return self.constraint.scores(logits[:, 0], labels).double().numpy()


def _middle(found: Array) -> tuple[Array, float]:
    """The middle of the weights of each stratum, and half of the greatest spread."""
    low, high = found.min(axis=1, keepdims=True), found.max(axis=1, keepdims=True)
    return (low + high) / 2, float((high - low).max() / 2)
