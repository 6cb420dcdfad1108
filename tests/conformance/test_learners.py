"""Every learner, found by walking all rooms, is put through the same trial; its own test file says how it is set."""

from __future__ import annotations

import inspect
import pickle
import re
import unittest
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_clusterer, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from discreet.core.errors import DiscreetError
from discreet.core.events import read, written
from discreet.core.neighbors import Neighbors
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.weighted_estimator import WeightedEstimator
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import Recipe
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.secure_sum import SecureSum
from tests.conformance.walk import for_each, learners, trial
from tests.learners.trial import LearnerTrial

FOUND = learners()
every = for_each(FOUND)
each = pytest.mark.parametrize("kind", FOUND, ids=lambda kind: kind.__name__)  # the tests of one share its fits
ODD = {"nan": (np.nan,), "huge": (1e308,), "infinite": (-np.inf,)}
VALUES = ODD | {"nobody": (), "mixed": (np.nan, 1e308, -np.inf)}
SHAPES = {"curator": ("single", "nobody", *ODD), "local": ("single", "nobody", "mixed"), "secure": ("mixed",)}
COUNTED = {"n_components", "n_clusters"}
FITS: dict[tuple[type[Any], str, str], Any] = {}

ALL = {
    "check_estimators_empty_data_messages": "no record and one record are neighbors: both are fitted, neither raises",
    "check_dtype_object": "a value that is no number is missing: an error would show a record, and quote it",
    "check_fit_idempotent": "every fit draws fresh noise, which nothing can seed",
}
CLUSTERERS = {
    "check_clustering": "labels_ would be an exact release about every record; predict gives labels to their owner",
}
SUPERVISED = {
    "check_supervised_y_no_nan": "a target that is missing counts for nothing: an error would show a record",
    "check_supervised_y_2d": "it compares two fits, and every fit draws fresh noise",
    "check_regressors_int": "it compares two fits, and every fit draws fresh noise",
    "check_regressor_data_not_an_array": "it compares two fits, and every fit draws fresh noise",
    "check_classifier_data_not_an_array": "it compares two fits, and every fit draws fresh noise",
}
CLASSIFIERS = {
    "check_classifiers_one_label": "classes are public, and not those that occur",
}


WEIGHTED = {
    "check_all_zero_sample_weights_error": "weights are private: an error would show that there are none",
    "check_sample_weight_equivalence_on_dense_data": "it compares two fits, and every fit draws fresh noise",
    "check_sample_weights_invariance": "it compares two fits, and every fit draws fresh noise",
}


OF_READING = {  # of arrays and parameters, which the base of all learners reads: tried with one learner of each kind
    "check_dict_unchanged",
    "check_estimators_dtypes",
    "check_estimators_overwrite_params",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1feature",
    "check_fit_score_takes_y",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
}


def exemptions(one: LearnerTrial) -> dict[str, str]:
    """Those of all, of its kind, and its own."""
    kinds = (
        (is_clusterer(one.model), CLUSTERERS),
        (is_regressor(one.model) or is_classifier(one.model), SUPERVISED),
        (is_classifier(one.model), CLASSIFIERS),
        (isinstance(one.model, WeightedEstimator), WEIGHTED),
    )
    return ALL | {name: why for holds, some in kinds if holds for name, why in some.items()} | one.exemptions


def trust_of(one: LearnerTrial, trust: str, X: np.ndarray) -> Any:
    """These records under a trust model."""
    if trust == "secure":
        parts = {f"p{i}": one.source(part) for i, part in enumerate(np.array_split(X, 3))}
        return SecureSum.rehearsal(parts, one.schema, threshold=2, bits=DeterministicBits(9))
    return (Local if trust == "local" else Curator)(one.source(X), bits=DeterministicBits(0))


def trusts(one: LearnerTrial) -> tuple[str, ...]:
    """Those that the learner works under."""
    return ("curator", "local", "secure") if one.sums else (one.trust.__name__.lower(),)


def rows_of(one: LearnerTrial, name: str) -> np.ndarray:
    """Usual features, a single row, none, or odd ones: five of a kind, or five of each, for each of three parties."""
    if name in ("usual", "single"):
        return one.features(300 if name == "usual" else 1)
    return np.repeat(np.array(VALUES[name])[:, None], 5, axis=0) * np.ones(3)


def fitted(kind: type[Any], rows: str, trust: str | None = None) -> Any:
    """The learner, fitted once for all tests."""
    trust = trust or trusts(trial(kind))[0]
    if (key := (kind, rows, trust)) not in FITS:
        one = trial(kind)
        FITS[key] = one.of_private().fit(one.private(trust_of(one, trust, rows_of(one, rows))))
    return FITS[key]


def readers() -> list[type[Any]]:
    """One learner of each kind: of what it is for scikit-learn, and of whose `fit` it has."""
    return list({(estimator_type(kind), kind.fit.__qualname__): kind for kind in FOUND}.values())


def estimator_type(kind: type[Any]) -> str | None:
    found: str | None = get_tags(trial(kind).model).estimator_type
    return found


@each
def test_scikit_learn_accepts_it(kind: type[Any]) -> None:
    check_with_scikit_learn(kind, set() if kind in readers() else OF_READING)


@pytest.mark.slow
@each
def test_scikit_learn_accepts_how_it_reads(kind: type[Any]) -> None:
    check_with_scikit_learn(kind, set())


def check_with_scikit_learn(kind: type[Any], left_out: set[str]) -> None:
    one = trial(kind)
    allowed, failed = exemptions(one).keys() | left_out, {}
    for estimator, check in estimator_checks_generator(one.of_arrays()):
        name = check.func.__name__ if hasattr(check, "func") else check.__name__
        if name not in allowed:
            try:
                check(estimator)
            except unittest.SkipTest:
                continue
            except Exception as why:
                failed[name] = f"{type(why).__name__}: {why}"
    assert not failed


@each
def test_it_releases_only_what_its_docstring_names(kind: type[Any]) -> None:
    model = fitted(kind, "usual")
    attributes = (kind.__doc__ or "").partition("Attributes\n")[2].partition("\n\n")[0]
    named = set(re.findall(r"^    (\w+_) :", attributes, flags=re.MULTILINE))
    assert {name for name in vars(model) if name.endswith("_")} <= named


@each
def test_its_questions_can_be_sent_and_built_again(kind: type[Any]) -> None:
    one = trial(kind)
    trust, heard = trust_of(one, trusts(one)[0], one.features(50)), []
    ask = trust.ask

    def listening(question: Any, mechanism: Any) -> Any:
        heard.append(question)
        return ask(question, mechanism)

    trust.ask = listening
    one.of_private().fit(one.private(trust))
    source = one.source(one.features())
    for question in heard:
        if not isinstance(question, BoundedSum) or question.recipe is None:
            continue  # a curator alone answers it, as the trial under every trust shows
        again = question_of(Recipe.read(question.recipe.written()), one.schema)
        np.testing.assert_array_equal(source.sum(question), source.sum(again))
        for name in ("bound", "grid", "columns", "recipe"):
            assert getattr(again, name) == getattr(question, name), question.recipe


@each
def test_arrays_frames_and_private_data_set_the_same_attributes(kind: type[Any]) -> None:
    one = trial(kind)
    X = one.features()
    y = one.targets(X)
    private = fitted(kind, "usual")
    frame = one.of_arrays().fit(pd.DataFrame(X, columns=["x0", "x1", "x2"]), y)
    array = one.of_arrays().fit(X, y)
    assert set(vars(frame)) == set(vars(private))
    assert set(vars(array)) | {"feature_names_in_"} == set(vars(private))
    assert list(frame.feature_names_in_) == list(private.feature_names_in_) == ["x0", "x1", "x2"]
    for name, value in vars(array).items():
        if isinstance(value, np.ndarray):
            assert getattr(private, name).shape == value.shape
    assert array.event_ == private.event_


@each
def test_its_event_survives_json_and_does_not_depend_on_data(kind: type[Any]) -> None:
    """Under local trust another noise may be less; so the event may depend on the trust model."""
    under = trusts(trial(kind))
    many = [fitted(kind, "usual", trust).event_ for trust in under]
    assert many == [fitted(kind, SHAPES[trust][0], trust).event_ for trust in under]
    assert [read(written(event)) for event in many] == many


@each
def test_it_has_the_one_base_of_all_estimators(kind: type[Any]) -> None:
    assert issubclass(kind, PrivateEstimator)
    assert kind.fit is PrivateEstimator.fit or "key" in inspect.signature(kind.fit).parameters


@each
def test_its_docstring_says_what_is_released(kind: type[Any]) -> None:
    assert "Released" in (kind.__doc__ or "")


@each
def test_a_fused_sum_is_the_sum_of_its_clipped_rows(kind: type[Any]) -> None:
    one, asked = trial(kind), []
    X = np.vstack([one.features(), [[np.nan, 0.0, 1.0]], [[1e308, -1e308, 0.0]]])
    trust = trust_of(one, trusts(one)[0], X)
    ask = trust.ask

    def listening(question: Any, mechanism: Any) -> Any:
        asked.append(question)
        return ask(question, mechanism)

    trust.ask = listening
    one.of_private().fit(one.private(trust))
    assert asked or one.model.free
    for question in asked:
        if isinstance(question, BoundedSum) and question.total is not None:
            records = one.source(X).everything(question.columns)
            np.testing.assert_array_equal(question.total(records), question.steps(records).sum(axis=0))


@each
def test_odd_data_fit_without_a_word(kind: type[Any]) -> None:
    calm = fitted(kind, "usual")
    for trust in trusts(trial(kind)):
        for rows in SHAPES[trust]:
            odd = fitted(kind, rows, trust)
            for name in vars(calm):
                if isinstance(getattr(calm, name), np.ndarray) and getattr(calm, name).dtype.kind == "f":
                    assert getattr(odd, name).shape == getattr(calm, name).shape
                    assert np.isfinite(getattr(odd, name)).all()


@each
def test_it_is_cloned_and_pickled(kind: type[Any]) -> None:
    one = trial(kind)
    X = one.features()
    model = one.of_arrays().fit(X, one.targets(X))
    again = pickle.loads(pickle.dumps(model))
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(model.predict(X), again.predict(X))
    assert clone(model).get_params().keys() == model.get_params().keys()


@each
def test_what_would_have_to_come_from_the_data_is_asked_for(kind: type[Any]) -> None:
    one = trial(kind)
    X = one.features()
    for name in ("bounds", "target_bounds", "classes"):
        if one.model.get_params().get(name) is not None:
            with pytest.raises(DiscreetError, match=r"give a record away.*Nothing was released or spent"):
                one.of_arrays().set_params(**{name: None}).fit(X, one.targets(X))
    if one.model.supervised:
        data = one.private(trust_of(one, trusts(one)[0], X))
        with pytest.raises(DiscreetError, match=r"which column is the target.*Nothing was released or spent"):
            one.of_private().set_params(target=None).fit(data)
        with pytest.raises(DiscreetError, match=r"no column 'nobody'.*Nothing was released or spent"):
            one.of_private().set_params(target="nobody").fit(data)
        assert data.ledger.balance().certified == 0


@each
def test_one_class_alone_is_refused_before_anything_is_spent(kind: type[Any]) -> None:
    one = trial(kind)
    if not is_classifier(one.model):
        return
    X = one.features()
    with pytest.raises(DiscreetError, match=r"one class.*Nothing was released or spent"):
        one.of_arrays().set_params(classes=[0]).fit(X, np.zeros(len(X)))


@each
def test_what_it_makes_of_rows_comes_as_a_frame_where_one_is_wanted(kind: type[Any]) -> None:
    one = trial(kind)
    model = one.of_arrays()
    if not hasattr(model, "transform"):
        return
    X = pd.DataFrame(one.features(), columns=["a", "b", "c"])
    frame = model.fit(X, one.targets(X.to_numpy())).set_output(transform="pandas").transform(X)
    assert list(frame.columns) == list(model.get_feature_names_out())
    plain = model.set_output(transform="default").transform(X)
    np.testing.assert_array_equal(frame.to_numpy(), plain)


@every
def test_what_is_no_seed_is_refused_before_anything_is_spent(kind: type[Any]) -> None:
    one = trial(kind)
    for seed in ("a", -5, 3.5) if "random_state" in one.model.get_params(deep=False) else ():
        data = one.private(trust_of(one, trusts(one)[0], rows_of(one, "usual")))
        with pytest.raises(DiscreetError, match=r"random_state is .* Nothing was released or spent"):
            one.of_private().set_params(random_state=seed).fit(data)
        assert data.ledger.balance().certified == 0


def floats(model: Any) -> list[np.ndarray]:
    """What was fitted, as far as it is numbers."""
    return [value for value in vars(model).values() if isinstance(value, np.ndarray) and value.dtype.kind == "f"]


@each
def test_constant_columns_and_targets_outside_what_is_declared_are_fitted(kind: type[Any]) -> None:
    """A target that is no class counts for nothing, and a number is moved to its bound: errors would show records."""
    one = trial(kind)
    X = one.features(40)
    y, constant = one.targets(X), np.full_like(X, 2.0)
    fits = [(np.column_stack([X[:, 0], constant[:, 1:]]), y), (constant, y)]
    if y is not None:
        other = np.array(["nobody" if is_classifier(one.model) else 1e300], dtype=object)
        fits += [(X, np.append(y.astype(object)[:-1], other)), (X, np.repeat(other, len(X)))]
    for rows, targets in fits:
        model = one.of_arrays().fit(rows, targets)
        found = model.predict(rows) if hasattr(model, "predict") else model.transform(rows)
        assert all(np.isfinite(numbers).all() for numbers in floats(model))
        assert len(found) == len(rows)
        assert not is_classifier(model) or set(found) <= set(model.classes_)


@every
def test_too_few_records_are_refused_where_their_number_is_public_and_else_fitted(kind: type[Any]) -> None:
    one = trial(kind)
    counted = COUNTED & one.model.get_params(deep=False).keys()
    for neighbors in Neighbors if counted else ():
        data = one.private(Curator(one.source(one.features(1)), neighbors, bits=DeterministicBits(0)))
        model = one.of_private().set_params(**dict.fromkeys(counted, 2))
        if neighbors is Neighbors.ADD_REMOVE or one.of_few:
            assert all(np.isfinite(numbers).all() for numbers in floats(model.fit(data)))
            continue
        with pytest.raises(DiscreetError, match=r"there are 1 records, and it takes 2\. Nothing was released or spent"):
            model.fit(data)
        assert data.ledger.balance().certified == 0


@every
def test_a_category_that_was_never_listed_is_predicted_as_a_missing_one(kind: type[Any]) -> None:
    one = trial(kind)
    if not one.model.categories or one.of_numbers:
        return
    rows = np.array([[0.5, "a"], [-0.5, "b"]] * 20, dtype=object)
    bounds = Schema({"x": Number(-1, 1), "kind": Category(("a", "b"))})
    model = one.of_arrays().set_params(bounds=bounds)
    model.fit(rows, one.targets(np.where(rows[:, :1] == 0.5, 1.0, -1.0)))
    give = model.predict if hasattr(model, "predict") else model.transform
    strange, missing = (give(np.array([[0.5, value]], dtype=object)) for value in ("nobody", None))
    np.testing.assert_array_equal(strange, missing)
