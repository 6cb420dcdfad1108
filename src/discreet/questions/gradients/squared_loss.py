"""The coefficients of a sum of squared errors, as a polynomial in the weights."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.bound import Bound
from discreet.core.checks import check_size
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.gradients.signed_records import scaled
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.schema.schema import Number, Schema

ASKED = "squared loss"
MOST = 2**20  # coefficients


@recipe("squared_loss")
def squared_loss_of(schema: Schema, columns: tuple[str, ...], target: str) -> BoundedSum:
    """The sum of (w'u - y)^2 over records, less that of y^2: the coefficients of all w_j, and of all w_j w_k, j <= k.

    u = (1, x) / sqrt(1 + n), where the n features x are scaled to [-1, 1]. A number y is scaled to [-1, 1]; of two
    classes, y is -1 or 1; of more, each has a y of its own, 1 for its records and -1 for others, and so coefficients
    of w_j of its own. For s = |u|_1, which is at most sqrt(1 + n), and m such y, the sizes of one record's coefficients
    add up to at most 2 m s + s^2. A record with a missing value adds nothing.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the values lie.
    columns : tuple of str
        Public. The features: numeric columns.
    target : str
        Public. A numeric column, or one of at least two classes.
    """
    if not columns:
        raise ParameterError(ASKED, "there are no features", "Name at least one numeric column.")
    names = schema.values((*columns, target))
    bounds = [schema.number(name) for name in names[:-1]]
    lower, upper = (np.array([getattr(number, end) for number in bounds]) for end in ("lower", "upper"))
    targets, size = targets_of(schema, target), 1 + len(bounds)
    check_size(ASKED, targets * size + size * (size + 1) // 2, MOST)
    first, second = np.triu_indices(size)
    twice = np.where(first == second, 1.0, 2.0)
    number = schema.columns[target]
    ends = (np.array([number.lower]), np.array([number.upper])) if isinstance(number, Number) else None
    own = np.arange(targets) + (1 if targets == 1 else 0)

    def of(records: Array) -> Array:
        u = np.column_stack([np.ones(len(records)), scaled(records[:, :-1], lower, upper)]) / math.sqrt(size)
        labels = records[:, -1:]
        y = np.where(labels == own, 1.0, -1.0) if ends is None else scaled(labels, *ends)
        linear = (-2 * y[:, :, None] * u[:, None, :]).reshape(len(records), targets * size)
        rows = np.concatenate([linear, u[:, first] * u[:, second] * twice], axis=1)
        rows[np.isnan(records).any(axis=1)] = 0.0
        return rows

    radius = (2 * targets * math.sqrt(size) + size) * (1 + 2.0**-30)
    return BoundedSum(of, Bound("l1", radius), names)


def targets_of(schema: Schema, target: str) -> int:
    """How many y a record has."""
    if isinstance(schema.columns[target], Number):
        return 1
    classes = len(schema.category(target).values)
    if classes < 2:
        raise ParameterError(ASKED, "there is one class", "Name at least two classes.")
    return 1 if classes == 2 else classes
