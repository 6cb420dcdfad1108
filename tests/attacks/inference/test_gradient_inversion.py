"""Gradients of single records are the records; those with noise, of nothing, or of somebody else are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from discreet.attacks import DeepLeakage, DenseGradients
from discreet.core.errors import ParameterError
from tests.attacks.trial import AttackTrial

PICTURES = (load_digits().images[:4] / 16).astype(np.float32)
LABELS = load_digits().target[:4]
OF_OTHERS = (load_digits().images[4:8] / 16).astype(np.float32)


def _dense() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 16), torch.nn.Tanh(), torch.nn.Linear(16, 10))


def _convolution() -> Any:
    torch.manual_seed(0)
    layers = (torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.Sigmoid(), torch.nn.Flatten(), torch.nn.Linear(512, 10))
    return torch.nn.Sequential(*layers)


def _sent(module: Any, pictures: Any) -> list[list[Any]]:
    """The gradients of every picture alone."""
    found = []
    for picture, label in zip(pictures, LABELS, strict=True):
        loss = torch.nn.functional.cross_entropy(module(torch.as_tensor(picture)[None, None]), torch.tensor([label]))
        found.append([each.detach() for each in torch.autograd.grad(loss, list(module.parameters()))])
    return found


def _dense_runs(pictures: Any) -> list[tuple[DenseGradients, Any]]:
    sent = [gradients[:2] for gradients in _sent(_dense(), pictures)]
    return [(DenseGradients(PICTURES.reshape(4, -1), tolerance=1e-5), sent)]


def _deep_runs(pictures: Any) -> list[tuple[DeepLeakage, Any]]:
    module = _convolution()
    return [(DeepLeakage(PICTURES[:, None], module, steps=40, restarts=1), _sent(module, pictures))]


TRIALS = {
    "DenseGradients": AttackTrial(lambda: _dense_runs(PICTURES), lambda: _dense_runs(OF_OTHERS)),
    "DeepLeakage": AttackTrial(lambda: _deep_runs(PICTURES), lambda: _deep_runs(OF_OTHERS)),
}


def test_a_dense_layer_gives_its_input_away_exactly() -> None:
    sent = [gradients[:2] for gradients in _sent(_dense(), PICTURES)]
    result = DenseGradients(PICTURES.reshape(4, -1), tolerance=1e-5).run(sent)
    assert result.success == 1.0
    assert result.chance == 0.0
    for weights, bias in sent:
        weights[3], bias[3] = 0.0, 0.0  # a unit that is off
    assert DenseGradients(PICTURES.reshape(4, -1), tolerance=1e-5).run(sent).success == 1.0


def test_gradients_that_say_nothing_give_nothing_away() -> None:
    rng, rows, sent_truly = np.random.default_rng(0), PICTURES.reshape(4, -1), _sent(_dense(), PICTURES)
    for sent in (
        [(np.zeros((16, 64)), np.zeros(16))] * 4,
        [(rng.normal(size=(16, 64)), rng.normal(size=16)) for _ in range(4)],
        [[0.1 * each.numpy() + rng.normal(0, 1, each.shape) for each in pair[:2]] for pair in sent_truly],
    ):
        assert DenseGradients(rows).run(sent).right == 0
    same = np.ones((4, 64))
    assert not DenseGradients(same).run([(np.outer(np.ones(16), same[0]), np.ones(16))] * 4).beats_chance


def test_pictures_are_found_from_the_gradients_of_a_convolution() -> None:
    module, pictures = _convolution(), PICTURES[:, None]
    result = DeepLeakage(pictures, module).run(_sent(module, PICTURES))
    assert result.success == 1.0
    assert result.details["median error"] < 0.05


def test_noise_or_the_gradients_of_others_give_no_picture_away() -> None:
    module, pictures = _convolution(), PICTURES[:, None]
    sent = _sent(module, PICTURES)
    made = torch.Generator().manual_seed(0)
    noisy = [[each + torch.randn(each.shape, generator=made) for each in gradients] for gradients in sent]
    nothing = [[torch.zeros_like(each) for each in gradients] for gradients in sent]
    for target in (noisy, nothing, _sent(module, PICTURES[::-1].copy())):
        assert DeepLeakage(pictures, module, steps=30, restarts=1).run(target).right == 0


def test_what_does_not_fit_is_refused() -> None:
    rows = PICTURES.reshape(4, -1)
    odd: list[Any] = [[], [(np.zeros((3, 5)), np.zeros(3))] * 4, [(np.zeros((3, 64)), np.zeros(2))] * 4, [None] * 4, 7]
    for target in odd:
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            DenseGradients(rows).run(target)
    with pytest.raises(ParameterError, match="DenseGradients needs none"):
        DeepLeakage(rows, "module")
    for options in ({"steps": 0}, {"restarts": 0}, {"tolerance": -1.0}, {"random_state": -1}):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            DeepLeakage(rows, _dense(), **options)
