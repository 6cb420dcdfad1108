"""What a training run asks of the data: steps, their samples and their noise, within a budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget, check_budget
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, Event, Repeated
from discreet.core.mechanism import SecretSample
from discreet.core.receipt import in_words
from discreet.deep.clipping.clip_quantile import ClipQuantile
from discreet.deep.noise.banded_factorization import MOST, BandedFactorization
from discreet.deep.noise.truncation import TruncatedSample, Truncation
from discreet.deep.training.released_weights import as_table, as_text
from discreet.mechanisms.additive.gaussian import Gaussian

ASKED = "plan a training run"


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
    bands : BandedFactorization, optional
        Public. Correlates the noise of steps: records are in as many groups as there are bands, step after step the
        next group is sampled, at the rate of `sample`.

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
    bands: BandedFactorization | None = None

    def __post_init__(self) -> None:
        check_positive(ASKED, "clip", self.clip)
        if self.sample.scheme != "poisson":
            obstacle = f"the price is that of a {self.sample.scheme} sample, and a step draws another one"
            raise ParameterError(ASKED, obstacle, "Give SecretSample(rate): each record is in a sample by itself.")
        if self.bands is not None and (self.quantile is not None or self.truncation is not None):
            obstacle = "correlated noise is priced for a fixed clip, and for samples without truncation"
            raise ParameterError(ASKED, obstacle, "Leave out the bands, or the quantile and the truncation.")

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
        bands: int = 1,
        momentum: float = 0.0,
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
        bands : int
            Public. How many steps in succession have correlated noise, and at least how far apart a record is used
            again: with many epochs and a great epsilon, noise that later steps take back outweighs what sampling hides.
        momentum : float
            Public. That of the optimizer, for which bands are chosen.
        """
        check_budget(ASKED, budget)
        check_whole(ASKED, "batch", batch)
        check_whole(ASKED, "expected_size", expected_size)
        check_positive(ASKED, "epochs", epochs)
        check_whole(ASKED, "bands", bands)
        if budget.delta == 0:
            raise ParameterError(ASKED, "Gaussian noise keeps no promise without a delta", "Give one, such as 1e-5.")
        if batch * bands > expected_size:
            obstacle = f"{bands} batches of {batch} are more than {expected_size} records"
            raise ParameterError(ASKED, obstacle, "Give a smaller batch, or fewer bands.")
        sample, steps = SecretSample(batch * bands / expected_size), max(1, round(epochs * expected_size / batch))
        truncation = None
        if truncated:
            truncation = Truncation.of(budget, rate=sample.rate, expected_size=expected_size, steps=steps)
        factor = None if bands == 1 else BandedFactorization.of(bands, steps, momentum)
        plain = cls(sample, Gaussian(1.0), steps, clip, float(batch), truncation=truncation, bands=factor)
        noise = Gaussian(calibrate(TrainingNoise(1.0, plain), budget).multiplier)
        moved = None if quantile is None else ClipQuantile.of(quantile, noise.multiplier, batch)
        return replace(plain, noise=noise, quantile=moved)

    @classmethod
    def least_noise(
        cls,
        budget: Budget,
        *,
        batch: int,
        expected_size: int,
        epochs: float = 1.0,
        clip: float = 1.0,
        momentum: float = 0.0,
    ) -> TrainingPlan:
        """The plan whose noise moves the weights least, over 1, 2, 4, ... bands: public numbers decide.

        Parameters
        ----------
        budget : Budget
            Public. What the whole run may cost.
        batch, expected_size : int
            Public. How many records a step looks at, on average, and how many there are, about.
        epochs : float
            Public. How often a step looks at each record, on average.
        clip : float
            Public. The greatest length of the gradient of a record.
        momentum : float
            Public. That of the optimizer.
        """
        check_whole(ASKED, "batch", batch)
        most = min(MOST, expected_size // int(batch), max(1, round(epochs * expected_size / batch)))
        plans = [
            cls.of(
                budget,
                batch=batch,
                expected_size=expected_size,
                epochs=epochs,
                clip=clip,
                bands=2**power,
                momentum=momentum,
            )
            for power in range(max(most, 1).bit_length())
        ]
        return min(plans, key=lambda plan: plan.error(momentum))

    def error(self, momentum: float = 0.0) -> float:
        """How far noise moves the weights: the root mean square over steps, for a learning rate of one.

        Parameters
        ----------
        momentum : float
            Public. That of the optimizer.
        """
        bands = self.bands or BandedFactorization((1.0,))
        return bands.error(self.steps, momentum) * self.noise.multiplier * self.reach(self.clip) / self.batch

    def reach(self, clip: float) -> float:
        """How far one record moves the sums of a step with this clip: what the noise is in units of."""
        return clip if self.quantile is None else self.quantile.reach(clip)

    @property
    def step_sample(self) -> SecretSample:
        """What a step draws and pays for."""
        if self.truncation is None:
            return self.sample
        return TruncatedSample(self.sample.rate, self.sample.scheme, truncation=self.truncation)

    def event_of(self, steps: int) -> Event:
        """What so many steps cost."""
        one: Event = self.step_sample.event(self.noise.event)
        rounds = steps if self.bands is None else -(-steps // self.bands.count)
        return one if rounds == 1 else Repeated(one, rounds)

    def opened(self, event: Event) -> Event:
        """What these steps cost together with what a run asks before its first step."""
        return event if self.truncation is None else Composed((self.truncation.event, event))

    @property
    def event(self) -> Event:
        """What the whole run costs."""
        return self.opened(self.event_of(self.steps))

    def lines(self) -> dict[str, str]:
        """The plan in words."""
        quantile, truncation, bands = self.quantile, self.truncation, self.bands
        most = "" if truncation is None else f", and no more than {truncation.most:,}"
        noise = f"deviation {self.noise.multiplier:.4g} in units of what one record can move"
        return {
            "steps": f"{self.steps:,}",
            "sample": f"each record with probability {self.sample.rate:.4g}, about {self.batch:,.0f} records{most}",
            "clip": f"{self.clip:g}" + ("" if quantile is None else ", and then a quantile of lengths"),
            "noise": noise + ("" if bands is None else f", correlated over {bands.count} steps"),
            "event": in_words(self.event),
        }

    def __str__(self) -> str:
        return as_text(self.lines())

    def _repr_html_(self) -> str:
        return as_table(self.lines())


@dataclass(frozen=True)
class TrainingNoise:
    """A plan, by the multiplier of its noise alone."""

    multiplier: float
    plan: TrainingPlan
    calibrated: ClassVar[str] = "multiplier"

    @property
    def event(self) -> Event:
        return replace(self.plan, noise=Gaussian(self.multiplier)).event
