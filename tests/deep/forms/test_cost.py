"""The way to lengths: the cheapest by its closed form, the same lengths by each, and shown before any training."""

from __future__ import annotations

import torch
from torch import nn

from discreet.deep.checks.check import check
from discreet.deep.forms.cost import AT_HAND, Way, of_convolution, of_matrix
from discreet.deep.forms.outer_products import OuterProducts
from discreet.deep.forms.patches import Kernel, Patches


def test_the_cheaper_way_is_taken() -> None:
    for places in (2, 7, 30, 200):
        for d, p in ((3, 5), (64, 64), (512, 2048)):
            cost = of_matrix(places, d, p)
            assert cost.products == min(places**2 * (d + p), places * d * p)
    assert of_matrix(1, 512, 2048).products < 3000


def test_a_residual_network_is_written_out_once_on_a_processor_and_by_pairs_where_places_are_few() -> None:
    kernel = (64, 64, 3, 3)
    assert of_convolution(64, 1, (34, 34), (32, 32), (16, 16, 3, 3), 1).way is Way.KEPT
    assert of_convolution(64, 1, (34, 34), (32, 32), (16, 16, 3, 3), 1, kernel=True).way is Way.KEPT
    assert of_convolution(1 + AT_HAND // (64 * 64 * 9), 1, (34, 34), (32, 32), kernel, 1).way is Way.WRITTEN
    assert of_convolution(64, 1, (6, 6), (4, 4), (256, 256, 3, 3), 1).way is Way.PAIRS
    assert of_convolution(64, 1, (6, 6), (4, 4), (256, 256, 3, 3), 1, kernel=True).way is Way.KEPT
    assert of_convolution(64, 1, (6, 6), (4, 4), (256, 256, 3, 3), 2).way is not Way.PAIRS
    assert of_convolution(64, 2, (6, 6), (4, 4), (256, 256, 3, 3), 1).way is not Way.PAIRS  # two images each


def test_every_way_gives_the_same_lengths() -> None:
    """Up to what is added for rounding where places cancel one another."""
    torch.manual_seed(0)
    for places in (1, 3, 40):
        form = OuterProducts(torch.randn(4, places, 9), torch.randn(4, places, 8))
        written = form.explicit().square().sum(dim=(1, 2))
        torch.testing.assert_close(form.squares()[0], written, rtol=1e-4, atol=0)
        torch.testing.assert_close(form.squared_norms(), written, rtol=2e-3 * places, atol=0)
    for channels, size in ((2, 12), (40, 3)):
        kernel = Kernel((channels, channels, 3, 3), (1, 1), (1, 1), (1, 1), 1)
        patches = Patches(torch.randn(4, channels, size, size), torch.randn(4, channels, size, size), kernel)
        torch.testing.assert_close(
            patches.squared_norms(), patches.explicit().flatten(1).square().sum(dim=1), rtol=1e-4, atol=0
        )


def test_the_plan_is_shown_for_each_parameter() -> None:
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.Flatten(), nn.Linear(16, 2))
    model[1].bias.requires_grad_(False)
    torch.manual_seed(0)
    before = torch.rand(1)
    torch.manual_seed(0)
    checked = check(model, torch.ones(2, 1, 4, 4))
    assert torch.equal(torch.rand(1), before)  # nothing is drawn
    ways = {one.name: one.cost.way for one in checked.costs}
    assert list(ways) == ["0.weight", "0.bias", "1.weight", "3.weight", "3.bias"]
    assert (ways["0.weight"], ways["3.weight"]) == (Way.KEPT, Way.CLOSED)
    assert all(name in str(checked) and name in checked._repr_html_() for name in ways)
    assert check(model).costs == ()
