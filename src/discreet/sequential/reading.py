"""How streams and curators of rewards read what is handed to them: no value raises, nor changes how another is read.

The shape of an array is public, and a wrong one is refused. Anything else that is no number, or does not have the shape
of an update, counts as missing: in a list of several people's values, or where a value stands alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.trust.sources.columns.raw_values import ROW, array_of, given_shape, numbers_each, numbers_in


def update_of(value: Any, size: int) -> Array:
    """One update of so many numbers, in the shape of an array that was given, or else in its own: () for one number.

    Examples
    --------
    >>> update_of([1.0, "?"], 2), update_of("2", 1), update_of([1.0, 2.0, 3.0], 2)
    (array([ 1., nan]), array(2.), array([nan, nan]))
    """
    return numbers_in(value, given_shape(value, () if size == 1 else (size,)))


def sample_of(value: Any, shape: tuple[int, ...], several: bool) -> Array:
    """One sample of this shape, or several people's, one axis more in front, where they are allowed.

    Examples
    --------
    >>> sample_of([1.0, None, [2.0]], (), several=True)
    array([ 1., nan, nan])
    """
    if several and _is_several(value, shape):
        return numbers_in(value, (len(value), *shape))
    return numbers_in(value, given_shape(value, shape))


def _is_several(value: Any, shape: tuple[int, ...]) -> bool:
    """Whether it is a list of several people's samples: most of its elements are rows where samples have axes."""
    if not isinstance(value, list | tuple):
        return False
    return not shape or 2 * sum(isinstance(each, ROW) for each in value) > len(value)


def values_of(asked: str, values: Any) -> Array:
    """One number of each unit, nan where there is none.

    Examples
    --------
    >>> values_of("a sum", [1.0, "2", [3.0], None])
    array([ 1.,  2., nan, nan])
    """
    alone = isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable)
    found = np.atleast_1d(numbers_each([values] if alone and not hasattr(values, "__array__") else values))
    if found.ndim > 1:
        raise ParameterError(asked, f"values of shape {found.shape}", "Give one for each unit.")
    return found


def places_of(asked: str, places: Any, count: int) -> NDArray[np.int64]:
    """The place of each unit among so many; -1 for what is none of them.

    Examples
    --------
    >>> places_of("a sum", [0, "1", 7, None, 0.5], 2)
    array([ 0,  1, -1, -1, -1])
    """
    found = values_of(asked, places)
    known = (found >= 0) & (found < count) & (found == np.floor(found))
    return np.where(known, found, -1.0).astype(np.int64)


def of_each_run(asked: str, given: Any, runs: int | None, shape: tuple[int, ...] = ()) -> Array:
    """Numbers of this shape, for each run where there are several; nan where there are none.

    Examples
    --------
    >>> of_each_run("rewards", [1.0, "?"], 2), of_each_run("rewards", "?", None)
    (array([ 1., nan]), array(nan))
    """
    expected = shape if runs is None else (runs, *shape)
    found = given_shape(given, expected)
    if runs is not None and not isinstance(given, np.ndarray):
        found = (len(given) if isinstance(given, list | tuple) else 1, *shape)
    if found != expected:
        raise ParameterError(asked, f"numbers of shape {found}", f"Give shape {expected}.")
    return numbers_in(given, expected)


def rewards_of(rewards: Any) -> Array:
    """One number, or one for each element of a list or an array; nan where there is none, or an infinite one.

    Examples
    --------
    >>> rewards_of([1.0, "?", float("inf")])
    array([ 1., nan, nan])
    """
    usual = (len(rewards),) if isinstance(rewards, list | tuple) else ()
    found = numbers_in(rewards, given_shape(rewards, usual))
    return np.where(np.isfinite(found), found, np.nan)


def reward_of(reward: Any, arm: Any) -> Array:
    """One reward, or one for each arm that was pulled, in the shape of the arms; nan where there is none.

    Examples
    --------
    >>> reward_of([1.0, "?"], np.array([0, 1])), reward_of([1.0, 2.0], 0)
    (array([ 1., nan]), array(nan))
    """
    return numbers_in(reward, given_shape(reward, np.shape(arm)))


def contexts_of(contexts: Any, runs: int | None, dimension: int) -> Array:
    """A context for each arm, or for each arm of each run; one that cannot be read is all zeros.

    Examples
    --------
    >>> contexts_of([[1.0, 2.0], [3.0], ["x", 4.0]], None, 2)
    array([[1., 2.],
           [0., 0.],
           [0., 0.]])
    """
    listed = isinstance(contexts, list | tuple)
    arms = array_of(contexts).shape[1:2] if listed and runs is not None else ()
    found = numbers_in(contexts, given_shape(contexts, (len(contexts), *arms, dimension) if listed else ()))
    return np.where(np.isfinite(found).all(axis=-1, keepdims=True), found, 0.0) if found.ndim else found
