"""Digits that a model takes for typical look like the digits; those of one that learnt nothing do not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from discreet.attacks import ModelInversion
from discreet.attacks.inference.model_inversion import _of_module
from discreet.attacks.membership.model_target import ModelTarget
from discreet.core.errors import ParameterError
from tests.attacks.trial import AttackTrial

X, Y = load_digits(return_X_y=True)
X = X / 16
TYPICAL = np.stack([X[digit == Y].mean(axis=0) for digit in range(10)])


def _fitted(labels: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LogisticRegression(max_iter=30).fit(X, labels)


def _module(model: Any) -> Any:
    module = torch.nn.Linear(64, 10).double()
    with torch.no_grad():
        module.weight.copy_(torch.as_tensor(model.coef_))
        module.bias.copy_(torch.as_tensor(model.intercept_))
    return module


TRIALS = {
    "ModelInversion": AttackTrial(
        lambda: [(ModelInversion(TYPICAL, steps=10), _fitted(Y))],
        lambda: [(ModelInversion(TYPICAL, steps=10), _fitted(np.random.default_rng(1).permutation(Y)))],
    )
}


def test_digits_are_found_in_a_linear_model_and_in_the_same_as_a_network() -> None:
    model = _fitted(Y)
    result = ModelInversion(TYPICAL).run(model)
    assert result.right == 10
    assert result.details["mean correlation"] > 0.6
    assert result.questions == 40 * 10 * 128
    module = _module(model).train()
    inside = ModelInversion(TYPICAL).run(module)
    assert module.training
    assert inside.details["mean correlation"] == pytest.approx(result.details["mean correlation"], abs=0.01)


def test_slopes_that_are_measured_are_those_of_the_module() -> None:
    model = _fitted(Y)
    rows = np.random.default_rng(0).random((10, 64))
    measured = ModelInversion(TYPICAL)._measured(ModelTarget.of(model))(rows)
    np.testing.assert_allclose(measured, _of_module(_module(model))(rows), atol=1e-5)
    own = np.log(model.predict_proba(rows))
    moved = rows + 1e-6 * measured
    gains = np.diag(np.log(model.predict_proba(moved)) - own)
    np.testing.assert_allclose(gains, 1e-6 * np.square(measured).sum(axis=1), rtol=1e-3)


def test_nothing_is_found_where_nothing_was_learnt() -> None:
    shuffled = np.random.default_rng(1).permutation(Y)
    for target in (_fitted(shuffled), lambda rows: np.full((len(rows), 10), 0.1)):
        assert not ModelInversion(TYPICAL).run(target).beats_chance
    flat = torch.nn.Linear(64, 10).double()
    torch.nn.init.zeros_(flat.weight)
    assert ModelInversion(TYPICAL).run(flat).right == 0


def test_what_does_not_fit_is_refused() -> None:
    odd: list[dict[str, Any]] = [
        {"steps": 0},
        {"rate": 2.0},
        {"lower": 1.0},
        {"truth": [1.0]},
        {"truth": [["<b>"]] * 2},
    ]
    for options in odd:
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            ModelInversion(**{"truth": TYPICAL, **options})
    with pytest.raises(ParameterError, match="3 classes"):
        ModelInversion(TYPICAL).run(lambda rows: np.full((len(rows), 3), 1 / 3))
