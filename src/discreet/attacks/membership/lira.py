"""The likelihood-ratio attack: each record is compared with itself, in models that have seen it and in others."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.membership.compared_by_row import ComparedByRow
from discreet.attacks.membership.membership_data import Values
from discreet.attacks.membership.model_target import ModelTarget
from discreet.core.checks import check_one_of, check_positive
from discreet.core.grid import Array

ASKED = "LiRA"
LEAST = 1e-6  # of the variance of all log-odds: no record's variance is below


@dataclass(frozen=True)
class RecordLaws:
    """For each record the mean and the variance of its log-odds, as of a normal distribution.

    Parameters
    ----------
    means, variances : array
        One of each for each record.

    Examples
    --------
    >>> laws = RecordLaws.of(np.array([[1.0, 5.0], [3.0, 9.0]]), np.array([[True, True], [True, False]]), 0.0)
    >>> laws.means, laws.variances[0]
    (array([2., 5.]), np.float64(2.0))
    """

    means: Array
    variances: Array

    @classmethod
    def of(cls, margins: NDArray[np.floating], seen: NDArray[np.bool_], shared: float) -> RecordLaws:
        """From the log-odds by those models that `seen` names; not a number where it names none."""
        there = seen & np.isfinite(margins)
        counts = there.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.where(there, margins, 0.0).sum(axis=0, dtype=np.float64) / counts
            squares = (np.where(there, margins - means, 0.0) ** 2).sum(axis=0)
            free = np.maximum(counts - 1, 0)
            common = squares.sum() / max(free.sum(), 1)
            variances = (squares + shared * common) / (free + shared)
        least = LEAST * float(np.nanvar(margins)) + np.finfo(np.float32).tiny
        return cls(means, np.maximum(np.where(np.isnan(variances), common, variances), least))

    def log_density(self, values: Array, places: NDArray[np.intp]) -> Array:
        """The logarithm of the density, up to a constant."""
        variances = self.variances[places]
        return np.asarray(-((values - self.means[places]) ** 2) / variances / 2 - np.log(variances) / 2)


@dataclass(frozen=True)
class LiRA(ComparedByRow):
    """Call those records members whose log-odds are likelier among models that have seen them than among others.

    Parameters
    ----------
    data : MembershipData
        Members and others, all of which are in the pool of the references.
    references : References
        Models on random halves; the more, the better.
    method : {"online", "offline"}
        "offline" uses those models alone that have not seen a record, as an adversary must who fitted references before
        there was a record to attack: the score is how far the target's log-odds are above theirs.
    shared : float
        For how many models the variance counts that all records have in common; a record's own takes over where it is
        in many more models. Large for a common variance alone.

    Notes
    -----
    Carlini, Chien, Nasr, Song, Terzis and Tramer 2022: log-odds of the own label are about normal for each record; a
    likelihood ratio of two normal laws online, one tail of one offline, and a common variance where models are few. The
    formulas were compared with the authors' code (mi_lira_2021), not with the paper: it has medians where this has
    means, takes a common variance around one mean of all records, and ranks by the density offline. Tests compute the
    ratio from densities that are known. The weighted mean of both variances is ours.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from discreet.attacks import MembershipData, References
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    >>> data = MembershipData.of(X[:100], y[:100], X[100:], y[100:])
    >>> nearest = KNeighborsClassifier(1)
    >>> attack = LiRA(data, References.fitted(nearest, *data.rows, number=8))
    >>> attack.run(nearest.fit(X[:100], y[:100])).beats_chance
    True
    """

    method: Literal["online", "offline"] = "online"
    shared: float = field(default=8.0, repr=False)
    paper: ClassVar[str] = "Carlini et al. 2022, Membership inference attacks from first principles"

    def __post_init__(self) -> None:
        check_one_of(ASKED, "method", self.method, ("online", "offline"))
        check_positive(ASKED, "shared", self.shared)

    @cached_property
    def _out(self) -> RecordLaws:
        return RecordLaws.of(self.references.margins, ~self.references.inside, self.shared)

    @cached_property
    def _in(self) -> RecordLaws:
        return RecordLaws.of(self.references.margins, self.references.inside, self.shared)

    def scores(self, target: ModelTarget, X: Values, y: Values) -> Array:
        """The logarithm of the likelihood ratio; offline, the distance from the mean in standard deviations."""
        places = self.references.places(X, y)
        own = self.references.own_margins(target, X, y)
        if self.method == "offline":
            return np.asarray((own - self._out.means[places]) / np.sqrt(self._out.variances[places]))
        return self._in.log_density(own, places) - self._out.log_density(own, places)
