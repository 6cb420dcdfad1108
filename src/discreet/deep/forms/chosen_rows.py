"""Gradients of embeddings: few rows of a long table."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from discreet.deep.forms.cost import Cost, Way
from discreet.deep.forms.explicit import times
from discreet.deep.forms.form import Form
from discreet.deep.forms.outer_products import OuterProducts
from discreet.deep.forms.precision import GUARD


@dataclass(frozen=True)
class ChosenRows:
    """The gradient of a sample has slopes[t] added to row number chosen[t], for each place t.

    Its squared length is the sum of g_s'g_t over the pairs of places that chose the same row.

    Parameters
    ----------
    chosen : Tensor of shape (samples, places), whole numbers
        The rows.
    slopes : Tensor of shape (samples, places, d)
        The derivatives of the loss by what went out.
    rows : int
        Public. How many there are.

    Examples
    --------
    >>> form = ChosenRows(torch.tensor([[2, 2, 0]]), torch.ones(1, 3, 1), 3)
    >>> form.squared_norms().round(), form.weighted(torch.ones(1)).T
    (tensor([5.]), tensor([[1., 0., 2.]]))
    """

    chosen: Tensor
    slopes: Tensor
    rows: int

    @property
    def cost(self) -> Cost:
        """The way to the lengths: pairs of places that chose the same row."""
        places = self.slopes.shape[1]
        return Cost(Way.PAIRS, places * places * self.slopes.shape[2])

    def squared_norms(self) -> Tensor:
        """The squared length of each sample's gradient."""
        same = self.chosen[:, :, None] == self.chosen[:, None, :]
        met = (self.slopes @ self.slopes.mT).float()
        hidden = GUARD * self.chosen.shape[1] * met.diagonal(dim1=1, dim2=2).sum(dim=1)
        return (met * same).sum(dim=(1, 2)) + hidden

    def weighted(self, weights: Tensor) -> Tensor:
        """The sum of the gradients, each times its weight."""
        slopes = times(self.slopes, weights)
        empty = slopes.new_zeros(self.rows, slopes.shape[2])
        return empty.index_add(0, self.chosen.flatten(), slopes.flatten(0, 1))

    def explicit(self) -> Tensor:
        """The gradients themselves."""
        empty = self.slopes.new_zeros(len(self.slopes), self.rows, self.slopes.shape[2])
        return empty.scatter_add(1, self.chosen[:, :, None].expand_as(self.slopes), self.slopes)

    def grouped(self, count: int) -> ChosenRows:
        """The places of a group, one after another."""
        chosen, slopes = (torch.unflatten(one, 0, (-1, count)).flatten(1, 2) for one in (self.chosen, self.slopes))
        return ChosenRows(chosen, slopes, self.rows)

    def joined(self, other: Form) -> ChosenRows | None:
        """The places of both uses, one after another."""
        if not isinstance(other, ChosenRows):
            return None
        chosen, slopes = (self.chosen, other.chosen), (self.slopes, other.slopes)
        return ChosenRows(torch.cat(chosen, dim=1), torch.cat(slopes, dim=1), self.rows)


@dataclass(frozen=True)
class TiedRows:
    """A table that is both looked up and multiplied with: an embedding that is the output layer too.

    The two parts of a gradient meet where a looked-up row has a slope as an output: that adds
    2 sum over s, t of h_s[chosen_t] (g_t'a_s), with h the slopes of the outputs and a what they are products with.

    Parameters
    ----------
    rows : ChosenRows
        The use as an embedding.
    products : OuterProducts
        The use as a matrix.
    """

    rows: ChosenRows
    products: OuterProducts

    @property
    def cost(self) -> Cost:
        """The way to the lengths: of both uses, and where they meet."""
        met = self.rows.slopes.shape[1] * self.products.inputs.shape[1] * self.rows.slopes.shape[2]
        return Cost(Way.PAIRS, self.rows.cost.products + self.products.cost.products + met)

    def squared_norms(self) -> Tensor:
        """The squared length of each sample's gradient."""
        places = self.rows.chosen[:, None, :].expand(-1, self.products.slopes.shape[1], -1)
        out = self.products.slopes.gather(2, places).float()
        met = (self.products.inputs @ self.rows.slopes.to(self.products.inputs.dtype).mT).float()
        own = self.rows.squared_norms() + self.products.squared_norms()
        return own + 2 * (out * met).sum(dim=(1, 2))

    def weighted(self, weights: Tensor) -> Tensor:
        """The sum of the gradients, each times its weight."""
        return self.rows.weighted(weights) + self.products.weighted(weights)

    def explicit(self) -> Tensor:
        """The gradients themselves."""
        return self.rows.explicit() + self.products.explicit()

    def grouped(self, count: int) -> TiedRows:
        """The places of a group, in both uses."""
        return TiedRows(self.rows.grouped(count), self.products.grouped(count))

    def joined(self, other: Form) -> TiedRows | None:
        """With one more use of either kind."""
        if isinstance(other, ChosenRows):
            rows = self.rows.joined(other)
            return None if rows is None else TiedRows(rows, self.products)
        products = self.products.joined(other)
        return None if products is None else TiedRows(self.rows, products)
