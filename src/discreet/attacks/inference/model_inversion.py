"""What a model takes for typical of a class, which is a person's face where classes are people."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import WORST, AttackResult
from discreet.attacks.membership.model_target import LEAST, ModelTarget
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

ASKED = "ModelInversion"
DIFFERENCE = 1e-3  # of the range of inputs: the step by which slopes are measured
Slopes = Callable[[Array], Array]  # of the logarithm of each row's own class, in that row


@dataclass(frozen=True)
class ModelInversion:
    """The input of which a model is surest that it is of a class, found by climbing from the middle of the range.

    Parameters
    ----------
    truth : array of shape (classes, features)
        A typical input of each class, such as the mean of its records, to count what is right; in the order of the
        model's probabilities.
    lower, upper : float
        Public. The range of the inputs.
    steps : int
        Public. How many steps are made.
    rate : float
        Public. The largest change of an input in one step, as a part of the range.

    Notes
    -----
    Fredrikson, Jha and Ristenpart 2015; not checked against the paper. Slopes come from a torch module itself, and
    otherwise from two questions for each feature. A class is found if the result, less the mean of all results, is
    correlated more with its own typical input, less the mean of those, than with that of any other class. A class
    stands for a person: the epsilon of the result is one for all records of a class together.

    Examples
    --------
    >>> typical = np.eye(4)
    >>> def model(rows):
    ...     odds = np.exp(8 * rows)
    ...     return odds / odds.sum(axis=1, keepdims=True)
    >>> ModelInversion(typical).run(model).right
    4
    """

    truth: ArrayLike = field(repr=False)
    lower: float = 0.0
    upper: float = 1.0
    steps: int = 40
    rate: float = 0.05
    paper: ClassVar[str] = "Fredrikson, Jha and Ristenpart, Model inversion attacks that exploit confidence, 2015"
    threat: ClassVar[ThreatModel] = ThreatModel(
        "probabilities, or parameters", "the names of the classes and the range of inputs", "inputs of its choice"
    )

    def __post_init__(self) -> None:
        check_whole(ASKED, "steps", self.steps)
        check_positive(ASKED, "rate", self.rate, most=1.0)
        if not self.lower < self.upper:
            raise ParameterError(ASKED, "lower is not below upper", "Give the range of the inputs.")
        typical = np.asarray(self.truth)
        if typical.ndim != 2 or len(typical) < 2 or typical.dtype.kind not in "iufb":
            raise ParameterError(ASKED, "truth has no row for each class", "Give at least two rows of numbers.")

    def run(self, target: Any) -> AttackResult:
        """Climb for each class of a torch module, a model with `predict_proba`, or a function of rows."""
        start, typical = time.perf_counter(), np.asarray(self.truth, dtype=np.float64)
        asked = ModelTarget.of(target)
        slopes = _of_module(target) if _is_module(target) else self._measured(asked)
        found = self.inverted(slopes, typical.shape)
        alike = _standard(found) @ _standard(typical).T
        own = np.diag(alike)
        right = (alike.argmax(axis=1) == np.arange(len(own))) & (own > 0)
        order = np.argsort(-own, kind="stable")
        return AttackResult(
            ASKED,
            self.threat,
            "classes whose typical input was found",
            int(right.sum()),
            len(right),
            1 / len(right),
            time.perf_counter() - start,
            asked.questions or int(self.steps) * len(right),
            worst=tuple(order[right[order]][:WORST].tolist()),
            details={"mean correlation": float(own.mean())},
        )

    def inverted(self, slopes: Slopes, shape: tuple[int, ...]) -> Array:
        """An input for each class, by steps along the slope whose largest part is `rate` of the range."""
        found = np.full(shape, (self.lower + self.upper) / 2)
        for _ in range(int(self.steps)):
            slope = np.nan_to_num(slopes(found))
            steepest = np.abs(slope).max(axis=1, keepdims=True)
            step = slope / np.where(steepest > 0, steepest, 1.0)
            found = np.clip(found + self.rate * (self.upper - self.lower) * step, self.lower, self.upper)
        return found

    def _measured(self, asked: ModelTarget) -> Slopes:
        """Slopes by differences to both sides, for one class after another."""
        small = DIFFERENCE * (self.upper - self.lower)

        def slopes(rows: Array) -> Array:
            shifts = small * np.concatenate([np.eye(rows.shape[1]), -np.eye(rows.shape[1])])
            found = np.empty_like(rows)
            for place, row in enumerate(rows):
                likely = asked.probabilities(row + shifts)
                if likely.shape[1] != len(rows):
                    obstacle = f"the target has {likely.shape[1]} classes, and truth has {len(rows)}"
                    raise ParameterError(ASKED, obstacle, "Give a typical input of each class.")
                above, below = np.log(np.maximum(likely[:, place], LEAST)).reshape(2, -1)
                found[place] = (above - below) / (2 * small)
            return found

        return slopes


def _is_module(target: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(target, torch.nn.Module)


def _of_module(module: Any) -> Slopes:
    """Slopes of a torch module, in the mode for evaluation; its mode is kept."""
    torch = sys.modules["torch"]

    def slopes(rows: Array) -> Array:
        training, some = module.training, next(module.parameters())
        module.eval()
        try:
            inputs = torch.as_tensor(rows, dtype=some.dtype, device=some.device).requires_grad_()
            likely = torch.log_softmax(module(inputs), dim=-1)
            (slope,) = torch.autograd.grad(likely.diagonal().sum(), inputs)
        finally:
            module.train(training)
        return np.asarray(slope.double().cpu().numpy())

    return slopes


def _standard(rows: Array) -> Array:
    """Rows less their mean, each of length one; what is the same for all is nothing."""
    centred = rows - rows.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.asarray(centred / np.where(length > 1e-12, length, 1.0))
