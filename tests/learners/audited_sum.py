"""An audit of the sum that a learner asks: no records against one, seen along what that one adds."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from discreet.audit.trial import Verdict, judged
from discreet.core.answer import Answer
from discreet.core.bound import ORDER, Norm
from discreet.core.events import GaussianLoss
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.question import BoundedSum
from discreet.releases.least_noise import SumPlan

RUNS = 20_000


def worst(question: BoundedSum, *axes: Sequence[float]) -> Array:
    """The record that adds the longest row, among all that these values of the columns make."""
    grid = np.array(list(itertools.product(*axes)), dtype=np.float64)
    rows = question.grid.values(question.steps(grid))
    return np.asarray(grid[np.argmax(np.linalg.norm(rows, ORDER[question.bound.norm], axis=1))])


def check_sum(plan: SumPlan, record: Array, runs: int = RUNS) -> None:
    """The record keeps within the bound; noise for its own length hides it, and two thirds of that do not.

    Where no record reaches the bound, the noise for the whole bound would hide it all the better.
    """
    share = reached(plan.question, plan.spread.noise, plan.question.steps(record[None, :])[0])
    assert share <= 1 + 1e-9, plan.question.recipe
    check(lambda part, runs: audited(plan, record, share * part, runs), runs)


def check(audit: Callable[[float, int], Verdict], runs: int) -> None:
    """With as many runs as refute two thirds of the noise, and up to sixteen times those given, the whole stands."""
    for more in (1, 4, 16):
        weaker = audit(2 / 3, more * runs)
        if not weaker.holds:
            break
    assert not weaker.holds, str(weaker)
    found = audit(1.0, more * runs)
    assert found.holds, str(found)


def reached(question: BoundedSum, noise: Any, row: Array) -> float:
    """The part of the sensitivity that this row of steps uses, in the norm of the noise."""
    answer = Answer(row.astype(np.int64), question.grid, question.bound, Neighbors.ADD_REMOVE)
    return float(np.linalg.norm(question.grid.values(row), ORDER[noise.norm]) / answer.sensitivity(noise.norm))


def audited(plan: SumPlan, record: Array, share: float = 1.0, runs: int = RUNS) -> Verdict:
    """The verdict on a plan, with only this share of the bound, and so of the noise.

    By what Gaussian noise hides worst for l2, the product with the row, or spherical noise, the difference of the
    distances; and for l1 by what Laplace noise does: numbers between 0 and those of the row.
    """
    question, noise = plan.question, cast(Any, plan.spread.noise)
    bound = dataclasses.replace(question.bound, radius=question.bound.radius * share)
    row = question.steps(record[None, :])[0]
    released = []
    for seed, steps in enumerate((np.zeros_like(row), row)):
        answer = Answer(np.tile(steps.astype(np.int64), (runs, 1)), question.grid, bound, Neighbors.ADD_REMOVE)
        noisy = noise.release(answer, DeterministicBits(seed))
        released.append(seen(noisy, question.grid.values(row), noise.norm, isinstance(noise.event, GaussianLoss)))
    return judged(noise.event, *released)


def seen(noisy: Array, row: Array, norm: Norm, gaussian: bool) -> Array:
    """What distinguishes releases with this row from those without it best."""
    if norm == "l1":
        return np.asarray(np.clip(noisy, np.minimum(row, 0.0), np.maximum(row, 0.0)) @ np.sign(row))
    if gaussian:
        return np.asarray(noisy @ row)
    return np.asarray(np.linalg.norm(noisy, axis=1) - np.linalg.norm(noisy - row, axis=1))
