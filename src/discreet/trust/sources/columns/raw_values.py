"""Values as Python hands them over, in lists or one at a time: each is read by itself, whatever stands beside it.

`numpy.asarray` gives a list one type, which a single value of it decides: a text among numbers makes texts of all, one
complex number makes all complex, and a list among them is an error that quotes it. So lists come in here alone.

The shape of an array is public, like the type of a column. A list has no shape of its own: it is one of single values,
or of rows of one length, by what most of its elements are. An element of another form is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array
from discreet.schema.value import number_of
from discreet.trust.sources.columns.decoding import numbers, objects, unmasked

ROW = (list, tuple, np.ndarray)  # what a row of a list can be
SINGLE = -1  # the width of what is no row


def array_of(records: Any, width: int | None = None) -> NDArray[Any]:
    """An array as it is; a list value by value, so that none changes the type of another.

    Parameters
    ----------
    records : array, data frame, or list of values or rows
        What was handed over.
    width : int, optional
        Public. How many values rows should have. A list has rows of the width that most of its elements have, or none;
        of two that are equally frequent, this one is taken.

    Examples
    --------
    >>> array_of([[1, "?"], [2, 3j], [4]])
    array([[1, '?'],
           [2, 3j],
           [None, None]], dtype=object)
    >>> array_of([1.5, [2, 3], None])
    array([1.5, list([2, 3]), None], dtype=object)
    """
    if hasattr(records, "__array__"):
        return unmasked(records) if isinstance(records, np.ndarray) else np.asarray(records)
    if isinstance(records, str | bytes | Mapping) or not isinstance(records, Iterable):
        return objects([records]).reshape(())
    listed = list(records)
    wide = _usual_width(listed, width)
    if wide == SINGLE:
        return objects(listed)
    values = (row if _width(row) == wide else repeat(None, wide) for row in listed)
    return np.fromiter(chain.from_iterable(values), dtype=object, count=len(listed) * wide).reshape(-1, wide)


def unlisted(records: Any) -> Any:
    """A list as an array of its values; anything else, which has types of its own, as it is."""
    return array_of(records) if isinstance(records, list | tuple) else records


def numbers_in(given: Any, shape: tuple[int, ...]) -> Array:
    """Numbers in a public shape, nan where one is none: all are nan, if what is given has another shape.

    Examples
    --------
    >>> numbers_in([[1, "2.5"], [3]], (2, 2))
    array([[1. , 2.5],
           [nan, nan]])
    >>> float(numbers_in({"a": 1}, ()))
    nan
    """
    if isinstance(given, np.ndarray):
        found = unmasked(given)
        plain = found.shape == shape and found.dtype.kind not in "mMcV"
        return numbers(found.ravel()).reshape(shape) if plain else np.full(shape, np.nan)
    if not shape:
        return np.array(number_of(given))
    if not isinstance(given, ROW) or len(given) != shape[0]:
        return np.full(shape, np.nan)
    return np.stack([numbers_in(each, shape[1:]) for each in given]) if given else np.empty(shape)


def numbers_each(values: Any, shape: tuple[int, ...] = ()) -> Array:
    """Numbers of this shape for each element of a list, nan where one is none; those of an array, in its own shape.

    Examples
    --------
    >>> numbers_each([1, "?", [2]]), numbers_each([[1, 2], [3], None], (2,))[0]
    (array([ 1., nan, nan]), array([1., 2.]))
    """
    given = array_of(values) if hasattr(values, "__array__") else list(values)
    return numbers_in(given, given.shape if isinstance(given, np.ndarray) else (len(given), *shape))


def given_shape(given: Any, usual: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of an array, which is public; the usual one of anything else, which has none."""
    return given.shape if isinstance(given, np.ndarray) else usual


def _width(element: Any) -> int:
    if isinstance(element, np.ndarray):
        return len(element) if element.ndim else SINGLE
    return len(element) if isinstance(element, ROW) else SINGLE


def _usual_width(elements: Sequence[Any], expected: int | None) -> int:
    """What most elements are; of those that are equally many what is expected, and else the narrowest."""
    counts = Counter(map(_width, elements))
    return min(counts, key=lambda width: (-counts[width], width != expected, width), default=SINGLE)
