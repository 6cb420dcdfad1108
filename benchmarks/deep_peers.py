"""Private steps by Opacus, in each of its ways to find the gradients of single samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

OPACUS = ("hooks", "ew", "ghost")
Losses = Callable[[Tensor, Tensor], Tensor]
Context = Callable[[], Any]


def opacus(
    way: str, model: nn.Module, losses: Losses, inputs: Tensor, targets: Tensor, clip: float, precision: Context
) -> Callable[[], None]:
    """A step: forward, backward, clipping, noise, SGD with momentum. Needs the package `opacus`."""
    from opacus.grad_sample.utils import wrap_model
    from opacus.optimizers import DPOptimizer
    from opacus.optimizers.optimizer_fast_gradient_clipping import DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping

    plain = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    settings = {"noise_multiplier": 1.0, "max_grad_norm": clip, "expected_batch_size": len(inputs)}
    if way == "ghost":
        wrapped: Any = wrap_model(model, grad_sample_mode=way, max_grad_norm=clip)
        optimizer: Any = DPOptimizerFastGradientClipping(plain, **settings)
        each = DPLossFastGradientClipping(wrapped, optimizer, nn.CrossEntropyLoss(), loss_reduction="mean")

        def loss() -> Any:
            found = wrapped(inputs)
            return each(
                found.flatten(0, -2), targets.flatten(), **({"shape": targets.shape} if targets.dim() > 1 else {})
            )
    else:
        wrapped = wrap_model(model, grad_sample_mode=way, batch_first=True, loss_reduction="mean")
        optimizer = DPOptimizer(plain, **settings)

        def loss() -> Any:
            return losses(wrapped(inputs), targets).mean()

    def step() -> None:
        optimizer.zero_grad()
        with precision():
            found = loss()
        found.backward()
        optimizer.step()

    return step
