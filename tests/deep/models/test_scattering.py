"""Scattering: what it computes, what it does not see, and what it refuses."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.core.errors import ParameterError
from discreet.deep.clipping.clipped_sum import clipped_sum
from discreet.deep.models.scattering import Scattering


def images(samples: int, *shape: int) -> Tensor:
    return torch.rand(samples, *shape, generator=torch.Generator().manual_seed(0))


def by_definition(transform: Scattering, image: Tensor) -> Tensor:
    """Every wavelet at full resolution."""
    step = transform.step
    around = (step // 2, step + step // 2) * 2
    padded = functional.pad(image[None, None], around, mode="reflect")[0, 0]
    down, across = transform.get_buffer("average_y_0"), transform.get_buffer("average_x_0")

    def modulus(values: Tensor, scale: int, angle: int) -> Tensor:
        return torch.fft.ifft2(torch.fft.fft2(values) * getattr(transform, f"wavelets_{scale}")[angle]).abs()

    scales, angles = range(transform.scales), range(transform.angles)
    first = {(scale, angle): modulus(padded, scale, angle) for scale in scales for angle in angles}
    second = [
        modulus(first[scale, angle], greater, last)
        for scale in scales
        for greater in scales[scale + 1 :]
        for angle in angles
        for last in angles
    ]
    return torch.stack([down @ one @ across.T for one in [padded, *first.values(), *second]])


def test_it_is_what_its_definition_says() -> None:
    for given in (Scattering(28, 28), Scattering(16, 24, scales=3, angles=2)):
        image = images(1, given.height, given.width)
        found = given(image)[0]
        assert len(found) == given.channels
        wanted = by_definition(given, image[0])
        assert (found - wanted).norm() < 0.03 * wanted.norm()  # coarse scales are kept at fewer pixels


def test_wavelets_do_not_see_what_is_constant_and_averages_do() -> None:
    found = Scattering(28, 28)(torch.full((1, 28, 28), 0.7))[0]
    torch.testing.assert_close(found[0], torch.full((7, 7), 0.7))
    assert found[1:].abs().max() < 1e-5


def test_a_shift_by_a_pixel_changes_it_less_than_the_image() -> None:
    digit = torch.zeros(1, 28, 28)
    digit[0, 6:22, 13:15] = 1.0
    transform, moved = Scattering(28, 28), digit.roll(1, dims=2)
    change = (transform(moved) - transform(digit)).norm() / transform(digit).norm()
    assert change < 0.35 * (moved - digit).norm() / digit.norm()


def test_each_image_and_color_is_transformed_by_itself() -> None:
    transform, given = Scattering(8, 8), images(4, 3, 8, 8)
    found = transform(given)
    assert found.shape == (4, 3 * transform.channels, 2, 2)
    torch.testing.assert_close(found[2], transform(given[2, :, None].view(3, 8, 8)).flatten(0, 1))


def test_a_model_on_top_of_it_is_trained_as_any_other() -> None:
    model = nn.Sequential(Scattering(8, 8), nn.Flatten(), nn.Linear(81 * 4, 3))
    each = nn.CrossEntropyLoss(reduction="none")
    assert set(model.state_dict()) == {"2.weight", "2.bias"}
    found = clipped_sum(model, each, images(5, 8, 8), torch.zeros(5, dtype=torch.int64), clip=0.1)
    assert 0 < float(found.gradients["2.weight"].norm()) <= 5 * 0.1


def test_images_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ParameterError, match="no multiples of 4"):
        Scattering(30, 28)
    with pytest.raises(ParameterError, match=r"\(5, 8, 12\) are not"):
        Scattering(8, 8)(images(5, 8, 12))
