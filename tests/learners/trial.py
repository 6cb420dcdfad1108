"""What a learner brings for the trial that all learners are put through."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor

from discreet.core.budget import Budget
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.curator import Curator
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.source import Batched

BOUNDS = (-20.0, 20.0)
BUDGET = Budget(1.0, 1e-6)


@dataclass(frozen=True)
class LearnerTrial:
    """A learner as it is set for arrays whose features lie between `BOUNDS`.

    Parameters
    ----------
    model : PrivateEstimator
        With bounds, and with what is public about its target.
    sums : bool
        Whether it asks bounded sums alone, and so works under every trust model.
    trust : type
        The trust model that it needs, if it asks for more than sums.
    exemptions : dict of str to str
        Checks of scikit-learn that it need not pass, with the reason.
    of_few : bool
        Whether fewer records than it has components or clusters can be fitted, also where their number is public.
    of_numbers : bool
        Whether this model takes numbers alone, though its class may take categories.
    """

    model: Any
    sums: bool = True
    trust: type[Any] = Curator
    exemptions: dict[str, str] = field(default_factory=dict)
    of_few: bool = False
    of_numbers: bool = False

    def made(self, kind: type[Any]) -> Any:
        """The learner with its defaults."""
        return kind()

    def of_arrays(self) -> Any:
        """The learner for arrays."""
        return clone(self.model)

    def of_private(self) -> Any:
        """The same learner for private data, whose schema says what is public."""
        none = {name: None for name in ("bounds", "target_bounds", "classes") if name in self.model.get_params()}
        target = {"target": "target"} if self.model.supervised else {}
        return clone(self.model).set_params(**none, **target)

    def fits(self, X: np.ndarray) -> list[tuple[Any, dict[str, Any]]]:
        """Models that are fitted to arrays, each with what a fit takes beside features and target: values, by name."""
        return [(self.of_arrays(), {})]

    def features(self, rows: int = 300) -> np.ndarray:
        """Three features."""
        return np.random.default_rng(0).normal(size=(rows, 3)) * 4

    def targets(self, X: np.ndarray) -> np.ndarray | None:
        """A target that depends on the first feature, if there is one to be learned."""
        if is_regressor(self.model):
            low, high = self.model.target_bounds
            return np.clip(X[:, 0] / 20, -1, 1) * (high - low) / 2 + (high + low) / 2
        if is_classifier(self.model):
            classes = np.asarray(self.model.classes)
            return classes[(X[:, 0] > 0).astype(int) % len(classes)]
        return None

    @property
    def schema(self) -> Schema:
        """Of the features and of the target."""
        columns: dict[str, Any] = dict(Schema.numeric(*BOUNDS, 3).columns)
        if is_regressor(self.model):
            columns["target"] = Number(*self.model.target_bounds)
        if is_classifier(self.model):
            columns["target"] = Category(tuple(np.asarray(self.model.classes).tolist()))
        return Schema(columns)

    def source(self, X: np.ndarray) -> Batched:
        """Features and target as a source; a category by its place."""
        y = self.targets(X)
        if y is None:
            return Matrix(X, self.schema)
        if is_classifier(self.model):
            y = np.searchsorted(np.asarray(self.model.classes), y).astype(np.float64)
        return Matrix(np.column_stack([X, y]), self.schema)

    def private(self, trust: Any) -> PrivateData:
        """Behind this trust model, with a budget for one fit."""
        return PrivateData(trust, MemoryLedger(BUDGET))
