"""The base of private transformers: what was learned maps records to others, between public bounds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import encoded
from discreet.questions.transformation import ColumnTerm, Computed, KeptColumn, Transformation
from discreet.schema.schema import Column, Number, Schema
from discreet.trust.sources.columns.decoding import bounded
from discreet.trust.sources.columns.raw_values import array_of, unlisted


class PrivateTransformer(TransformerMixin, PrivateEstimator):
    """What scalers and encoders have in common.

    A transformer says what it does to each record as a `Transformation`. The bounds and names after it follow from
    public facts alone, so that a later step can be planned before anything is learned.

    Parameters
    ----------
    bounds : (lower, upper), or Schema, optional
        Public. Two numbers, or two sequences with one number per feature, or a schema; not for `PrivateData`, which
        have one.

    Attributes
    ----------
    columns_ : tuple of Column
        Public. What the schema says of each feature.
    """

    categories: ClassVar[bool] = True
    columns_: tuple[Column, ...]

    @abstractmethod
    def transformation(
        self, schema: Schema, features: tuple[str, ...], fitted: Mapping[str, Any] | None
    ) -> Transformation:
        """What is done to each record.

        Parameters
        ----------
        schema : Schema
            Public. Of the records.
        features : tuple of str
            Public. The columns that are transformed; all others are kept.
        fitted : mapping, optional
            What was learned. Without it, any transformation with the same schema after it.
        """

    def transform(self, X: Any) -> Array:
        """Each row, transformed: what it gives is about these rows and is not private."""
        check_is_fitted(self)
        values = array_of(validate_data(self, unlisted(X), dtype=None, ensure_all_finite=False, reset=False))
        by = self._by
        names, after = tuple(by.before.columns), tuple(by.after.columns)
        rows = bounded(encoded(values, by.before), names, by.before)
        return by.rows(after)(rows[:, [names.index(name) for name in by.reads(after)]])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns after it."""
        check_is_fitted(self)
        return np.array(list(self._by.after.columns), dtype=object)

    @property
    def _by(self) -> Transformation:
        names = map(str, getattr(self, "feature_names_in_", [f"x{i}" for i in range(len(self.columns_))]))
        schema = Schema(dict(zip(names, self.columns_, strict=True)))
        return self.transformation(schema, tuple(schema.columns), vars(self))


def numbers_of(schema: Schema, features: tuple[str, ...]) -> tuple[str, ...]:
    """The numeric ones among features."""
    return tuple(name for name in features if isinstance(schema.columns[name], Number))


def rescaled(
    schema: Schema, features: tuple[str, ...], weights: Array | float, offsets: Array | float, after: Number
) -> Transformation:
    """Every number among the features times its weight, plus its offset, inside these bounds; all else is kept."""
    names = numbers_of(schema, features)
    every = zip(names, np.broadcast_to(weights, len(names)), np.broadcast_to(offsets, len(names)), strict=True)
    new = {
        name: Computed(name, (ColumnTerm(name, float(weight)),), float(offset), after) for name, weight, offset in every
    }
    return Transformation(schema, tuple(new.get(name, KeptColumn(name)) for name in schema.columns))
