"""Second moments of reports, their leading components, and how far two subspaces are from one another."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.receipt import Receipt

OWN = 1e-3  # of a coordinate's part in the subspace, below which it is left out
TOLERANCE = 1e-4
STABLE = 20  # iterations that leave the coordinates as they are: nothing else is kept of them
PENALTY = 0.5  # in units of the greatest of p standard normal numbers, about


def top_components(matrix: Array, k: int) -> Array:
    """The k eigenvectors of greatest eigenvalues, as rows, the greatest first."""
    return np.asarray(np.linalg.eigh(matrix)[1][:, : -k - 1 : -1].T)


def projected(matrix: Array, k: int) -> Array:
    """The closest matrix whose eigenvalues lie in [0, 1] and add up to k.

    Eigenvectors stay; eigenvalues are moved down by one number and cut to [0, 1]. That number solves an equation that
    is linear between the eigenvalues and the eigenvalues less one. Vu, Cho, Lei and Rohe 2013, Lemma 4.1.

    Examples
    --------
    >>> projected(np.diag([3.0, 0.5, 0.3]), 1).round(6)
    array([[1., 0., 0.],
           [0., 0., 0.],
           [0., 0., 0.]])
    """
    values, vectors = np.linalg.eigh(matrix)
    knots = np.sort(np.concatenate([values, values - 1]))
    sums = np.clip(values - knots[:, None], 0.0, 1.0).sum(axis=1)
    shift = np.interp(-k, -sums, knots)
    cut = np.clip(values - shift, 0.0, 1.0)
    there = cut > 0
    return np.asarray((vectors[:, there] * cut[there]) @ vectors[:, there].T)


def sparse_components(matrix: Array, k: int, penalty: float, max_iter: int = 300) -> Array:
    """Components of a subspace that few coordinates take part in, as rows; for a matrix with noise in its entries.

    The greatest <S, H> - penalty |H|_1 over the Fantope is found by alternating directions. The coordinates that take
    part in it are kept, and the components are those of the matrix restricted to them, since the penalty shrinks what
    it keeps.

    Parameters
    ----------
    matrix : array of shape (p, p)
        Symmetric.
    k : int
        How many components.
    penalty : float
        On the sizes of the entries: about what noise moves them by.
    max_iter : int
        Iterations at most.

    Notes
    -----
    Vu, Cho, Lei and Rohe 2013, Algorithm 1. An iteration costs one eigendecomposition; most matrices need about 20.

    Examples
    --------
    >>> matrix = np.diag([0.1, 0.1, 0.1, 0.0]) + 0.5 * np.outer([1, 1, 0, 0], [1, 1, 0, 0])
    >>> np.abs(sparse_components(matrix, 1, 0.05)).round(3)
    array([[0.707, 0.707, 0.   , 0.   ]])
    """
    size = float(np.abs(np.linalg.eigvalsh(matrix)).max())
    if size == 0:
        return np.eye(len(matrix))[:k]
    sparse, dual, own, same = np.zeros_like(matrix), np.zeros_like(matrix), np.zeros(0, np.int64), 0
    for _ in range(max_iter):
        inside = projected(sparse - dual + matrix / size, k)
        before, moved = sparse, inside + dual
        sparse = np.sign(moved) * np.maximum(np.abs(moved) - penalty / size, 0.0)
        dual += inside - sparse
        last, own = own, np.flatnonzero(np.diag(sparse) > OWN)
        same = same + 1 if np.array_equal(last, own) else 0
        change = max(np.linalg.norm(inside - sparse), np.linalg.norm(sparse - before))
        if change < TOLERANCE * np.sqrt(k) or same >= STABLE:
            break
    if own.size < k:
        own = np.sort(np.argsort(-np.diag(inside), kind="stable")[:k])
    components = np.zeros((k, len(matrix)))
    components[:, own] = top_components(matrix[np.ix_(own, own)], k)
    return components


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


def squared_sine(first: Array, second: Array) -> float:
    """The sum of the squared sines of the angles between two subspaces of one dimension k, from 0 to k.

    It is half the squared Frobenius distance of their projections: |sin|^2 = |E - F|^2 / 2 = k - |V'W|^2.

    Parameters
    ----------
    first, second : array of shape (k, p)
        Orthonormal rows that span them, such as `components_` of a PCA.

    Examples
    --------
    >>> squared_sine(np.eye(3)[:2], np.eye(3)[1:])
    1.0
    """
    for rows in (first, second):
        if rows.ndim != 2 or np.abs(rows @ rows.T - np.eye(len(rows))).max() > 1e-6:
            raise ParameterError("squared sine", "the rows are not orthonormal", "Give an orthonormal basis.")
    if first.shape != second.shape:
        obstacle = f"one subspace is {first.shape} and the other {second.shape}"
        raise ParameterError("squared sine", obstacle, "Give two of one dimension, in one space.")
    return max(0.0, float(len(first) - np.square(first @ second.T).sum()))
