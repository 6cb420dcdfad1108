"""What a training run asks of the data: steps, their samples and their noise, within a budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, Event, Repeated
from discreet.core.knob import check_knob, check_whole
from discreet.core.secret_sample import SecretSample
from discreet.deep.clip_quantile import ClipQuantile
from discreet.deep.truncation import Truncation
from discreet.mechanisms.additive.gaussian import Gaussian


@dataclass(frozen=True)
class TrainingPlan:
    """Steps of private gradient descent: each asks the clipped sum of a secret sample, with Gaussian noise.

    What is sampled and what is paid for are this one object.

    Parameters
    ----------
    sample : SecretSample
        Public. Of every step: each record is in it by itself.
    noise : Gaussian
        Public. On every sum, in units of `clip`.
    steps : int
        Public. How many.
    clip : float
        Public. The greatest length of the gradient of a record.
    batch : float
        Public. How many records are in a sample, about: what sums are divided by.
    quantile : ClipQuantile, optional
        Public. What moves the clip after every step; `clip` is the first one.
    truncation : Truncation, optional
        Public. Makes all samples of one size.

    Examples
    --------
    >>> plan = TrainingPlan.of(Budget(3.0, 1e-5), batch=256, expected_size=60_000, epochs=10)
    >>> plan.steps, round(plan.noise.multiplier, 2)
    (2344, 0.69)
    """

    sample: SecretSample
    noise: Gaussian
    steps: int
    clip: float
    batch: float
    quantile: ClipQuantile | None = None
    truncation: Truncation | None = None

    @classmethod
    def of(
        cls,
        budget: Budget,
        *,
        batch: int,
        expected_size: int,
        epochs: float = 1.0,
        clip: float = 1.0,
        quantile: float | None = None,
        truncated: bool = False,
    ) -> TrainingPlan:
        """The plan with the least noise that fits a budget.

        Parameters
        ----------
        budget : Budget
            Public. What the whole run may cost.
        batch : int
            Public. How many records a step looks at, on average.
        expected_size : int
            Public. How many records there are, about; their number is secret.
        epochs : float
            Public. How often a step looks at each record, on average.
        clip : float
            Public. The greatest length of the gradient of a record.
        quantile : float, optional
            Public. The share of records that shall be within the clip, which then moves: `clip` is only the first.
        truncated : bool
            Public. Whether steps look at a fixed number of records at most, for one shape and time of all steps.
        """
        asked = "plan a training run"
        check_whole(asked, "batch", batch)
        check_whole(asked, "expected_size", expected_size)
        check_knob(asked, "epochs", epochs)
        check_knob(asked, "clip", clip)
        if batch > expected_size:
            raise ParameterError(
                asked, f"a batch of {batch} is more than {expected_size} records", "Give a smaller one."
            )
        sample, steps = SecretSample(batch / expected_size), max(1, round(epochs * expected_size / batch))
        truncation = None
        if truncated:
            truncation = Truncation.of(budget, rate=sample.rate, expected_size=expected_size, steps=steps)
        plain = cls(sample, Gaussian(1.0), steps, clip, float(batch), truncation=truncation)
        noise = Gaussian(calibrate(_Run(1.0, plain), budget).multiplier)
        moved = None if quantile is None else ClipQuantile.of(quantile, noise.multiplier, batch)
        return replace(plain, noise=noise, quantile=moved)

    def reach(self, clip: float) -> float:
        """How far one record moves the sums of a step with this clip: what the noise is in units of."""
        return clip if self.quantile is None else self.quantile.reach(clip)

    def event_of(self, steps: int) -> Event:
        """What so many steps cost."""
        one: Event = self.sample.event(self.noise.event)
        if self.truncation is not None:
            one = Composed((one, self.truncation.left_out(self.sample.rate)))
        return one if steps == 1 else Repeated(one, steps)

    def opened(self, event: Event) -> Event:
        """What these steps cost together with what a run asks before its first step."""
        return event if self.truncation is None else Composed((self.truncation.test, event))

    @property
    def event(self) -> Event:
        """What the whole run costs."""
        return self.opened(self.event_of(self.steps))


@dataclass(frozen=True)
class _Run:
    """A plan, by the multiplier of its noise alone."""

    multiplier: float
    plan: TrainingPlan
    knob: ClassVar[str] = "multiplier"

    @property
    def event(self) -> Event:
        return replace(self.plan, noise=Gaussian(self.multiplier)).event
