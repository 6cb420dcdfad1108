"""Columns found again in a rotated or projected table, without a single known record."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.material import Material, Prepared, TableMaterial, Unfit
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.schema.schema import Number

ASKED = "IndependentComponents"
MAX_ITER, SEED = 1000, 0


@dataclass(frozen=True)
class IndependentComponents:
    """Independent component analysis of a table whose columns are sums of the true ones.

    True columns that are independent and not Gaussian come back, up to their sign, scale and order. A column counts as
    found if its component is correlated with it at least as `alike`; each component stands for one column at most.

    Parameters
    ----------
    original : array of shape (n, columns)
        The true records, in the order of the target's rows, to count what is right.
    alike : float
        Public. The least correlation, at most 1.

    Notes
    -----
    FastICA of Hyvarinen and Oja, as scikit-learn has it. Chance is what the same components find in the original with
    its rows shifted by half. Rows of the target with a missing value take no part. Not checked against the paper.

    Examples
    --------
    >>> rows = np.random.default_rng(0).uniform(size=(2000, 2))
    >>> result = IndependentComponents(rows).run(rows @ [[0.6, -0.8], [0.8, 0.6]])
    >>> result.right, result.trials, result.chance
    (2, 2, 0.0)
    """

    original: ArrayLike = field(repr=False)
    alike: float = 0.99
    paper: ClassVar[str] = "Liu, Kargupta and Ryan, Random projection-based multiplicative data perturbation, 2006"
    threat: ClassVar[ThreatModel] = ThreatModel("the released table", "that columns are independent and not Gaussian")
    remedy: ClassVar[str] = (
        "Neither a rotation nor a projection hides columns that are not Gaussian. Give away a synthetic table that"
        " was made with differential privacy (`discreet.synthesize`)."
    )

    def __post_init__(self) -> None:
        check_positive(ASKED, "alike", self.alike, most=1.0)

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For tables of numbers alone, with a row for each original record."""
        if not isinstance(material, TableMaterial):
            return None
        if not material.row_by_row:
            return Unfit("It needs a table with a row for each original record, in their order.")
        if not all(isinstance(column, Number) for column in material.schema.columns.values()):
            return Unfit("It needs numbers alone, and the schema has columns of other kinds.")
        return Prepared(cls(material.original), material.released)

    def run(self, target: Any) -> AttackResult:
        """Separate the columns of an array, or of a released table of numbers."""
        start = time.perf_counter()
        released, original = _numbers(getattr(target, "records", target)), _numbers(self.original)
        if len(released) != len(original):
            obstacle = f"the target has {len(released)} rows, the original {len(original)}"
            raise ParameterError(ASKED, obstacle, "Give the true record of each row of the target.")
        whole = np.isfinite(released).all(axis=1) & np.isfinite(original).all(axis=1)
        if whole.sum() <= max(released.shape[1], original.shape[1]):
            raise ParameterError(ASKED, f"{whole.sum()} rows have all values", "Give more rows than columns.")
        found, truth = _components(released[whole]), original[whole]
        alike, luck = _matched(found, truth), _matched(found, np.roll(truth, len(truth) // 2, axis=0))
        return AttackResult(
            ASKED,
            self.threat,
            "columns found again",
            int((alike >= self.alike).sum()),
            len(alike),
            float((luck >= self.alike).mean()),
            time.perf_counter() - start,
            0,
            details={"least correlation": float(alike.min()), "mean correlation": float(alike.mean())},
        )


def _numbers(table: Any) -> Array:
    found = np.asarray(table)
    if found.ndim != 2 or 0 in found.shape or found.dtype.kind not in "iufb":
        raise ParameterError(ASKED, "a table is no array of numbers with rows and columns", "Give numbers alone.")
    return found.astype(np.float64)


def _components(released: Array) -> Array:
    """The components, of which there are as many as columns that are not sums of others."""
    centred = released - released.mean(axis=0)
    rank = int(np.linalg.matrix_rank(centred))
    if rank == 0:
        return np.zeros((len(released), 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what was found so far is judged like anything else
        ica = FastICA(rank, whiten="unit-variance", whiten_solver="svd", max_iter=MAX_ITER, random_state=SEED)
        return np.asarray(ica.fit_transform(centred), dtype=np.float64)


def _matched(found: Array, truth: Array) -> Array:
    """The correlation of each true column with the component that stands for it; nothing, where none does."""
    ours, theirs = (_standard(each) for each in (found, truth))
    size = np.abs(ours.T @ theirs)
    components, columns = linear_sum_assignment(-size)
    alike = np.zeros(truth.shape[1])
    alike[columns] = size[components, columns]
    return alike


def _standard(values: Array) -> Array:
    centred = values - values.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    return centred / np.where(length > 0, length, 1.0)
