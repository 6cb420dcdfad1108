"""What it means to treat groups alike: which records are compared, and by what."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from discreet.core.errors import ParameterError
from discreet.core.grid import Array

Codes = NDArray[np.int64]
SHARPNESS = 2.0  # of scores: at 1 they are probabilities, whose means may agree while predictions do not


class Constraint(ABC):
    """Groups are alike if the mean score of each is that of all, in every stratum of the records.

    A score is a soft outcome between 0 and 1, so that it has a gradient; outcomes are what it stands for.
    """

    name: ClassVar[str]
    strata: ClassVar[int] = 1
    """How many parts of the records are compared by themselves."""

    @abstractmethod
    def scores(self, logits: Tensor, labels: Tensor) -> Tensor:
        """One number between 0 and 1 for each record."""

    @abstractmethod
    def outcomes(self, predicted: Codes, labels: Codes) -> Codes:
        """0 or 1 for each record."""

    def stratum(self, labels: Tensor) -> Tensor:
        """Which part each record is in."""
        return torch.zeros_like(labels, dtype=torch.int64)


class DemographicParity(Constraint):
    """Every group is predicted to be in the second class equally often.

    Examples
    --------
    >>> DemographicParity().scores(torch.zeros(2), torch.tensor([0.0, 1.0]))
    tensor([0.5000, 0.5000])
    """

    name = "demographic_parity"

    def scores(self, logits: Tensor, labels: Tensor) -> Tensor:
        """How far the second class is ahead."""
        return torch.sigmoid(SHARPNESS * logits)

    def outcomes(self, predicted: Codes, labels: Codes) -> Codes:
        """Whether the second class is predicted."""
        return predicted


class EqualizedOdds(DemographicParity):
    """The same, among the records of each class (Hardt, Price and Srebro 2016)."""

    name = "equalized_odds"
    strata = 2

    def stratum(self, labels: Tensor) -> Tensor:
        """The class."""
        return labels.to(torch.int64)


class AccuracyParity(Constraint):
    """Predictions are right equally often in every group."""

    name = "accuracy_parity"

    def scores(self, logits: Tensor, labels: Tensor) -> Tensor:
        """How far the record's own class is ahead."""
        return torch.sigmoid(SHARPNESS * torch.where(labels > 0.5, logits, -logits))

    def outcomes(self, predicted: Codes, labels: Codes) -> Codes:
        """Whether the prediction is right."""
        return (predicted == labels).astype(np.int64)


CONSTRAINTS = {kind.name: kind for kind in (DemographicParity, EqualizedOdds, AccuracyParity)}


def constraint_of(asked: str, name: str) -> Constraint:
    """The constraint with this name."""
    if name not in CONSTRAINTS:
        raise ParameterError(asked, f"constraint is {name!r}", f"Give one of {', '.join(CONSTRAINTS)}.")
    return CONSTRAINTS[name]()


def widest(means: Array) -> float:
    """The greatest difference of two groups within a stratum, for means of shape (strata, groups).

    Examples
    --------
    >>> round(widest(np.array([[0.1, 0.3], [0.5, 0.4]])), 3)
    0.2
    """
    return float((means.max(axis=-1) - means.min(axis=-1)).max())


def violation(constraint: Constraint, predicted: Codes, labels: Codes, groups: Codes) -> float:
    """The exact difference of hard predictions: for data that are public. Groups without records are left out."""
    outcomes, strata = constraint.outcomes(predicted, labels), constraint.stratum(torch.from_numpy(labels)).numpy()
    found = 0.0
    for stratum in range(constraint.strata):
        here = strata == stratum
        rates = [outcomes[here & (groups == group)].mean() for group in np.unique(groups[here & (groups >= 0)])]
        found = max(found, max(rates, default=0.0) - min(rates, default=0.0))
    return float(found)
