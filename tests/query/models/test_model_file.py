"""Models in files: pickles only if trusted, weights only as a chain of layers, all else by what reads it."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joblib
import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from discreet.core.errors import MissingExtra, ParameterError
from discreet.query.models.model_file import OnnxModel, read_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)


def safetensors(tensors: dict[str, Any], kind: str = "F64", **changed: Any) -> bytes:
    """A file of the format, with something changed in the head of each array."""
    head: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, values in tensors.items():
        raw = np.asarray(values, dtype={"F64": "<f8", "F32": "<f4"}.get(kind, "<f8")).tobytes()
        offsets = [len(body), len(body) + len(raw)]
        head[name] = {"dtype": kind, "shape": list(np.shape(values)), "data_offsets": offsets, **changed}
        body += raw
    text = json.dumps(head).encode()
    return len(text).to_bytes(8, "little") + text + body


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_a_pickle_is_opened_only_if_it_is_trusted(tmp_path: Path) -> None:
    model = KNeighborsClassifier(1).fit(X, y)
    path = written(tmp_path / "model.pkl", pickle.dumps(model))
    with pytest.raises(ParameterError, match="runs whatever its writer wanted") as refused:
        read_model(path)
    assert "joblib.dump" in str(refused.value)
    assert (read_model(path, trust_pickle=True).predict(X) == y).all()
    joblib.dump(model, tmp_path / "model.joblib")
    with pytest.raises(ParameterError, match=r"KDTree|newObj"):
        read_model(tmp_path / "model.joblib")
    assert (read_model(tmp_path / "model.joblib", trust_pickle=True).predict(X) == y).all()
    with pytest.raises(ParameterError, match="UnpicklingError"):
        read_model(written(tmp_path / "bad.pkl", b"no"), trust_pickle=True)


def test_names_that_say_nothing_and_files_that_are_not_there_are_refused(tmp_path: Path) -> None:
    for name, words in (("model.h5", "does not say what it is"), ("none.joblib", "no such file")):
        if "h5" in name:
            written(tmp_path / name, b"")
        with pytest.raises(ParameterError, match=words):
            read_model(tmp_path / name)


def test_weights_of_a_network_answer_as_the_network(tmp_path: Path) -> None:
    net = MLPClassifier((5, 4), activation="tanh", max_iter=20, random_state=0)
    with pytest.warns(Warning, match="Maximum iterations"):
        net.fit(X, y)
    tensors = {f"{2 * place}.weight": weights.T for place, weights in enumerate(net.coefs_)}
    tensors |= {f"{2 * place}.bias": bias for place, bias in enumerate(net.intercepts_)}
    path = written(tmp_path / "model.safetensors", safetensors(tensors))
    with pytest.raises(ParameterError, match="3 layers, and does not say"):
        read_model(path)
    np.testing.assert_allclose(read_model(path, activation="tanh").predict_proba(X), net.predict_proba(X))
    names = {f"layers.{10 + 2 * int(name[0])}{name[1:]}": values for name, values in tensors.items()}
    again = read_model(written(path, safetensors(dict(reversed(names.items())))), activation="tanh")
    np.testing.assert_allclose(again.predict_proba(X), net.predict_proba(X))


def test_weights_of_one_layer_need_no_activation_and_one_output_has_two_classes(tmp_path: Path) -> None:
    model = LogisticRegression().fit(X, y > 0)
    path = written(tmp_path / "m.safetensors", safetensors({"weight": model.coef_, "bias": model.intercept_}, "F32"))
    np.testing.assert_allclose(read_model(path).predict_proba(X), model.predict_proba(X), atol=1e-5)
    assert read_model(path).n_features_in_ == 3


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 8 + b"{}",
        (5).to_bytes(8, "little") + b"[1,2]",
        (4).to_bytes(8, "little") + b"{}",
        safetensors({"weight": X}, "BOOL"),
        safetensors({"weight": X}, data_offsets=[0, 10**9]),
        safetensors({"weight": X}, data_offsets=[-8, 0]),
        safetensors({"weight": X}, shape=[10**6, 3]),
        safetensors({"weight": X}, shape=[True, 120]),
        safetensors({"weight": X, "bias": [1.0]}),
        safetensors({"conv.weight": np.zeros((2, 3, 3))}),
        safetensors({"weight": X, "running_mean": [1.0]}),
        safetensors({"0.weight": np.zeros((4, 3)), "1.weight": np.zeros((2, 5))}),
        safetensors({}),
    ],
)
def test_hostile_and_other_weights_are_refused(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"cannot be read as safetensors|no chain of linear layers"):
        read_model(written(tmp_path / "m.safetensors", content), activation="relu")


def test_weights_that_this_library_or_torch_released_are_read_and_nothing_else_is(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    shown = torch.softmax(net(torch.as_tensor(X, dtype=torch.float32)), dim=1).detach().numpy()
    for content in (net.state_dict(), {"weights": net.state_dict(), "card": "{}"}):
        torch.save(content, tmp_path / "m.pt")
        np.testing.assert_allclose(read_model(tmp_path / "m.pt", activation="relu").predict_proba(X), shown, atol=1e-5)
    torch.save(net, tmp_path / "m.pt")
    with pytest.raises(ParameterError, match="no weights alone"):
        read_model(tmp_path / "m.pt", activation="relu")


class _Touches:
    """Makes a file when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_a_file_of_torch_runs_nothing(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.save({"weight": torch.zeros(2, 3), "more": _Touches(tmp_path / "ran")}, tmp_path / "m.pt")
    with pytest.raises(ParameterError, match="no weights alone"):
        read_model(tmp_path / "m.pt")
    assert not (tmp_path / "ran").exists()


class _Session:
    """Stands for onnxruntime, as the tests have none: one linear layer, answered in the forms that exporters write."""

    form = "logits"

    def __init__(self, content: bytes, providers: list[str]) -> None:
        if content != b"onnx":
            raise RuntimeError("INVALID_PROTOBUF")
        assert providers == ["CPUExecutionProvider"]

    def get_inputs(self) -> list[Any]:
        given = SimpleNamespace(name="x", type="tensor(float)", shape=[None, 3])
        return [given] * (2 if self.form == "two inputs" else 1)

    def get_outputs(self) -> list[Any]:
        kind = "seq(map(string,tensor(float)))" if self.form == "mappings" else "tensor(float)"
        return [SimpleNamespace(type="tensor(int64)"), SimpleNamespace(type=kind)]

    def run(self, names: None, given: dict[str, Any]) -> list[Any]:
        assert given["x"].dtype == np.float32
        logits = np.column_stack([given["x"][:, 0], -given["x"][:, 0]])
        chances = softmax(logits, axis=1)
        return {
            "logits": [logits],
            "probabilities": [chances[:, 0] > 0.5, chances],
            "one": [chances[:, 1:]],
            "rounded": [np.where(chances > 0.5, np.float32(1.0000001), np.float32(-1.2e-7))],
            "mappings": [chances[:, 0] > 0.5, [dict(zip("ab", row, strict=True)) for row in chances]],
            "labels": [np.where(chances[:, 0] > 0.5, 0, 1)],
        }[self.form]


def test_onnx_is_run_by_onnxruntime_and_without_it_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "m.onnx", b"onnx")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[onnx\]'"):
        read_model(path)
    monkeypatch.setitem(sys.modules, "onnxruntime", SimpleNamespace(InferenceSession=_Session))
    chances = softmax(np.column_stack([X[:, 0], -X[:, 0]]), axis=1)
    for form in ("logits", "probabilities", "one", "mappings", "rounded"):
        monkeypatch.setattr(_Session, "form", form)
        expected = np.rint(chances) if form == "rounded" else chances
        np.testing.assert_allclose(read_model(path).predict_proba(X), expected, atol=1e-6)
        names = read_model(path).classes_
        assert names is None if form != "mappings" else names.tolist() == ["a", "b"]
    monkeypatch.setattr(_Session, "form", "labels")
    assert OnnxModel.read(path).predict_proba(X).ndim == 1
    monkeypatch.setattr(_Session, "form", "two inputs")
    with pytest.raises(ParameterError, match="2 inputs"):
        read_model(path)
    with pytest.raises(ParameterError, match="refuses it"):
        read_model(written(path, b"no"))
