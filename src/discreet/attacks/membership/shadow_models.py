"""Shadow models: a classifier learns what probabilities look like for records that a model has seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.attacks.attack import ThreatModel
from discreet.attacks.membership.compared_by_row import ComparedByRow
from discreet.attacks.membership.membership_data import Values
from discreet.attacks.membership.model_target import ModelTarget
from discreet.core.checks import check_seed, check_whole
from discreet.core.grid import Array

ASKED = "ShadowModels"
LEAST = 1e-12  # a probability below this is taken for this
MOST = 50_000  # answers that the classifier of one label learns from
FEWEST = 20  # answers with and without: a label with fewer is judged with all others together


@dataclass(frozen=True)
class ShadowModels(ComparedByRow):
    """Call those records members of whose probabilities a classifier says so, trained on models like the target.

    Each shadow model answers the records that it has seen and those that it has not. For each label, a classifier
    learns to tell these answers apart; it then judges the target's.

    Parameters
    ----------
    data : MembershipData
        Members and others.
    references : References
        The shadow models; their pool need not hold the records that are attacked.
    number : int
        How many of them are used.
    random_state : int
        For the classifiers.

    Notes
    -----
    Shokri, Stronati, Song and Shmatikov 2017, with one classifier for each label as there; theirs are networks, ours
    are boosted trees on the logarithms of probabilities. It asks how members look on average, as `ThresholdAttack`
    does, and finds fewer of the records that stand out than `LiRA` and `RMIA`, which ask about each record.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from discreet.attacks import MembershipData, References
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(400, 2)), rng.integers(0, 2, 400)
    >>> data = MembershipData.of(X[:200], y[:200], X[200:], y[200:])
    >>> tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0)
    >>> attack = ShadowModels(data, References.fitted(tree, *data.rows, number=4))
    >>> attack.run(tree.fit(X[:200], y[:200])).beats_chance
    True
    """

    number: int = 16
    random_state: int = 0
    paper: ClassVar[str] = "Shokri, Stronati, Song and Shmatikov 2017, Membership inference attacks against models"
    threat: ClassVar[ThreatModel] = ThreatModel(
        "probabilities", "records like those of the target, and how it was trained", "each record once"
    )

    def __post_init__(self) -> None:
        check_whole(ASKED, "number", self.number)
        check_seed(ASKED, self.random_state)

    @cached_property
    def _classes(self) -> Values:
        return np.unique(self.references.y)

    @cached_property
    def _classifiers(self) -> dict[Any, Any]:
        """A classifier for each label with enough answers, and one for all others under None."""
        answers, seen = self._answers()
        labels = np.tile(self.references.y, len(seen))
        found = {None: self._classifier(answers, seen.ravel())}
        for label in self._classes.tolist():
            own = labels == label
            inside = int(seen.ravel()[own].sum())
            if min(inside, int(own.sum()) - inside) >= FEWEST:
                found[label] = self._classifier(answers[own], seen.ravel()[own])
        return found

    def _answers(self) -> tuple[Array, Values]:
        """The logarithms of probabilities by each shadow model, one model after another, and who has seen what."""
        models = self.references.models[: int(self.number)]
        answers = [_logarithms(ModelTarget.of(model), self.references.X, self._classes) for model in models]
        return np.concatenate(answers), self.references.inside[: len(models)]

    def _classifier(self, answers: Array, seen: Values) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        rng = np.random.default_rng(self.random_state)
        some = rng.permutation(len(seen))[:MOST] if len(seen) > MOST else slice(None)
        trees = HistGradientBoostingClassifier(
            max_iter=40, max_leaf_nodes=8, early_stopping=False, random_state=self.random_state
        )
        return trees.fit(answers[some], seen[some])

    def scores(self, target: ModelTarget, X: Values, y: Values) -> Array:
        """The probability, by the classifier of each row's label, that the target has seen it."""
        answers = _logarithms(target, X, self._classes)
        scores = np.full(len(y), np.nan)
        for label, classifier in self._classifiers.items():
            own = ~np.isin(y, [*self._classifiers][1:]) if label is None else y == label
            own &= ~np.isnan(answers).any(axis=1)
            if own.any():
                scores[own] = classifier.predict_proba(answers[own])[:, 1]
        return scores


def _logarithms(target: ModelTarget, X: Values, classes: Values) -> Array:
    """The logarithm of the probability of each class, in the order of `classes`; the least for one it does not know."""
    found = target.probabilities(X)
    known = np.arange(found.shape[1]) if target.classes is None else np.asarray(target.classes)
    aligned = np.zeros((len(found), len(classes))) + 0 * found[:, :1]
    for place, label in enumerate(classes.tolist()):
        column = np.flatnonzero(known == label)
        if len(column):
            aligned[:, place] = found[:, column[0]]
    return np.log(np.maximum(aligned, LEAST))
