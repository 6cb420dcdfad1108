"""What fair training asks: counts once, then a histogram and a gradient of every secret sample, within a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.checks import check_one_of, check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, Event, Repeated, Scheme
from discreet.core.mechanism import SecretSample
from discreet.mechanisms.additive.gaussian import Gaussian

Protects = Literal["attribute", "record"]
SCHEMES: dict[str, Scheme] = {"attribute": "poisson_replace", "record": "poisson"}
ASKED = "plan fair training"


@dataclass(frozen=True)
class FairPlan:
    """The releases of a run, whose noises are in fixed proportions.

    Parameters
    ----------
    sample : SecretSample
        Public. Of every step.
    steps : int
        Public. How many.
    multiplier : float
        Public. Of the two releases of a step together: what is calibrated.
    histogram : float
        Public. The part of a step that its histogram takes, of 1 / multiplier squared.
    counts : float
        Public. What the counts cost, as a part of all steps.

    Examples
    --------
    >>> plan = FairPlan.of(Budget(1.0, 1e-5), protects="record", batch=2000, size=20_000, epochs=20)
    >>> plan.steps, round(plan.gradient_noise.multiplier, 1)
    (200, 6.2)
    """

    sample: SecretSample
    steps: int
    multiplier: float = 1.0
    histogram: float = 0.2
    counts: float = 0.05
    calibrated: ClassVar[str] = "multiplier"

    @classmethod
    def of(cls, budget: Budget, *, protects: Protects, batch: int, size: int, epochs: float) -> FairPlan:
        """The plan with the least noise that fits a budget.

        Parameters
        ----------
        budget : Budget
            Public. What the whole run may cost.
        protects : {"attribute", "record"}
            Public. What neighbors differ in: the attribute of one record, or one record that is added or removed.
        batch : int
            Public. How many records a step looks at, on average.
        size : int
            Public. How many records there are; about, where records are protected.
        epochs : float
            Public. How often a step looks at each record, on average.
        """
        check_one_of(ASKED, "protects", protects, get_args(Protects))
        check_batch(batch, size, epochs)
        sample = SecretSample(batch / size, SCHEMES[protects])
        return calibrate(cls(sample, steps_of(batch, size, epochs)), budget)

    @property
    def counts_noise(self) -> Gaussian:
        """On the number of records in each cell; k steps at rate q lose about q sqrt(k) times what one loses at 1."""
        return Gaussian(self.multiplier / (self.sample.rate * math.sqrt(self.counts * self.steps)))

    @property
    def histogram_noise(self) -> Gaussian:
        """On the histogram of every step."""
        return Gaussian(self.multiplier / math.sqrt(self.histogram))

    @property
    def gradient_noise(self) -> Gaussian:
        """On the gradient of every step."""
        return Gaussian(self.multiplier / math.sqrt(1 - self.histogram))

    @property
    def event(self) -> Event:
        """What the whole run costs: both releases of a step are about one sample."""
        step = self.sample.event(Composed((self.histogram_noise.event, self.gradient_noise.event)))
        return Composed((self.counts_noise.event, Repeated(step, self.steps)))


def check_batch(batch: int, size: int, epochs: float) -> None:
    """Refuse samples that cannot be drawn."""
    check_whole(ASKED, "size", size)
    check_whole(ASKED, "batch", batch)
    check_positive(ASKED, "epochs", epochs)
    if batch > size:
        raise ParameterError(ASKED, f"a batch of {batch} is more than {size} records", "Give a smaller one.")


def steps_of(batch: int, size: int, epochs: float) -> int:
    """How many steps look at each record so often."""
    return max(1, round(epochs * size / batch))
