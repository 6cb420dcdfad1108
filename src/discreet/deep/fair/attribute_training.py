"""Fair training that protects who is in which group, where all else about the records is known."""

from __future__ import annotations

from dataclasses import replace
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
from discreet.deep.fair.constraint import Constraint
from discreet.deep.fair.descent import Descent, Walk, mean_gradients
from discreet.deep.fair.fair_plan import FairPlan
from discreet.deep.fair.multipliers import Multipliers, PublishedMultipliers, deviation, floored_shares, weights
from discreet.deep.fair.sensitive_attribute import SensitiveAttribute
from discreet.deep.noise.histogram_then_gradient import HistogramThenGradient
from discreet.deep.questions.fair_sums import ASKED, AttributeSample, CentredSums, KnownRecords, middle
from discreet.deep.training.released_weights import digest
from discreet.trust.permit import Permit


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
        self.model, self.descent = model, descent
        self._known = KnownRecords(model, constraint, inputs, labels, len(attribute.groups), descent.clip)
        self._attribute, self._strata = attribute, self._known.strata
        self._sizes = np.bincount(self._strata, minlength=constraint.strata)[:, None]
        self._public = torch.Generator().manual_seed(seed)
        self.multipliers: Multipliers | PublishedMultipliers

    @exclusive
    def run(self) -> Receipt:
        """Pay for everything, and train."""
        known = self._known
        known.scores()  # what fails for any records fails before the charge
        taken = rehearsed(self.model, known.losses, known.inputs, known.labels.new_zeros(0, 2))
        self._known = known = replace(known, taken=taken)
        few = np.arange(min(1, len(known.inputs)))
        known.clipped(few, np.zeros(len(few)))
        with self._attribute.permit(self.plan.event, ASKED) as permit:
            self._train(permit)
            permit.commit(digest(self.model.state_dict()))
        return permit.receipt

    @property
    def multipliers_stddev(self) -> Array:
        """How far noise may have moved each multiplier: the standard deviation of all steps together, unprojected."""
        one = self.plan.histogram_noise.multiplier * self._known.cells.radius / self.plan.sample.rate
        spread = one / (self._shares * len(self._attribute))
        return deviation(self.descent.multiplier_rate, spread, self.plan.steps)

    def _train(self, permit: Permit) -> None:
        self._count(permit)
        self.multipliers = Multipliers(
            self._shares, self.descent.multiplier_rate, self.descent.tolerance, self.descent.most
        )
        walk, state = Walk(self.model, self.descent.learning_rate, self.plan.steps), ModelState(self.model)
        for _ in tracked(self.plan.steps, "steps of training"):
            private = self._private_gradient(permit)
            public = self._public_gradient(weights(self.multipliers))
            state.restore()
            walk.step({name: one + private[name] for name, one in public.items()})
            state.renew()
        walk.finish()

    def _count(self, permit: Permit) -> None:
        """Release how many records each cell has. How many a stratum has is public."""
        cells, n = self._known.cells, len(self._attribute)
        noisy = permit.ask(CentredSums(cells, self._strata, np.ones(n), 1.0), self.plan.counts_noise)
        counts = noisy.reshape(cells.strata, cells.groups) + self._sizes / cells.groups
        self._shares = floored_shares(counts, n, self.descent.smallest_share)

    def _private_gradient(self, permit: Permit) -> dict[str, Tensor]:
        """What depends on the groups: of a secret sample, the histogram, which moves the multipliers, and the scores,
        weighted by how far their cells are off centre.
        """
        scores = self._known.scores() - 0.5

        def moved(histogram: Array) -> Array:
            self._follow(histogram / self.plan.sample.rate, scores)
            return weights(self.multipliers)

        question = AttributeSample(self._known, self.plan.sample, scores)
        noises = self.plan.histogram_noise, self.plan.gradient_noise
        noisy = permit.ask(question, HistogramThenGradient(self.plan.sample, *noises, moved))
        return self._mean(noisy * middle(weights(self.multipliers))[1])

    def _follow(self, centred: Array, scores: Array) -> None:
        """Move multipliers by how far the mean score of each group is above that of all.

        From centred sums of all groups: what is in all groups together is public.
        """
        cells, n = self._known.cells, len(self._attribute)
        whole = np.bincount(self._strata, scores, cells.strata)[:, None]
        means = (centred.reshape(cells.strata, cells.groups) + whole / cells.groups) / (self._shares * n)
        self.multipliers.move(np.clip(means, -0.5, 0.5) - whole / np.maximum(self._sizes, 1))

    def _mean(self, noisy: Array) -> dict[str, Tensor]:
        """The sum over a sample as the mean gradient of each parameter."""
        trained = {name: one for name, one in self.model.named_parameters() if one.requires_grad}
        whole = torch.from_numpy(noisy / (self.plan.sample.rate * len(self._attribute)))
        parts = torch.split(whole, [one.numel() for one in trained.values()])
        return {name: part.view_as(one).to(one) for part, (name, one) in zip(parts, trained.items(), strict=True)}

    def _public_gradient(self, found: Array) -> dict[str, Tensor]:
        """Of the loss, and of the score at the middle of the weights of each stratum: on records drawn in public."""
        known = self._known
        size = max(1, round(self.plan.sample.rate * len(known.inputs)))
        places = torch.randint(len(known.inputs), (size,), generator=self._public)
        logits, labels = self.model(known.inputs[places])[:, 0], known.labels[places]
        centre = torch.from_numpy(middle(found)[0][:, 0]).to(logits)[torch.from_numpy(self._strata)[places]]
        losses = binary_cross_entropy_with_logits(logits, labels, reduction="none")
        return mean_gradients(self.model, (losses + centre * known.constraint.scores(logits, labels)).mean())
