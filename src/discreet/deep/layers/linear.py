"""Linear layers."""

from __future__ import annotations

from torch import Tensor, nn

from discreet.deep.forms.explicit import Explicit
from discreet.deep.forms.form import Form
from discreet.deep.forms.outer_products import OuterProducts
from discreet.deep.forms.precision import in_precision_of
from discreet.deep.layers.rule import rule


@rule(nn.Linear)
def linear(module: nn.Linear, inputs: Tensor, slopes: Tensor) -> dict[str, Form]:
    """A matrix and a bias; all axes between the first and the last are places."""
    places = in_precision_of(slopes, inputs).reshape(len(inputs), -1, inputs.shape[-1])
    slopes = slopes.reshape(len(slopes), -1, slopes.shape[-1])
    forms: dict[str, Form] = {"weight": OuterProducts(places, slopes)}
    if module.bias is not None:
        forms["bias"] = Explicit(slopes.float().sum(dim=1))
    return forms
