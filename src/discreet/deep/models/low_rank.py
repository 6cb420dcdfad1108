"""Fine-tuning by low-rank additions to linear layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError

ASKED = "add low-rank layers"


class LowRank(nn.Module):
    """A linear layer that stays as it is, plus a product of two small matrices that are trained (Hu et al. 2022).

    The second matrix starts at zero, so that at first the layer computes what it did before.

    Parameters
    ----------
    base : Linear
        Public. Trained before, on other data; its parameters are frozen.
    rank : int
        Public. Of the product.
    scale : float
        Public. What the product is multiplied with.

    Examples
    --------
    >>> base, inputs = nn.Linear(64, 64), torch.randn(3, 64)
    >>> layer = LowRank(base, rank=4)
    >>> torch.equal(layer(inputs), base(inputs)), sum(one.numel() for one in layer.parameters() if one.requires_grad)
    (True, 512)
    """

    def __init__(self, base: nn.Linear, rank: int, scale: float = 1.0) -> None:
        super().__init__()
        check_whole(ASKED, "rank", rank)
        self.base, self.scale = base.requires_grad_(False), scale
        where = {"device": base.weight.device, "dtype": base.weight.dtype}
        self.down = nn.Linear(base.in_features, rank, bias=False, **where)
        self.up = nn.Linear(rank, base.out_features, bias=False, **where)
        nn.init.zeros_(self.up.weight)

    def forward(self, inputs: Tensor) -> Tensor:
        """What the layer gave before, plus the product."""
        found: Tensor = self.base(inputs) + self.scale * self.up(self.down(inputs))
        return found

    def merged(self) -> nn.Linear:
        """One linear layer that computes the same: post-processing, which costs nothing."""
        found = nn.Linear(self.base.in_features, self.base.out_features, bias=self.base.bias is not None)
        with torch.no_grad():
            found.to(self.base.weight)
            found.weight.copy_(self.base.weight + self.scale * self.up.weight @ self.down.weight)
            if self.base.bias is not None:
                found.bias.copy_(self.base.bias)
        return found


def with_low_rank(model: nn.Module, rank: int, *names: str, scale: float = 1.0) -> nn.Module:
    """Freeze a model and add low-rank products to its linear layers, in place: few parameters, and so little noise.

    Parameters
    ----------
    model : Module
        Public. Trained before, on other data.
    rank : int
        Public. Of the products.
    *names : str
        Public. Of the layers, as in `named_modules`; by default all that are `nn.Linear`.
    scale : float
        Public. What products are multiplied with.

    Examples
    --------
    >>> model = with_low_rank(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2)), 4, "0")
    >>> [name for name, one in model.named_parameters() if one.requires_grad]
    ['0.down.weight', '0.up.weight']
    """
    found = [name for name, module in model.named_modules() if type(module) is nn.Linear]
    missing = sorted(set(names) - set(found)) if names else [] if found else ["any nn.Linear"]
    if missing:
        raise ParameterError(ASKED, f"the model has no linear layer {missing[0]}", f"It has: {', '.join(found)}.")
    if "" in found:
        raise ParameterError(ASKED, "the model is a linear layer itself", "Use LowRank(model, rank).")
    model.requires_grad_(False)
    for name in names or found:
        above, _, last = name.rpartition(".")
        setattr(model.get_submodule(above), last, LowRank(model.get_submodule(name), rank, scale))  # type: ignore[arg-type]
    return model
