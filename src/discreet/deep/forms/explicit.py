"""Gradients that are written out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from discreet.deep.forms.blocks import weighted_sum
from discreet.deep.forms.cost import Cost, Way
from discreet.deep.forms.form import Form
from discreet.deep.forms.precision import FLOOR, unit, wide
from discreet.deep.forms.rounding import rounding_of


def squared_lengths(rows: Tensor) -> Tensor:
    """The squared length of each entry of the first axis, in float32 at least, and never less: rounding is added.

    The last axes are added up first, and then the sums: each is of few terms, in whatever order.

    Examples
    --------
    >>> squared_lengths(torch.tensor([[[1.0], [2.0]], [[0.0], [3.0]]]))
    tensor([5.0000, 9.0000])
    """
    kind = torch.float64 if rows.dtype == torch.float64 else torch.float32
    rows = rows.flatten(min(2, rows.dim() - 1)) if rows.dim() > 1 else rows[:, None]
    found = torch.linalg.vector_norm(rows, dim=-1, dtype=kind).square()
    terms, count = sum(rows.shape[1:]) + 8, rows[0].numel()
    whole = found if found.dim() == 1 else found.sum(dim=1)
    return whole * (1 + 2 * terms * unit(rows)) + count * FLOOR


def counted(values: Tensor, weights: Tensor) -> Tensor:
    """The numbers of samples that have a weight; zero for the others, even where they are not finite."""
    there = (weights > 0).view(-1, *(1 for _ in values.shape[1:]))
    return torch.where(there, values, 0)


def times(values: Tensor, weights: Tensor) -> Tensor:
    """The numbers of each sample, times its weight; zero where that is zero, even where they are not finite.

    They are rounded once, to float32. Where they are not finite, weights are zero: no length is finite.
    """
    values = wide(values)
    factors = weights.view(-1, *(1 for _ in values.shape[1:]))
    return (values * factors.to(values.dtype)).nan_to_num_(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Explicit:
    """Gradients that are written out: of biases, scales, and layers without a form of their own.

    Parameters
    ----------
    values : Tensor of shape (samples, *parameter)
        The gradients.
    """

    values: Tensor

    @property
    def cost(self) -> Cost:
        """The way to the lengths: the gradients are there already."""
        return Cost(Way.KEPT, self.values[0].numel())

    @property
    def rounding(self) -> float:
        """What rounding may add to a sample's part in the sum."""
        return rounding_of(self.values, 1).share

    def squared_norms(self) -> Tensor:
        """The squared length of each sample's gradient."""
        return squared_lengths(self.values)

    def weighted(self, weights: Tensor, clip: float | Tensor) -> Tensor:
        """The sum of the gradients, each times its weight."""
        return weighted_sum(weights, counted(self.values, weights))

    def explicit(self) -> Tensor:
        """The gradients themselves."""
        return self.values

    def grouped(self, count: int) -> Explicit:
        """The sums over groups."""
        return Explicit(torch.unflatten(wide(self.values), 0, (-1, count)).sum(dim=1))

    def joined(self, other: Form) -> Explicit:
        """The sum over both uses; any form can be written out."""
        return Explicit(wide(self.values) + other.explicit())
