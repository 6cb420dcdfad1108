"""A run on made-up records, before anything is charged: what one record does to another, and to the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten

from discreet.core.errors import ParameterError
from discreet.deep.checks.model_state import ModelState, differing, replaced_parameters
from discreet.deep.checks.same_draws import SameDraws, same
from discreet.deep.clipping.augmentation_multiplicity import AugmentationMultiplicity
from discreet.deep.clipping.capture import ASKED, Layer, Lead, captured, layers
from discreet.deep.clipping.clipped_sum import Losses, by_parameter, one_each
from discreet.deep.clipping.indices_in_range import IndicesInRange
from discreet.deep.forms.precision import LEAST
from discreet.deep.layers.rule import rule_of

THREE = torch.tensor([0, 1, 2])
CHANGED = 1  # the record in the middle: others are before it and after it
DRAWN = 4099  # numbers that weights are moved by, again and again: no size of a layer is a multiple of it
WHOLE = (Lead(1, (True,)),)  # of the whole model, which is called once
APART = "Compute on the first axis record by record."


@dataclass(frozen=True)
class MadeUp:
    """Records that nobody gave: numbers between 0 and 1, and whole numbers that are 0 or 1, which any table has."""

    inputs: Tensor
    targets: Tensor

    @classmethod
    def like(cls, inputs: Tensor, targets: Tensor, seed: int, whole: int = 2) -> MadeUp:
        """Three records of the shapes and kinds of these, of which nothing else is looked at."""
        generator = torch.Generator().manual_seed(seed)
        return cls(*(_drawn(one, generator, whole) for one in (inputs, targets)))

    def __getitem__(self, places: Tensor) -> MadeUp:
        return MadeUp(self.inputs[places], self.targets[places])

    def with_changed(self, other: MadeUp, scale: float) -> MadeUp:
        """With another record in the middle, of numbers so many times greater."""
        parts = []
        for own, foreign in ((self.inputs, other.inputs), (self.targets, other.targets)):
            part = own.clone()
            if part.is_floating_point():
                part[CHANGED] = foreign[CHANGED] * (scale if own is self.inputs else 1.0)
            elif own.any():  # else there is one whole number alone
                part[CHANGED] = 1 - own[CHANGED].to(torch.int8)
            parts.append(part)
        return MadeUp(*parts)


def rehearsed(
    model: nn.Module, losses: Losses, inputs: Tensor, targets: Tensor, views: AugmentationMultiplicity | None = None
) -> list[Layer]:
    """The layers, and how each is called; refuses, on made-up records, what is not a sum over records.

    Three records are computed, also with another one in the middle, and two of them without it. What a record adds must
    be the same to the last digit, whoever is beside it. Then the gradients that layers give are held against plain
    ones: a parameter that is used outside of its layer, or once for all records, is taken with the whole model.
    Weights are moved a little, so that one that begins at zero hides nothing. All is put back.

    Parameters
    ----------
    model : Module
        Public.
    losses : callable
        Public. Of what the model gives and the targets: one loss for each record.
    inputs, targets : Tensor
        Only their shapes, kinds and device are looked at.
    views : AugmentationMultiplicity, optional
        Public. Of each record.
    """
    rehearsal = _Rehearsal(model, losses, views, MadeUp.like(inputs, targets, 0, 2), 2)
    if not rehearsal.in_range():  # a table may have a single row
        rehearsal = _Rehearsal(model, losses, views, MadeUp.like(inputs, targets, 0, 1), 1)
    return rehearsal.layers()


class _Rehearsal:
    def __init__(
        self, model: nn.Module, losses: Losses, views: AugmentationMultiplicity | None, three: MadeUp, whole: int
    ) -> None:
        self.model, self.losses, self.views, self.three, self.whole = model, losses, views, three, whole
        self.count = 1 if views is None else views.count
        self.device = three.inputs.device
        self.random = self.others = False

    def in_range(self) -> bool:
        """Whether everything is computed of such whole numbers."""
        if all(one.is_floating_point() for one in (self.three.inputs, self.three.targets)):
            return True
        state = ModelState(self.model)
        try:
            with torch.no_grad():
                return bool(torch.isfinite(self._lost(self.three)).all())
        except (IndexError, RuntimeError):
            return False
        finally:
            state.restore()

    def layers(self) -> list[Layer]:
        """What was found."""
        taken = list(layers(self.model))
        with _moved(self.model), torch.autocast(self.device.type, enabled=False), torch.enable_grad():
            self.trained = {name: one for name, one in self.model.named_parameters() if one.requires_grad}
            state = ModelState(self.model)
            try:
                self._check_apart(state)
                return self._explained(self._led(taken))
            finally:
                state.restore()

    def _lost(self, given: MadeUp) -> Tensor:
        """The loss of each record, the mean over its views."""
        with SameDraws(self.device) as draws:
            found = self._each(given)
        self.others |= draws.other
        self.random |= draws.drawn > 0
        return torch.unflatten(found, 0, (-1, self.count)).mean(dim=1)

    def _each(self, given: MadeUp) -> Tensor:
        inputs = given.inputs if self.views is None else self.views(given.inputs)
        targets = given.targets.repeat_interleave(self.count, dim=0)
        with IndicesInRange():
            return one_each(self.losses(self.model(inputs), targets), len(inputs))

    def _gradient(self, lost: Tensor, keep: bool = False) -> dict[str, Tensor]:
        if not lost.requires_grad:
            return {name: torch.zeros_like(one) for name, one in self.trained.items()}
        parts = torch.autograd.grad(lost, list(self.trained.values()), retain_graph=keep, allow_unused=True)
        return {
            name: torch.zeros_like(one) if part is None else part
            for part, (name, one) in zip(parts, self.trained.items(), strict=True)
        }

    def _check_apart(self, state: ModelState) -> None:
        """Refuse records that depend on one another, and a model that notes what it was given."""
        kept = THREE[THREE != CHANGED]
        weights = torch.tensor([1.0, 0.5], device=self.device)
        first = self._lost(self.three)
        plain = self._gradient(first[kept] @ weights.to(first))
        written = state.written()
        state.restore()
        again = self._lost(self.three).detach()
        state.restore()
        slack = 4 * (first - again).detach().abs().nan_to_num(0.0, 0.0, 0.0)
        if not same(first.detach(), again, 1e-3 * first.detach().abs().clamp(min=1e-6)):
            obstacle = "random numbers are drawn from elsewhere than from torch's own generator"
            raise ParameterError(ASKED, obstacle, "Draw them by torch, and give it no generator: it has secret bits.")
        for seed, scale in ((1, 1.0), (2, 16.0)):
            other = self.three.with_changed(MadeUp.like(self.three.inputs, self.three.targets, seed, self.whole), scale)
            lost = self._lost(other)
            apart = same(lost[kept].detach(), first[kept].detach(), slack[kept])
            moved = self._gradient(lost[kept] @ weights.to(lost))
            changed = state.written()
            state.restore()
            if not apart or (_finite(moved) and self._far(moved, plain)):
                raise ParameterError(ASKED, "what the model or the loss gives for one record depends on another", APART)
            if found := differing(written, changed):
                obstacle = f"a forward pass writes {found[0]}, which then is about records, without noise"
                raise ParameterError(ASKED, obstacle, "Let it write nothing, or take the observer out of the model.")
        two = self._lost(self.three[kept])
        fewer = self._gradient(two @ weights.to(two))
        state.restore()
        if not self.others and self._far(fewer, plain):
            obstacle = "what the model or the loss gives for a record depends on how many there are"
            raise ParameterError(ASKED, obstacle, APART)

    def _far(self, found: dict[str, Tensor], wanted: dict[str, Tensor]) -> list[str]:
        """The parameters whose gradients are not the same, up to rounding."""
        whole = torch.stack([one.detach().double().norm() for one in wanted.values()]).norm()
        if not torch.isfinite(whole):
            return []
        most = _rounding(next(iter(wanted.values()))) * whole
        return [name for name, one in wanted.items() if not (found[name].double() - one.double()).norm() <= most]

    def _led(self, taken: list[Layer]) -> list[Layer]:
        """The layers with the leads of their calls: from first axes with three records, and with two."""
        three, two = (self._sizes(taken, self.three[places]) for places in (THREE, THREE[:2]))
        found, whole = [], []
        for layer in taken:
            leads = _leads(three[layer.name], two[layer.name], self.count)
            simple = rule_of(layer.module) is not None
            if leads is None or (any(lead.each == 0 for lead in leads) and not simple):
                whole += [layer]
            else:
                found.append(layer._replace(leads=leads))
        return self._with_whole(found, self._named(whole)) if whole else found

    def _sizes(self, taken: list[Layer], given: MadeUp) -> dict[str, list[_Sizes]]:
        """The first axes in every call of every layer."""
        found: dict[str, list[_Sizes]] = {layer.name: [] for layer in taken}

        def noting(name: str) -> Any:
            def note(_: nn.Module, args: tuple[Any, ...], named: dict[str, Any], out: Any) -> None:
                found[name].append(_Sizes(_first((args, named)), _first(out)))

            return note

        with ExitStack() as hooks, torch.no_grad():
            for layer in taken:
                hooks.callback(layer.module.register_forward_hook(noting(layer.name), with_kwargs=True).remove)
            self._lost(given)
        return found

    def _explained(self, taken: list[Layer]) -> list[Layer]:
        """The layers, if they give the gradients of each record; else with more of them taken with the whole model."""
        lost = self._lost(self.three)
        wanted = [self._gradient(one, keep=True) for one in lost]
        wrong = self._unexplained(taken, wanted)
        if wrong:
            taken = self._with_whole(taken, wrong)
            wrong = self._unexplained(taken, wanted)
        if not wrong:
            return taken
        obstacle = f"the gradient of {wrong[0]} for one record cannot be found"
        remedy = "Use it only in its layer, which keeps records along the first axis, and not in the loss."
        raise ParameterError(ASKED, obstacle, remedy)

    def _with_whole(self, taken: list[Layer], names: Sequence[str]) -> list[Layer]:
        """The layers, with these parameters taken from the whole model, whose gradients are written out."""
        if self.random:
            obstacle = f"{names[0]} is used outside of its layer, or once for all records, beside random draws"
            raise ParameterError(ASKED, obstacle, "Use it in its layer, with an entry for each record.")
        before = {one for layer in taken if layer.module is self.model for one in layer.trained}
        names = [name for name in self.trained if name in before or name in names]
        whole = {id(self.trained[name]) for name in names}
        left = [
            layer._replace(trained=[one for one in layer.trained if not _is_of(layer, one, whole)]) for layer in taken
        ]
        kept = [layer for layer in left if layer.name and (layer.trained or type(layer.module) is nn.Embedding)]
        return [*kept, Layer("", self.model, names, WHOLE, extra=True)]

    def _named(self, found: list[Layer]) -> list[str]:
        """The names of the trained parameters of these layers, in the model."""
        whole = {id(dict(layer.module.named_parameters())[name]) for layer in found for name in layer.trained}
        return [name for name, one in self.trained.items() if id(one) in whole]

    def _unexplained(self, taken: list[Layer], wanted: list[dict[str, Tensor]]) -> list[str]:
        """The parameters whose gradients are not what layers give, of any record; all of those shared, if it fails."""
        total = 3 * self.count
        try:
            with SameDraws(self.device):
                uses, _ = captured(self.model, taken, lambda: self._each(self.three) / self.count, total)
            with torch.no_grad():
                forms = by_parameter(self.model, uses, self.count)
                found = [
                    {
                        name: forms[name].weighted(one, long[name].norm().clamp(min=LEAST)).view_as(kept)
                        if name in forms
                        else torch.zeros_like(kept)
                        for name, kept in self.trained.items()
                    }
                    for one, long in zip(torch.eye(3, device=self.device), wanted, strict=True)
                ]
        except (RuntimeError, ValueError, IndexError) as error:  # shapes that do not meet
            shared = [one for one in taken if one.trained and one.leads and any(lead.each != 1 for lead in one.leads)]
            if isinstance(error, ParameterError) and error.asked == ASKED:  # a layer that says so itself
                raise
            return self._named(shared or taken)
        far = {name for one, other in zip(found, wanted, strict=True) for name in self._far(one, other)}
        return [name for name in self.trained if name in far]


@dataclass(frozen=True)
class _Sizes:
    """First axes of what a layer was given and of what it gave; none for what has no axes."""

    given: tuple[int | None, ...]
    gave: tuple[int | None, ...]


def _first(tree: Any) -> tuple[int | None, ...]:
    return tuple(len(part) if isinstance(part, Tensor) and part.dim() else None for part in tree_flatten(tree)[0])


def _leads(three: list[_Sizes], two: list[_Sizes], views: int) -> tuple[Lead, ...] | None:
    """Those of all calls of a layer; none where they cannot be told."""
    if len(three) != len(two):
        return None
    found = []
    for many, few in zip(three, two, strict=True):
        sizes = [size for size in zip(many.gave, few.gave, strict=True) if None not in size]
        if len(many.given) != len(few.given) or not sizes:
            return None
        each = _each(*sizes[0], views)
        if each is None:
            return None
        apart = tuple(a is not None and b is not None and a != b for a, b in zip(many.given, few.given, strict=True))
        found.append(Lead(each, apart))
    return tuple(found)


def _each(three: int | None, two: int | None, views: int) -> int | None:
    """How many entries each input has, where there are so many with three records and with two; 0 if all share them."""
    assert three is not None
    assert two is not None
    if three == two:
        return 0
    each, rest = divmod(two, 2 * views)
    return each if rest == 0 and each * 3 * views == three else None


def _is_of(layer: Layer, name: str, tensors: set[int]) -> bool:
    return id(dict(layer.module.named_parameters(remove_duplicate=False))[name]) in tensors


def _finite(found: dict[str, Tensor]) -> bool:
    return all(bool(torch.isfinite(one).all()) for one in found.values())


def _drawn(like: Tensor, generator: torch.Generator, whole: int) -> Tensor:
    shape = (3, *like.shape[1:])
    if like.is_floating_point() or like.is_complex():
        found = torch.rand(shape, generator=generator)
    else:
        found = torch.randint(whole, shape, generator=generator)
    return found.to(device=like.device, dtype=like.dtype)


def _rounding(one: Tensor) -> float:
    """How far gradients may be apart that are computed in two ways, relative to their lengths."""
    if one.dtype == torch.float64:
        return 1e-7
    if one.dtype == torch.float32:
        return 2e-2 if one.is_cuda else 1e-3
    return 0.2


@contextmanager
def _moved(model: nn.Module) -> Iterator[None]:
    """Inside, the trained parameters are others, near by: each number by about a third of what one has at the start."""
    drawn = torch.randn(DRAWN, generator=torch.Generator().manual_seed(0))
    found = {}
    for name, one in model.named_parameters():
        if one.requires_grad:
            fan = max(1, one.numel() // len(one)) if one.dim() > 1 else 9
            noise = drawn.to(one).repeat(-(-one.numel() // DRAWN))[: one.numel()].view_as(one)
            found[name] = (one.detach() + noise / (3 * fan**0.5)).requires_grad_()
    with replaced_parameters(model, found):
        yield
