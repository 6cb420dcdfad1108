"""From RAPPOR counts to strings: Lasso, least squares, tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.local.device_receipt import device_receipt
from discreet.local.rappor.bloom import bloom_design
from discreet.local.rappor.count_regression import CountRegression, FittedShares
from discreet.local.rappor.decoded_strings import DecodedStrings
from discreet.local.rappor.discoveries import Correction, discoveries
from discreet.local.rappor.rappor import Rappor
from discreet.releases.release import check_confidence

KEPT = "The counts are as they were."


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
