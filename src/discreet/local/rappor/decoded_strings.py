"""From RAPPOR counts to strings: Lasso, least squares, tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from discreet.core.checks import check_one_of, check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.local.device_receipt import device_receipt
from discreet.local.rappor.count_regression import CountRegression, FittedShares
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.rappor_parameters import bloom_design
from discreet.releases.columns import Columns, Series
from discreet.releases.drawing import draw_points
from discreet.releases.release import check_confidence
from discreet.releases.table import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Correction = Literal["benjamini-hochberg", "bonferroni"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)
KEPT = "The counts are as they were."


def discoveries(p_values: Array, hypotheses: int, level: float, correction: Correction) -> NDArray[np.bool_]:
    """Which null hypotheses are rejected.

    Parameters
    ----------
    p_values : array
        Of those hypotheses that could be rejected.
    hypotheses : int
        How many there are in all; those without a p-value count as if it were 1.
    level : float
        Of Bonferroni's correction: the probability of any false rejection. Of Benjamini and Hochberg's: the expected
        part of false ones among the rejections (Benjamini and Hochberg 1995, Theorem 1, for independent p-values).
    correction : {"benjamini-hochberg", "bonferroni"}
        Which of the two.

    Examples
    --------
    >>> p_values = np.array([0.001, 0.02, 0.03, 0.9])
    >>> discoveries(p_values, 4, 0.05, "bonferroni"), discoveries(p_values, 4, 0.05, "benjamini-hochberg")
    (array([ True, False, False, False]), array([ True,  True,  True, False]))
    """
    check_one_of("discoveries", "correction", correction, CORRECTIONS)
    check_positive("discoveries", "level", level, 1e-12, 0.5)
    if correction == "bonferroni":
        return np.asarray(p_values <= level / max(hypotheses, 1))
    order = np.argsort(p_values)
    below = np.flatnonzero(p_values[order] <= level * np.arange(1, p_values.size + 1) / max(hypotheses, 1))
    rejected = np.zeros(p_values.size, bool)
    rejected[order[: below[-1] + 1 if below.size else 0]] = True
    return rejected


@dataclass(frozen=True, kw_only=True)
class DecodedStrings(Tabular):
    """The candidates that clients are shown to have, the most common first.

    Estimates, errors and p-values are those of least squares. Intervals are for one string at a time, and for the
    population that clients are a sample of.

    Parameters
    ----------
    found : tuple of str
        The strings whose null hypothesis, that nobody has them, is rejected.
    counts, errors, p_values : array
        The number of clients that have each, its standard error, and the one-sided p-value.
    n : int
        The number of reports.
    candidates : int
        The number of candidates that were tested.
    dispersion : float
        The variance of residuals in units of the known noise; clearly above 1 if common strings are not candidates.
    split : bool
        Whether candidates were chosen in other cohorts than they were tested in.

    Examples
    --------
    >>> from discreet.local.rappor.decoded_strings import decoded
    >>> from discreet.local.rappor.rappor import Rappor
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rappor = Rappor(f=0.25, p=0.25, q=0.75)
    >>> reports = rappor.reports(["cat"] * 6000 + ["dog"] * 4000, DeterministicBits(1))
    >>> found = decoded(rappor, rappor.tallied(reports), candidates=["cat", "cow", "dog"], simulated=True)
    >>> found.found, found.candidates
    (('cat', 'dog'), 3)
    """

    found: tuple[str, ...]
    counts: Array
    errors: Array
    p_values: Array
    n: int
    candidates: int
    dispersion: float
    split: bool

    @property
    def other(self) -> float:
        """The estimated number of clients with other strings."""
        return max(0.0, self.n - float(self.counts.sum()))

    @cached_property
    def _columns(self) -> Columns:
        assert self.confidence is not None
        half = ndtri((1 + self.confidence) / 2) * self.errors
        counts = Series.around("count", self.counts, half, self.errors)
        share = Series.around("share", self.counts / self.n, half / self.n)
        return Columns({"string": self.found}, (counts, share, Series("p_value", np.asarray(self.p_values))))

    def tabulated(self) -> Columns:
        """The strings with their counts, shares and p-values."""
        return self._columns

    def draw(self, ax: Axes) -> None:
        """A point with its interval for each string, the most common at the top."""
        draw_points(ax, list(self.found), self._columns.series[0])


def decoded(
    rappor: Rappor,
    tally: Steps,
    *,
    candidates: Sequence[str],
    level: float = 0.05,
    correction: Correction = "benjamini-hochberg",
    split: bool = False,
    confidence: float = 0.95,
    simulated: bool = False,
) -> DecodedStrings:
    """Find the candidates that clients have, and estimate how many: post-processing of reports.

    A non-negative Lasso keeps some candidates, least squares estimates their shares, and each is tested against the
    null hypothesis that nobody has it. Candidates that the Lasso leaves out count among the hypotheses.

    Parameters
    ----------
    rappor : Rappor
        Public. What the reports were made with.
    tally : array of int64, shape (cohorts, 1 + bits)
        Of an `Aggregator`.
    candidates : sequence of str
        Public. What is looked for; strings that are not in it cannot be found.
    level : float
        Public. See `discoveries`.
    correction : {"benjamini-hochberg", "bonferroni"}
        Public. For many tests.
    split : bool
        Public. Whether candidates are kept by the reports of even cohorts, and tested by those of odd ones. Otherwise
        all reports serve for both: p-values then take no account of the selection and are somewhat too small, while
        more is found.
    confidence : float
        Public. Of each interval.
    simulated : bool
        Whether the reports were drawn from bits that can be replayed.

    Raises
    ------
    ParameterError
        There are no candidates, or one occurs twice; or cohorts without reports leave nothing to decode.

    Notes
    -----
    Erlingsson, Pihur and Korolova 2014, section 4. The penalty is not tuned on the reports: it follows from the noise,
    whose law is known. Splitting by cohorts is sound since no client is in two of them.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rappor = Rappor(f=0.25, p=0.25, q=0.75)
    >>> reports = rappor.reports(["cat"] * 6000 + ["dog"] * 4000, DeterministicBits(1))
    >>> found = decoded(rappor, rappor.tallied(reports), candidates=["cat", "cow", "dog"], simulated=True)
    >>> found.found, bool(abs(found.counts[0] - 6000) < 3 * found.errors[0])
    (('cat', 'dog'), True)
    """
    _check(rappor, tally, candidates, split)
    check_confidence("decode RAPPOR reports", confidence)
    if split:
        chosen = regression(rappor, tally, candidates, slice(0, None, 2)).selected().kept
        fit = regression(rappor, tally, candidates, slice(1, None, 2)).fitted(chosen)
    else:
        fit = regression(rappor, tally, candidates, slice(None)).selected()
    p_values = ndtr(-fit.shares / np.maximum(fit.errors, np.finfo(float).tiny))
    rejected = discoveries(p_values, len(candidates), level, correction)
    return _result(rappor, int(tally[:, 0].sum()), candidates, fit, p_values, rejected, split, confidence, simulated)


def regression(rappor: Rappor, tally: Steps, candidates: Sequence[str], cohorts: slice) -> CountRegression:
    """The regression of the counts of some cohorts."""
    rows = np.arange(rappor.cohorts * rappor.bits).reshape(rappor.cohorts, rappor.bits)[cohorts].ravel()
    return CountRegression(rappor, tally[cohorts], bloom_design(rappor, candidates).tocsr()[rows].tocsc())


def _result(
    rappor: Rappor,
    n: int,
    candidates: Sequence[str],
    fit: FittedShares,
    p_values: Array,
    rejected: NDArray[np.bool_],
    split: bool,
    confidence: float,
    simulated: bool,
) -> DecodedStrings:
    order = np.flatnonzero(rejected)[np.argsort(-fit.shares[rejected], kind="stable")]
    purpose = f"strings in {n} RAPPOR reports"
    receipt = device_receipt(purpose, rappor, simulated=simulated)
    return DecodedStrings(
        name=purpose,
        receipt=receipt,
        confidence=confidence,
        population=True,
        found=tuple(candidates[place] for place in fit.kept[order]),
        counts=fit.shares[order] * n,
        errors=fit.errors[order] * n,
        p_values=p_values[order],
        n=n,
        candidates=len(candidates),
        dispersion=fit.dispersion,
        split=split,
    )


def _check(rappor: Rappor, tally: Steps, candidates: Sequence[str], split: bool) -> None:
    asked = "decode RAPPOR reports"
    if not len(candidates) or len(set(candidates)) < len(candidates):
        obstacle = "a candidate occurs twice" if len(candidates) else "there are no candidates"
        raise ParameterError(asked, obstacle, "Give each string that is looked for once.", KEPT)
    sizes = np.asarray(tally)[:, 0]
    if not sizes.any() or (split and not (sizes[::2].any() and sizes[1::2].any())):
        halves = " in even or in odd cohorts" if sizes.any() else ""
        raise ParameterError(asked, f"there are no reports{halves}", "Collect some first.", KEPT)
    if tally.shape != (rappor.cohorts, 1 + rappor.bits) or (tally[:, 1:] > tally[:, :1]).any() or (tally < 0).any():
        raise ParameterError(asked, "the counts do not fit the parameters", "Give the tally of an Aggregator.", KEPT)
