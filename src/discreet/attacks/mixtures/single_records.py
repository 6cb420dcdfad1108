"""Records that a model keeps as they are, because a part of it, or a leaf, holds one alone."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import WORST, AttackResult
from discreet.attacks.control_rate import control_rate
from discreet.attacks.material import Material, ModelMaterial, Prepared, Unfit
from discreet.attacks.membership.membership_data import MembershipData, Values
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

DRAWS = 1000  # made-up records, of which luck is judged
ALONE = 1.5  # records in a part that is taken for one record


@dataclass(frozen=True)
class SingletonCluster:
    """The mean of a part of a mixture, or of a cluster, that has the weight of one record.

    Parameters
    ----------
    truth : array of shape (n, columns)
        The true records, to count what is right; the adversary knows how many there are.
    tolerance : float
        Public. How far a mean may be from a record, in standard deviations of each column.

    Notes
    -----
    A record far from all others gets a part of its own, whose mean it is. Parts are the components of a mixture
    (`weights_`, `means_`) or clusters (`cluster_centers_`, `labels_`). Chance is the upper end of the interval of how
    often a made-up record, each column from another true one, is as near to a record.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> rows = np.r_[np.random.default_rng(0).normal(size=(100, 2)), [[30.0, -20.0]]]
    >>> result = SingletonCluster(rows).run(KMeans(2, n_init=3, random_state=0).fit(rows))
    >>> result.right, result.worst
    (1, (100,))
    """

    truth: ArrayLike = field(repr=False)
    tolerance: float = 1e-3
    paper: ClassVar[str] = "no paper: the mean of one record is the record"
    threat: ClassVar[ThreatModel] = ThreatModel("the parameters of the model", "how many records there are")

    def __post_init__(self) -> None:
        check_positive("SingletonCluster", "tolerance", self.tolerance)

    def run(self, target: Any) -> AttackResult:
        """Read a fitted mixture or a fitted k-means."""
        start, rows = time.perf_counter(), self._rows()
        means, sizes = _parts(target, len(rows))
        if means.shape[1:] != rows.shape[1:]:
            obstacle = f"the parts have means of shape {means.shape}, the records {rows.shape}"
            raise ParameterError("SingletonCluster", obstacle, "Give records with the columns of the model.")
        alone = sizes < ALONE
        near, apart = self._nearest(rows, means)
        right = alone & (apart <= self.tolerance)
        rng = np.random.default_rng(0)
        made = np.column_stack([rng.choice(column, DRAWS) for column in rows.T])
        lucky = self._nearest(rows, made)[1] <= self.tolerance if rows.shape[1] > 1 else np.zeros(DRAWS, dtype=bool)
        return AttackResult(
            "SingletonCluster",
            self.threat,
            "parts that are one record",
            int(right.sum()),
            len(means),
            control_rate(int(lucky.sum()), DRAWS),
            time.perf_counter() - start,
            0,
            wrong=int((alone & ~right).sum()),
            worst=tuple(near[right][:WORST].tolist()),
            details={"smallest part, in records": float(sizes.min())},
        )

    def _rows(self) -> Array:
        rows = np.asarray(self.truth)
        if rows.ndim != 2 or len(rows) < 2 or rows.dtype.kind not in "iufb" or not np.isfinite(rows).all():
            raise ParameterError("SingletonCluster", "truth is no table of numbers", "Give at least two whole rows.")
        return rows.astype(np.float64)

    def _nearest(self, rows: Array, means: Array) -> tuple[NDArray[np.intp], Array]:
        """The nearest record to each mean, and its distance in the column where that is largest."""
        spread = rows.std(axis=0)
        unit = np.where(spread > 0, spread, 1.0)
        apart = [np.abs((rows - mean) / unit).max(axis=1) for mean in means]
        return np.array([each.argmin() for each in apart]), np.array([each.min() for each in apart])


@dataclass(frozen=True)
class LeafOfOne:
    """The label of a person whose attributes lead to a leaf of a tree in which there is one record.

    Parameters
    ----------
    known : MembershipData
        Records that the tree was grown from, and others; the adversary has their attributes without the labels.

    Notes
    -----
    The value of such a leaf is the label of its one record, to the last digit. Who reaches a leaf of more keeps the
    adversary silent. Chance is the upper end of the interval of the rate on the others, who reach such leaves too, and
    whose label is there by luck, or because it follows from the attributes.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> rows, labels = rng.normal(size=(30, 3)), rng.normal(size=30)
    >>> known = MembershipData.of(rows[:15], labels[:15], rows[15:], labels[15:], level=0.1)
    >>> LeafOfOne(known).run(DecisionTreeRegressor().fit(rows[:15], labels[:15])).success
    1.0
    """

    known: MembershipData = field(repr=False)
    paper: ClassVar[str] = "no paper: the mean of one record is the record"
    threat: ClassVar[ThreatModel] = ThreatModel("the parameters of the tree", "attributes of people, without labels")

    remedy: ClassVar[str] = "Let no leaf hold a single record (min_samples_leaf), and add noise to what leaves say."

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For decision trees of scikit-learn."""
        if not isinstance(material, ModelMaterial):
            return None
        if not (hasattr(material.model, "tree_") and hasattr(material.model, "apply")):
            return Unfit("It reads decision trees of scikit-learn.")
        return Prepared(cls(material.data), material.model)

    def run(self, target: Any) -> AttackResult:
        """Read a fitted decision tree of scikit-learn."""
        start, known = time.perf_counter(), self.known
        if not (hasattr(target, "tree_") and hasattr(target, "apply")):
            obstacle = f"a {type(target).__name__} has no leaves to read"
            raise ParameterError("LeafOfOne", obstacle, "Give a fitted tree of scikit-learn; of a forest, one tree.")
        claims, right = _read(target, known.members_X, known.members_y)
        _, elsewhere = _read(target, known.others_X, known.others_y)
        sizes = target.tree_.n_node_samples[target.tree_.children_left < 0]
        return AttackResult(
            "LeafOfOne",
            self.threat,
            "labels read from leaves of one record",
            int(right.sum()),
            len(right),
            control_rate(int(elsewhere.sum()), len(elsewhere)),
            time.perf_counter() - start,
            len(known.members_X) + len(known.others_X),
            wrong=int((claims & ~right).sum()),
            worst=tuple(np.flatnonzero(right)[:WORST].tolist()),
            details={"leaves of one": int((sizes == 1).sum()), "rate on others": float(elsewhere.mean())},
            warnings=known.warnings,
        )


def _parts(target: Any, records: int) -> tuple[Array, Array]:
    """The means of the parts, and how many records are in each."""
    if hasattr(target, "means_") and hasattr(target, "weights_"):
        return np.asarray(target.means_, dtype=np.float64), records * np.asarray(target.weights_, dtype=np.float64)
    if hasattr(target, "cluster_centers_") and hasattr(target, "labels_"):
        means = np.asarray(target.cluster_centers_, dtype=np.float64)
        return means, np.bincount(np.asarray(target.labels_), minlength=len(means)).astype(np.float64)
    obstacle = f"a {type(target).__name__} has no parts with means and sizes"
    raise ParameterError("SingletonCluster", obstacle, "Give a fitted mixture, or k-means with its labels.")


def _read(tree: Any, X: Values, y: Values) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Who reaches a leaf of one record, and whose label is there."""
    leaves = tree.apply(X)
    values = tree.tree_.value[leaves, 0]
    labels = tree.classes_[values.argmax(axis=1)] if hasattr(tree, "classes_") else values[:, 0]
    alone = np.asarray(tree.tree_.n_node_samples[leaves] == 1)
    return alone, alone & np.asarray(labels == y)
