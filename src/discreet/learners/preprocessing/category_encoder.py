"""What encoders of categories have in common: lists that are public, or that a fit buys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.checks import check_whole
from discreet.fitting.task import Task
from discreet.learners.preprocessing.category_purchase import CategoryPurchase
from discreet.learners.private_transformer import PrivateTransformer
from discreet.releases.joint_plan import JointPlan
from discreet.schema.schema import Category, Schema, Text
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

MOST = 2**16  # categories of a column


class CategoryEncoder(PrivateTransformer):
    """An encoder of the values that a schema lists; and of those of text columns, where `max_categories` says so.

    How many places the values of a text column have is public, `max_categories`, so that later steps can be planned
    before the values are known; places beyond the values that were named stay empty.
    """

    max_categories: int | None

    @property
    def free(self) -> bool:  # type: ignore[override]
        """Whether a fit asks nothing."""
        return self.max_categories is None

    @property
    def texts(self) -> bool:  # type: ignore[override]
        """Whether the values of text columns are bought."""
        return self.max_categories is not None

    def check(self) -> None:
        """Refuse invalid parameters, before any data are read."""
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
        """Buy the values."""
        lists = plan.lists(permit) if isinstance(plan, CategoryPurchase) else {}
        columns = (lists.get(name, task.schema.columns[name]) for name in task.features)
        return {"categories_": [list(one.values) if isinstance(one, Category) else [] for one in columns]}

    def listed(self, schema: Schema, features: tuple[str, ...], fitted: Mapping[str, Any] | None) -> Schema:
        """The schema with lists for the features that are text: those that were bought, or any of the same length."""
        places = [list(map(str, range(self.max_categories or 0)))] * len(features)
        values = places if fitted is None else fitted["categories_"]
        every = zip(features, values, strict=True)
        return schema.listing({name: Category(one) for name, one in every if isinstance(schema.columns[name], Text)})
