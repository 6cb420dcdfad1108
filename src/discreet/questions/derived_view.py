"""What views of the same records share that show them otherwise: some of them, or each in another form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from discreet.core.condition import Condition
from discreet.core.grid import Array, Steps
from discreet.core.secret_sample import SecretSample
from discreet.questions.question import BoundedSum, View
from discreet.schema.schema import Category


class DerivedView(ABC):
    """A view that makes its rows of those of another, as `View` says.

    Parameters
    ----------
    view : View
        The other.
    """

    def __init__(self, view: View) -> None:
        self.view, self.unit, self.neighbors, self.bits = view, view.unit, view.neighbors, view.bits

    @abstractmethod
    def asked(self, question: BoundedSum) -> BoundedSum:
        """The same question about the other view's records."""

    @abstractmethod
    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns of the other view that these are made of."""

    @abstractmethod
    def rows(self, columns: Sequence[str]) -> Callable[[Array], Array]:
        """What makes rows of these columns of the other view's."""

    @abstractmethod
    def listing(self, lists: Mapping[str, Category]) -> View:
        """The same records, with columns of text that are read as categories of these values."""

    def sum(self, question: BoundedSum, sample: SecretSample | None = None) -> Steps:
        """The exact sum, in grid steps, over all records or over a fresh secret sample of the units."""
        return self.view.sum(self.asked(question), sample)

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        """Rows per value of a text column, batch by batch; a condition is one on the other view's records."""
        return self.view.keys(column, condition)

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """All rows, batch by batch."""
        return map(self.rows(columns), self.view.batches(self.reads(columns)))

    def everything(self, columns: Sequence[str]) -> Array:
        """All rows in one matrix."""
        return self.rows(columns)(self.view.everything(self.reads(columns)))

    def units_by_rows(self, most: int) -> Steps:
        """How many units have 1, 2, ... rows, whatever these hold."""
        return self.view.units_by_rows(most)

    def dealt(self, records: Array, blocks: int) -> list[Array]:
        """Records in secret random blocks, each record by itself."""
        return self.view.dealt(records, blocks)

    def isolated(
        self, of: Callable[[Array], Any], blocks: Sequence[Array], size: int, seconds: float, form: str
    ) -> list[Array | None]:
        """What an untrusted function returns for each block of records, in a process of its own."""
        return self.view.isolated(of, blocks, size, seconds, form)
