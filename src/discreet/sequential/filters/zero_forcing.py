"""A filter as a product of two, with noise between them: the zero-forcing equaliser."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array
from discreet.sequential.filters.linear_filter import shortened

FLOOR = 2.0**-8  # share of its largest value that the gain of H is raised to
LONGER = 4.0  # the parts' memory, in lengths of the filter: frequencies closer than its inverse are averaged
STEPS = 100  # of the search for weights of several inputs
LEAST = 2**14  # points of a spectrum


@dataclass(frozen=True)
class ZeroForcing:
    """G = H F: the response F before the noise, and the response H after it, which undoes what F did.

    Parameters
    ----------
    before : array of shape (outputs, inputs, length)
        F.
    after : array of shape (outputs, outputs, length)
        H, which is diagonal, causal and of minimum phase.
    """

    before: Array
    after: Array


def zero_forcing(response: Array, *, per_signal: bool = False) -> ZeroForcing:
    """Divide a filter so that noise between its parts leaves the least mean squared error.

    With noise made for what one event moves F x by, the error is max_i |F_i|^2 |H|^2, where |.| are H2 norms and F_i is
    what input i goes through. For one input and one output, G = H F and Cauchy and Schwarz make this at least the
    square of the mean of |G| over all frequencies, with equality for |F|^2 = |H|^2 = |G| (Le Ny and Pappas 2014).
    For several inputs, |H_j|^4 = sum_i w_i |G_ji|^2, with weights w that make all |F_i| equal that matter.
    For signals that are bounded in l2, max_i |F_i(f)| counts instead of the H2 norm, and there are weights for each
    frequency f.

    Parameters
    ----------
    response : array of shape (outputs, inputs, length)
        Public. Of the filter G to one sample.
    per_signal : bool
        Public. Whether whole signals are hidden, not single events.

    Examples
    --------
    >>> found = zero_forcing(0.9 ** np.arange(300).reshape(1, 1, -1))
    >>> found.before[0, 0, :3].round(3), found.after[0, 0, :3].round(3)  # both near (1 - 0.9 z)^(-1/2)
    (array([1.   , 0.45 , 0.304]), array([1.   , 0.45 , 0.304]))
    """
    points = max(LEAST, 8 << (response.shape[2] - 1).bit_length())
    spectrum = np.fft.rfft(response, points)
    squares = _smoothed(np.square(np.abs(spectrum)), response.shape[2])
    shape = _post_filter(squares, per_signal)
    post = _minimum_phase(np.maximum(shape, FLOOR**2 * shape.max(axis=1, keepdims=True)), points)
    before = np.fft.irfft(spectrum / post[:, None], points)[:, :, : points // 2]
    after = np.einsum("jl,jk->jkl", np.fft.irfft(post, points)[:, : points // 2], np.eye(len(post)))
    return ZeroForcing(shortened(before), shortened(after))


def _smoothed(squares: Array, length: int) -> Array:
    """Spectra without zeros, which would make the parts much longer than the filter is."""
    products = np.fft.irfft(squares)
    lags = np.minimum(np.arange(products.shape[2]), products.shape[2] - np.arange(products.shape[2]))
    return np.asarray(np.abs(np.fft.rfft(products * np.exp(-((lags / (LONGER * length)) ** 2) / 2)).real))


def _post_filter(squares: Array, per_signal: bool) -> Array:
    """|H_j|^2 at each frequency, from |G_ji|^2 of shape (outputs, inputs, frequencies)."""
    circle = np.full(squares.shape[2], 2.0)
    circle[[0, -1]] = 1.0  # all other frequencies stand for two
    circle /= circle.sum()
    tiny = FLOOR**4 * squares.sum(axis=1).max(axis=1)[:, None]
    weights = np.ones((squares.shape[1], 1))
    moved = weights
    for _ in range(STEPS):
        weights = weights * moved / (weights * moved).sum(axis=0)
        found = np.sqrt(np.einsum("jif,if->jf", squares, np.broadcast_to(weights, squares.shape[1:])) + tiny)
        passed = (squares / found[:, None]).sum(axis=0)  # |F_i|^2
        moved = passed if per_signal else (passed @ circle)[:, None]
        if len(weights) == 1:
            break
    return np.asarray(found * (moved.max(axis=0) if per_signal else 1.0))


def _minimum_phase(squares: Array, points: int) -> Array:
    """The spectra of causal, stable and stably invertible filters with these squared sizes (by the cepstrum)."""
    cepstrum = np.fft.irfft(np.log(squares) / 2, points)
    cepstrum[:, 1 : points // 2] *= 2
    cepstrum[:, points // 2 + 1 :] = 0
    return np.asarray(np.exp(np.fft.rfft(cepstrum, points)))
