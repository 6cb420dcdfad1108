"""What naive Bayes asks: the moments of each class, and before them the lengths of records where that is cheap."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.accounting.calibration import calibrate
from discreet.core.bound import Norm
from discreet.core.budget import Budget
from discreet.core.events import Event
from discreet.fitting.task import Task
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.question import BoundedSum
from discreet.questions.vectors.class_moments import class_moments_of
from discreet.questions.vectors.record_lengths import record_lengths_of
from discreet.releases.joint_plan import Stage, staged
from discreet.releases.least_noise import planned
from discreet.releases.spread import Spread, spread

# From made-up data: `bayes` and `lengths` in benchmarks/tuning_bayes.py. That long records are better not shrunk was
# seen on a table of the benchmark before.
SQUARE = 0.6  # weight of the squares; the scores hardly depend on it
SHORTER = 0.1  # of d, the squared length that records are shrunk to where most are short; that of uniform ones is 1/3
LONG = 1 / 3  # of d, above which a record is long
LENGTHS = 0.01  # of the information that is paid for, for the lengths
# Noise on a mean over the records of a class, if classes are alike in number, below which long records are not shrunk,
# and below which they are shrunk less than others. In those terms since scores on digits, with ten classes, were seen.
QUIET, LOUD = 0.03, 0.1
LONGER = 0.4  # of d, what they are shrunk to then
NORMS: tuple[Norm, ...] = ("l1", "l2")


@dataclass(frozen=True)
class MomentsPlan:
    """Of which features, in which norm, and with which noise.

    Parameters
    ----------
    features : tuple of str
        Public. Those that are used.
    radius, long_radius : float
        Public. The length that records are shrunk to, and that where most are found to be long.
    norm : {"l1", "l2"}
        Public. In which a record is bounded.
    moments : Spread
        Public. The noise on the moments.
    lengths : Spread or None
        Public. The noise on the number of long records; None where it is not asked.
    event : Event
        Public. What all of it costs.
    """

    features: tuple[str, ...]
    radius: float
    long_radius: float
    norm: Norm
    moments: Spread
    lengths: Spread | None
    event: Event

    def question(self, task: Task, radius: float) -> BoundedSum:
        """The moments of records that are shrunk to this radius."""
        return moments_of(task, self.features, radius, self.norm)


def moments_of(task: Task, some: tuple[str, ...], radius: float, norm: Norm) -> BoundedSum:
    """Those of these features, class by class."""
    return class_moments_of(task.schema, some, str(task.target), radius, SQUARE, norm)


def lengths_of(task: Task) -> BoundedSum:
    """How many records are short, and how many long, of all features."""
    return record_lengths_of(task.schema, task.features, (math.sqrt(LONG * len(task.features)),))


def joint_plan(task: Task, some: tuple[str, ...], radius: float | None) -> MomentsPlan:
    """One release about these features, in l1 or l2, whichever needs less noise."""
    radius = math.sqrt(SHORTER * len(some)) if radius is None else radius
    best = planned(task.data, task.budget, *(moments_of(task, some, radius, norm) for norm in NORMS))
    return MomentsPlan(some, radius, radius, best.question.bound.norm, best.spread, None, best.event)


def lengths_first(task: Task, n: int) -> MomentsPlan | None:
    """The lengths, and then the moments of all features; None where noise on n records that are whole is too much."""
    whole = joint_plan(task, task.features, math.sqrt(len(task.features)))
    stages = (Stage(lengths_of(task), LENGTHS), Stage(whole.question(task, whole.radius), 1 - LENGTHS))
    plan = staged(task.data, stages, task.budget)
    lengths, moments = plan.spreads
    noise, d = moments.stddev * task.classes / n, len(task.features)
    if noise > LOUD:
        return None
    radius, longer = math.sqrt(SHORTER * d), whole.radius if noise < QUIET else math.sqrt(LONGER * d)
    return MomentsPlan(task.features, radius, longer, whole.norm, moments, lengths, plan.event)


def published_plan(task: Task, radius: float | None) -> MomentsPlan:
    """An equal share of epsilon for each statistic: Laplace noise in l1."""
    radius = math.sqrt(len(task.features)) if radius is None else radius
    question, noise = moments_of(task, task.features, radius, "l1"), calibrate(Laplace(), Budget(task.budget.epsilon))
    return MomentsPlan(task.features, radius, radius, "l1", spread(task.data, question, noise), None, noise.event)
