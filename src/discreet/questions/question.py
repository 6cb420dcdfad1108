"""What may be asked of records: above all, a bounded sum."""

from __future__ import annotations

import dataclasses
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from discreet.core.answer import Answer, AnyAnswer, Records, SampledAnswer
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.condition import Condition
from discreet.core.formula import Tally
from discreet.core.grid import Array, Grid, Steps
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors, Unit
from discreet.schema.schema import Category

if TYPE_CHECKING:
    from discreet.questions.mapped import RecordMap
    from discreet.questions.recipe import Recipe

_LOCK = threading.Lock()
_listening: list[object] = []  # who asked for silence; warnings have one set of filters for all threads
_filters = warnings.catch_warnings()


@contextmanager
def quiet() -> Iterator[None]:
    """No warning is shown, or turned into an error, in any thread, until all who asked for silence are done.

    Examples
    --------
    >>> with quiet():
    ...     bool(np.isnan(np.nanmean([np.nan])))
    True
    """
    global _filters
    me = object()
    with _LOCK:
        if not _listening:
            _filters = warnings.catch_warnings()
            _filters.__enter__()
            warnings.simplefilter("ignore")
        _listening.append(me)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        with _LOCK:
            _listening.remove(me)
            if not _listening:
                _filters.__exit__(None, None, None)


class View(Protocol):
    """All records of a data set, as whoever holds them shows them to a question."""

    unit: Unit
    neighbors: Neighbors

    @property
    def bits(self) -> Bits:
        """Where secret choices come from, such as who is in a sample."""

    def sum(self, question: BoundedSum, sample: SecretSample | None = None) -> Steps:
        """The exact sum, in grid steps, over all records or over a fresh secret sample of the units."""

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        """Rows per value of a text column, batch by batch; of those alone that fulfil a condition."""

    def listing(self, lists: Mapping[str, Category]) -> View:
        """The same records, with columns of text that are read as categories of these values."""

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """All rows, batch by batch."""

    def everything(self, columns: Sequence[str]) -> Array:
        """All rows in one matrix."""

    def units_by_rows(self, most: int) -> Steps:
        """How many units have 1, 2, ... rows, of units that are pooled; the last number is of `most` rows or more."""

    def dealt(self, records: Array, blocks: int) -> list[Array]:
        """Records in secret random blocks, each record by itself."""

    def isolated(
        self, of: Callable[[Array], Any], blocks: Sequence[Array], size: int, seconds: float, form: str
    ) -> list[Array | None]:
        """What an untrusted function returns for each block of records, in a process of its own."""

    def mapped(self, by: RecordMap) -> Array:
        """All rows that an untrusted function makes of the records, each record in a process of its own."""


class Question(Protocol):
    """What may be asked: it knows how to answer itself from a view of the records."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    def answer(self, view: View) -> AnyAnswer: ...


class BoundedQuestion(Question, Protocol):
    """A question whose answer is numbers on a grid, of which it is known how far one unit moves them."""

    @property
    def bound(self) -> Bound: ...

    @property
    def grid(self) -> Grid: ...

    @property
    def size(self) -> int: ...


@dataclass(frozen=True)
class BoundedSum:
    """The question most private learning asks: sum `of` over records, cut to `bound`.

    Parameters
    ----------
    of : callable
        Rows in, one contribution per row out: row i of the result depends on row i of the records alone.
        This is the definition.
    bound : Bound
        Public. The most one row may add. Longer contributions are shrunk.
    columns : tuple of str
        Public. The columns that `of` reads, in order.
    grid : Grid, optional
        Public. The grid contributions are cut to; one that makes the radius about 2**30 steps where not given.
    total : callable, optional
        The same sum of a batch, fused: rows in, grid steps out. Must equal the sum of the clipped, cut rows of `of`
        to the last step, so that no n-by-k matrix is needed.
    raw : bool
        Public. Whether `total` also takes numbers as they are found, any number of rows at once: it moves them inside
        the schema's bounds itself, and what is not finite is missing.
    recipe : Recipe, optional
        Public. What others can build the same question from; `recipe` fills it in. A question without one
        cannot be asked where it would have to travel.
    tally : Tally, optional
        Public. The same sum once more, as formulas, for engines that add up where the records are. Must equal the sum
        of the clipped, cut rows of `of` to the last step, for values inside the schema's bounds.
    width : int, optional
        Public. How many numbers the sum has, where that is known; where not, `of` is asked about no records at all.

    Examples
    --------
    >>> import numpy as np
    >>> heads = BoundedSum(lambda rows: np.ones((len(rows), 1)), Bound("l1", 1.0), ("age",), Grid(0))
    >>> heads.size, heads.steps(np.zeros((5, 1))).sum(axis=0)
    (1, array([5.]))
    """

    of: Callable[[Array], Array]
    bound: Bound
    columns: tuple[str, ...]
    grid: Grid = field(default=None)  # type: ignore[assignment]
    total: Callable[[Array], Array | Steps] | None = None
    raw: bool = False
    recipe: Recipe | None = None
    tally: Tally | None = None
    width: int | None = None

    def __post_init__(self) -> None:
        if self.grid is None:
            object.__setattr__(self, "grid", Grid.of_radius(self.bound.radius))

    @property
    def identified_by(self) -> dict[str, Any]:
        """What identifies this question: its recipe, or the function itself where it has none."""
        built = {"bound": self.bound, "columns": self.columns, "grid": self.grid}
        return built | ({"recipe": self.recipe.written()} if self.recipe is not None else {"of": self.of})

    @cached_property
    def size(self) -> int:
        """How many numbers the sum has."""
        return int(self.of(np.empty((0, len(self.columns)))).shape[1]) if self.width is None else self.width

    def answer(self, view: View, sample: SecretSample | None = None) -> Answer:
        """The exact sum, over all records or a fresh sample of the units, and how far one of these can move it."""
        question = self.for_unit(view.unit)
        steps = view.sum(question, sample)
        return Answer(steps, question.grid, question.bound.times(view.unit.rows), view.neighbors)

    def steps(self, records: Array) -> Array:
        """What each row adds, in grid steps: inside the bound, since cutting is towards zero."""
        with quiet():
            return self.grid.cut(self.bound.clip(self.of(records)))

    def for_unit(self, unit: Unit) -> BoundedSum:
        """The question as it is put to records of such a unit: on a fine grid where units are pooled.

        What a pooled unit adds is shrunk as a whole, and a grid of whole numbers would cut its small parts to zero.
        """
        return self.in_parts() if unit.pooled else self

    def in_parts(self) -> BoundedSum:
        """The same on a fine grid, for sums of which parts are taken."""
        fine = min(self.grid.exponent, Grid.of_radius(self.bound.radius).exponent)
        return dataclasses.replace(self, grid=Grid(fine), total=None, raw=False)


@dataclass(frozen=True)
class AllRecords:
    """All records at once, for a mechanism that needs more than a sum of them. A curator alone can ask this.

    Parameters
    ----------
    columns : tuple of str
        Public. The columns that the mechanism sees, in order.
    """

    columns: tuple[str, ...]

    def answer(self, view: View) -> Records:
        """All records, and how many of them one unit has."""
        return Records(view.everything(self.columns), view.unit.rows, view.neighbors)


@dataclass(frozen=True)
class SampledSum:
    """The sum over a fresh sample, which only `OnSample` releases: it is priced for that very sample.

    Parameters
    ----------
    question : BoundedSum
        Public. What is summed.
    sample : SecretSample
        Public. How the sample is drawn.
    """

    question: BoundedSum
    sample: SecretSample

    @property
    def columns(self) -> tuple[str, ...]:
        return self.question.columns

    @property
    def size(self) -> int:
        return self.question.size

    @property
    def bound(self) -> Bound:
        """Of what one row of the sample adds."""
        return self.question.bound

    def answer(self, view: View) -> SampledAnswer:
        """The exact sum over a fresh sample."""
        return SampledAnswer(self.question.answer(view, self.sample), self.sample)
