"""Refuses optimizers and schedules that look at more than noisy gradients."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, signature

from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from discreet.core.errors import ParameterError

ASKED = "train"


def check_optimizer(optimizer: Optimizer, schedule: LRScheduler | None, trained: Mapping[str, Tensor]) -> None:
    """Refuse, before any charge, what would fail later or use what is not paid for.

    Parameters
    ----------
    optimizer : Optimizer
        Public. It must hold all trained parameters, and no other one that has a gradient.
    schedule : LRScheduler, optional
        Public. Of this optimizer, by the number of steps alone.
    trained : mapping of str to Tensor
        Public. The parameters that get noisy gradients, by name.
    """
    held = [one for group in optimizer.param_groups for one in group["params"]]
    foreign = [name for name, one in trained.items() if all(one is not other for other in held)]
    if foreign:
        raise ParameterError(ASKED, f"the optimizer does not hold {foreign[0]}", "Give it model.parameters().")
    known = {id(one) for one in trained.values()}
    if any(one.grad is not None and id(one) not in known for one in held):
        obstacle = "the optimizer holds a parameter that is not trained and has a gradient, without noise"
        raise ParameterError(ASKED, obstacle, "Call zero_grad() of the model first.")
    closure = signature(type(optimizer).step).parameters.get("closure")
    if closure is not None and closure.default is Parameter.empty:
        obstacle = f"{type(optimizer).__name__} computes losses itself, by a closure"
        raise ParameterError(ASKED, obstacle, "Give an optimizer that needs gradients alone, such as SGD or Adam.")
    if schedule is not None and (isinstance(schedule, ReduceLROnPlateau) or schedule.optimizer is not optimizer):
        obstacle = "the schedule follows a loss, or another optimizer"
        raise ParameterError(ASKED, obstacle, "Give one of this optimizer by the number of steps alone.")
