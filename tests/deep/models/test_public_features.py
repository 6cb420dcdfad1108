"""Features that public images set to one scale."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from discreet.core.errors import ParameterError
from discreet.deep.models.public_features import PublicFeatures
from discreet.deep.models.scattering import Scattering


def images(samples: int, seed: int) -> Tensor:
    return torch.rand(samples, 8, 8, generator=torch.Generator().manual_seed(seed))


def test_channels_of_public_images_are_centered_and_have_no_correlation() -> None:
    public = images(400, 0)
    features = PublicFeatures(Scattering(8, 8), public, shrink=1e-9)
    known = features._normal(public) - features.mean
    mixed = (features.mixing @ known.flatten(2)).transpose(0, 1).flatten(1)
    found = mixed @ mixed.T / mixed.shape[1]
    kept = torch.linalg.matrix_rank(found, atol=1e-3)
    values = torch.linalg.eigvalsh(found)[-int(kept) :]
    assert kept >= 81 - 27  # each group of channels has a mean of zero
    torch.testing.assert_close(values, torch.ones_like(values), atol=0.02, rtol=0)


def test_a_vector_has_length_one_and_depends_on_its_image_alone() -> None:
    features, given = PublicFeatures(Scattering(8, 8), images(50, 0)), images(150, 1)
    found = features.of(given)
    torch.testing.assert_close(found.norm(dim=1), torch.ones(150))
    torch.testing.assert_close(features(given[7:8])[0], found[7])
    assert not list(features.parameters())


def test_classes_take_away_what_is_within_them_alone() -> None:
    """Images of two classes that differ in brightness: only the differences within a class are brought to one."""
    public, classes = images(400, 0), torch.arange(400) % 2
    public[classes == 1, :, :4] *= 5.0
    whole, within = (PublicFeatures(Scattering(8, 8), public, given) for given in (None, classes))
    found = []
    for features in (whole, within):
        known = features.of(public)
        found.append(float((known[classes == 1].mean(dim=0) - known[classes == 0].mean(dim=0)).norm()))
    assert found[1] > 1.2 * found[0]
    with pytest.raises(ParameterError, match="classes of 7"):
        PublicFeatures(Scattering(8, 8), public, classes[:7])


def test_one_public_image_is_refused() -> None:
    with pytest.raises(ParameterError, match="1 public images"):
        PublicFeatures(Scattering(8, 8), images(1, 0))
