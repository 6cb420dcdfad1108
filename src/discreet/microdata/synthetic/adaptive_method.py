"""A synthetic table by tables that fit worst, counted one after another: the class of AIM."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.microdata.synthetic.clique_tree import cells_with
from discreet.microdata.synthetic.junction_model import JunctionModel, NoisyCounts
from discreet.microdata.synthetic.synthesis import TITLE, SynthesisMethod, TableAsker, TableLayout
from discreet.microdata.synthetic.tree_model import noise_in, pruned
from discreet.questions.tables.coded_tables import MOST_TABLES, AxisPlaces
from discreet.questions.tables.domain import MOST_CELLS

# Shares of the information that the budget pays for. Like the number of rounds, one for each column, they were chosen
# on made-up networks of twelve columns, where they came out ahead of rounds whose noise is halved as AIM does it.
COLUMNS, CHOICES = 0.18, 0.1
DEGREE, WIDEST = 3, 4
ASIDE = 0.5  # weight of tables without the column that is to be kept best
LIMIT = 2**18  # cells of all cliques
STEPS, LAST_STEPS = 40, 300  # of fitting, after each round and at the end
FEWEST, MOST = 2**14, 2**17  # records that are counted out to see what a model says of tables


@dataclass(frozen=True)
class AdaptiveMethod(SynthesisMethod):
    """Counts of columns; then, round by round, the table that the model fits worst is chosen, counted, and fitted.

    Tables have up to `degree` columns; where all of them have too many cells, the largest are left out. One that
    overlaps more of them weighs more; what the noise would add to its distance is taken off; and those with which the
    model would have too many cells are left out, a limit that grows with what was spent. Pairs that public constraints
    name are counted first. All of that is public.
    """

    model: ClassVar[type[JunctionModel]] = JunctionModel

    @classmethod
    def of(cls, layout: TableLayout) -> AdaptiveMethod:
        """For a table; refused where nobody holds all records, or where columns or pairs have too many cells."""
        if not layout.curated:
            remedy = 'Give method="tree", which counts all pairs instead.'
            raise NotPermitted(TITLE, "nobody holds all records, so nobody can choose tables by them", remedy)
        check_whole(TITLE, "degree", DEGREE if layout.degree is None else layout.degree, least=1, most=WIDEST)
        made = cls(layout)
        pairs = [axes for axes in made.tables if len(axes) == 2]
        if not set(pairs) <= set(made.candidates):
            largest = layout.columns[int(np.argmax(layout.most_cells))]
            obstacle = f"{len(pairs)} pairs of columns have {sum(map(made.cells, pairs)):.3g} cells"
            raise ParameterError(TITLE, obstacle, f"Leave out {largest}, or give fewer bins, or fewer columns.")
        return made

    @property
    def degree(self) -> int:
        """How many columns a table has, at most."""
        asked = DEGREE if self.layout.degree is None else self.layout.degree
        return min(asked, len(self.layout.columns))

    @cached_property
    def tables(self) -> tuple[AxisPlaces, ...]:
        """All that are wanted, without those of one column."""
        columns = range(len(self.layout.columns))
        return tuple(axes for width in range(2, self.degree + 1) for axes in combinations(columns, width))

    def cells(self, axes: AxisPlaces) -> int:
        """Of a table, at most."""
        return math.prod(self.layout.most_cells[axis] for axis in axes)

    @cached_property
    def candidates(self) -> tuple[AxisPlaces, ...]:
        """The tables that may be chosen: the smallest ones, as far as all of them can be looked at."""
        rising = sorted(self.tables, key=lambda axes: (self.cells(axes), axes))[:MOST_TABLES]
        fitting = np.cumsum([self.cells(axes) for axes in rising]) <= MOST_CELLS
        return tuple(axes for axes, fits in zip(rising, fitting, strict=True) if fits)

    @cached_property
    def weights(self) -> Array:
        """How many columns a table has in common with the widest ones, more if it has the target; the greatest is 1."""
        wide = [set(axes) for axes in self.tables if len(axes) == self.degree]
        common = np.array([sum(len(own & set(axes)) for own in wide) for axes in self.candidates], dtype=np.float64)
        if self.layout.target is not None:
            common *= [1.0 if self.layout.target in axes else ASIDE for axes in self.candidates]
        return np.asarray(common / common.max(initial=1.0))

    @property
    def rounds(self) -> int:
        return len(self.layout.columns) if self.candidates else 0

    def parts(self, share: float) -> tuple[Any, ...]:
        if not self.rounds:
            return (self.layout.noise(share),)
        each = share * (1 - COLUMNS) / self.rounds
        choice, noise = self.layout.choice(each * CHOICES), self.layout.noise(each * (1 - CHOICES))
        return (self.layout.noise(share * COLUMNS), *((choice, noise) * self.rounds))

    def made(self, asker: TableAsker, mechanisms: Sequence[Any]) -> JunctionModel:
        model = self._of_columns(asker, mechanisms[0])
        generator = np.random.default_rng(0)
        rounds = list(zip(mechanisms[1::2], mechanisms[2::2], strict=True))
        for number, (chooser, noise) in enumerate(rounds, start=1):
            limit = LIMIT * (COLUMNS + (1 - COLUMNS) * number / len(rounds))
            named = self.layout.together[number - 1 : number]
            axes = named[0] if named else self._worst(asker, model, chooser, noise, limit, generator)
            found = NoisyCounts(axes, asker.counts([axes], noise)[0], asker.stddev([axes], noise))
            model = model.with_table(found).fitted(LAST_STEPS if number == len(rounds) else STEPS)
        return model

    def _of_columns(self, asker: TableAsker, noise: Any) -> JunctionModel:
        singles: list[AxisPlaces] = [(place,) for place in range(len(self.layout.columns))]
        ones, stddev = asker.counts(singles, noise), asker.stddev(singles, noise)
        noisy = [NoisyCounts(axes, own, stddev) for axes, own in zip(singles, ones, strict=True)]
        seen = [len(own) - bool(np.isneginf(pruned(own, stddev)[-1])) for own in ones]
        size = asker.of.data.public_size
        return JunctionModel.start(asker.codes, noisy, asker.total(ones), seen, size).fitted(LAST_STEPS)

    def _worst(
        self,
        asker: TableAsker,
        model: JunctionModel,
        chooser: Any,
        noise: Any,
        limit: float,
        generator: np.random.Generator,
    ) -> AxisPlaces:
        """The table that is chosen in a round."""
        records = model.counted_out(int(np.clip(2 * model.total, FEWEST, MOST)), generator)
        stddev, sets, expected, penalties, weights = asker.stddev(self.candidates[:1], noise), [], [], [], []
        for axes, weight in zip(self.candidates, self.weights, strict=True):
            own = noise_in(asker.codes.cells(axes), stddev)
            if self._fits(model, axes, limit) and own < 2 * model.total:
                sets.append(axes)
                expected.append(
                    np.asarray(asker.codes.counted(records, [axes])[0] * (model.total / len(records)), np.float64)
                )
                penalties.append(weight * own)
                weights.append(weight)
        if not sets:
            return self._smallest(asker, model)
        found = asker.farthest(sets, expected, chooser, np.array(penalties), np.array(weights))
        return sets[int(found)]

    def _fits(self, model: JunctionModel, axes: AxisPlaces, limit: float) -> bool:
        """Whether the cliques have few enough cells with one more table."""
        return model.tree.home(axes) is not None or cells_with(model.kept, model.sets, axes) <= limit

    def _smallest(self, asker: TableAsker, model: JunctionModel) -> AxisPlaces:
        """What is counted where no table is worth it: one of those that were counted already, or the smallest."""
        return min((*model.sets, *self.candidates), key=asker.codes.cells)
