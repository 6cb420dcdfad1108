"""Large batches, wide residual networks and averaged weights: a recipe for images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.deep.clipping.augmentation_multiplicity import AugmentationMultiplicity
from discreet.deep.layers.standardized_convolution import StandardizedConv2d
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan

if TYPE_CHECKING:
    from discreet.deep.clipping.clipped_sum import Losses

ASKED = "large batches"
GROUPS, PADDING, LEARNING_RATE = 16, 4, 2.0


class ResidualBlock(nn.Module):
    """Two convolutions after their normalisations, and a way around them."""

    def __init__(self, given: int, wide: int, stride: int) -> None:
        super().__init__()
        self.before, self.between = nn.GroupNorm(GROUPS, given), nn.GroupNorm(GROUPS, wide)
        self.first = StandardizedConv2d(given, wide, 3, stride, 1)
        self.second = StandardizedConv2d(wide, wide, 3, 1, 1)
        same = given == wide and stride == 1
        self.around = None if same else StandardizedConv2d(given, wide, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        """The sum of both ways."""
        ready = functional.relu(self.before(x))
        rest = x if self.around is None else self.around(ready)
        return rest + self.second(functional.relu(self.between(self.first(ready))))


def wide_residual_network(depth: int = 16, width: int = 4, *, colors: int = 3, classes: int = 10) -> nn.Sequential:
    """WRN-depth-width (Zagoruyko and Komodakis 2016) in which no record depends on another: groups, no batches.

    Parameters
    ----------
    depth, width : int
        Public. 6 n + 4 layers, and how many times 16 channels there are.
    colors, classes : int
        Public. What goes in and what comes out.

    Examples
    --------
    >>> tuple(wide_residual_network(10, 1)(torch.zeros(2, 3, 16, 16)).shape)
    (2, 10)
    """
    for name, value in (("width", width), ("colors", colors), ("classes", classes)):
        check_whole(ASKED, name, value)
    if depth < 10 or (depth - 4) % 6:
        raise ParameterError(ASKED, f"depth is {depth}", "Give 10, 16, 22, 28 or so.")
    widths, blocks = [16, 16 * width, 32 * width, 64 * width], []
    for stage in range(3):
        for place in range((depth - 4) // 6):
            given = widths[stage] if place == 0 else widths[stage + 1]
            blocks.append(ResidualBlock(given, widths[stage + 1], 2 if stage and not place else 1))
    last = [nn.GroupNorm(GROUPS, widths[3]), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(StandardizedConv2d(colors, 16, 3, 1, 1), *blocks, *last, nn.Linear(widths[3], classes))


def flipped_and_shifted(images: Tensor) -> Tensor:
    """Each image shifted by up to four pixels, with its border mirrored, and flipped half of the time: by itself."""
    samples, _, height, width = images.shape
    padded = functional.pad(images, (PADDING,) * 4, mode="reflect")
    down, across = (torch.randint(2 * PADDING + 1, (samples, 1), device=images.device) for _ in range(2))
    rows, columns = (
        first + torch.arange(size, device=images.device) for first, size in ((down, height), (across, width))
    )
    mirrored = torch.rand(samples, 1, device=images.device) < 0.5
    columns = torch.where(mirrored, columns.flip(1), columns)
    places = torch.arange(samples, device=images.device)[:, None, None]
    return padded[places, :, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


@dataclass(frozen=True)
class LargeBatch:
    """The recipe of De et al. 2022: what is trained, on what views, by what plan.

    Large batches with much noise, several views of each image averaged before the clip, groups of channels normalised
    instead of batches, standardised kernels, a constant learning rate, and an average of the weights, which is free.

    Parameters
    ----------
    plan : TrainingPlan
        Public. Steps, samples, noise.
    augmentation : AugmentationMultiplicity
        Public. Of each image.
    ema_decay : float
        Public. Of the exponential moving average of the weights.
    learning_rate : float
        Public. Of plain gradient descent.

    Examples
    --------
    >>> recipe = LargeBatch.of(Budget(8.0, 1e-5), expected_size=50_000)
    >>> recipe.plan.steps, round(recipe.plan.noise.multiplier, 1), recipe.augmentation.count
    (1831, 2.2, 16)
    """

    plan: TrainingPlan
    augmentation: AugmentationMultiplicity
    ema_decay: float = 0.999
    learning_rate: float = LEARNING_RATE

    @classmethod
    def of(
        cls,
        budget: Budget,
        *,
        expected_size: int,
        batch: int = 4096,
        epochs: float = 150.0,
        multiplicity: int = 16,
        clip: float = 1.0,
    ) -> LargeBatch:
        """The recipe with the least noise that fits a budget.

        Parameters
        ----------
        budget : Budget
            Public. What the whole run may cost.
        expected_size : int
            Public. How many records there are, about; their number is secret.
        batch : int
            Public. How many records a step looks at, on average.
        epochs : float
            Public. How often a step looks at each record, on average.
        multiplicity : int
            Public. How many views of each image; time grows with it, the price does not.
        clip : float
            Public. The greatest length of the gradient of a record.
        """
        plan = TrainingPlan.of(budget, batch=batch, expected_size=expected_size, epochs=epochs, clip=clip)
        return cls(plan, AugmentationMultiplicity(flipped_and_shifted, multiplicity))

    def trainer(
        self, model: nn.Module, data: PrivateTensors, *, losses: Losses | None = None, chunk: int = 128
    ) -> Trainer:
        """What trains such a model; `average` of it is the one to use.

        Parameters
        ----------
        model : Module
            Public. Such as `wide_residual_network()`.
        data : PrivateTensors
            Images of shape (samples, colors, height, width), and the account that pays.
        losses : callable, optional
            Public. One for each record; the cross entropy by default.
        chunk : int
            Public. How many records, with all of their views, are computed at a time.
        """
        optimizer = torch.optim.SGD(model.parameters(), lr=self.learning_rate)
        each = nn.CrossEntropyLoss(reduction="none") if losses is None else losses
        given = model, optimizer, each, data, self.plan
        return Trainer(*given, chunk=chunk, augmentation=self.augmentation, ema_decay=self.ema_decay)
