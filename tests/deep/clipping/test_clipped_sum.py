"""Clipped sums against gradients that are taken sample by sample."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from discreet.core.errors import ParameterError
from discreet.deep.clipping.capture import layers
from discreet.deep.clipping.clipped_sum import ClippedSum, clipped_sum, rehearsed_layers
from discreet.deep.forms.rounding import MARGIN, SLACK


def squares(given: Tensor, wanted: Tensor) -> Tensor:
    """The sum of squares over everything that a sample gives, so that all slopes differ."""
    return (given.flatten(1) - wanted.flatten(1)).square().sum(dim=1)


class Residual(nn.Module):
    """A layer that is called twice."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(torch.tanh(self.layer(x))) + x


class Tied(nn.Module):
    """A language model in small: the table of its words is its output layer too, looked up in two places."""

    def __init__(self, rows: int = 7, wide: int = 4) -> None:
        super().__init__()
        self.words, self.first = nn.Embedding(rows, wide, padding_idx=0), nn.Linear(wide, wide)
        self.head = nn.Linear(wide, rows, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.tanh(self.first(self.words(x)) + self.words(x.flip(1))))


class Attention(nn.Module):
    """Attention that works on samples along the first axis."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.attend = nn.Linear(3, 4), nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        x = self.before(x)
        return self.attend(x, x, x, need_weights=False)[0] + x


class Scale(nn.Module):
    """A layer that nothing is known of, with another inside."""

    def __init__(self) -> None:
        super().__init__()
        self.by, self.inner = nn.Parameter(torch.randn(5)), nn.Linear(5, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.by * self.inner(x)


def frozen(model: nn.Module, *names: str) -> nn.Module:
    for name in names:
        model.get_parameter(name).requires_grad_(False)
    return model


def words(*shape: int) -> Tensor:
    return torch.randint(0, 7, shape)


MODELS: dict[str, Callable[[], tuple[nn.Module, Tensor]]] = {
    "linear": lambda: (nn.Sequential(nn.Linear(5, 8), nn.ReLU(inplace=True), nn.Linear(8, 3)), torch.randn(6, 5)),
    "linear over few places": lambda: (  #
        nn.Sequential(nn.Linear(9, 8), nn.GELU(), nn.Linear(8, 9)),
        torch.randn(6, 3, 9),
    ),
    "linear over many places": lambda: (nn.Linear(2, 3, bias=False), torch.randn(6, 5, 4, 2)),
    "first weight frozen": lambda: (
        frozen(nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 2)), "0.weight", "2.bias"),
        torch.randn(6, 5),
    ),
    "called twice": lambda: (Residual(nn.Linear(4, 4)), torch.randn(6, 4)),
    "convolution called twice": lambda: (Residual(nn.Conv2d(2, 2, 3, padding=1)), torch.randn(6, 2, 5, 5)),
    "conv1d": lambda: (nn.Conv1d(4, 6, 3, stride=2, padding=2, dilation=2), torch.randn(6, 4, 11)),
    "conv2d by pairs": lambda: (
        nn.Sequential(nn.Conv2d(12, 20, 3, stride=2, padding=1), nn.ReLU(inplace=True), nn.Conv2d(20, 40, 2)),
        torch.randn(6, 12, 4, 3),
    ),
    "conv2d in groups": lambda: (nn.Conv2d(4, 6, (3, 5), groups=2, padding="same"), torch.randn(6, 4, 5, 6)),
    "conv2d around the edge": lambda: (nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"), torch.randn(6, 1, 4, 5)),
    "conv3d": lambda: (nn.Conv3d(1, 2, 2), torch.randn(6, 1, 3, 4, 3)),
    "embedding": lambda: (nn.Sequential(nn.Embedding(7, 3), nn.Linear(3, 2)), words(6, 5)),
    "tied embedding": lambda: (Tied(), words(6, 5)),
    "layer norm": lambda: (nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.Linear(6, 2)), torch.randn(6, 3, 4)),
    "layer norm over two axes": lambda: (nn.LayerNorm((3, 4)), torch.randn(6, 2, 3, 4)),
    "rms norm": lambda: (nn.RMSNorm(4), torch.randn(6, 3, 4)),
    "group norm": lambda: (nn.Sequential(nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4)), torch.randn(6, 1, 5, 5)),
    "instance norm": lambda: (nn.InstanceNorm1d(3, affine=True), torch.randn(6, 3, 7)),
    "attention": lambda: (Attention(), torch.randn(6, 4, 3)),
    "unknown layer": lambda: (nn.Sequential(nn.Linear(5, 5), Scale()), torch.randn(6, 5)),
    "transposed convolution": lambda: (nn.ConvTranspose2d(2, 3, 3, stride=2), torch.randn(6, 2, 3, 3)),
}


def agrees(found: ClippedSum, model: nn.Module, inputs: Tensor, targets: Tensor, clip: float, views: int = 1) -> None:
    """The sum is that of gradients that are written out, after the mean over views, and no length is too small."""
    trained = {name: one.detach() for name, one in model.named_parameters() if one.requires_grad}

    def loss(parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return squares(functional_call(model, parameters, (x[None],)), y[None])[0]

    with sdpa_kernel(SDPBackend.MATH):
        each = vmap(grad(loss), in_dims=(None, 0, 0))(trained, inputs, targets.repeat_interleave(views, dim=0))
    each = {name: one.unflatten(0, (-1, views)).mean(dim=1).double() for name, one in each.items()}
    norms = torch.stack([one.flatten(1).square().sum(dim=1) for one in each.values()]).sum(dim=0).sqrt()
    assert (found.norms >= norms * (1 - 1e-5)).all()
    assert (found.norms <= norms * (1 + 2.0**-6) + 1e-12).all()
    own = clip * (1 - MARGIN - SLACK)
    weights = own / found.norms.double().clamp(min=own)
    wanted = {name: torch.tensordot(weights, one, dims=1) for name, one in each.items()}
    assert found.gradients.keys() == wanted.keys()
    whole = torch.sqrt(sum((one.square().sum() for one in wanted.values()), torch.zeros(())))
    for part, one in wanted.items():
        assert (found.gradients[part] - one).norm() <= 1e-5 * whole, part


@pytest.mark.parametrize("name", MODELS)
def test_clipped_sums_are_those_of_gradients_taken_one_by_one(name: str) -> None:
    torch.manual_seed(len(name))
    model, inputs = MODELS[name]()
    targets = torch.randn_like(model(inputs)).detach()
    lengths = clipped_sum(model, squares, inputs, targets).norms
    for clip in (1e-3, float(lengths.median()), 1e3):
        agrees(clipped_sum(model, squares, inputs, targets, clip=clip), model, inputs, targets, clip)
    assert all(one.grad is None for one in model.parameters())


@pytest.mark.parametrize("name", ["called twice", "convolution called twice", "tied embedding"])
def test_uses_of_one_parameter_are_joined_and_need_no_gradients_of_the_whole_model(name: str) -> None:
    """A rehearsal would find that uses are missing, and write out gradients of everything instead: right, and slow."""
    model, inputs = MODELS[name]()
    found = rehearsed_layers(model, squares, inputs, torch.zeros_like(model(inputs)))
    assert not any(layer.extra for layer in found)


def test_views_of_a_sample_are_averaged_before_the_clip() -> None:
    for name in MODELS:
        torch.manual_seed(len(name))
        model, inputs = MODELS[name]()
        targets = torch.randn_like(model(inputs)).detach()[:2]
        whole = clipped_sum(model, squares, inputs, targets, views=3)
        assert whole.norms.shape == whole.losses.shape == (2,)
        clip = float(whole.norms.mean())
        agrees(clipped_sum(model, squares, inputs, targets, clip=clip, views=3), model, inputs, targets, clip, views=3)


def test_layers_without_a_rule_are_taken_whole() -> None:
    assert [(name, len(trained)) for name, _, trained, *_ in layers(Attention())] == [("before", 2), ("attend", 4)]
    assert [(name, trained) for name, _, trained, *_ in layers(nn.Sequential(Scale()))] == [
        ("0", ["by", "inner.weight", "inner.bias"])
    ]


@pytest.mark.parametrize("wrong", [torch.inf, -torch.inf, torch.nan, 1e30])
def test_a_sample_without_a_finite_gradient_counts_for_nothing(wrong: float) -> None:
    torch.manual_seed(0)
    for name in ("linear over few places", "conv2d by pairs", "conv2d in groups", "layer norm", "attention"):
        model, inputs = MODELS[name]()
        targets = torch.randn_like(model(inputs)).detach()
        others = clipped_sum(model, squares, inputs[1:], targets[1:]).gradients
        inputs[0].flatten()[0] = wrong
        found = clipped_sum(model, squares, inputs, targets, there=torch.ones(6, dtype=torch.bool)).gradients
        if wrong == 1e30 and name in {"layer norm", "attention"}:
            continue  # what is normalised is finite again, and counts
        for part, one in others.items():
            torch.testing.assert_close(found[part], one, rtol=1e-5, atol=1e-6)


def test_a_number_beyond_half_precision_counts_for_nothing_either() -> None:
    """What is finite in float32 may not be so where it is multiplied: no other sample may feel that."""
    for kind, large in ((torch.float16, 1e6), (torch.bfloat16, 3.4e38)):  # the largest of bfloat16 is 3.39e38
        for name in ("linear", "linear over few places", "conv2d by pairs"):
            torch.manual_seed(0)
            model, inputs = MODELS[name]()
            inputs[0].flatten()[0] = large
            with torch.autocast("cpu", dtype=kind):
                targets = torch.zeros_like(model(inputs)).detach()
                others = clipped_sum(model, squares, inputs[1:], targets[1:]).gradients
                found = clipped_sum(model, squares, inputs, targets).gradients
            for part, one in others.items():
                torch.testing.assert_close(found[part], one, rtol=1e-2, atol=1e-3)


def test_samples_that_fill_up_the_batch_count_for_nothing() -> None:
    torch.manual_seed(0)
    model, inputs = MODELS["group norm"]()
    targets = torch.randn_like(model(inputs)).detach()
    there = torch.arange(6) < 4
    found = clipped_sum(model, squares, inputs, targets, there=there).gradients
    for part, one in clipped_sum(model, squares, inputs[:4], targets[:4]).gradients.items():
        torch.testing.assert_close(found[part], one, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", [3, 16])
def test_places_that_cancel_do_not_hide_a_long_gradient(size: int) -> None:
    """Products of 1e8 that cancel: float32 cannot tell what is left of them, and takes it for as long as it may be."""
    model, far = nn.Linear(size, size, bias=False), torch.full((50, 2, size), 1e4)
    far[:, 1] += 0.01 * torch.randn(50, size, generator=torch.Generator().manual_seed(0))
    slopes = torch.stack([torch.full((50, size), 1e4), torch.full((50, size), -1e4)], dim=1)
    found = clipped_sum(model, lambda out, wanted: (out * wanted).sum(dim=(1, 2)), far, slopes)
    exact = torch.einsum("btp,btd->bpd", slopes.double(), far.double()).flatten(1).norm(dim=1)
    assert (found.norms.double() >= exact).all()
    assert float(found.gradients["weight"].norm()) <= 50.0


def test_a_sum_over_nobody_is_zero() -> None:
    model, inputs = MODELS["linear over few places"]()
    found = clipped_sum(model, squares, inputs[:0], inputs[:0])
    assert found.gradients.keys() == dict(model.named_parameters()).keys()
    assert not any(one.any() for one in found.gradients.values())
    assert found.norms.shape == (0,)


def test_a_loss_of_the_whole_batch_is_refused() -> None:
    model = nn.Linear(2, 2)
    with pytest.raises(ParameterError, match="one loss for each sample"):
        clipped_sum(model, lambda out, wanted: functional.mse_loss(out, wanted), torch.ones(4, 2), torch.ones(4, 2))


def test_a_clipped_sum_does_not_show_its_samples() -> None:
    found = clipped_sum(nn.Linear(2, 2), squares, torch.ones(4, 2), torch.ones(4, 2))
    assert "tensor" not in repr(found)


def test_a_layer_in_two_places_of_a_model_is_one_and_stays_the_same() -> None:
    torch.manual_seed(0)
    layer, x = nn.Linear(3, 3), torch.randn(5, 3)
    model = nn.Sequential(layer, nn.Tanh(), layer)
    own, before = layer.weight, layer.weight.detach().clone()
    found = clipped_sum(model, lambda out, wanted: (out * wanted).sum(dim=1), x, torch.ones(5, 3), clip=1e6)
    assert layer.weight is own
    assert torch.equal(own, before)
    lost = (model(x)).sum()
    torch.testing.assert_close(
        found.gradients["0.weight"].float(), torch.autograd.grad(lost, [own])[0], rtol=1e-4, atol=1e-5
    )
