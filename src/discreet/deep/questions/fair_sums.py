"""What fair training asks: numbers of records, scores and clipped gradients by groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from discreet.core.answer import Answer, SampledAnswer
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.core.held import Secret
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors, Unit
from discreet.deep.checks.model_state import ModelState
from discreet.deep.checks.secret_draws import secret_draws
from discreet.deep.clipping.capture import Layer
from discreet.deep.clipping.clipped_sum import clipped_sum
from discreet.deep.fair.constraint import Codes, Constraint
from discreet.deep.noise.exact_sum import exact_sum
from discreet.deep.noise.fine_grid import OF_CHUNKS, on_grid
from discreet.deep.questions.cells import Cells
from discreet.deep.questions.records_as_tensors import RecordsAsTensors
from discreet.deep.questions.tensors_view import Chunk, TensorsView
from discreet.noise.bernoulli import bernoulli

ASKED = "train a fair network"
CHUNK = 128  # records that are handed over at a time
CPU = torch.device("cpu")
GROUPED = Bound("l1", 1.0, nonnegative=True)  # of one record, which is in one group
ONCE = 1.0  # steps of the grid that neighbors are further apart in each number: sums are rounded once


@dataclass(frozen=True)
class AttributeView(Secret):
    """The group of each record, as a permit shows it to a question: its place among the groups, -1 for none."""

    codes: Codes = field(repr=False)
    unit: Unit
    bits: Bits = field(repr=False)
    neighbors: ClassVar[Neighbors] = Neighbors.REPLACE

    def drawn(self, sample: SecretSample) -> Codes:
        """The places of a fresh secret sample: each record is in by itself."""
        return np.flatnonzero(bernoulli(self.bits, len(self.codes), sample.rate))


@dataclass(frozen=True)
class GroupCounts:
    """How many records of each public kind are in each group.

    Public are the kind of each record, from 0 on, and how many kinds and groups there are.
    """

    kinds: Codes = field(repr=False)
    shape: tuple[int, int]
    columns: ClassVar[tuple[str, ...]] = ()

    def answer(self, view: Any) -> Answer:
        """The exact numbers: a record whose group is changed leaves one cell and enters another."""
        there = view.codes >= 0
        places = np.ravel_multi_index((self.kinds[there], view.codes[there]), self.shape)
        counted = np.bincount(places, minlength=int(np.prod(self.shape)))
        return Answer(counted, Grid(0), GROUPED, view.neighbors)


@dataclass(frozen=True)
class KnownRecords:
    """Records of which only the groups are secret, and what is learned of them: public, as `AttributeTraining` says.

    `taken` are the layers as a rehearsal found them.
    """

    model: nn.Module
    constraint: Constraint
    inputs: Tensor = field(repr=False)
    labels: Tensor = field(repr=False)
    groups: int
    clip: float
    taken: list[Layer] | None = field(default=None, repr=False)

    @property
    def cells(self) -> Cells:
        """Strata by groups."""
        return Cells(self.constraint.strata, self.groups)

    @property
    def strata(self) -> Codes:
        """The stratum of each record."""
        return self.constraint.stratum(self.labels).numpy()

    def scores(self) -> Array:
        """The score of each record: public."""
        return scores_of(self.model, self.constraint, self.inputs, self.labels)

    def losses(self, logits: Tensor, wanted: Tensor) -> Tensor:
        """The factors of records times their scores."""
        return wanted[:, 1] * self.constraint.scores(logits[:, 0], wanted[:, 0])

    def clipped(self, drawn: Codes, factors: Array) -> Tensor:
        """The sum over records of the gradients of factor times score, each at most `clip` long; nobody adds 0."""
        if len(drawn) == 0:
            size = sum(one.numel() for one in self.model.parameters() if one.requires_grad)
            return torch.zeros(size, dtype=torch.float64)
        places = torch.from_numpy(drawn)
        targets = torch.stack([self.labels[places], torch.from_numpy(factors).to(self.labels)], dim=1)
        given = self.model, self.losses, self.inputs[places], targets
        sums = clipped_sum(*given, clip=self.clip, taken=self.taken).gradients
        return torch.cat([one.detach().double().flatten() for one in sums.values()])


@dataclass(frozen=True)
class CentredSums:
    """Sums of public values, none longer than `reach`, by stratum and group, less the mean over the groups."""

    cells: Cells
    strata: Codes = field(repr=False)
    values: Array = field(repr=False)
    reach: float
    columns: ClassVar[tuple[str, ...]] = ()

    def answer(self, view: Any) -> Answer:
        """The exact sums: a record goes from one group to another, by sqrt(2) times its value."""
        exact = self.cells.centred(self.values, self.strata, view.codes)
        return exact_sum(torch.from_numpy(exact.ravel()), self.reach * np.sqrt(0.5), ONCE, view.neighbors)


@dataclass(frozen=True)
class ConstraintGradient:
    """The gradients of weighted scores of a secret sample, each clipped after it is weighted."""

    known: KnownRecords
    sample: SecretSample
    weights: Array
    columns: ClassVar[tuple[str, ...]] = ()

    def answer(self, view: Any) -> SampledAnswer:
        """The exact sum; a record in no group has no weight."""
        drawn, known = view.drawn(self.sample), self.known
        table = np.concatenate([self.weights, np.zeros((len(self.weights), 1))], axis=1)
        sums = known.clipped(drawn, table[known.strata[drawn], view.codes[drawn]])
        return SampledAnswer(exact_sum(sums, known.clip, ONCE, view.neighbors), self.sample)


@dataclass(frozen=True)
class AttributeSample:
    """A secret sample of records whose groups alone are secret; scores are public, less one half."""

    known: KnownRecords
    sample: SecretSample
    scores: Array = field(repr=False)
    columns: ClassVar[tuple[str, ...]] = ()

    def answer(self, view: Any) -> Any:
        """The records that were drawn."""
        drawn = view.drawn(self.sample)
        return SampledGroups(self, drawn, view.codes[drawn], view.bits, self.sample)


@dataclass(frozen=True)
class SampledGroups(Secret):
    """The groups of a secret sample, which answer with a histogram and then with a gradient."""

    asked: AttributeSample
    drawn: Codes = field(repr=False)
    codes: Codes = field(repr=False)
    bits: Bits = field(repr=False)
    sample: SecretSample

    def histogram(self) -> Answer:
        """Records say by how much their score is above one half, which is half as far as it may be from zero."""
        known = self.asked.known
        exact = known.cells.centred(self.asked.scores[self.drawn], known.strata[self.drawn], self.codes)
        return exact_sum(torch.from_numpy(exact.ravel()), known.cells.radius / 2, ONCE, Neighbors.REPLACE)

    def gradient(self, weights: Array) -> Answer:
        """Of the scores, weighted by how far their cells are off the centre of their stratum, over the farthest.

        A record in no group has the mean weight of its stratum.
        """
        known = self.asked.known
        centre, reach = middle(weights)
        table = np.concatenate([weights, weights.mean(axis=1, keepdims=True)], axis=1) - centre
        off = table[known.strata[self.drawn], self.codes] / (reach or 1.0)
        state = ModelState(known.model)
        with secret_draws(self.bits, known.inputs.device):
            sums = known.clipped(self.drawn, off)
        state.restore()
        return exact_sum(sums, known.clip, ONCE, Neighbors.REPLACE)


def middle(weights: Array) -> tuple[Array, float]:
    """The middle of the weights of each stratum, and half of the greatest spread."""
    low, high = weights.min(axis=1, keepdims=True), weights.max(axis=1, keepdims=True)
    return (low + high) / 2, float((high - low).max() / 2)


@dataclass(frozen=True)
class SecretRecords:
    """Records that are secret as a whole, and what is learned of them: see `RecordTraining`."""

    model: nn.Module
    constraint: Constraint
    data: object
    groups: int
    taken: list[Layer] | None = field(default=None, repr=False)

    @property
    def cells(self) -> Cells:
        """Strata by groups."""
        return Cells(self.constraint.strata, self.groups)

    def shown(self, view: Any) -> TensorsView:
        """The records of a view as tensors."""
        found = self.data.tensors(view) if isinstance(self.data, RecordsAsTensors) else view
        assert isinstance(found, TensorsView)
        return found

    def losses(self, logits: Tensor, wanted: Tensor) -> Tensor:
        """Of classes, and of factors times scores."""
        lost = binary_cross_entropy_with_logits(logits[:, 0], wanted[:, 0], reduction="none")
        return lost + wanted[:, 1] * self.constraint.scores(logits[:, 0], wanted[:, 0])

    def gradients(self, chunks: list[Chunk], weights: Array, clip: float) -> Tensor:
        """The clipped sums of all chunks, each put on a fine grid by itself: so they add up exactly."""
        each = [self._clipped(part, weights, clip).values() for part in chunks]
        fine = [on_grid(torch.cat([one.double().flatten() for one in part]), clip) for part in each]
        return torch.stack(fine).sum(dim=0)

    def _clipped(self, part: Chunk, weights: Array, clip: float) -> dict[str, Tensor]:
        table = torch.from_numpy(np.concatenate([weights, np.zeros((len(weights), 1))], axis=1))  # in no group: none
        labels, groups = part.targets.T
        factors = table[self.constraint.stratum(labels), groups.long()]
        targets = torch.stack([labels.to(part.inputs), factors.to(part.inputs)], dim=1)
        given = self.model, self.losses, part.inputs, targets
        return clipped_sum(*given, clip=clip, there=part.there, taken=self.taken).gradients

    def scores(self, chunk: Chunk) -> Array:
        """Of the records of a chunk, less one half."""
        return scores_of(self.model, self.constraint, chunk.inputs, chunk.targets[:, 0]) - 0.5

    def cell_sums(self, targets: Tensor, values: Array) -> Array:
        """The exact sum of values in each cell."""
        labels, groups = targets.T
        return self.cells.sums(values, self.constraint.stratum(labels).numpy(), groups.long().numpy())


@dataclass(frozen=True)
class CountsByCell:
    """How many records each cell has: what fair training asks first."""

    records: SecretRecords
    columns: tuple[str, ...] = ()

    @property
    def identified_by(self) -> dict[str, Any]:
        """What decides the run, where that is known."""
        about = getattr(self.records.data, "about", None)
        return {"records": self.records} if about is None else {"about": about}

    def answer(self, view: Any) -> Answer:
        """The exact numbers, of which one record moves one by one."""
        shown = self.records.shown(view)
        exact = self.records.cell_sums(shown.targets, np.ones(shown.size))
        return exact_sum(torch.from_numpy(exact.ravel()), 1.0, ONCE)


@dataclass(frozen=True)
class RecordSample:
    """A secret sample of whole records. `clip` says how long gradients may be, for weights that are public by then."""

    records: SecretRecords
    sample: SecretSample
    clip: Callable[[Array], float]
    columns: tuple[str, ...] = ()

    def answer(self, view: Any) -> Any:
        """The records that were drawn, dealt to chunks."""
        shown = self.records.shown(view)
        return SampledRecords(self, list(shown.chunks(self.sample, CHUNK, CPU)), shown.bits, self.sample)


@dataclass(frozen=True)
class SampledRecords(Secret):
    """The records of a secret sample, which answer with a histogram and then with a gradient."""

    asked: RecordSample
    chunks: list[Chunk] = field(repr=False)
    bits: Bits = field(repr=False)
    sample: SecretSample

    def histogram(self) -> Answer:
        """The sums of the scores of each cell, which one record moves by one half at most."""
        records, total = (
            self.asked.records,
            np.zeros((self.asked.records.cells.strata, self.asked.records.cells.groups)),
        )
        state = ModelState(records.model)
        with secret_draws(self.bits, CPU):
            for part in self.chunks:
                total += records.cell_sums(part.targets[part.there], records.scores(part)[part.there.numpy()])
        state.restore()
        return exact_sum(torch.from_numpy(total.ravel()), 0.5, ONCE)

    def gradient(self, weights: Array) -> Answer:
        """Of the loss and the constraint together, clipped for each record."""
        records, clip = self.asked.records, self.asked.clip(weights)
        state = ModelState(records.model)
        with secret_draws(self.bits, CPU):
            sums = records.gradients(self.chunks, weights, clip)
        state.restore()
        return exact_sum(sums, clip, OF_CHUNKS)


def scores_of(model: nn.Module, constraint: Constraint, inputs: Tensor, labels: Tensor) -> Array:
    """The score of each record, by a model with one logit for each."""
    with torch.no_grad():
        logits = model(inputs)
        if logits.shape != (len(inputs), 1):
            obstacle = f"the model gives shape {tuple(logits.shape)} for {len(inputs)} records"
            raise ParameterError(ASKED, obstacle, "Give a model with one logit for each record.")
        return constraint.scores(logits[:, 0], labels).double().numpy()
