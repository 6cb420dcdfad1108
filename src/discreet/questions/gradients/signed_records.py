"""All records as vectors whose margin a linear score has: for mechanisms that need more than a sum of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from discreet.core.answer import Records
from discreet.core.bound import Bound
from discreet.core.checks import check_size
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.question import BoundedSum, View, quiet
from discreet.questions.recipe import recipe
from discreet.schema.schema import Number, Schema

LOSS = "squared loss"
MOST = 2**20  # coefficients


@dataclass(frozen=True)
class Waves:
    """Random Fourier features of x: (cos(Wx), sin(Wx)) / sqrt(k), of length 1.

    With entries of W from a normal law of variance 2 gamma, products of them are on average exp(-gamma |x - x'|^2):
    Rahimi and Recht 2007.

    Parameters
    ----------
    weights : array of shape (k, n)
        Public. W: drawn without the data.

    Examples
    --------
    >>> Waves(np.array([[0.0], [np.pi]])).of(np.array([[1.0]])).round(3) + 0.0
    array([[ 0.707, -0.707,  0.   ,  0.   ]])
    """

    weights: Array = field(repr=False)

    def of(self, x: Array) -> Array:
        angles = x @ self.weights.T
        return np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / math.sqrt(len(self.weights))


@dataclass(frozen=True)
class Combined:
    """A constant, and linear combinations M (1, x) of the features, which may be shortened to a length.

    The constant is not: with a shorter one, a record with a rare mark would seem to be on no side.

    Parameters
    ----------
    matrix : array of shape (k, 1 + n)
        Public. M.
    constant : float
        Public. The first coordinate.
    longest : float
        Public. The length that the others are shortened to; inf for none.

    Examples
    --------
    >>> Combined(np.array([[-0.5, 2.0]]), 0.5, 1.0).of(np.array([[0.25], [1.0]]))
    array([[0.5, 0. ],
           [0.5, 1. ]])
    """

    matrix: Array = field(repr=False)
    constant: float
    longest: float

    def of(self, x: Array) -> Array:
        z = self.matrix[:, 0] + x @ self.matrix[:, 1:].T
        lengths = np.sqrt(np.square(z).sum(axis=1, keepdims=True))
        return np.column_stack([np.full(len(z), self.constant), z / np.maximum(lengths / self.longest, 1.0)])


@dataclass(frozen=True)
class SignedRecords:
    """All records as vectors y (1, x), or y f(x). A curator alone can ask this.

    x are the features, scaled from their bounds to [-1, 1]; y is 1 for records of one class and -1 for others. A record
    with a missing value, or of a class that is not listed, has missing values throughout.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the values lie; it has the classes.
    features : tuple of str
        Public. Numeric columns.
    target : str
        Public. The column of classes.
    place : int
        Public. Of the class in the schema's list.
    mapping : Waves or Combined, optional
        Public. What makes f(x).
    """

    schema: Schema
    features: tuple[str, ...]
    target: str
    place: int
    mapping: Waves | Combined | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The features, and then the target."""
        return (*self.features, self.target)

    def answer(self, view: View) -> Records:
        """All vectors, and how many of them one unit has."""
        records = view.everything(self.columns)
        with quiet():
            vectors = self.vectors(records[:, :-1])
            signs = np.where(records[:, -1:] == self.place, 1.0, -1.0)
            missing = np.isnan(records).any(axis=1, keepdims=True)
        return Records(np.where(missing, np.nan, signs * vectors), view.unit.rows, view.neighbors)

    def vectors(self, features: Array) -> Array:
        """(1, x), or f(x)."""
        bounds = [self.schema.number(name) for name in self.schema.values(self.features)]
        lower, upper = (np.array([getattr(number, end) for number in bounds]) for end in ("lower", "upper"))
        x = scaled(features, lower, upper)
        return np.column_stack([np.ones(len(x)), x]) if self.mapping is None else self.mapping.of(x)


def scaled(rows: Array, lower: Array, upper: Array) -> Array:
    """Numbers between these bounds as numbers from -1 to 1.

    Examples
    --------
    >>> scaled(np.array([[0.0, 5.0]]), np.array([-1.0, 0.0]), np.array([1.0, 4.0]))
    array([[0., 1.]])
    """
    half = upper / 2 - lower / 2
    return np.clip((rows - lower) / half - 1, -1.0, 1.0)


@recipe("squared_loss")
def squared_loss_of(schema: Schema, columns: tuple[str, ...], target: str) -> BoundedSum:
    """The sum of (w'u - y)^2 over records, less that of y^2: the coefficients of all w_j, and of all w_j w_k, j <= k.

    u = (1, x) / sqrt(1 + n), where the n features x are scaled to [-1, 1]. A number y is scaled to [-1, 1]; of two
    classes, y is -1 or 1; of more, each has a y of its own, 1 for its records and -1 for others, and so coefficients
    of w_j of its own. For s = |u|_1, which is at most sqrt(1 + n), and m such y, the sizes of one record's coefficients
    add up to at most 2 m s + s^2. A record with a missing value adds nothing.

    Parameters
    ----------
    target : str
        Public. A numeric column, or one of at least two classes.
    """
    if not columns:
        raise ParameterError(LOSS, "there are no features", "Name at least one numeric column.")
    names = schema.values((*columns, target))
    bounds = [schema.number(name) for name in names[:-1]]
    lower, upper = (np.array([getattr(number, end) for number in bounds]) for end in ("lower", "upper"))
    targets, size = targets_of(schema, target), 1 + len(bounds)
    check_size(LOSS, targets * size + size * (size + 1) // 2, MOST)
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
        raise ParameterError(LOSS, "there is one class", "Name at least two classes.")
    return 1 if classes == 2 else classes
