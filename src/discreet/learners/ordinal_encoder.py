"""Categories as their places in public lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from discreet.core.schema import Category, Number, Schema
from discreet.learners.private_transformer import PublicTransformer
from discreet.questions.transformation import ColumnTerm, Computed, KeptColumn, Transformation


class OrdinalEncoder(PublicTransformer):
    """A number for each category: the place of its value in the public list, from 0. Numbers are kept.

    The values are those that the schema lists, so nothing is asked and nothing is paid. A value that is not listed, and
    a missing one, is -1. If the values are not known without the data, `buy_categories` buys them first.

    Parameters
    ----------
    bounds : (lower, upper), or Schema, optional
        Public. A schema, which lists the values; not for `PrivateData`, which have one.
    epsilon, delta : float
        Public. The account of a fit, of which nothing is spent.

    Attributes
    ----------
    columns_ : tuple of Column
        Public. What the schema says of each feature.
    event_ : Event
        What the fit cost: nothing.
    receipt_ : Receipt
        The same, with whom it protects and where it was charged.
    n_features_in_ : int
        Public. The number of features.
    feature_names_in_ : array of str
        Public. Their names, where the data have names.

    Guarantee
    ---------
    `event_`: nothing is asked. Released: nothing. What it does follows from the schema, and whatever does not depend on
    the records is private at no price (Dwork, McSherry, Nissim and Smith 2006). `transform` computes from rows that the
    caller already has, and what it gives is not private.

    Examples
    --------
    >>> schema = Schema({"size": Category(("small", "medium", "large"))})
    >>> OrdinalEncoder(bounds=schema).fit([["small"]]).transform([["large"], ["huge"]])
    array([[ 2.],
           [-1.]])
    """

    purpose: ClassVar[str] = "ordinal encoder"

    def __init__(self, *, bounds: Any = None, epsilon: float = 1.0, delta: float = 1e-6) -> None:
        self.bounds = bounds
        self.epsilon = epsilon
        self.delta = delta

    def transformation(
        self, schema: Schema, features: tuple[str, ...], fitted: Mapping[str, Any] | None
    ) -> Transformation:
        """The place of each value."""
        return Transformation(
            schema,
            tuple(
                _placed(name, column) if name in features and isinstance(column, Category) else KeptColumn(name)
                for name, column in schema.columns.items()
            ),
        )


def _placed(name: str, column: Category) -> Computed:
    """One more than the place, where there is one, less one."""
    values = range(len(column.values))
    return Computed(
        name,
        tuple(ColumnTerm(name, place + 1.0, place) for place in values),
        -1.0,
        Number(-1.0, max(len(values) - 1.0, 0.0)),
    )
