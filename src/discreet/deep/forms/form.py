"""What a form of per-sample gradients has to say."""

from __future__ import annotations

from typing import Protocol, Self

from torch import Tensor

from discreet.deep.forms.cost import Cost


class Form(Protocol):
    """The gradients of one parameter, one for each sample, in some form that is smaller than themselves.

    A form is an exact description: `explicit` writes it out, and everything else is faster than that.
    """

    @property
    def cost(self) -> Cost:
        """The way to the lengths that is taken, and what it costs: from shapes alone."""

    @property
    def rounding(self) -> float:
        """What rounding may add to a sample's part in `weighted`, in units of the clip: from shapes alone."""

    def squared_norms(self) -> Tensor:
        """The squared length of each sample's gradient, in float32, or more: shape (samples,).

        It is never less than the length of what the sample adds to `weighted`, nor than what its products come to if
        they do not cancel, over the most that `rounding_of` allows: the proof is in `rounding.md`.
        """

    def weighted(self, weights: Tensor, clip: float | Tensor) -> Tensor:
        """The sum of the gradients, each times its weight, in the shape of the parameter.

        In float64, of blocks that were added up in float32.

        Parameters
        ----------
        weights : Tensor of shape (samples,)
            By which no gradient is longer than the clip.
        clip : float or Tensor
            Public.
        """

    def explicit(self) -> Tensor:
        """The gradients themselves: shape (samples, *parameter)."""

    def grouped(self, count: int) -> Form:
        """The gradients of groups of so many samples, one after another: each group is one sample."""

    def joined(self, other: Form) -> Self | None:
        """Another use of the same parameter and this one as one form, if they are of one kind."""
