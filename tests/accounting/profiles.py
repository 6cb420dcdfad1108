"""Exact hockey-stick divergences of known pairs, by formulas that share nothing with the code under test."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr


def gaussian(multiplier: float, epsilon: float) -> float:
    mu = 1 / multiplier
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def laplace(multiplier: float, epsilon: float) -> float:
    if abs(epsilon) >= 1 / multiplier:
        return max(0.0, 1 - math.exp(epsilon)) if epsilon < 0 else 0.0
    return 1 - math.exp((epsilon - 1 / multiplier) / 2)


def removed(base: object, rate: float, epsilon: float) -> float:
    """Of ((1 - q) Q + q P, Q), by q H((e^eps - 1 + q) / q), given the profile of (P, Q) in epsilon."""
    inner = (math.exp(epsilon) - 1 + rate) / rate
    return max(0.0, 1 - math.exp(epsilon)) if inner <= 0 else rate * base(math.log(inner))  # type: ignore[operator]


def of_atoms(p: Sequence[float], q: Sequence[float], epsilon: float) -> float:
    return float(np.maximum(np.array(p) - math.exp(epsilon) * np.array(q), 0.0).sum())


def product(p: Sequence[float], times: int) -> list[float]:
    """The masses of so many independent draws, outcome by outcome."""
    found = np.ones(1)
    for _ in range(times):
        found = np.outer(found, np.array(p)).ravel()
    return found.tolist()


def sampled_gaussian_epsilon(
    multiplier: float, rate: float, times: int, delta: float, tilt: float, reach: float
) -> float:
    """Epsilon of the unit's removal, by a Fourier integral over the exact law: no lattice, no table, no FFT.

    delta(eps) is the integral of exp(times K(z) - z eps) / (z (z + 1)) over z = tilt + it, |t| <= reach, over 2 pi.
    """
    x = np.linspace(-14 * multiplier, 1 + 14 * multiplier, 4001)
    losses = np.log1p(rate * np.expm1((2 * x - 1) / (2 * multiplier**2)))
    density = np.exp(-(x**2) / (2 * multiplier**2)) / (multiplier * math.sqrt(2 * math.pi)) * (x[1] - x[0])
    t = np.linspace(0.0, reach, 801)
    moments = np.exp(1j * np.outer(t, losses)) @ (density * np.exp((1 + tilt) * losses))
    z, logs = tilt + 1j * t, np.log(np.abs(moments)) + 1j * np.unwrap(np.angle(moments))

    def excess(epsilon: float) -> float:
        values = (np.exp(times * logs - z * epsilon) / (z * (z + 1))).real
        return float((values.sum() - values[0] / 2) * (t[1] - t[0])) / math.pi - delta

    return float(brentq(excess, 0.0, 1e4 / tilt, xtol=1e-11))


def convolved_epsilon(multiplier: float, rate: float, times: int, delta: float, top: float, cells: int) -> float:
    """Epsilon of the unit's removal by convolutions without a transform, on a lattice of losses up to `top`.

    Every mass is a sum of positive terms, so it keeps its relative precision, however small. A cell's masses go to
    its two ends, with the totals of P and Q kept.
    """
    step = top / cells
    low = math.floor(math.log1p(-rate) / step) - 1
    edges = step * np.arange(low, cells + 1)
    x = np.full(len(edges), -np.inf)
    seen = np.expm1(edges) > -rate
    x[seen] = multiplier**2 * np.log((np.expm1(edges[seen]) + rate) / rate) + 0.5
    q, moved = -np.diff(ndtr(-x / multiplier)), -np.diff(ndtr((1 - x) / multiplier))
    p = (1 - rate) * q + rate * moved
    right = np.clip((p - np.exp(edges[:-1]) * q) / -math.expm1(-step), 0.0, p)
    one = np.append(p - right, 0.0)
    one[1:] += right
    whole = one
    for _ in range(times - 1):
        whole = np.convolve(whole, one)
    losses = step * (low * times + np.arange(len(whole)))
    return float(brentq(lambda e: whole @ np.maximum(-np.expm1(e - losses), 0.0) - delta, 0.0, top, xtol=1e-12))
