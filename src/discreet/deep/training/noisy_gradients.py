"""The noisy mean of the clipped gradients of a secret sample: what one step asks of the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from discreet.core.errors import ParameterError
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
from discreet.deep.noise.device_noise import DeviceNoise
from discreet.deep.noise.noise_stream import NoiseStream
from discreet.deep.noise.noisy_sum import WITHOUT_FLOAT64, fine_grid, noisy_sum, on_grid, rounding_on_grid
from discreet.deep.training.private_tensors import Chunk, PrivateTensors
from discreet.deep.training.processes import OneProcess, Processes
from discreet.deep.training.training_plan import TrainingPlan

WITHIN = "within the clip"  # beside the names of parameters


class NoisyGradients(Held):
    """Draws samples and noise; it charges nothing: its caller has a permit.

    Parameters
    ----------
    model : Module
        Public. Its trained parameters are what gradients are taken of.
    losses : callable
        Public. Of what the model gives and the targets: one loss for each record.
    data : PrivateTensors
        The records.
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
    """

    def __init__(
        self,
        model: nn.Module,
        losses: Losses,
        data: PrivateTensors,
        plan: TrainingPlan,
        chunk: int = 256,
        views: AugmentationMultiplicity | None = None,
        processes: Processes | None = None,
        precision: torch.dtype | None = None,
        compiler: Compiler | None = None,
    ) -> None:
        self.trained = {name: one for name, one in model.named_parameters() if one.requires_grad}
        self._model, self._losses, self._data, self._plan, self._chunk = model, losses, data, plan, chunk
        self._views, self.clip = views, plan.clip
        self._processes = processes or OneProcess()
        self._precision, self._compiler = precision, compiler
        self._compiled: CompiledSum | None = None
        self._taken: list[Layer] | None = None
        self._state: ModelState | None = None
        self.most: int | None = None
        self._device = next(iter(self.trained.values())).device
        self._device_noise = None if self._device.type in WITHOUT_FLOAT64 | {"cpu"} else DeviceNoise(self._device)
        self._begin()

    def _begin(self) -> None:
        """Begin a stream of noise, with groups of its own: what is correlated is of one run alone."""
        bands = self._plan.bands
        self._turns = None if bands is None else self._data._turns(bands.count)
        self._stream: NoiseStream[Any] | None = None if bands is None else NoiseStream(bands)

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
        with secret_draws(self._data.bits, self._device):
            self._sums([blank])
        state.restore()

    @exclusive
    def open(self) -> None:
        """Ask what a run asks before its first step, which must have been charged: whether samples are truncated."""
        truncation = self._plan.truncation
        if truncation is not None and self._data._passes(truncation):
            self.most = truncation.most

    @exclusive
    def draw(self) -> None:
        """Set the parameters' gradients by a fresh sample with fresh noise, which must have been charged."""
        try:
            noisy = self._released()
        except BaseException:
            self._begin()  # a turn may have passed without a row of noise
            raise
        for name, one in self.trained.items():
            one.grad = (noisy[name] / self._plan.batch).to(one)
        if (quantile := self._plan.quantile) is not None:
            self.clip = quantile.moved(self.clip, self._plan.clip, float(noisy[WITHIN]), self._plan.batch)

    def _released(self) -> dict[str, Tensor]:
        least = math.ceil((self.most or self._plan.batch) / self._chunk)
        given = self._plan.sample, self._chunk, self._device, least, self.most, self._turns
        self._state = self._state or ModelState(self._model)
        self._state.renew()
        with secret_draws(self._data.bits, self._device):
            sums = self._sums(self._data._chunks(*given))
        self._state.restore()
        return self._processes.released(sums, self._noisy)

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
        self._begin()

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

    def _noisy(self, sums: dict[str, Tensor]) -> dict[str, Tensor]:
        """The sums with exact noise for their reach and the grid; on another device in float32."""
        noise, reach = self._plan.noise, self._plan.reach(self.clip)
        flat = torch.cat([one.detach().flatten() for one in sums.values()])
        rounding = rounding_on_grid(len(flat), 1 if self._plan.bands is None else self._plan.bands.count)
        if self._device_noise is not None:
            stddev = noise.multiplier * (reach + rounding * fine_grid(reach).step)
            noisy = self._streamed(flat, partial(self._device_noise.one_added, stddev=stddev))
        else:
            exact = partial(noisy_sum, sensitivity=reach, noise=noise, bits=self._data.bits, rounding=rounding)
            noisy = torch.from_numpy(self._streamed(flat.numpy(), exact))
        parts = torch.split(noisy, [one.numel() for one in sums.values()])
        return {name: part.view_as(one).to(one) for part, (name, one) in zip(parts, sums.items(), strict=True)}

    def _streamed(self, whole: Any, noisy: Callable[[Any], Any]) -> Any:
        return noisy(whole) if self._stream is None else self._stream.released(whole, noisy)
