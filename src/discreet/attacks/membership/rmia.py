"""The robust attack: a record against the population, with few reference models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from discreet.attacks.attack import ThreatModel
from discreet.attacks.material import Material, ModelMaterial, Prepared, Unfit
from discreet.attacks.membership.membership_data import MembershipData, Values
from discreet.attacks.membership.model_target import ModelTarget
from discreet.attacks.membership.references import References
from discreet.attacks.membership.threshold_attack import ScoredByRow
from discreet.core.checks import check_one_of, check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

ASKED = "RMIA"


@dataclass(frozen=True)
class RMIA(ScoredByRow):
    """Call those records members whose probability the target raised more than that of most records.

    The ratio of a record is its probability by the target over its mean probability by the references. Its score is the
    share of the population whose ratio it exceeds by the factor `gamma`.

    Parameters
    ----------
    data : MembershipData
        Members and others, all of which are in the pool of the references; they are the population, too.
    references : References
        Models on random halves; four or even two are of use.
    method : {"online", "offline"}
        "offline" uses those models alone that have not seen a record, and guesses what the others would say.
    gamma : float
        By how much a record's ratio must exceed another's.
    a : float
        Offline, the mean probability is ((1 + a) p + (1 - a)) / 2, where p is the mean by models without the record:
        from 0 for models that know every record by heart to 1 for models that learn nothing from it.
    temperature : float
        Log-odds are divided by it before they become probabilities.

    Notes
    -----
    Zarifzadeh, Liu and Shokri 2024, "Low-cost high-power membership inference attacks". The population is the same for
    all records, so their order is that of their ratios, whatever `gamma` is: it decides what a score means. Equal
    shares are ordered by the ratio. The formula for `a` is that of their published code; dividing log-odds stands for
    their scaled softmax.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    >>> data = MembershipData.of(X[:100], y[:100], X[100:], y[100:])
    >>> nearest = KNeighborsClassifier(1)
    >>> attack = RMIA(data, References.fitted(nearest, *data.rows, number=4))
    >>> attack.run(nearest.fit(X[:100], y[:100])).beats_chance
    True
    """

    data: MembershipData
    references: References
    method: Literal["online", "offline"] = "online"
    gamma: float = 1.0
    a: float = 0.3
    temperature: float = 2.0
    paper: ClassVar[str] = "Zarifzadeh, Liu and Shokri 2024, Low-cost high-power membership inference attacks"
    threat: ClassVar[ThreatModel] = ThreatModel(
        "probabilities",
        "records with their labels, others like them, and how the target was trained",
        "each record once",
    )

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For every model with probabilities that can be trained again."""
        return material.compared(cls) if isinstance(material, ModelMaterial) else None

    def __post_init__(self) -> None:
        check_one_of(ASKED, "method", self.method, ("online", "offline"))
        check_positive(ASKED, "gamma", self.gamma)
        check_positive(ASKED, "temperature", self.temperature)
        if self.a != 0:
            check_positive(ASKED, "a", self.a, most=1.0)
        if self.method == "offline" and self.references.inside.all(axis=0).any():
            raise ParameterError(ASKED, "a record is in every reference model", "Fit an even number of them.")

    @cached_property
    def _means(self) -> Array:
        """The mean probability of each record of the pool, by models with and without it in equal parts."""
        chances = expit(self.references.margins / self.temperature).astype(np.float64)
        without = _mean(chances, ~self.references.inside)
        if self.method == "offline":
            return np.asarray(((1 + self.a) * without + 1 - self.a) / 2)
        seen = _mean(chances, self.references.inside)
        known = np.where(np.isnan(seen), without, seen), np.where(np.isnan(without), seen, without)
        return np.asarray((known[0] + known[1]) / 2)

    def scores(self, target: ModelTarget, X: Values, y: Values) -> Array:
        """The share of the population that a record exceeds, and less than one record more for the ratio itself."""
        own = expit(self.references.own_margins(target, X, y) / self.temperature)
        ratios = own / self._means[self.references.places(X, y)]
        population = np.sort(ratios[~np.isnan(ratios)])
        exceeded = np.searchsorted(population, ratios / self.gamma, side="right")
        shares = (exceeded + ratios / (1 + ratios)) / max(len(population) + 1, 1)
        return np.where(np.isnan(ratios), np.nan, shares)


def _mean(chances: Array, seen: NDArray[np.bool_]) -> Array:
    """The mean over the models that are named; not a number where none is."""
    there = seen & np.isfinite(chances)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, chances, 0.0).sum(axis=0) / there.sum(axis=0))
