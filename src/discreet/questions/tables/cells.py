"""The cells that somebody chooses for columns: by edges, by the steps of whole numbers and dates, or equal ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.tables.domain import BINS, MOST_BINS, Bins, Domain
from discreet.schema.dates import Temporal, seconds_of
from discreet.schema.schema import Category, Number, Schema
from discreet.schema.value import text_of

Edges = Sequence[Any] | Mapping[str, Sequence[Any]]
"""The ends of the cells of a number, ascending: of the only number that is meant, or by column."""

ASKED = "cells"


def cut(schema: Schema, columns: Sequence[str], bins: Bins = BINS, edges: Edges | None = None) -> Domain:
    """The cells of some columns.

    Parameters
    ----------
    columns : sequence of str
        Public. Numbers and categories, each once.
    bins : int, or mapping of str to int
        Public. The most cells of each number that has no edges. Where the schema has a step, all but the last hold
        equally many of its values, so that none looks full or empty by the choice of cells.
    edges : sequence, or mapping of str to sequences, optional
        Public. The ends of a number's cells, ascending; the last one belongs to the last cell. Dates may be texts.
        What is outside is in no cell.

    Examples
    --------
    >>> schema = Schema({"age": Number(17, 90, step=1), "sex": Category(("f", "m"))})
    >>> cut(schema, ["age"], 10).labels[0][-2:]
    ('81 to 88', '89 to 90')
    >>> cut(schema, ["age", "sex"], edges=[18, 25, 45, 98]).labels
    (('[18, 25)', '[25, 45)', '[45, 98]'), ('f', 'm'))
    """
    even = Domain.of(schema, columns, bins)
    own = _edges(schema, columns, edges)
    axes, named = [], {}
    for name, axis in zip(columns, even.axes, strict=True):
        kind = schema.columns[name]
        if name in own:
            axis = _checked(name, kind, own[name])
            named[name] = _between(axis, kind)
        elif isinstance(kind, Number) and kind.step is not None:
            axis, named[name] = _stepped(kind, kind.step, len(axis) - 1)
        axes.append(axis)
    return Domain(tuple(columns), tuple(axes), named)


def _edges(schema: Schema, columns: Sequence[str], edges: Edges | None) -> dict[str, Sequence[Any]]:
    """The edges that are given, by column."""
    if edges is None:
        return {}
    numbers = [name for name in columns if not isinstance(schema.columns[name], Category)]
    if not isinstance(edges, Mapping):
        if len(numbers) != 1:
            obstacle = f"edges are given, and {len(numbers)} of its columns are numbers"
            raise ParameterError(ASKED, obstacle, "Give a mapping of names to edges.")
        return {numbers[0]: edges}
    if unknown := [name for name in edges if name not in numbers]:
        raise ParameterError(
            ASKED, f"edges are given for {unknown[0]!r}", f"Numbers are {', '.join(numbers) or 'none'}."
        )
    return dict(edges)


def _checked(name: str, kind: Any, given: Sequence[Any]) -> Array:
    several = isinstance(given, Iterable) and not isinstance(given, str) and getattr(given, "ndim", 1) != 0
    return ascending(name, [_number(kind, one) for one in given] if several else [])


def ascending(name: str, values: Sequence[float]) -> Array:
    """The edges of a column's cells, if they are some."""
    if not 2 <= len(values) <= MOST_BINS + 1 or not all(a < b for a, b in pairwise(values)):
        raise ParameterError(
            f"cells of {name}", f"the edges are {values!r:.80}", "Give two or more numbers or dates, ascending."
        )
    return np.array(values)


def _number(kind: Any, value: Any) -> float:
    if isinstance(kind, Temporal):
        return kind.count(seconds_of(text_of(value)))
    try:
        found = float(value)
    except (TypeError, ValueError):
        return math.nan
    return found if math.isfinite(found) else math.nan


def _between(edges: Array, kind: Any) -> tuple[str, ...]:
    shown = [kind.shown(edge) if isinstance(kind, Temporal) else f"{edge:.6g}" for edge in edges.tolist()]
    last = len(shown) - 2
    return tuple(f"[{a}, {b}{']' if i == last else ')'}" for i, (a, b) in enumerate(pairwise(shown)))


def equal_cells(schema: Schema, columns: Sequence[str], bins: Bins) -> Domain:
    """The cells of numbers, all of one width: of those with a step, all hold equally many of its values.

    Up to twice as many values as are needed for so few cells, so that the last one reaches as little as may be beyond
    the last value.

    Examples
    --------
    >>> equal_cells(Schema({"age": Number(0, 100, step=1)}), ["age"], 20).axes[0][[0, 1, -1]]  # 17 times 6 values
    array([ -0.5,   5.5, 101.5])
    """
    even = Domain.of(schema, columns, bins)
    axes, named = list(even.axes), {}
    for place, (name, cells) in enumerate(zip(columns, even.bins, strict=True)):
        number = schema.number(name)
        if number.step is None:
            continue
        values = round((number.upper - number.lower) / number.step) + 1
        least = -(-values // cells)
        each = min(range(least, max(2 * least, least + 1)), key=lambda one: (-values % one) / one)
        axis: Array = number.lower + number.step * (each * np.arange(-(-values // each) + 1.0) - 0.5)
        axes[place], named[name] = axis, _between(axis, number)
    return Domain(tuple(columns), tuple(axes), named)


def _stepped(kind: Number, step: float, bins: int) -> tuple[Array, tuple[str, ...]]:
    """Edges half a step below values, so that cells hold whole values, and what the cells are called."""
    values = round((kind.upper - kind.lower) / step) + 1
    each = -(-values // bins)
    firsts = np.arange(0, values, each)
    lasts = np.append(firsts[1:], values) - 1
    edges = kind.lower + step * (np.append(firsts, values) - 0.5)
    ends = [[_shown(kind, kind.lower + step * place) for place in places.tolist()] for places in (firsts, lasts)]
    return edges, tuple(a if a == b else f"{a} to {b}" for a, b in zip(*ends, strict=True))


def _shown(kind: Number, value: float) -> str:
    return kind.shown(value) if isinstance(kind, Temporal) else f"{value:.6g}"
