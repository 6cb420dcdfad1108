"""Gradients of embeddings: few rows of a long table."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from discreet.deep.forms.cost import Cost, Way
from discreet.deep.forms.explicit import times
from discreet.deep.forms.finite import overflown
from discreet.deep.forms.form import Form
from discreet.deep.forms.outer_products import OuterProducts
from discreet.deep.forms.precision import FLOOR, cut_off, product, unit, wide
from discreet.deep.forms.rounding import lengthened

FEW = 2.0**10  # by how much places that chose one row may be longer than their sum


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
    >>> form.squared_norms().round(), form.weighted(torch.ones(1), 1.0).T
    (tensor([5.]), tensor([[1., 0., 2.]], dtype=torch.float64))
    """

    chosen: Tensor
    slopes: Tensor
    rows: int

    @property
    def cost(self) -> Cost:
        """The way to the lengths: pairs of places that chose the same row."""
        places = self.slopes.shape[1]
        return Cost(Way.PAIRS, places * places * self.slopes.shape[2])

    @property
    def rounding(self) -> float:
        """What rounding may add to a sample's part in the sum: hardly anything in float64."""
        return 0.0

    @property
    def guard(self) -> float:
        """What is added to squared lengths, of the greatest that places may come to: for what rounding may hide."""
        places, d = self.slopes.shape[1:]
        return (2 * places + d + 8) * unit(self.slopes) + FEW**-2

    @property
    def cut(self) -> float:
        """How far the gradient that is measured may be from that which is added up, of the root of that."""
        return cut_off(self.slopes)

    def squared_norms(self) -> Tensor:
        """The squared length of each sample's gradient."""
        return lengthened(*self.squares(), self.guard, self.cut)

    def squares(self) -> tuple[Tensor, Tensor]:
        """The squared lengths as they are found, and what they are at most: all places in one row."""
        same = self.chosen[:, :, None] == self.chosen[:, None, :]
        met = product(self.slopes, self.slopes.mT)
        places, d = self.slopes.shape[1:]
        greatest = places * (met.diagonal(dim1=1, dim2=2).sum(dim=1) + FLOOR * places * d)
        return (met * same).sum(dim=2).sum(dim=1), greatest

    def weighted(self, weights: Tensor, clip: float | Tensor) -> Tensor:
        """The sum of the gradients, each times its weight."""
        slopes = times(self.slopes, weights).double()
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

    @property
    def rounding(self) -> float:
        """What rounding may add to a sample's part in the sum."""
        return self.products.rounding

    def squared_norms(self) -> Tensor:
        """The squared length of each sample's gradient; what either use may hide counts twice, as both add up."""
        places = self.rows.chosen[:, None, :].expand(-1, self.products.slopes.shape[1], -1)
        out = wide(self.products.slopes.gather(2, places))
        met = wide(self.products.inputs) @ wide(self.rows.slopes).mT
        (rows, many), (products, long) = self.rows.squares(), self.products.squares()
        guard = 2 * max(*(one.guard + 3 * one.cut for one in (self.rows, self.products)), self._met_guard)
        found = rows + products + 2 * (out * met).sum(dim=2).sum(dim=1) + guard * (many + long)
        return lengthened(found, long, 0.0, self.products.stored) + overflown(self.products.inputs)

    def weighted(self, weights: Tensor, clip: float | Tensor) -> Tensor:
        """The sum of the gradients, each times its weight."""
        return self.rows.weighted(weights, clip) + self.products.weighted(weights, clip)

    def explicit(self) -> Tensor:
        """The gradients themselves."""
        return self.rows.explicit() + self.products.explicit()

    def grouped(self, count: int) -> TiedRows:
        """The places of a group, in both uses."""
        return TiedRows(self.rows.grouped(count), self.products.grouped(count))

    @property
    def _met_guard(self) -> float:
        """For the products where both meet."""
        places, d = self.rows.slopes.shape[1:]
        terms = places + self.products.inputs.shape[1] + d + 8
        return terms * unit(self.rows.slopes) + 2 * cut_off(wide(self.rows.slopes[:0]))

    def joined(self, other: Form) -> TiedRows | None:
        """With one more use of either kind."""
        if isinstance(other, ChosenRows):
            rows = self.rows.joined(other)
            return None if rows is None else TiedRows(rows, self.products)
        products = self.products.joined(other)
        return None if products is None else TiedRows(self.rows, products)
