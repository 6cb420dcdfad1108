"""Private scikit-learn estimators."""

from __future__ import annotations

from typing import Any

import lazy_loader

from discreet.core.checks import near_name

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
MEANT = {
    "SVC": "KernelSVC or LinearSVC",
    "GradientBoostingClassifier": "BoostedTreesClassifier",
    "GradientBoostingRegressor": "BoostedTreesRegressor",
    "HistGradientBoostingClassifier": "BoostedTreesClassifier",
    "HistGradientBoostingRegressor": "BoostedTreesRegressor",
    "MultinomialNB": "CategoricalNB",
    "Pipeline": "PrivatePipeline",
    "GridSearchCV": "PrivateSearchCV",
    "MLPClassifier": "discreet.deep.PrivateMLPClassifier",
    "MLPRegressor": "discreet.deep.PrivateMLPRegressor",
}


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except AttributeError:
        near = MEANT.get(name) or near_name(name, __all__)
        meant = f"; did you mean {near}?" if near else f"; it has {', '.join(__all__)}"
        raise AttributeError(f"discreet.learners has no {name!r}{meant}") from None
