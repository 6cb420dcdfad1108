"""The joint distribution of two strings of each client, by expectation and maximisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.events import Composed, Event
from discreet.core.grid import Array
from discreet.local.randomizer import Reports
from discreet.local.rappor.count_regression import CountRegression
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.rappor_parameters import bloom_design

OTHER = "(other)"
MOST_CELLS = 2**12
BLOCK = 2**14  # clients at a time, in the information
SMALL = 1e-6  # shares below are held at zero when errors are computed


@dataclass(frozen=True)
class StringReports:
    """Reports of one of a client's strings, and what they may be of.

    Parameters
    ----------
    rappor : Rappor
        Public. What they were made with.
    reports : array
        One for each client.
    candidates : sequence of str
        Public. All other strings count as one more.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rappor = Rappor(f=0.25, p=0.25, q=0.75)
    >>> reports = rappor.reports(["cat", "dog"], DeterministicBits(1))
    >>> StringReports(rappor, reports, ["cat", "dog"]).likelihoods().shape
    (2, 3)
    """

    rappor: Rappor
    reports: Reports
    candidates: Sequence[str]

    @property
    def labels(self) -> tuple[str, ...]:
        """The candidates, and a name for all others."""
        return (*self.candidates, OTHER)

    def likelihoods(self) -> Array:
        """Of each report under each candidate and under another string, up to a factor for each report.

        A one in a filter turns the likelihood of its bit by q* / p* if it is reported as a one, and by
        (1 - q*) / (1 - p*) if not. Other strings have each bit with the probability that candidates leave unexplained.
        """
        rappor, reports = self.rappor, self.rappor.accepted(self.reports)
        cohorts, rows = rappor.cohort_of(reports), rappor.bits_of(reports).astype(np.float64)
        having = np.concatenate([self._filters(), self._others()[:, :, None]], axis=2)
        ones = rappor.one_if_clear + rappor.slope * having
        if_one, if_zero = np.log(ones / rappor.one_if_clear), np.log((1 - ones) / (1 - rappor.one_if_clear))
        logs = np.empty((len(reports), having.shape[2]))
        for cohort in np.unique(cohorts).tolist():
            here = cohorts == cohort
            logs[here] = rows[here] @ (if_one[cohort] - if_zero[cohort]) + if_zero[cohort].sum(axis=0)
        return np.exp(logs - logs.max(axis=1, keepdims=True))

    def _filters(self) -> Array:
        """The Bloom filters of the candidates, for each cohort and bit."""
        design = bloom_design(self.rappor, self.candidates).toarray()
        return np.asarray(design).reshape(self.rappor.cohorts, self.rappor.bits, -1)

    def _others(self) -> Array:
        """The probability that another string has a bit, drawn to that of a random filter where noise hides it."""
        tally = self.rappor.tallied(self.reports)
        regression = CountRegression(self.rappor, tally, bloom_design(self.rappor, self.candidates))
        shares = np.maximum(regression.fitted(np.arange(regression.candidates)).shares, 0.0)
        left, noise = max(0.0, 1 - float(shares.sum())), 1 / np.maximum(regression.weights(np.array(0.0)), 1e-9)
        unexplained = regression.observed - regression.design @ shares
        having = (unexplained + noise * regression.background) / (left + noise)
        return np.asarray(np.clip(having, 0.0, 1.0).reshape(tally.shape[0], -1))


@dataclass(frozen=True)
class Association:
    """How often two strings come together.

    Parameters
    ----------
    first, second : tuple of str
        The strings of rows and of columns; the last stands for all others.
    shares, errors : array of shape (rows, columns)
        The estimated share of clients with both, and its standard error from the observed information: too small for
        shares close to 0.
    n : int
        The number of clients.
    event : Event
        What the two reports of a client cost together.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    shares: Array
    errors: Array
    n: int
    event: Event


def association(first: StringReports, second: StringReports, *, max_iter: int = 200, tol: float = 1e-6) -> Association:
    """Estimate the joint distribution of two strings from pairs of reports, by maximum likelihood: post-processing.

    A report depends on its own string alone, so the likelihood of a client's pair is a sum over cells of share times
    the product of two factors. Each iteration multiplies the shares by the mean over clients of that product in units
    of the likelihood: one product of matrices. Fanti, Pihur and Erlingsson 2016, section 3.

    Parameters
    ----------
    first, second : StringReports
        Of the same clients, in the same order.
    max_iter : int
        Public. Iterations at most.
    tol : float
        Public. Iterations end when no share changes by more.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rappor, bits = Rappor(bits=16, hashes=1, cohorts=4, f=0.0, p=0.1, q=0.9), DeterministicBits(1)
    >>> pets, homes = ["cat"] * 1000 + ["dog"] * 1000, ["flat"] * 1000 + ["house"] * 1000
    >>> given = [(pets, ["cat", "dog"]), (homes, ["flat", "house"])]
    >>> reports = [StringReports(rappor, rappor.reports(values, bits), among) for values, among in given]
    >>> association(*reports).shares[:2, :2].round(1)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    n, cells = len(first.reports), len(first.labels) * len(second.labels)
    if n != len(second.reports) or not n or cells > MOST_CELLS:
        raise ParameterError(
            "association",
            f"there are {n} and {len(second.reports)} reports, and {cells} pairs of strings",
            f"Give one pair of reports of each client, and candidates for at most {MOST_CELLS} pairs.",
        )
    rows, columns = first.likelihoods(), second.likelihoods()

    def step(shares: Array) -> Array:
        likelihood = np.einsum("ij,ij->i", rows @ shares, columns)
        return np.asarray(shares * (rows.T @ (columns / likelihood[:, None])) / n)

    shares = _fixed_point(step, np.full((rows.shape[1], columns.shape[1]), 1 / cells), max_iter, tol)
    errors = _errors(rows, columns, shares)
    return Association(
        first.labels, second.labels, shares, errors, n, Composed((first.rappor.event, second.rappor.event))
    )


def _fixed_point(step: Callable[[Array], Array], shares: Array, max_iter: int, tol: float) -> Array:
    """The fixed point of expectation-maximisation, with the extrapolation of Varadhan and Roland 2008."""
    for _ in range(max_iter):
        once = step(shares)
        twice = step(once)
        if float(np.abs(twice - once).max()) < tol:
            return twice
        first = once - shares
        second = twice - once - first
        reach = max(1.0, float(np.linalg.norm(first)) / max(float(np.linalg.norm(second)), 1e-300))
        leap = np.maximum(shares + 2 * reach * first + reach**2 * second, 1e-3 * twice)
        shares = step(leap / leap.sum())
    return shares


def _errors(rows: Array, columns: Array, shares: Array) -> Array:
    """From the information in the directions that keep the sum at one, among shares that are not close to zero."""
    free = np.flatnonzero(shares.ravel() > SMALL)
    information = np.zeros((free.size, free.size))
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        likelihood = np.einsum("ij,ij->i", rows[part] @ shares, columns[part])
        scores = np.einsum("ij,ik->ijk", rows[part], columns[part]).reshape(len(likelihood), -1)[:, free]
        scores /= likelihood[:, None]
        information += scores.T @ scores
    basis = np.linalg.qr(np.column_stack([np.ones(free.size), np.eye(free.size)[:, 1:]]))[0][:, 1:]
    covariance = basis @ np.linalg.pinv(basis.T @ information @ basis, hermitian=True) @ basis.T
    errors = np.zeros(shares.size)
    errors[free] = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return errors.reshape(shares.shape)
