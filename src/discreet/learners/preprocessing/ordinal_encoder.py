"""Categories as their places in public lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from discreet.learners.preprocessing.category_encoder import CategoryEncoder
from discreet.questions.transformation import ColumnTerm, Computed, KeptColumn, Transformation
from discreet.schema.schema import Category, Number, Schema


class OrdinalEncoder(CategoryEncoder):
    """A number for each category: the place of its value in the public list, from 0. Numbers are kept.

    The values are those that the schema lists, so nothing is asked and nothing is paid. A value that is not listed, and
    a missing one, is -1. If the values are not known without the data, `max_categories` buys those of text columns; or
    `buy_categories` buys them first.

    Parameters
    ----------
    max_categories : int, optional
        Public. Buy the values of the text columns of `PrivateData`, at most so many of each: those with the greatest
        noisy counts; only under a curator. Without it, text columns are left alone.
    bounds : (lower, upper), or Schema, optional
        Public. A schema, which lists the values; not for `PrivateData`, which have one.
    epsilon, delta : float
        Public. The account of a fit, of which nothing is spent unless values are bought.

    Attributes
    ----------
    categories_ : list of list of str
        Released. The values of each feature, in order: those that the schema lists, or those that were bought. None
        for a number.
    columns_ : tuple of Column
        Public. What the schema says of each feature.
    event_ : Event
        What the fit cost: nothing, unless values were bought.
    receipt_ : Receipt
        The same, with whom it protects and where it was charged.
    n_features_in_ : int
        Public. The number of features.
    feature_names_in_ : array of str
        Public. Their names, where the data have names.

    Guarantee
    ---------
    `event_`: nothing is asked without `max_categories`; with it, one `KeySelection` for each text column, composed.
    What follows from the schema does not depend on the records and is private at no price (Dwork, McSherry, Nissim and
    Smith 2006); the purchase is after Korolova, Kenthapadi, Mishra and Ntoulas 2009, Theorem 1. Released:
    `categories_`. `transform` computes from rows that the caller already has, and what it gives is not private.

    Examples
    --------
    >>> schema = Schema({"size": Category(("small", "medium", "large"))})
    >>> OrdinalEncoder(bounds=schema).fit([["small"]]).transform([["large"], ["huge"]])
    array([[ 2.],
           [-1.]])
    """

    purpose: ClassVar[str] = "ordinal encoder"

    def __init__(
        self, *, max_categories: int | None = None, bounds: Any = None, epsilon: float = 1.0, delta: float = 1e-6
    ) -> None:
        self.max_categories = max_categories
        self.bounds = bounds
        self.epsilon = epsilon
        self.delta = delta

    def transformation(
        self, schema: Schema, features: tuple[str, ...], fitted: Mapping[str, Any] | None
    ) -> Transformation:
        """The place of each value."""
        before = self.listed(schema, features, fitted)
        outputs: list[KeptColumn | Computed] = []
        for name, column in schema.columns.items():
            if name not in features or isinstance(column, Number):
                outputs.append(KeptColumn(name))
                continue
            values = len(before.category(name).values)
            outputs.append(_placed(name, values, values if isinstance(column, Category) else self.max_categories or 0))
        return Transformation(before, tuple(outputs))


def _placed(name: str, values: int, most: int) -> Computed:
    """One more than the place, where there is one, less one; there are so many values, and at most so many."""
    terms = tuple(ColumnTerm(name, place + 1.0, place) for place in range(values))
    return Computed(name, terms, -1.0, Number(-1.0, max(most - 1.0, 0.0)))
