"""Inputs found again from gradients that a participant of federated learning sends."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import WORST, AttackResult
from discreet.core.checks import check_positive, check_seed, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array


@dataclass(frozen=True)
class DenseGradients:
    """The input of a dense first layer, as the gradient of its weights divided by that of its bias.

    Parameters
    ----------
    truth : array of shape (n, features)
        The inputs, one for each gradient, to count what is right.
    tolerance : float
        Public. How far an input may be from the true one, in parts of the distance of a usual input from the mean.

    Notes
    -----
    The gradient of the weights of a unit is that of its bias times the input. So one record is read exactly, from the
    unit with the largest gradient of its bias; of a batch, sums. Noted by Phong, Aono, Hayashi, Wang and Moriai 2018;
    not checked against the paper.

    Examples
    --------
    >>> inputs = np.random.default_rng(0).normal(size=(3, 5))
    >>> slopes = np.random.default_rng(1).normal(size=(3, 4))
    >>> DenseGradients(inputs).run([(np.outer(b, x), b) for b, x in zip(slopes, inputs)]).success
    1.0
    """

    truth: ArrayLike = field(repr=False)
    tolerance: float = 0.1
    paper: ClassVar[str] = "Phong et al., Privacy-preserving deep learning via additively homomorphic encryption, 2018"
    threat: ClassVar[ThreatModel] = ThreatModel("the gradients of single records", "where the first layer is")

    def __post_init__(self) -> None:
        check_positive("DenseGradients", "tolerance", self.tolerance)

    def run(self, target: Sequence[Any]) -> AttackResult:
        """Divide: the target has, for each input, the gradients of the weights (units by features) and of the bias."""
        start, truth = time.perf_counter(), _inputs("DenseGradients", self.truth, target)
        found = np.stack([_divided("DenseGradients", pair, truth.shape[1]) for pair in target])
        return _found("DenseGradients", self, found, truth, start)


@dataclass(frozen=True)
class DeepLeakage:
    """The input whose gradients, computed by the adversary, are those that were sent.

    Parameters
    ----------
    truth : array of shape (n, ...)
        The inputs, one for each gradient, to count what is right.
    module : torch.nn.Module
        What the gradients are of: a classifier, with a dense last layer that has a bias.
    tolerance : float
        Public. How far an input may be from the true one, in parts of the distance of a usual input from the mean.
    steps : int
        Public. Of the minimiser, L-BFGS.
    restarts : int
        Public. From how many random inputs it starts; that with the nearest gradients counts.
    random_state : int
        Public. Of these.

    Notes
    -----
    Zhu, Liu and Han 2019 minimise the squared distance of gradients; the label is read from the one negative gradient
    of the last bias (Zhao, Mopuri and Bilen 2020). Needs an activation that has a second derivative. Not checked
    against the papers.

    Examples
    --------
    >>> import torch
    >>> _ = torch.manual_seed(0)
    >>> module = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)).double()
    >>> inputs = torch.rand(2, 6, dtype=torch.float64)
    >>> losses = torch.nn.functional.cross_entropy(module(inputs), torch.tensor([0, 2]), reduction="none")
    >>> sent = [torch.autograd.grad(loss, list(module.parameters()), retain_graph=True) for loss in losses]
    >>> DeepLeakage(inputs, module).run(sent).right
    2
    """

    truth: ArrayLike = field(repr=False)
    module: Any = field(repr=False)
    tolerance: float = 0.1
    steps: int = 150
    restarts: int = 2
    random_state: int = 0
    paper: ClassVar[str] = "Zhu, Liu and Han, Deep leakage from gradients, 2019"
    threat: ClassVar[ThreatModel] = ThreatModel("the gradients of single records", "the model and its loss")

    def __post_init__(self) -> None:
        check_positive("DeepLeakage", "tolerance", self.tolerance)
        for name in ("steps", "restarts"):
            check_whole("DeepLeakage", name, getattr(self, name))
        check_seed("DeepLeakage", self.random_state)
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(self.module, torch.nn.Module):
            obstacle = f"module is a {type(self.module).__name__}"
            raise ParameterError("DeepLeakage", obstacle, "Give a torch module; DenseGradients needs none.")

    def run(self, target: Sequence[Any]) -> AttackResult:
        """Minimise: the target has, for each input, the gradients of the module's parameters in their order."""
        start, truth = time.perf_counter(), _inputs("DeepLeakage", self.truth, target)
        shape = np.asarray(self.truth).shape[1:]
        found = np.stack([self._leaked(gradients, shape).ravel() for gradients in target])
        return _found("DeepLeakage", self, found, truth, start)

    def _leaked(self, gradients: Sequence[Any], shape: tuple[int, ...]) -> Array:
        torch, weights = sys.modules["torch"], list(self.module.parameters())
        sent = [torch.as_tensor(_plain(each)).to(own) for each, own in zip(gradients, weights, strict=True)]
        label = sent[-1].argmin().reshape(1)
        made = torch.Generator().manual_seed(int(self.random_state))
        best, nearest = np.full(shape, np.nan), np.inf
        for _ in range(int(self.restarts)):
            guess = torch.rand((1, *shape), generator=made).to(weights[0]).requires_grad_()
            apart = self._matched(torch, guess, label, sent)
            if apart < nearest:
                best, nearest = guess.detach().double().cpu().numpy()[0], apart
        return best

    def _matched(self, torch: Any, guess: Any, label: Any, sent: list[Any]) -> float:
        """Move the guess until its gradients are those that were sent, and how far they are in the end."""
        weights, scale = list(self.module.parameters()), sum(each.square().sum() for each in sent).clamp(min=1e-30)
        minimizer = torch.optim.LBFGS([guess], max_iter=int(self.steps), line_search_fn="strong_wolfe")

        def apart() -> Any:
            minimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(self.module(guess), label)
            own = torch.autograd.grad(loss, weights, create_graph=True)
            distance = sum((one - other).square().sum() for one, other in zip(own, sent, strict=True)) / scale
            (guess.grad,) = torch.autograd.grad(distance, guess)
            return distance

        minimizer.step(apart)
        return float(torch.nan_to_num(apart().detach(), nan=np.inf))


def _divided(asked: str, pair: Any, features: int) -> Array:
    """The input behind the gradients of weights and bias; nan where no unit has any."""
    try:
        weights, bias = (_plain(each) for each in pair)
    except (TypeError, ValueError):
        weights, bias = np.zeros(0), np.zeros(0)
    if weights.ndim != 2 or weights.shape != (len(bias), features):
        obstacle = f"gradients have shapes {weights.shape} and {bias.shape}, and inputs {features} features"
        raise ParameterError(asked, obstacle, "Give those of the weights and the bias of a dense first layer.")
    unit = int(np.abs(np.nan_to_num(bias)).argmax())
    return weights[unit] / bias[unit] if bias[unit] != 0 else np.full(features, np.nan)


def _found(name: str, attack: DenseGradients | DeepLeakage, found: Array, truth: Array, start: float) -> AttackResult:
    """Inputs that are near the true ones, beside those that the mean of all is near to."""
    mean = truth.mean(axis=0)
    usual = np.sqrt(np.mean(np.square(truth - mean).sum(axis=1))) or 1.0
    errors = np.nan_to_num(np.linalg.norm(found - truth, axis=1) / usual, nan=np.inf)
    right, order = errors <= attack.tolerance, np.argsort(errors, kind="stable")
    lucky = np.linalg.norm(truth - mean, axis=1) <= attack.tolerance * usual
    return AttackResult(
        name,
        attack.threat,
        "inputs found again",
        int(right.sum()),
        len(truth),
        float(lucky.mean()),
        time.perf_counter() - start,
        0,
        worst=tuple(order[right[order]][:WORST].tolist()),
        details={"median error": float(np.median(errors))},
    )


def _inputs(asked: str, truth: ArrayLike, target: Any) -> Array:
    rows = np.asarray(truth, dtype=np.float64)
    if rows.ndim < 2 or not isinstance(target, Sequence) or len(rows) != len(target) or not len(rows):
        raise ParameterError(asked, "there is not one gradient for each input", "Give as many gradients as inputs.")
    return rows.reshape(len(rows), -1)


def _plain(tensor: Any) -> Array:
    """An array from a tensor or whatever numpy reads."""
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor, dtype=np.float64)
