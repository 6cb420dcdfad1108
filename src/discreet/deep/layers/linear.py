"""Linear layers."""

from __future__ import annotations

from torch import Tensor, nn

from discreet.deep.forms.explicit import Explicit
from discreet.deep.forms.finite import in_precision_of
from discreet.deep.forms.form import Form
from discreet.deep.forms.outer_products import OuterProducts
from discreet.deep.layers.rule import rule


@rule(nn.Linear)
def linear(module: nn.Linear, inputs: Tensor, slopes: Tensor) -> dict[str, Form]:
    """A matrix and a bias; all axes between the first and the last are places."""
    places = inputs.reshape(len(inputs), -1, inputs.shape[-1])
    slopes = slopes.reshape(len(slopes), -1, slopes.shape[-1])
    return linear_forms(places, slopes, "weight", None if module.bias is None else "bias")


def linear_forms(places: Tensor, slopes: Tensor, weight: str, bias: str | None) -> dict[str, Form]:
    """The forms of a matrix, and of a bias, that are the same for all places: shapes (samples, places, d or p)."""
    forms: dict[str, Form] = {weight: OuterProducts(in_precision_of(slopes, places), slopes)}
    if bias is not None:
        forms[bias] = Explicit(slopes.float().sum(dim=1))
    return forms
