"""F-LD: fair training by Lagrangian duality, without privacy. What private training is compared with."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from discreet.core.grid import Array
from discreet.deep.fair.constraint import Codes, Constraint
from discreet.deep.fair.descent import Descent, Walk, mean_gradients
from discreet.deep.fair.multipliers import PublishedMultipliers, floored_shares, weights
from discreet.deep.questions.cells import Cells


def fair_lagrangian_dual(
    model: nn.Module,
    constraint: Constraint,
    inputs: Tensor,
    labels: Tensor,
    groups: Codes,
    descent: Descent,
    *,
    count: int,
    batch: int,
    epochs: int,
    seed: int = 0,
) -> PublishedMultipliers:
    """Train a fair model on public data: it promises nothing about anybody.

    Every epoch makes steps on batches, of the loss and the multipliers times what groups differ from all by, and then
    moves the multipliers by the violations of all records. Fioretto, Van Hentenryck, Mak, Tran, Baldo and Lombardi
    2020. With a multiplier rate of 0, about, it is plain training.

    Parameters
    ----------
    model : Module
        One logit for each record; it is changed.
    constraint : Constraint
        What the groups have to have in common.
    inputs, labels, groups : Tensor, Tensor, array
        Features, classes as 0.0 and 1.0, and the place of the group of each record, -1 for none.
    descent : Descent
        How weights and multipliers move; nothing is clipped.
    count : int
        How many groups there are.
    batch, epochs : int
        How many records a step looks at, and how often each is looked at.
    seed : int
        Of the order of the records.

    Examples
    --------
    >>> from discreet.deep.fair.constraint import DemographicParity
    >>> x, groups = torch.randn(200, 2, generator=torch.Generator().manual_seed(0)), np.arange(200) % 2
    >>> known = (x, (x[:, 0] > 0).float(), groups, Descent())
    >>> found = fair_lagrangian_dual(nn.Linear(2, 1), DemographicParity(), *known, count=2, batch=50, epochs=2)
    >>> found.values.shape
    (1, 2)
    """
    strata, cells = constraint.stratum(labels).numpy(), Cells(constraint.strata, count)
    counts = cells.sums(np.ones(len(labels)), strata, groups)
    found = PublishedMultipliers(
        floored_shares(counts, len(labels), descent.smallest_share), descent.multiplier_rate, descent.most
    )
    order, steps = torch.Generator().manual_seed(seed), -(-len(labels) // batch)
    walk = Walk(model, descent.learning_rate, steps * epochs)
    for _ in range(epochs):
        for places in torch.split(torch.randperm(len(labels), generator=order), batch):
            logits, wanted, here = model(inputs[places])[:, 0], labels[places], places.numpy()
            losses = binary_cross_entropy_with_logits(logits, wanted, reduction="none")
            scores = constraint.scores(logits, wanted)
            found.signs = np.sign(_excess(cells, scores, strata[here], groups[here]))
            table = np.concatenate([weights(found), np.zeros((cells.strata, 1))], axis=1)  # in no group: no weight
            factors = torch.from_numpy(table[strata[here], groups[here]]).to(logits)
            walk.step(mean_gradients(model, (losses + factors * scores).mean()))
        with torch.no_grad():
            found.move(_excess(cells, constraint.scores(model(inputs)[:, 0], labels), strata, groups))
    walk.finish()
    return found


def _excess(cells: Cells, scores: Tensor, strata: Codes, groups: Codes) -> Array:
    """How far the mean score of each group is above that of all of its stratum: exact."""
    values, ones = scores.detach().double().numpy(), np.ones(len(scores))
    means = cells.sums(values, strata, groups) / np.maximum(cells.sums(ones, strata, groups), 1)
    whole = np.bincount(strata, values, cells.strata) / np.maximum(np.bincount(strata, minlength=cells.strata), 1)
    return means - whole[:, None]
