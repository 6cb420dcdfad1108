"""One bar of a chart."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.display.digits import error_bar, number


@dataclass(frozen=True)
class Bar:
    """A noisy count and how far it may be off."""

    label: str
    count: float
    error: float

    @property
    def low(self) -> float:
        """The lower end of its error bar; there are no negative counts."""
        return max(0.0, self.count - self.error)

    @property
    def high(self) -> float:
        """The upper end of its error bar."""
        return max(0.0, self.count + self.error)

    def __str__(self) -> str:
        return f"{number(self.count, self.error)} ± {error_bar(self.error)}"
