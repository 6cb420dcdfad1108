"""One-hot encoding of categories, by their public lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from discreet.core.schema import Category, Number, Schema
from discreet.learners.private_transformer import PublicTransformer
from discreet.questions.transformation import ColumnTerm, Computed, KeptColumn, Transformation

MARK = Number(0.0, 1.0)


class OneHotEncoder(PublicTransformer):
    """A number for each value of each category: 1 where a record has it, else 0. Numbers are kept.

    The values are those that the schema lists, so nothing is asked and nothing is paid. A value that is not listed, and
    a missing one, is 0 everywhere. If the values are not known without the data, `buy_categories` buys them first.

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
    >>> schema = Schema({"age": Number(0, 120), "sex": Category(("f", "m"))})
    >>> OneHotEncoder(bounds=schema).fit([[40, "f"]]).transform([[51, "m"], [17, "f"], [30, "?"]])
    array([[51.,  0.,  1.],
           [17.,  1.,  0.],
           [30.,  0.,  0.]])
    """

    purpose: ClassVar[str] = "one-hot encoder"

    def __init__(self, *, bounds: Any = None, epsilon: float = 1.0, delta: float = 1e-6) -> None:
        self.bounds = bounds
        self.epsilon = epsilon
        self.delta = delta

    def transformation(
        self, schema: Schema, features: tuple[str, ...], fitted: Mapping[str, Any] | None
    ) -> Transformation:
        """A mark for each value."""
        outputs: list[KeptColumn | Computed] = []
        for name, column in schema.columns.items():
            if name in features and isinstance(column, Category):
                marks = enumerate(column.values)
                outputs += [
                    Computed(f"{name}_{value}", (ColumnTerm(name, 1.0, place),), 0.0, MARK) for place, value in marks
                ]
            else:
                outputs.append(KeptColumn(name))
        return Transformation(schema, tuple(outputs))
