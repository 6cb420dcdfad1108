"""An audit of the sum that a learner asks: no records against one, seen along what that one adds."""

from __future__ import annotations

import dataclasses

import numpy as np

from discreet.audit.verdict import Verdict, judged
from discreet.core.answer import Answer
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.sum_plan import SumPlan

RUNS = 20_000


def audited(plan: SumPlan, record: Array, share: float = 1.0) -> Verdict:
    """The verdict on a plan, with only this share of the bound, and so of the noise.

    By what Gaussian noise hides worst for l2, the product with the row, and for l1 by what Laplace noise does: numbers
    between 0 and those of the row.
    """
    question, noise = plan.question, plan.spread.noise
    bound = dataclasses.replace(question.bound, radius=question.bound.radius * share)
    row = question.steps(record[None, :])[0]
    ends = question.grid.values(np.stack([np.minimum(row, 0.0), np.maximum(row, 0.0)]))
    released = []
    for seed, steps in enumerate((np.zeros_like(row), row)):
        answer = Answer(np.tile(steps.astype(np.int64), (RUNS, 1)), question.grid, bound, Neighbors.ADD_REMOVE)
        noisy = noise.release(answer, DeterministicBits(seed))
        released.append(np.clip(noisy, *ends) @ np.sign(row) if bound.norm == "l1" else noisy @ row)
    return judged(noise.event, *released)
