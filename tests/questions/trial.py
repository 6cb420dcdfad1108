"""What a question's test file brings for the trial that every recipe is put through: see `tests/conformance`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.grid import Array
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Category, Number, Schema, Text

SCHEMA = Schema(
    {
        "x": Number(-10, 110),
        "y": Number(0, 1),
        "far": Number(-1e48, 1e48),
        "kind": Category(("a", "b", "c")),
        "two": Category(("f", "m")),
        "only": Category(("all",)),
        "note": Text(),
    }
)
FEATURES = len(SCHEMA.features)
X = np.concatenate(
    [
        np.random.default_rng(0).normal(40, 30, 500).clip(-10, 110),
        np.random.default_rng(1).uniform(-1e-9, 1e-9, 50),
        [-10.0, 110.0, 0.0, -0.0, 5e-324, 100.0, 99.999999],
    ]
)
"""Values of column x, none of them missing."""
RECORDS = np.append(X, [np.nan, np.nan])[:, None]
"""The same, and two that are missing."""


@dataclass(frozen=True)
class Trial:
    """Parameters of a recipe that are right, on the schema above, and what is known about it.

    Parameters
    ----------
    start : dict
        The parameters.
    pin : str
        A digest of what the recipe builds from them, for ever: see `test_a_name_stands_for_one_question_for_ever`.
    forged : list of dict
        Changes of parameters that would break the bound, or make the sum fail for some records, if they were accepted.
    portable : bool
        Whether the sum is the same to the last bit on every machine; one that takes exponentials is not.
    """

    start: dict[str, Any]
    pin: str
    forged: list[dict[str, Any]] = field(default_factory=list)
    portable: bool = True


def summed(question: BoundedSum, records: Array) -> Array:
    """The sum of a question over records, once it is certain that the fused sum is that of the clipped rows."""
    rows = question.steps(records).sum(axis=0)
    if question.total is not None:
        np.testing.assert_array_equal(question.total(records), rows)
    return question.grid.values(rows)


def clipping_never_acts(question: BoundedSum, records: Array) -> None:
    """On values inside their bounds; and what a source left outside counts as if it were at the nearer bound.

    Infinity is missing for a question that takes numbers as they are found.
    """
    rows = question.of(records)
    np.testing.assert_array_equal(question.bound.clip(rows), rows)
    outside = np.concatenate([records, 1e6 * records, [[np.inf], [-np.inf]]])
    assert question.columns is not None
    number = SCHEMA.number(question.columns[0])
    moved = outside.clip(number.lower, number.upper)
    if question.raw:
        moved[np.isinf(outside)] = np.nan
    np.testing.assert_array_equal(summed(question, outside), summed(question, moved))
