"""The classes of which a file of a model may hold instances. What is not listed is refused, whatever it is."""

from __future__ import annotations

import importlib
from typing import Any

ESTIMATORS: dict[str, tuple[str, ...]] = {
    "sklearn.calibration": ("CalibratedClassifierCV", "_CalibratedClassifier", "_SigmoidCalibration"),
    "sklearn.compose._column_transformer": ("ColumnTransformer",),
    "sklearn.decomposition._pca": ("PCA",),
    "sklearn.decomposition._truncated_svd": ("TruncatedSVD",),
    "sklearn.discriminant_analysis": ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    "sklearn.dummy": ("DummyClassifier",),
    "sklearn.ensemble._bagging": ("BaggingClassifier",),
    "sklearn.ensemble._forest": ("ExtraTreesClassifier", "RandomForestClassifier"),
    "sklearn.ensemble._voting": ("VotingClassifier",),
    "sklearn.ensemble._weight_boosting": ("AdaBoostClassifier",),
    "sklearn.impute._base": ("MissingIndicator", "SimpleImputer"),
    "sklearn.linear_model._logistic": ("LogisticRegression",),
    "sklearn.linear_model._perceptron": ("Perceptron",),
    "sklearn.linear_model._ridge": ("RidgeClassifier",),
    "sklearn.linear_model._stochastic_gradient": ("SGDClassifier",),
    "sklearn.multiclass": ("OneVsRestClassifier", "_ConstantPredictor"),
    "sklearn.naive_bayes": ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"),
    "sklearn.neighbors._classification": ("KNeighborsClassifier",),
    "sklearn.neural_network._multilayer_perceptron": ("MLPClassifier",),
    "sklearn.neural_network._stochastic_optimizers": ("AdamOptimizer", "SGDOptimizer"),
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
    "sklearn.preprocessing._data": (
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    ),
    "sklearn.preprocessing._discretization": ("KBinsDiscretizer",),
    "sklearn.preprocessing._encoders": ("OneHotEncoder", "OrdinalEncoder"),
    "sklearn.preprocessing._function_transformer": ("FunctionTransformer",),
    "sklearn.preprocessing._label": ("LabelBinarizer", "LabelEncoder"),
    "sklearn.preprocessing._polynomial": ("PolynomialFeatures",),
    "sklearn.svm._classes": ("LinearSVC",),
    "sklearn.tree._classes": ("DecisionTreeClassifier", "ExtraTreeClassifier"),
    "sklearn.utils._bunch": ("Bunch",),
}
TREES = ("DecisionTreeClassifier", "ExtraTreeClassifier")
FORGOTTEN: dict[str, tuple[str, ...]] = {  # what no prediction needs, and is not made
    "numpy.random._mt19937": ("MT19937",),
    "numpy.random._pcg64": ("PCG64",),
    "numpy.random._pickle": ("__bit_generator_ctor", "__generator_ctor", "__randomstate_ctor"),
    "numpy.random.bit_generator": ("SeedSequence", "__pyx_unpickle_SeedSequence"),
    "sklearn._loss._loss": ("CyHalfBinomialLoss",),
    "sklearn.linear_model._sgd_fast": ("Hinge", "Log", "ModifiedHuber", "SquaredHinge"),
}
NUMBERS = ("bool", "float32", "float64", "int32", "int64", "uint8")
OWN = {
    "discreet.core.neighbors": ("Neighbors", "Unit"),
    "discreet.core.receipt": ("Participants", "Receipt"),
    "discreet.core.events": (
        "ApproximateLoss",
        "Composed",
        "ConcentratedLoss",
        "DiscreteLoss",
        "GaussianLoss",
        "LaplaceLoss",
        "LossTable",
        "NoPromise",
        "Parallel",
        "PureLoss",
        "RenyiLoss",
        "Repeated",
        "Sampled",
    ),
}


class Forgotten:
    """In place of what no prediction needs, such as the state of a generator."""

    def __init__(self, *given: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        pass


def allowed_class(module: str, name: str) -> type[Any] | None:
    """A class of the lists, or None. Names with a dot are in no list.

    Examples
    --------
    >>> allowed_class("sklearn.naive_bayes", "GaussianNB").__name__, allowed_class("os", "system")
    ('GaussianNB', None)
    """
    if name in FORGOTTEN.get(module, ()):
        return Forgotten
    listed = name in ESTIMATORS.get(module, ()) or name in OWN.get(module, ())
    if module == "numpy" and name in NUMBERS:
        listed = True
    found = getattr(importlib.import_module(module), name, None) if listed else _learner(module, name)
    return found if isinstance(found, type) else None


def _learner(module: str, name: str) -> type[Any] | None:
    """A private estimator of this library, by its public name."""
    if not module.startswith("discreet.learners."):
        return None
    from discreet import learners

    found = getattr(learners, name) if name in learners.__all__ else None
    return found if isinstance(found, type) and found.__module__ == module else None
