"""Files of joblib: estimators of the list come back as they were, and nothing hostile is opened, called or followed."""

from __future__ import annotations

import importlib
import io
import os
import pickle
import pickletools
import struct
import subprocess
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import discreet.learners
from discreet.core.errors import ParameterError
from discreet.query.models.allowed_classes import ESTIMATORS, OWN, allowed_class
from discreet.query.models.allowed_pickle import read_allowed

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(60, 3)), columns=list("abc"))
LABELS = np.array(["no", "yes"], dtype=object)[(FRAME["a"] > 0).astype(int)]
COLUMNS = ColumnTransformer([("n", StandardScaler(), ["a"]), ("o", OneHotEncoder(), ["b"])], remainder="passthrough")
MODELS: list[Any] = [
    LogisticRegression(),
    RidgeClassifier(),
    SGDClassifier(loss="log_loss", random_state=0),
    GaussianNB(),
    LinearDiscriminantAnalysis(),
    MLPClassifier((4,), max_iter=400, random_state=0),
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(3, random_state=0),
    ExtraTreesClassifier(3, random_state=0),
    AdaBoostClassifier(n_estimators=2, random_state=0),
    BaggingClassifier(n_estimators=2, random_state=0),
    KNeighborsClassifier(algorithm="brute"),
    CalibratedClassifierCV(GaussianNB(), cv=2),
    make_pipeline(COLUMNS, SimpleImputer(), PCA(2), LogisticRegression()),
]


def opened(tmp_path: Path, model: Any, **options: Any) -> Any:
    joblib.dump(model, tmp_path / "model.joblib", **options)
    return read_allowed(tmp_path / "model.joblib")


@pytest.mark.filterwarnings("ignore")
def test_estimators_of_the_list_answer_as_before(tmp_path: Path) -> None:
    for model in MODELS:
        rows = FRAME if isinstance(model, Pipeline) else FRAME.to_numpy()
        fitted = model.fit(rows, LABELS)
        again = opened(tmp_path, fitted)
        assert (again.predict(rows) == fitted.predict(rows)).all(), model
        if hasattr(fitted, "predict_proba"):
            assert (again.predict_proba(rows) == fitted.predict_proba(rows)).all()


def test_packed_files_and_private_estimators_are_opened_too(tmp_path: Path) -> None:
    learner = discreet.learners.LogisticRegression(bounds=(-3, 3), classes=["no", "yes"], epsilon=5.0)
    fitted = learner.fit(FRAME.to_numpy(), LABELS)
    for packed in (0, 3, ("gzip", 3)):
        again = opened(tmp_path, fitted, compress=packed)
        assert again.receipt_ == fitted.receipt_
        assert (again.predict_proba(FRAME.to_numpy()) == fitted.predict_proba(FRAME.to_numpy())).all()


def test_every_class_of_the_lists_is_there() -> None:
    for module, names in {**ESTIMATORS, **OWN}.items():
        for name in names:
            assert allowed_class(module, name) is getattr(importlib.import_module(module), name)
    for module, name in (("os", "system"), ("discreet.learners.linear.logistic_regression", "np"), ("numpy", "load")):
        assert allowed_class(module, name) is None
    for name in ("GaussianNB.fit", "_BaseNB"):
        assert allowed_class("sklearn.naive_bayes", name) is None


class Calls:
    """Reduces to the call of a function."""

    def __init__(self, function: Any, *given: Any) -> None:
        self.reduced = (function, given)

    def __reduce__(self) -> Any:
        return self.reduced


def crafted(module: str, name: str, rest: bytes) -> bytes:
    """A class or function by its name, and what is done to it, in protocol 4."""
    names = b"".join(b"\x8c" + bytes([len(text)]) + text.encode() for text in (module, name))
    return b"\x80\x04" + names + b"\x93" + rest


def shadowed(**attributes: Any) -> bytes:
    """An estimator with these attributes, whatever they are."""
    model = LogisticRegression()
    model.__dict__ = attributes
    return pickle.dumps(model, 4)


def object_array(inner: bytes) -> bytes:
    """A file of joblib's with an array of objects, whose pickle is crafted."""
    file = io.BytesIO()
    joblib.dump(np.array(["a", None], dtype=object), file)
    text = file.getvalue()
    start = text.index(b"\x80\x05", 2) if b"\x80\x05" in text[2:] else text.index(b"\x80\x02", 2)
    end = start + len(pickle.dumps(pickle.loads(text[start:]), text[start + 1]))
    return text[:start] + inner + text[end:]


EXIT = pickle.dumps(Calls(os._exit, 66), 4)
GLOBAL = "sklearn.linear_model._logistic", "LogisticRegression"
CALL = {
    "a function": EXIT,
    "a function, protocol 0": pickle.dumps(Calls(os._exit, 66), 0),
    "a process": pickle.dumps(Calls(subprocess.Popen, ["true"]), 4),
    "eval": pickle.dumps(Calls(eval, "1"), 4),
    "an attribute of a listed class": crafted(GLOBAL[0], "LogisticRegression.fit", b"."),
    "globals of a method": crafted(GLOBAL[0], "LogisticRegression.fit.__globals__", b"."),
    "a constructor with arguments": crafted("sklearn.pipeline", "Pipeline", b"]\x8c\x04/tmp\x86R."),
    "a new object with arguments": crafted("sklearn.pipeline", "Pipeline", b"]\x8c\x04/tmp\x86\x81."),
    "a class with keywords": crafted("sklearn.pipeline", "Pipeline", b")}\x92."),
    "an old instance": b"(csklearn.pipeline\nPipeline\no.",
    "an array of a size of its own": crafted("numpy", "ndarray", b"K\x05\x85\x81."),
    "a class as it is changed": crafted(*GLOBAL, b"}\x8c\x03fitK\x01sb."),
    "an estimator made of an estimator": crafted(*GLOBAL, b")R."),
    "a relation that is changed": crafted(
        "discreet.core.neighbors", "Neighbors", b"\x8c\x07replace\x85R}\x8c\x07_value_K\x01sb."
    ),
    "a name elsewhere": b"\x80\x04K\x01Q.",
    "an extension": b"\x80\x04\x82\x01.",
    "nothing": b"",
    "half": EXIT[:9],
    "no pickle": b"PK\x03\x04 not a model",
}
BUILD = {
    "a method hidden by a value": shadowed(predict_proba=3),
    "a method hidden by a class": shadowed(predict_proba=LogisticRegression),
    "a class as a parameter": shadowed(solver=LogisticRegression),
    "a special method": shadowed(__class__=3),
    "a function in a transformer": pickle.dumps(FunctionTransformer(GaussianNB), 4),
    "a cache on the disk": pickle.dumps(Pipeline([("a", GaussianNB())], memory="/tmp/cache"), 4),
}


@pytest.mark.parametrize("what", [*CALL, *BUILD])
def test_hostile_pickles_are_refused_and_nothing_is_called(what: str, tmp_path: Path) -> None:
    """A call of `os._exit` would end the tests."""
    path = tmp_path / "model.joblib"
    path.write_bytes({**CALL, **BUILD}[what])
    with pytest.raises(ParameterError) as refused:
        read_allowed(path)
    assert "Nothing was released or spent" in str(refused.value)
    assert str(refused.value).isprintable()


def test_arrays_of_objects_are_read_by_the_same_rules(tmp_path: Path) -> None:
    """joblib itself hands them to the plain `pickle`: with it, this file calls what it likes."""
    path = tmp_path / "model.joblib"
    path.write_bytes(object_array(pickle.dumps(Calls(np.zeros, 2), 4)))
    assert joblib.load(path).tolist() == [0.0, 0.0]
    with pytest.raises(ParameterError, match=r"zeros, which is not allowed"):
        read_allowed(path)
    path.write_bytes(object_array(pickle.dumps(np.array([1, 2]), 4)))
    with pytest.raises(ParameterError):
        read_allowed(path)


def test_data_types_that_make_pointers_of_bytes_are_refused(tmp_path: Path) -> None:
    """Objects, said to be none: numpy would take the bytes of the file for addresses."""
    kind = np.dtype(object).__reduce__()
    state = (*kind[2][:-1], 0)
    body = pickle.dumps(np.array([None, None]), 4)
    path = tmp_path / "model.joblib"
    path.write_bytes(body)
    assert read_allowed(path).tolist() == [None, None]
    assert b"K?t" in body  # the last of the state of the data type: its flags
    path.write_bytes(body.replace(b"K?t", b"K\x00t"))
    assert state[-1] == 0
    with pytest.raises(ParameterError, match="data type of another kind"):
        read_allowed(path)


def test_arrays_whose_bytes_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.joblib"
    body = pickle.dumps(np.arange(3.0), 4)
    path.write_bytes(body)
    assert read_allowed(path).tolist() == [0.0, 1.0, 2.0]
    path.write_bytes(body.replace(b"K\x03\x85", b"K\x09\x85"))
    with pytest.raises(ParameterError, match="do not fit"):
        read_allowed(path)
    joblib.dump(np.arange(50.0), path)
    path.write_bytes(path.read_bytes().replace(b"K2\x85", b"K\xff\x85"))
    with pytest.raises(ParameterError, match="larger than the file"):
        read_allowed(path)


@pytest.mark.parametrize("field", ["left_child", "right_child", "feature"])
def test_trees_that_lead_out_of_memory_are_refused(field: str, tmp_path: Path) -> None:
    """Compiled code follows children and features without asking."""
    tree = DecisionTreeClassifier(random_state=0).fit(FRAME.to_numpy(), LABELS)
    body = pickle.dumps(tree, 4)
    nodes = tree.tree_.__getstate__()["nodes"]
    wrong = nodes.copy()
    wrong[field][0] = 10**9
    assert body.count(nodes.tobytes()) == 1
    path = tmp_path / "model.joblib"
    path.write_bytes(body.replace(nodes.tobytes(), wrong.tobytes()))
    with pytest.raises(ParameterError, match="cannot be read as a model"):
        read_allowed(path)
    wrong[field][0] = 0
    loops = body.replace(nodes.tobytes(), wrong.tobytes())
    path.write_bytes(loops)
    if field != "feature":
        with pytest.raises(ParameterError, match="cannot be read as a model"):
            read_allowed(path)


def test_a_tree_of_more_features_than_its_rows_have_is_refused(tmp_path: Path) -> None:
    tree = DecisionTreeClassifier(random_state=0).fit(FRAME.to_numpy(), LABELS)
    tree.n_features_in_ = 2
    with pytest.raises(ParameterError, match="trees do not fit"):
        opened(tmp_path, tree)


def test_every_byte_that_changes_is_refused_or_does_no_harm(tmp_path: Path) -> None:
    body, path, rng = pickle.dumps(RandomForestClassifier(1).fit(FRAME.to_numpy(), LABELS), 4), tmp_path / "m", RNG
    for place in rng.integers(0, len(body), 150):
        path.write_bytes(body[:place] + struct.pack("B", rng.integers(256)) + body[place + 1 :])
        try:
            found = read_allowed(path)
        except ParameterError:
            continue
        assert not callable(found)


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.query.models.allowed_pickle.MOST", 10_000)
    with pytest.raises(ParameterError, match="more than 10000 bytes"):
        opened(tmp_path, np.zeros(10**6), compress=9)


def test_the_remedy_names_the_switch_and_the_crafted_files_are_what_they_say(tmp_path: Path) -> None:
    path = tmp_path / "model.joblib"
    path.write_bytes(CALL["a function"])
    with pytest.raises(ParameterError, match="--trust-pickle"):
        read_allowed(path)
    assert "GLOBAL" in "".join(code.name for code, *_ in pickletools.genops(CALL["globals of a method"]))
    assert "__builtins__" in pickle.loads(CALL["globals of a method"])
    assert pickle.loads(BUILD["a cache on the disk"]).memory == "/tmp/cache"
    with pytest.raises(ParameterError, match="No such file"):
        read_allowed(tmp_path / "none")
