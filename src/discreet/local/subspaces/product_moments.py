"""Second moments that were estimated from private reports, and the subspaces that they show."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.checks import check_positive, check_whole
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.local.subspaces.fantope import sparse_components, top_components

PENALTY = 0.5  # in units of the greatest of p standard normal numbers, about


@dataclass(frozen=True)
class ProductMoments:
    """The mean of x x' over people, with the same noise in every direction of symmetric matrices.

    Parameters
    ----------
    matrix : array of shape (p, p)
        The estimate, symmetric; it may have negative eigenvalues.
    stddev : float
        Of the noise in a diagonal entry; others have it divided by sqrt(2).
    n : int
        The number of reports.
    receipt : Receipt
        What one person paid.

    Examples
    --------
    >>> from discreet.core.events import PureLoss
    >>> from discreet.core.neighbors import RECORD, Neighbors
    >>> receipt = Receipt("example", PureLoss(1.0), 1.0, 0.0, Neighbors.REPLACE, RECORD, True, "", "")
    >>> moments = ProductMoments(np.diag([1.0, 3.0, 2.0]), 0.01, 1000, receipt)
    >>> np.abs(moments.components(2))
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """

    matrix: Array
    stddev: float
    n: int
    receipt: Receipt

    @property
    def size(self) -> int:
        """The number p of coordinates."""
        return len(self.matrix)

    def components(self, k: int) -> Array:
        """The k principal components, as rows: dense."""
        check_whole("principal subspace", "k", k, 1, self.size)
        return top_components(self.matrix, k)

    def sparse_components(self, k: int, penalty: float = PENALTY) -> Array:
        """The k principal components of a subspace that few coordinates take part in, as rows.

        Worse than `components` where all coordinates take part. Wang and Xu 2020, by `fantope.sparse_components`.

        Parameters
        ----------
        k : int
            Public. How many.
        penalty : float
            Public. In units of the deviation of an entry times sqrt(2 ln p), the size of the greatest noise.
        """
        check_whole("principal subspace", "k", k, 1, self.size)
        check_positive("principal subspace", "penalty", penalty)
        greatest = self.stddev / math.sqrt(2) * math.sqrt(2 * math.log(max(self.size, 2)))
        return sparse_components(self.matrix, k, penalty * greatest)

    def variances(self, components: Array) -> Array:
        """The mean square along each component."""
        return np.asarray(np.einsum("ij,jk,ik->i", components, self.matrix, components))
