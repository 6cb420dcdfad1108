"""The clipped gradients of a secret sample, added up: what one step of training asks of the records."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn

from discreet.core.answer import Answer, SampledAnswer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Composed, Event
from discreet.core.held import Held, exclusive
from discreet.deep.checks.failing_records import computed
from discreet.deep.checks.model_state import ModelState
from discreet.deep.checks.rehearsal import rehearsed
from discreet.deep.checks.secret_draws import secret_draws
from discreet.deep.clipping.augmentation_multiplicity import AugmentationMultiplicity
from discreet.deep.clipping.capture import Layer
from discreet.deep.clipping.clip_quantile import SPAN
from discreet.deep.clipping.clipped_sum import ClippedSum, Losses, clipped_sum
from discreet.deep.clipping.compiled_sum import CompiledSum, Compiler
from discreet.deep.noise.device_noise import device_gaussian
from discreet.deep.noise.exact_sum import DeviceAnswer, ExactSum, device_sum, exact_sum, on_processor
from discreet.deep.noise.fine_grid import OF_CHUNKS, on_grid
from discreet.deep.noise.noise_stream import NoiseStream, OnTurn
from discreet.deep.questions.records_as_tensors import RecordsAsTensors
from discreet.deep.questions.tensors_view import Chunk, TensorsView, Turns
from discreet.deep.training.processes import OneProcess, Processes
from discreet.deep.training.training_plan import TrainingPlan
from discreet.noise.system_bits import system_bits
from discreet.trust.on_sample import OnSample
from discreet.trust.permit import KEPT

if TYPE_CHECKING:
    from discreet.deep.training.private_tensors import PrivateTensors

WITHIN = "within the clip"  # beside the names of parameters


class SampledGradient(Held):
    """Asks the sum of the clipped gradients of a fresh secret sample, and sets parameters' gradients by its release.

    Ask it of a permit with the mechanism that it names: `release = permit.ask(gradient, gradient.mechanism)`; then
    `gradient.move(release)`. Any other mechanism is refused.

    Parameters
    ----------
    model : Module
        Public. Its trained parameters are what gradients are taken of.
    losses : callable
        Public. Of what the model gives and the targets: one loss for each record.
    data : PrivateTensors or RecordsAsTensors
        Whose records will be asked.
    plan : TrainingPlan
        Public. Samples and noise.
    chunk : int
        Public. How many records are computed at a time.
    views : AugmentationMultiplicity, optional
        Public. Of each record; by default the record itself.
    processes : Processes, optional
        Public. Whose records they are; by default those of this process.
    precision : torch.dtype, optional
        Public. Of products, as `torch.autocast` has it.
    compiler : callable, optional
        Public. Compiles the computation of a chunk as one graph; by default it is done step by step.

    Guarantee
    ---------
    `mechanism.event` for each release, for neighbors that differ by one record, added or removed: Gaussian noise on a
    sum over a Poisson sample, of which a record moves at most the clip. Abadi et al. 2016, Algorithm 1; the price of
    the sample is that of `OnSample`.
    """

    def __init__(
        self,
        model: nn.Module,
        losses: Losses,
        data: PrivateTensors | RecordsAsTensors,
        plan: TrainingPlan,
        chunk: int = 256,
        views: AugmentationMultiplicity | None = None,
        processes: Processes | None = None,
        precision: torch.dtype | None = None,
        compiler: Compiler | None = None,
    ) -> None:
        self.trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
        self._model, self._losses, self._data, self._plan, self._chunk = model, losses, data, plan, chunk
        self._views, self.clip, self.columns = views, plan.clip, data.columns
        self._processes = processes or OneProcess()
        self._precision, self._compiler = precision, compiler
        self._compiled: CompiledSum | None = None
        self._taken: list[Layer] | None = None
        self._state: ModelState | None = None
        self._shapes: dict[str, torch.Size] = {}
        self.most: int | None = None
        self._device = next(iter(self.trained.values())).device
        multiplier, exact = plan.noise.multiplier, on_processor(self._device)
        self.noise = plan.noise if exact else device_gaussian(multiplier, self._device)
        self.begin()

    @exclusive
    def begin(self) -> None:
        """Begin a stream of noise, with groups of its own: what is correlated is of one run alone."""
        self._turns: Turns | None = None
        self._stream = None if self._plan.bands is None else NoiseStream(self._plan.bands)

    @exclusive
    def rehearse(self) -> None:
        """Compute on made-up records: what fails for any records fails here, before a charge."""
        blank = self._data.blank(self._chunk, self._device)
        if self._views is not None:
            self._views.check(blank.inputs)
        self._compiled = None
        self._taken = rehearsed(self._model, self._losses, blank.inputs, blank.targets, self._views)
        self._state = None
        state = ModelState(self._model)
        with secret_draws(system_bits(), self._device):
            self._sums([blank])
        state.restore()

    @property
    def question(self) -> SampledGradient | FirstGradient:
        """What the next step asks."""
        about = getattr(self._data, "about", None)
        return self if self._shapes or about is None else FirstGradient(self, about)

    @property
    def mechanism(self) -> OnSample | OnTurn | _HandedOver:
        """What adds the noise of the next step, at its price."""
        if not self._processes.first:
            return _HandedOver()
        if self._stream is None:
            return OnSample(self.noise, self._plan.step_sample)
        return OnTurn(self.noise, self._plan.step_sample, stream=self._stream)

    @exclusive
    def end_round(self) -> None:
        """Let the next step pay for its round, if noise is correlated: another permit has paid for the last one."""
        if self._stream is not None:
            self._stream.end_round()

    @exclusive
    def answer(self, view: Any) -> SampledAnswer:
        """The exact sum over a fresh sample; on several processes, that of all is with the first."""
        shown = self.shown(view)
        if self._plan.bands is not None and self._turns is None:
            self._turns = Turns(shown.size, self._plan.bands.count, shown.bits)
        least = math.ceil((self.most or self._plan.batch) / self._chunk)
        given = self._plan.sample, self._chunk, self._device, least, self.most, self._turns
        self._state = self._state or ModelState(self._model)
        self._state.renew()
        with secret_draws(shown.bits, self._device):
            sums = self._sums(shown.chunks(*given))
        self._state.restore()
        return SampledAnswer(self._exact(sums), self._plan.step_sample)  # type: ignore[arg-type]

    def shown(self, view: Any) -> TensorsView:
        """The records of a view as tensors."""
        return self._data.tensors(view) if isinstance(self._data, RecordsAsTensors) else view

    def _exact(self, sums: dict[str, Tensor]) -> ExactSum:
        self._shapes = {name: one.shape for name, one in sums.items()}
        flat = torch.cat([one.detach().double().flatten() for one in sums.values()])
        made = exact_sum if on_processor(flat.device) else device_sum
        return made(self._processes.summed(flat), self._plan.reach(self.clip), OF_CHUNKS)

    @exclusive
    def move(self, release: Any) -> None:
        """Set the parameters' gradients by a release, and move the clip, if it follows a quantile."""
        flat = release if isinstance(release, Tensor) else torch.from_numpy(release)
        parts = torch.split(self._processes.shared(flat), [math.prod(shape) for shape in self._shapes.values()])
        noisy = {name: part.view(shape) for part, (name, shape) in zip(parts, self._shapes.items(), strict=True)}
        for name, one in self.trained.items():
            one.grad = (noisy[name] / self._plan.batch).to(one)
        if (quantile := self._plan.quantile) is not None:
            self.clip = quantile.moved(self.clip, self._plan.clip, float(noisy[WITHIN]), self._plan.batch)

    @property
    def by_whole_model(self) -> list[str]:
        """The parameters whose gradients are those of the whole model, written out, as a rehearsal found."""
        return [name for one in self._taken or () if one.extra for name in one.trained]

    @property
    def terms(self) -> tuple[Any, ...]:
        """What sums and noise depend on beside the plan: the same in all processes that add up their sums."""
        views = None if self._views is None else self._views.count
        return self.clip, self.most, self._chunk, views, self._precision, self._compiler is not None

    def check_state(self, state: Any) -> None:
        """Refuse a state that no run with this plan can have: another clip would get the noise of this one.

        Parameters
        ----------
        state : dict
            Public. What `load_state_dict` would be given.
        """
        clip = state.get("clip") if isinstance(state, dict) else None
        first, moves = self._plan.clip, self._plan.quantile is not None
        span = SPAN if moves else 1.0
        if type(clip) is not float or not first / span <= clip <= first * span:
            obstacle = f"the clip was {clip}, and this plan begins with {first}"
            raise ParameterError("resume", obstacle, "Give a checkpoint of a run with this plan.")

    def state_dict(self) -> dict[str, float]:
        """What later steps need: it is all released already."""
        return {"clip": self.clip}

    @exclusive
    def load_state_dict(self, state: dict[str, float]) -> None:
        """Go on from there, with noise that has nothing to do with that of steps before."""
        self.clip = float(state["clip"])
        self.begin()

    def _sums(self, chunks: Iterable[Chunk]) -> dict[str, Tensor]:
        """The clipped sums over all chunks together, and what records within the clip add where they are counted.

        Each chunk is put on a fine grid by itself. So all chunks add up exactly, and one record changes one of them, or
        two: `chunks.md`.
        """
        sums: dict[str, Tensor] = {}
        reach = self._plan.reach(self.clip)
        for part in chunks:
            found = computed(self._clipped, part, self._data.blank(len(part.there), self._device))
            if self._state is not None:
                self._state.restore_tensors()
            own = found.gradients.items()
            fine = dict(own) if self._compiler is not None else {name: on_grid(one, reach) for name, one in own}
            if self._plan.quantile is not None:
                fine[WITHIN] = on_grid(self._plan.quantile.counted(found.norms, part.there, self.clip), reach)
            sums = {name: sums[name] + one if sums else one for name, one in fine.items()}
        return sums

    def _clipped(self, part: Chunk) -> ClippedSum:
        """The clipped sum over one chunk; the graph is made when a run is rehearsed, and puts it on the grid."""
        inputs, views = (part.inputs, 1) if self._views is None else (self._views(part.inputs), self._views.count)
        given = self._model, self._losses, inputs, part.targets
        kind = self._device.type
        with nullcontext() if self._precision is None else torch.autocast(kind, dtype=self._precision):
            if self._compiler is None:
                return clipped_sum(*given, clip=self.clip, there=part.there, views=views, taken=self._taken)
            if self._compiled is None:
                self._compiled = CompiledSum(*given, views=views, compiler=self._compiler, taken=self._taken)
            return self._compiled(inputs, part.targets, part.there, self.clip, self._plan.reach(self.clip))


@dataclass(frozen=True)
class _HandedOver:
    """The mechanism of a process that is not the first: its sum is with the first one, which adds noise and pays."""

    calibrated: ClassVar[str] = ""
    event: ClassVar[Event] = Composed(())

    def release(self, answer: SampledAnswer, bits: Bits) -> Tensor:
        """Zeros: nothing is released here."""
        own: ExactSum = answer.answer
        if isinstance(own, DeviceAnswer):
            return torch.zeros_like(own.sums, dtype=torch.float32)
        return torch.zeros(own.size, dtype=torch.float64)

    def worst_neighbors(self) -> Any:
        """None: it releases nothing."""
        raise NotPermitted("training step", "another process releases", "Audit that of the first.", KEPT)


@dataclass(frozen=True)
class FirstGradient:
    """The first step of a run, which a retry can be recognised by where the records could not be read."""

    gradient: SampledGradient = field(repr=False)
    about: Any

    @property
    def identified_by(self) -> dict[str, Any]:
        """What decides the run."""
        return {"about": self.about}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.gradient.columns

    def answer(self, view: Any) -> SampledAnswer:
        """The exact sum over a fresh sample."""
        return self.gradient.answer(view)


@dataclass(frozen=True)
class WholeGradient:
    """The sum of the clipped gradients of all records, for noise that is priced without a sample."""

    gradient: SampledGradient = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.gradient.columns

    def answer(self, view: Any) -> Answer:
        """The exact sum."""
        found = self.gradient.answer(view)
        if found.sample.rate != 1:
            raise NotPermitted("whole gradient", f"it is a sample of {found.sample.rate}", "Plan a rate of 1.", KEPT)
        return found.answer


@dataclass(frozen=True)
class RecordCount:
    """How many records a gradient is about, for a mechanism that hides it."""

    gradient: SampledGradient = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.gradient.columns

    def answer(self, view: Any) -> Answer:
        """The number; one record moves it by one."""
        return whole_numbers([self.gradient.shown(view).size], Bound("l1", 1.0))
