"""Encoders of categories, by public lists or by lists that a fit buys: a column for each value, or places."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from discreet.core.checks import check_whole
from discreet.fitting.task import Task
from discreet.learners.preprocessing.buy_categories import CategoryPurchase
from discreet.learners.private_transformer import PrivateTransformer
from discreet.questions.transformation import ColumnTerm, Computed, KeptColumn, Transformation
from discreet.releases.joint_plan import JointPlan
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

MOST = 2**16  # categories of a column
MARK = Number(0.0, 1.0)


class CategoryEncoder(PrivateTransformer):
    """An encoder of the values that a schema lists; and of those of text columns, where `max_categories` says so.

    How many places the values of a text column have is public, `max_categories`, so that later steps can be planned
    before the values are known; places beyond the values that were named stay empty.

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
    event_ : Event
        What the fit cost: nothing, unless values were bought.
    """

    max_categories: int | None

    @property
    def free(self) -> bool:  # type: ignore[override]
        return self.max_categories is None

    @property
    def texts(self) -> bool:  # type: ignore[override]
        """Whether the values of text columns are bought."""
        return self.max_categories is not None

    def check(self) -> None:
        if self.max_categories is not None:
            check_whole(self.purpose, "max_categories", self.max_categories, most=MOST)

    def plan(self, task: Task) -> JointPlan | CategoryPurchase:
        """The purchase; nothing, where all values are public."""
        self.transformation(task.schema, task.features, None)
        if self.max_categories is None:
            return JointPlan(())
        task.data.check_listing(self.purpose)
        names = [name for name in task.features if isinstance(task.schema.columns[name], Text)]
        return CategoryPurchase.of(self.purpose, task.data, names, self.max_categories, task.budget)

    def learn(self, task: Task, plan: JointPlan | CategoryPurchase, permit: Permit) -> Artefact:
        lists = plan.lists(permit) if isinstance(plan, CategoryPurchase) else {}
        columns = (lists.get(name, task.schema.columns[name]) for name in task.features)
        return {"categories_": [list(one.values) if isinstance(one, Category) else [] for one in columns]}

    def listed(self, schema: Schema, features: tuple[str, ...], fitted: Mapping[str, Any] | None) -> Schema:
        """The schema with lists for the features that are text: those that were bought, or any of the same length."""
        places = [list(map(str, range(self.max_categories or 0)))] * len(features)
        values = places if fitted is None else fitted["categories_"]
        every = zip(features, values, strict=True)
        return schema.listing({name: Category(one) for name, one in every if isinstance(schema.columns[name], Text)})


class OneHotEncoder(CategoryEncoder):
    """A number for each value of each category: 1 where a record has it, else 0. Numbers are kept.

    The values are those that the schema lists, so nothing is asked and nothing is paid. A value that is not listed, and
    a missing one, is 0 everywhere. If the values are not known without the data, `max_categories` buys those of text
    columns, whose numbers are then named by their places, such as town_0; or `buy_categories` buys them first.


    Guarantee
    ---------
    `event_`: nothing is asked without `max_categories`; with it, one `KeySelection` for each text column, composed.
    What follows from the schema does not depend on the records and is private at no price (Dwork, McSherry, Nissim and
    Smith 2006); the purchase is after Korolova, Kenthapadi, Mishra and Ntoulas 2009, Theorem 1. Released:
    `categories_`. `transform` computes from rows that the caller already has, and what it gives is not private.

    Examples
    --------
    >>> schema = Schema({"age": Number(0, 120), "sex": Category(("f", "m"))})
    >>> OneHotEncoder(bounds=schema).fit([[40, "f"]]).transform([[51, "m"], [17, "f"], [30, "?"]])
    array([[51.,  0.,  1.],
           [17.,  1.,  0.],
           [30.,  0.,  0.]])
    """

    purpose: ClassVar[str] = "one-hot encoder"

    def __init__(
        self, *, max_categories: int | None = None, bounds: Any = None, epsilon: float = 1.0, delta: float = 1e-6
    ) -> None:
        self.max_categories = max_categories
        self.bounds = bounds
        self.epsilon, self.delta = epsilon, delta

    def transformation(
        self, schema: Schema, features: tuple[str, ...], fitted: Mapping[str, Any] | None
    ) -> Transformation:
        outputs: list[KeptColumn | Computed] = []
        before = self.listed(schema, features, fitted)
        for name, column in schema.columns.items():
            if name not in features or isinstance(column, Number):
                outputs.append(KeptColumn(name))
                continue
            values = before.category(name).values
            labels = values if isinstance(column, Category) else tuple(map(str, range(self.max_categories or 0)))
            for place, label in enumerate(labels):
                terms = (ColumnTerm(name, 1.0, place),) if place < len(values) else ()
                outputs.append(Computed(f"{name}_{label}", terms, 0.0, MARK))
        return Transformation(before, tuple(outputs))


class OrdinalEncoder(CategoryEncoder):
    """A number for each category: the place of its value in the public list, from 0. Numbers are kept.

    The values are those that the schema lists, so nothing is asked and nothing is paid. A value that is not listed, and
    a missing one, is -1. If the values are not known without the data, `max_categories` buys those of text columns; or
    `buy_categories` buys them first.


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
        self.epsilon, self.delta = epsilon, delta

    def transformation(
        self, schema: Schema, features: tuple[str, ...], fitted: Mapping[str, Any] | None
    ) -> Transformation:
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
    """A column of places: each value's place in the list, and -1 where there is none."""
    terms = tuple(ColumnTerm(name, place + 1.0, place) for place in range(values))
    return Computed(name, terms, -1.0, Number(-1.0, max(most - 1.0, 0.0)))
