"""Networks that private training is measured on: plain modules, in which no sample depends on another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


class ResidualBlock(nn.Module):
    """Two convolutions after their normalisations, and a way around them."""

    def __init__(self, given: int, wide: int, stride: int) -> None:
        super().__init__()
        self.before, self.between = nn.GroupNorm(16, given), nn.GroupNorm(16, wide)
        self.first = nn.Conv2d(given, wide, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(wide, wide, 3, 1, 1, bias=False)
        same = given == wide and stride == 1
        self.around = nn.Identity() if same else nn.Conv2d(given, wide, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        ready = functional.relu(self.before(x))
        rest = self.around(x if isinstance(self.around, nn.Identity) else ready)
        return rest + self.second(functional.relu(self.between(self.first(ready))))


def wide_residual(depth: int = 16, width: int = 4) -> nn.Module:
    """WRN-depth-width of Zagoruyko and Komodakis 2016, with groups of channels normalised instead of batches."""
    widths, blocks = [16, 16 * width, 32 * width, 64 * width], []
    for stage in range(3):
        for place in range((depth - 4) // 6):
            given = widths[stage] if place == 0 else widths[stage + 1]
            blocks.append(ResidualBlock(given, widths[stage + 1], 2 if stage and not place else 1))
    last = [nn.GroupNorm(16, widths[3]), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[3], 10)]
    return nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), *blocks, *last)


class AttentionBlock(nn.Module):
    """Attention and two layers, each after its normalisation."""

    def __init__(self, size: int, heads: int, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.before, self.between = nn.LayerNorm(size), nn.LayerNorm(size)
        self.asked, self.answered = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.wider, self.narrower = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x: Tensor) -> Tensor:
        samples, places, size = x.shape
        parts = self.asked(self.before(x)).view(samples, places, 3, self.heads, size // self.heads)
        asked, keys, values = parts.permute(2, 0, 3, 1, 4)
        found = functional.scaled_dot_product_attention(asked, keys, values, is_causal=self.causal)
        x = x + self.answered(found.transpose(1, 2).reshape(samples, places, size))
        return x + self.narrower(functional.gelu(self.wider(self.between(x))))


class Transformer(nn.Module):
    """Blocks of attention over embedded words, or over patches of pixels whose answers are averaged."""

    def __init__(self, size: int, blocks: int, heads: int, places: int, words: int, pixels: int, out: int) -> None:
        super().__init__()
        self.given = nn.Embedding(words, size) if words else nn.Linear(pixels, size)
        self.where = nn.Embedding(places, size)
        self.blocks = nn.Sequential(*(AttentionBlock(size, heads, bool(words)) for _ in range(blocks)))
        self.last, self.head, self.whole = nn.LayerNorm(size), nn.Linear(size, out, bias=not words), not words

    def forward(self, x: Tensor) -> Tensor:
        places = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2]).contiguous()
        found = self.last(self.blocks(self.given(x) + self.where(places)))
        return self.head(found.mean(dim=1) if self.whole else found)


def losses(given: Tensor, wanted: Tensor) -> Tensor:
    """The cross entropy of each sample, averaged over its places."""
    each = functional.cross_entropy(
        (given if given.dtype == torch.float64 else given.float()).flatten(0, -2), wanted.flatten(), reduction="none"
    )
    return each.view(len(wanted), -1).mean(dim=1)


@dataclass(frozen=True)
class Case:
    """A network, and the shapes of one sample and its target."""

    model: Callable[[], nn.Module]
    inputs: tuple[int, ...]
    targets: tuple[int, ...]
    classes: int
    words: int = 0

    def batch(self, samples: int, device: str) -> tuple[Tensor, Tensor]:
        """Random samples."""
        generator = torch.Generator().manual_seed(0)
        shape = (samples, *self.inputs)
        inputs = torch.randint(self.words, shape, generator=generator) if self.words else torch.randn(shape)
        targets = torch.randint(self.classes, (samples, *self.targets), generator=generator)
        return inputs.to(device), targets.to(device)


def perceptron() -> nn.Module:
    """Three layers, 1.9 million parameters."""
    return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))


CASES = {
    "MLP": Case(perceptron, (784,), (), 10),
    "WRN-16-4": Case(wide_residual, (3, 32, 32), (), 10),
    "ResNet-20": Case(lambda: wide_residual(22, 1), (3, 32, 32), (), 10),
    "transformer 6x512": Case(lambda: Transformer(512, 6, 8, 128, 8192, 0, 8192), (128,), (128,), 8192, 8192),
    "ViT-B": Case(lambda: Transformer(768, 12, 12, 196, 0, 768, 1000), (196, 768), (), 1000),
}
