"""How far a few wrong records can move an estimator: which estimators privacy will be kind to, on public data."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import expit

from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.statistics.fits.influence import GrossError, GrossErrors
from discreet.trust.private_data import PrivateData

Estimator = Callable[..., Any]
MIDDLES = 2000  # values that stand for a distribution
HARDEST = 1.2785  # where x / (1 + exp x) is most


def gross_error_sensitivity(
    estimators: Estimator | Mapping[str, Estimator],
    sample: Any,
    *,
    bounds: tuple[float, float],
    epsilon: float = 1.0,
    expected_size: int = 1000,
    contamination: float = 0.01,
    points: int = 401,
) -> GrossErrors:
    """Compare estimators by how far a few wrong records move them, on PUBLIC or made-up data.

    The influence function of an estimator T at a distribution F is (T((1 - r) F + r at x) - T(F)) / r, where a small
    share r of all records is at x; its gross error sensitivity is the most that this can be. No private mechanism has
    less error than a fraction of it, over epsilon times the number of records; with about as much, there often is one.
    So this shows which estimator to ask for in private. It is computed from the data as they are: of secret data it
    would give records away, and a noise scale it must never become.

    Parameters
    ----------
    estimators : callable, or mapping of names to callables
        Values in, a number out. One with a parameter `weights` is given weights, too: any share is then exact. One
        without sees copies of the wrong record, in a share that is nearest.
    sample : array of shape (n,), or a distribution of scipy.stats
        Values that are PUBLIC or made up. Those outside the bounds are moved to the nearer one. Of a distribution, 2000
        quantiles stand for it.
    bounds : (float, float)
        Between which wrong records are.
    epsilon : float
        For which errors are computed.
    expected_size : int
        The number of records for which errors are computed.
    contamination : float
        The share of wrong records, in (0, 1/2).
    points : int
        At how many places wrong records are tried.

    Returns
    -------
    GrossErrors
        A row for each estimator. It prints as a table, and plots influence functions.

    Raises
    ------
    NotPermitted
        The sample is private data.

    Notes
    -----
    Chaudhuri and Hsu 2012 (Convergence rates for differentially private statistical estimation) bound the error from
    both sides by such multiples. The lower bound here is plainer: of two data sets that differ in k records, and whose
    exact values are d apart, an answer of pure epsilon, by replacement, is d / 2 off or more on one with a chance of at
    least 1 / (1 + exp(k epsilon)), since a chance changes by no more than exp(k epsilon) between the two. With
    d = k sensitivity / n, the expected error is at least k sensitivity / (2 n (1 + exp(k epsilon))), at the k that is
    hardest; for small epsilon this is 0.139 sensitivity / (epsilon n).

    Examples
    --------
    >>> from scipy.stats import norm
    >>> found = gross_error_sensitivity({"mean": np.mean, "median": np.median}, norm(50, 10), bounds=(0, 100))
    >>> round(found["mean"].sensitivity), round(found["median"].sensitivity), found.best.name
    (50, 13, 'mean')
    """
    if isinstance(sample, PrivateData):
        obstacle = "it is computed from the data as they are, and would give records away"
        raise NotPermitted("gross error sensitivity", obstacle, "Use public or made-up data that are like them.")
    low, high = _checked(bounds, epsilon, expected_size, contamination, points)
    named = estimators if isinstance(estimators, Mapping) else {_name(estimators): estimators}
    values, places = np.clip(_values(sample), low, high), np.linspace(low, high, int(points))
    rows = tuple(_row(name, one, values, places, contamination, epsilon, expected_size) for name, one in named.items())
    if not rows:
        raise ParameterError("gross error sensitivity", "there is no estimator", "Give one at least.", "")
    return GrossErrors(rows, epsilon, int(expected_size), contamination)


def influence_function(estimator: Estimator, values: Array, places: Array, share: float) -> Array:
    """By how much an estimator moves, for each share of records that are wrong and in the same place.

    Examples
    --------
    >>> influence_function(np.mean, np.zeros(99), np.array([-2.0, 5.0]), 0.01).round(9)
    array([-2.,  5.])
    """
    size = len(values)
    if _weighs(estimator):
        weights = np.r_[np.full(size, (1 - share) / size), share]
        moved = [_number(estimator(np.r_[values, place], weights=weights)) for place in places]
        return (np.array(moved) - _value(estimator, values)) / share
    copies = max(round(share * size / (1 - share)), 1)
    moved = [_number(estimator(np.r_[values, np.full(copies, place)])) for place in places]
    return (np.array(moved) - _value(estimator, values)) * (size + copies) / copies


def _row(
    name: str, estimator: Estimator, values: Array, places: Array, share: float, epsilon: float, records: int
) -> GrossError:
    influence = influence_function(estimator, values, places, share)
    most = int(np.abs(influence).argmax())
    sensitivity = float(np.abs(influence[most]))
    sampling = float(np.interp(values, places, influence).std()) / math.sqrt(records)
    hardest = min(HARDEST / epsilon, records)
    least = max(_least(k, epsilon) for k in (1, math.floor(hardest), math.ceil(hardest)))
    return GrossError(
        name,
        _value(estimator, values),
        places,
        influence,
        sensitivity,
        float(places[most]),
        sampling,
        sensitivity / (epsilon * records),
        least * sensitivity / records,
    )


def _least(changed: int, epsilon: float) -> float:
    """What is left of a distance of one for each record, if this many are changed; in expected error."""
    return changed / 2 * float(expit(-changed * epsilon))


def _values(sample: Any) -> Array:
    """The values of a sample, or quantiles of a distribution."""
    if hasattr(sample, "ppf"):
        return np.asarray(sample.ppf((np.arange(MIDDLES) + 0.5) / MIDDLES), dtype=np.float64)
    values = np.asarray(sample, dtype=np.float64)
    if values.ndim != 1 or not values.size or np.isnan(values).any():
        obstacle = f"the sample has the shape {values.shape}, or missing values"
        remedy = "Give one value per record, or a distribution of scipy.stats."
        raise ParameterError("gross error sensitivity", obstacle, remedy, "")
    return values


def _checked(bounds: Any, epsilon: float, size: int, contamination: float, points: int) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in bounds)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    wrong = {
        f"the bounds are {bounds}": not (math.isfinite(low) and math.isfinite(high) and low < high),
        f"epsilon is {epsilon}": not 0 < epsilon < math.inf,
        f"expected_size is {size}": not 1 <= size < math.inf,
        f"contamination is {contamination}": not 0 < contamination < 0.5,
        f"points is {points}": not 2 <= points <= 2**20,
    }
    for obstacle, is_wrong in wrong.items():
        if is_wrong:
            remedy = "Give bounds in order, positive numbers, a contamination below a half, and two points or more."
            raise ParameterError("gross error sensitivity", obstacle, remedy, "")
    return low, high


def _weighs(estimator: Estimator) -> bool:
    try:
        return "weights" in inspect.signature(estimator).parameters
    except (TypeError, ValueError):
        return False


def _value(estimator: Estimator, values: Array) -> float:
    """What an estimator is without wrong records."""
    if _weighs(estimator):
        return _number(estimator(values, weights=np.full(len(values), 1 / len(values))))
    return _number(estimator(values))


def _name(estimator: Estimator) -> str:
    return str(getattr(estimator, "__name__", "estimator"))


def _number(found: Any) -> float:
    if np.ndim(found) != 0 or not math.isfinite(float(found)):
        raise ParameterError(
            "gross error sensitivity", "an estimator gives something else than a finite number", "Give one number.", ""
        )
    return float(found)
