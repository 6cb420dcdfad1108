"""Gradients that are written out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from discreet.deep.forms.cost import Cost, Way
from discreet.deep.forms.form import Form


def squared_lengths(rows: Tensor) -> Tensor:
    """The squared length of each entry of the first axis, in float32 at least.

    Examples
    --------
    >>> squared_lengths(torch.tensor([[[1.0], [2.0]], [[0.0], [3.0]]]))
    tensor([5., 9.])
    """
    kind = torch.float64 if rows.dtype == torch.float64 else torch.float32
    return torch.linalg.vector_norm(rows.flatten(1), dim=1, dtype=kind).square()


def counted(values: Tensor, weights: Tensor) -> Tensor:
    """The numbers of samples that have a weight; zero for the others, even where they are not finite."""
    there = (weights > 0).view(-1, *(1 for _ in values.shape[1:]))
    return torch.where(there, values, 0)


def times(values: Tensor, weights: Tensor) -> Tensor:
    """The numbers of each sample, times its weight; zero where that is zero, even where they are not finite."""
    factors = weights.to(values.dtype).view(-1, *(1 for _ in values.shape[1:]))
    return torch.where(factors > 0, values * factors, 0)


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

    def squared_norms(self) -> Tensor:
        """The squared length of each sample's gradient."""
        return squared_lengths(self.values)

    def weighted(self, weights: Tensor) -> Tensor:
        """The sum of the gradients, each times its weight."""
        return torch.tensordot(weights.to(self.values.dtype), counted(self.values, weights), dims=1)

    def explicit(self) -> Tensor:
        """The gradients themselves."""
        return self.values

    def grouped(self, count: int) -> Explicit:
        """The sums over groups."""
        return Explicit(torch.unflatten(self.values, 0, (-1, count)).sum(dim=1))

    def joined(self, other: Form) -> Explicit:
        """The sum over both uses; any form can be written out."""
        return Explicit(self.values + other.explicit())
