"""Features of images that public images set to one scale."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError

CHUNK = 64  # images at a time: what stays in the cache


class PublicFeatures(nn.Module):
    """A fixed transform of images to vectors of length one, centered and whitened by public images.

    Channels are normalised in groups, image by image; the mean over public images is taken off; channels are mixed so
    that those of public images of one class have no correlation; and each vector is brought to length one. A linear
    model on such vectors has short gradients, most of whose length is about what tells images apart: so the same noise
    leaves more of it (Tramèr and Boneh 2021 normalise with private statistics of the images themselves, and pay).

    Parameters
    ----------
    transform : Module
        Public. From images to channels of averages, such as `Scattering`; without trained parameters.
    public : Tensor of shape (samples, height, width)
        Public. Images of the same kind that are nobody's secret.
    classes : Tensor of shape (samples,), optional
        Public. What these are, from 0 on; by default all are of one class.
    groups : int
        Public. How many groups of channels.
    shrink : float
        Public. What is added to the variances of mixed channels, as a part of the greatest.

    Examples
    --------
    >>> from discreet.deep.models.scattering import Scattering
    >>> features = PublicFeatures(Scattering(8, 8), torch.rand(50, 8, 8))
    >>> found = features(torch.rand(5, 8, 8))
    >>> found.shape, bool((found.norm(dim=1) - 1).abs().max() < 1e-5)
    (torch.Size([5, 324]), True)
    """

    mean: Tensor
    mixing: Tensor

    def __init__(
        self,
        transform: nn.Module,
        public: Tensor,
        classes: Tensor | None = None,
        *,
        groups: int = 27,
        shrink: float = 1e-3,
    ) -> None:
        super().__init__()
        check_whole("public features", "groups", groups)
        check_positive("public features", "shrink", shrink)
        if len(public) < 2:
            raise ParameterError("public features", f"there are {len(public)} public images", "Give more.")
        if classes is not None and len(classes) != len(public):
            obstacle = f"there are {len(public)} public images, and classes of {len(classes)}"
            raise ParameterError("public features", obstacle, "Give one class for each.")
        self.transform, self.groups = transform, groups
        with torch.no_grad():
            known = torch.cat([self._normal(part) for part in torch.split(public, CHUNK)])
            mean = known.mean(dim=0)
            rows = (known - _means(known, classes)).transpose(0, 1).flatten(1).double()
            variances, axes = torch.linalg.eigh(rows @ rows.T / rows.shape[1])
            scales = (variances.clamp(min=0) + shrink * variances.max()).rsqrt()
        self.register_buffer("mean", mean)
        self.register_buffer("mixing", ((axes * scales) @ axes.T).float())

    def forward(self, images: Tensor) -> Tensor:
        """A vector for each image."""
        centered = self._normal(images) - self.mean
        return functional.normalize((self.mixing @ centered.flatten(2)).flatten(1), dim=1)

    @torch.no_grad()
    def of(self, images: Tensor) -> Tensor:
        """The same for many images, a few at a time; what trains a model on top reads these once."""
        return torch.cat([self(part) for part in torch.split(images, CHUNK)])

    def _normal(self, images: Tensor) -> Tensor:
        return functional.group_norm(self.transform(images), self.groups)


def _means(known: Tensor, classes: Tensor | None) -> Tensor:
    """The mean over the class of each image."""
    if classes is None:
        return known.mean(dim=0)
    each = torch.stack([known[classes == one].mean(dim=0) for one in range(int(classes.max()) + 1)])
    return each[classes]
