from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from discreet.core.errors import ParameterError
from discreet.deep.checks.check import check
from discreet.deep.models.low_rank import LowRank, with_low_rank
from tests.deep.layers.test_composite import FEW
from tests.deep.layers.trial import agrees

SIZES = st.integers(1, 6)


@FEW
@given(*[SIZES] * 6, st.booleans())
def test_clipped_sums_are_exact_of_any_shape(
    samples: int, places: int, d: int, p: int, rank: int, seed: int, bias: bool
) -> None:
    torch.manual_seed(seed)
    model = with_low_rank(nn.Sequential(nn.Linear(d, p, bias=bias), nn.Tanh(), nn.Linear(p, d)), rank, scale=0.5)
    for one in model.modules():
        if isinstance(one, LowRank):
            nn.init.normal_(one.up.weight)
    if seed % 2:
        model[0].base.requires_grad_(True)  # type: ignore[index]  # frozen and trained ones mixed
    agrees(model, torch.randn(samples, places, d))


def test_nothing_changes_at_first_and_merging_changes_nothing() -> None:
    torch.manual_seed(0)
    plain, x = nn.Linear(5, 4), torch.randn(3, 5)
    layer = LowRank(plain, 2)
    torch.testing.assert_close(layer(x), plain(x))
    nn.init.normal_(layer.up.weight)
    torch.testing.assert_close(layer.merged()(x), layer(x))
    assert not torch.allclose(layer(x), plain(x))


def test_all_linear_layers_or_those_named() -> None:
    def model() -> nn.Module:
        return nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.ReLU(), nn.Linear(3, 2)))

    assert [type(one) for one in with_low_rank(model(), 1).modules()].count(LowRank) == 2
    one = with_low_rank(model(), 1, "1.1")
    assert check(one).by_rule == ("1.1.down", "1.1.up")
    with pytest.raises(ParameterError, match=r"no linear layer 7.*It has: 0, 1\.1"):
        with_low_rank(model(), 1, "7")
    with pytest.raises(ParameterError, match="LowRank"):
        with_low_rank(nn.Linear(2, 2), 1)
