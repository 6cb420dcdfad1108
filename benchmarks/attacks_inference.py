"""Models: hidden attributes, typical inputs, inputs from gradients, and records that are parameters.

python -m benchmarks.attacks_inference
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeRegressor

from benchmarks.rows import Row, at_least, at_most, missing, printed, report
from discreet.attacks import (
    AttributeFromModel,
    AttributeThroughMembership,
    DeepLeakage,
    DenseGradients,
    LeafOfOne,
    MembershipData,
    ModelInversion,
    SingletonCluster,
)

Rng = np.random.Generator


def people(rng: Rng, number: int) -> tuple[Any, Any]:
    """Eight attributes of three values, of which two have to do with the label."""
    X = rng.integers(0, 3, (number, 8)).astype(float)
    return X, (X[:, 0] + X[:, 1] + rng.normal(0, 1.5, number) > 2).astype(int)


def known_people(rng: Rng, members: int, others: int) -> MembershipData:
    """Members, and others none of whom is like a member."""
    X, y = people(rng, members)
    more, labels = people(rng, 4 * others)
    inside = {(*row, label) for row, label in zip(X.tolist(), y.tolist(), strict=True)}
    new = [(*row, label) not in inside for row, label in zip(more.tolist(), labels.tolist(), strict=True)]
    return MembershipData.of(X, y, more[new][:others], labels[new][:others])


def attribute_rows() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    known = known_people(rng, 300, 600)
    models = {
        "a forest without bootstrap": RandomForestClassifier(50, bootstrap=False, max_features=2, random_state=0),
        "a network": MLPClassifier((200,), max_iter=800, random_state=0),
        "logistic regression": LogisticRegression(),
    }
    for name, model in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(known.members_X, known.members_y)
            references = [type(model)(**model.get_params()).fit(*people(rng, 300)) for _ in range(4)]
        attacks = (AttributeFromModel(known, 5), AttributeThroughMembership(known, 5, references))
        for attack in attacks:
            result = attack.run(model)
            claim = f"{type(attack).__name__}, {name}: attributes of members"
            remembers = name == "a forest without bootstrap"
            yield at_least(claim, result.success, 0.85) if remembers else printed(claim, result.success)
            yield printed(f"{claim}; of others", result.details["rate on others"])


def inversion_rows() -> Iterator[Row]:
    X, y = load_digits(return_X_y=True)
    typical = np.stack([X[y == digit].mean(axis=0) for digit in range(10)]) / 16
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = {
            "logistic regression": LogisticRegression(max_iter=300).fit(X / 16, y),
            "a network": MLPClassifier((64,), max_iter=60, random_state=0).fit(X / 16, y),
        }
    for name, model in models.items():
        result = ModelInversion(typical).run(model)
        yield at_least(f"ModelInversion, {name}: digits found of 10", float(result.right), 9)
        yield printed(f"ModelInversion, {name}: mean correlation", result.details["mean correlation"])


def gradient_rows() -> Iterator[Row]:
    try:
        import torch
    except ImportError:
        yield missing("DeepLeakage and DenseGradients, which need PyTorch")
        return
    torch.manual_seed(0)
    pictures, labels = (load_digits().images[:20] / 16).astype(np.float32), load_digits().target[:20]
    nets = {
        "a dense layer": torch.nn.Sequential(
            torch.nn.Flatten(), torch.nn.Linear(64, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10)
        ),
        "two convolutions": torch.nn.Sequential(
            *(torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.Sigmoid(), torch.nn.Conv2d(8, 8, 3, padding=1)),
            *(torch.nn.Sigmoid(), torch.nn.Flatten(), torch.nn.Linear(512, 10)),
        ),
    }
    for name, net in nets.items():
        losses = torch.nn.functional.cross_entropy(
            net(torch.as_tensor(pictures[:, None])), torch.as_tensor(labels), reduction="none"
        )
        weights = list(net.parameters())
        sent = [[g.detach() for g in torch.autograd.grad(loss, weights, retain_graph=True)] for loss in losses]
        if name == "a dense layer":
            exact = DenseGradients(pictures.reshape(20, -1), tolerance=1e-4).run([pair[:2] for pair in sent])
            yield at_least(f"DenseGradients, {name}: pictures found of 20, to four digits", float(exact.right), 20)
        result = DeepLeakage(pictures[:, None], net).run(sent)
        yield at_least(f"DeepLeakage, {name}: pictures found of 20", float(result.right), 18)
        yield printed(f"DeepLeakage, {name}: seconds a picture", result.seconds / 20)


def single_rows() -> Iterator[Row]:
    rng = np.random.default_rng(1)
    rows = np.r_[rng.normal(0, 1, (500, 2)), rng.normal(8, 1, (500, 2)), [[20.0, -15.0]]]
    for model in (GaussianMixture(3, n_init=3, random_state=0), KMeans(3, n_init=3, random_state=0)):
        result = SingletonCluster(rows).run(model.fit(rows))
        yield at_least(f"SingletonCluster, {type(model).__name__}: records read", float(result.right), 1)
    X, y = rng.normal(size=(600, 4)), rng.normal(size=600)
    known = MembershipData.of(X[:300], y[:300], X[300:], y[300:])
    for least, name in ((1, "a tree to the end"), (5, "leaves of five")):
        tree = DecisionTreeRegressor(min_samples_leaf=least, random_state=0).fit(X[:300], y[:300])
        result, claim = LeafOfOne(known).run(tree), f"LeafOfOne, {name}: labels read"
        yield at_least(claim, result.success, 1.0) if least == 1 else at_most(claim, result.success, 0.0)


def rows() -> Iterator[Row]:
    """What was promised of models."""
    yield from attribute_rows()
    yield from inversion_rows()
    yield from gradient_rows()
    yield from single_rows()


if __name__ == "__main__":
    report("attacks_inference", list(rows()))
