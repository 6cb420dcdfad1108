"""The result of a test of a hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.display.plain import plain
from discreet.releases.columns import Columns, ConfidenceInterval, Series
from discreet.releases.estimate import Estimate
from discreet.releases.release import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALLEST = 1e-6  # p-value that is printed


@dataclass(frozen=True, kw_only=True)
class TestResult(Release):
    """What a test found.

    Parameters
    ----------
    hypothesis : str
        The null hypothesis, in words.
    statistic : float
        How far the release is from what the hypothesis predicts.
    p_value : float
        The probability that sample and noise take the statistic as far or farther if the hypothesis is true.
    evidence : Release
        What was released: an estimate with its interval, or a table of counts.
    """

    __test__: ClassVar[bool] = False  # not a test of pytest's

    hypothesis: str
    statistic: float
    p_value: float
    evidence: Release
    population: bool = True

    @property
    def rejected(self) -> bool:
        """Whether the hypothesis is rejected at the level of one minus the confidence."""
        return self.p_value <= 1 - (self.confidence or 0.0)

    @property
    def conclusion(self) -> str:
        """What follows, in words."""
        level = f"at the {100 * (1 - (self.confidence or 0.0)):.4g}% level"
        return f"rejected {level}" if self.rejected else f"not rejected {level}, which does not show that it is true"

    @property
    def estimate(self) -> Estimate | None:
        """What was estimated, where the test is about a number."""
        return self.evidence if isinstance(self.evidence, Estimate) else None

    @property
    def value(self) -> float:
        """The estimate; or the statistic, where the test is not about a number."""
        return self.statistic if self.estimate is None else self.estimate.value

    @property
    def standard_error(self) -> float | None:
        return None if self.estimate is None else self.estimate.standard_error

    @property
    def interval(self) -> ConfidenceInterval[float] | None:
        return None if self.estimate is None else self.estimate.interval

    @property
    def title(self) -> str:
        """The hypothesis, and what follows."""
        return f"{self.hypothesis}{self.receipt.among}: {self.conclusion}"

    def tabulated(self) -> Columns:
        """The statistic, the p-value and, where there is one, the estimate."""
        found = Columns({}, ()) if self.estimate is None else self.estimate.tabulated()
        numbers = {"statistic": self.statistic, "p_value": self.p_value}
        return Columns({}, (*(Series(name, np.array([one])) for name, one in numbers.items()), *found.series))

    def draw(self, ax: Axes) -> None:
        self.evidence.draw(ax)
        ax.set_title(f"{self.hypothesis} ({self._chance})")

    def __str__(self) -> str:
        lines = [
            f"null hypothesis: {self.hypothesis}{self.receipt.among}",
            f"statistic {self.statistic:.2f}, {self._chance}",
            f"The null hypothesis is {self.conclusion}.",
        ]
        return "\n".join([*map(plain, lines)] + ([] if self.estimate is None else [str(self.estimate)]))

    @property
    def _chance(self) -> str:
        return f"p <= {SMALLEST:g}" if self.p_value <= SMALLEST else f"p = {self.p_value:.2g}"
