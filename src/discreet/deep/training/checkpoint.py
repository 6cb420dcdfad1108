"""States that a run has written, and that one goes on from: what it could not have written is refused."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten

from discreet.core.errors import ParameterError

RESUMED = "resume"
ANOTHER = "Give a checkpoint of a run with this plan, model and optimizer."


def checked_checkpoint(checkpoint: Any, parts: Mapping[str, Any], steps: int) -> int:
    """How many steps were made, if everything in the checkpoint can be from such a run."""
    if not isinstance(checkpoint, Mapping):
        raise ParameterError(RESUMED, f"a {type(checkpoint).__name__} is no checkpoint", ANOTHER)
    if missing := sorted({*parts, "done"} - set(checkpoint)):
        raise ParameterError(RESUMED, f"the checkpoint has no {missing[0]}", "Give the trainer what it had before.")
    done = checkpoint["done"]
    if type(done) is not int or not 0 <= done <= steps:
        raise ParameterError(RESUMED, f"{done} steps were made, of {steps}", ANOTHER)
    for name, one in parts.items():
        if not isinstance(checkpoint[name], Mapping):
            raise ParameterError(RESUMED, f"what it holds for {name} is no state", ANOTHER)
        if any(not bool(torch.isfinite(torch.as_tensor(leaf)).all()) for leaf in _numbers(checkpoint[name])):
            raise ParameterError(RESUMED, f"what it holds for {name} is not finite", ANOTHER)
        if isinstance(one, nn.Module) and _shapes(checkpoint[name]) != _shapes(one.state_dict()):
            raise ParameterError(RESUMED, f"what it holds for {name} has other names or shapes", ANOTHER)
    return done


def load_checkpoint(checkpoint: Mapping[str, Any], parts: Mapping[str, Any]) -> None:
    """Give each part its state; where one does not fit, all keep what they had."""
    before = {name: deepcopy(one.state_dict()) for name, one in parts.items()}
    try:
        for name, one in parts.items():
            one.load_state_dict(checkpoint[name])
    except Exception as error:
        for name, one in parts.items():
            one.load_state_dict(before[name])
        raise ParameterError(RESUMED, f"the checkpoint does not fit: {error}", ANOTHER) from error


def _numbers(state: Any) -> list[Any]:
    """The tensors and real numbers in what a part has kept."""
    return [leaf for leaf in tree_flatten(state)[0] if isinstance(leaf, Tensor | float)]


def _shapes(state: Any) -> dict[str, Any]:
    return {name: (one.shape, one.dtype) if isinstance(one, Tensor) else type(one) for name, one in dict(state).items()}
