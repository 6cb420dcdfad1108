"""What every released result has: a name, a receipt, a confidence, and the forms in which it is read."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.core.checks import is_number, shown
from discreet.core.errors import ParameterError
from discreet.core.receipt import Receipt
from discreet.display.notebook import carded, facts, folded
from discreet.display.plain import plain
from discreet.releases.columns import Columns
from discreet.releases.drawing import drawn_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST, MOST = 0.01, 0.999999  # confidence


@dataclass(frozen=True, kw_only=True)
class Release(ABC):
    """A released result.

    A kind of result says what its columns are (`tabulated`) and how it is drawn (`draw`); everything else follows.

    Parameters
    ----------
    name : str
        What it is.
    receipt : Receipt
        What it cost.
    confidence : float or None
        Of each interval; None where there is none.
    population : bool
        What the intervals are for. If not the population that the records are a sample of, these data: then they
        measure the privacy noise alone, and need no assumption about how the records were sampled.
    """

    name: str
    receipt: Receipt
    confidence: float | None
    population: bool = False

    @abstractmethod
    def tabulated(self) -> Columns:
        """The result as labels and numbers."""

    @abstractmethod
    def draw(self, ax: Axes) -> None:
        """Draw the result on these axes."""

    @property
    def title(self) -> str:
        """What it is, and what its intervals hold."""
        return self.asked + promise(self.confidence, self.population)

    @property
    def asked(self) -> str:
        """What it is, and of which records: those that fulfil a condition, or all."""
        return self.name + self.receipt.among

    def shown(self) -> Columns:
        """The columns that are printed: all, unless a kind of result has too many."""
        return self.tabulated()

    def to_dict(self) -> dict[str, Any]:
        """The result and its receipt as plain numbers, texts and lists."""
        return {**self.figures(), "receipt": self.receipt.to_dict()}

    def figures(self) -> dict[str, Any]:
        """The same without the receipt."""
        about = {"kind": type(self).__name__, "name": self.name}
        return {**about, **self.tabulated().to_dict(), "confidence": self.confidence, "population": self.population}

    def to_json(self) -> str:
        """The same as JSON; null for what is not a finite number."""
        return json.dumps(finite(self.to_dict()), allow_nan=False)

    def to_pandas(self) -> Any:
        """The columns as a pandas data frame, whose index is the labels.

        Raises
        ------
        MissingExtra
            pandas is not installed.
        """
        return self.tabulated().to_pandas(self.name)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the result.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure, which a notebook shows.

        Raises
        ------
        MissingExtra
            matplotlib is not installed.
        """
        ax = drawn_on(self.name, ax)
        self.draw(ax)
        return ax

    def __str__(self) -> str:
        shown = self.shown()
        if shown.labels:
            return f"{plain(self.title)}\n{shown.text()}"
        parts = [text if name == "value" else f"{name} {text}" for name, text in zip(*shown.rows(), strict=True)]
        return f"{plain(self.asked)}: {', '.join(parts)}{promise(self.confidence, self.population)}"

    def _repr_html_(self) -> str:
        return carded(self.shown().html(self.title), folded(self.receipt.cost, facts(self.receipt.lines())))


def promise(confidence: float | None, population: bool) -> str:
    """What an interval holds, in brackets; nothing, if there is none.

    Examples
    --------
    >>> promise(0.95, True)
    ' (95% for the population)'
    """
    whose = "the population" if population else "these data"
    return "" if confidence is None else f" ({100 * confidence:.10g}% for {whose})"


def check_confidence(asked: str, confidence: float) -> None:
    """Refuse a confidence that no interval has, or none worth having."""
    if not ((confidence.__class__ is float or is_number(confidence)) and LEAST <= confidence <= MOST):
        remedy = f"Give one between {LEAST} and {MOST}, such as 0.95."
        raise ParameterError(asked, f"the confidence is {shown(confidence)}", remedy, confidence=confidence)


def check_population(asked: str, population: bool, obstacle: str, remedy: str) -> None:
    """Refuse an interval for a population where no theory gives one."""
    if population:
        raise ParameterError(asked, f"there is no interval for the population: {obstacle}", remedy, population=True)


def finite(value: Any) -> Any:
    """The same with None for numbers that JSON does not have."""
    match value:
        case dict():
            return {name: finite(one) for name, one in value.items()}
        case list() | tuple():
            return [finite(one) for one in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value
