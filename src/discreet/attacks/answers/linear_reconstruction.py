"""All secret bits at once, from noisy answers about random sets of records."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, optimize, sparse

from discreet.attacks.answers.asked_queries import Answers, AskedQueries, Queries, blocks, likelier, secret_bits
from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.core.checks import check_seed, check_whole, shown
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

ASKED = "LinearReconstruction"
TIMES = {"least squares": 8, "linear programming": 4}  # queries for each record, by default
BLOCK = 2048  # queries that are asked, and added up, at a time
WEAK = 1e-3  # of a query: how much the guess that every bit is one half weighs


@dataclass(frozen=True)
class LinearReconstruction:
    """All secret bits at once, from noisy answers about random sets of records.

    Each query adds the bits of a random half of the records. The bits that fit all answers best are computed, by the
    least sum of absolute errors (a linear program, for a few hundred records) or of squared ones (for thousands), and
    rounded. Answers that are off by less than about the square root of the number of records give nearly all bits away.

    Parameters
    ----------
    truth : array-like of 0 and 1
        The secret bits, to count what is right.
    method : {"least squares", "linear programming"}
        How the bits are computed.
    queries : int, optional
        Public. How many are asked; by default eight for each record, or four for a linear program.
    random_state : int
        Public. Of the sets.

    Notes
    -----
    Dinur and Nissim 2003 ask all or random subsets and solve a linear program; Dwork, McSherry and Talwar 2007 and
    Dwork and Yekhanin 2008 treat the least sums. With q queries of n records and errors of standard deviation s, an
    estimate by least squares is off by about 2 s / sqrt(q - n).

    Examples
    --------
    >>> bits = np.random.default_rng(0).integers(0, 2, 100)
    >>> noise = np.random.default_rng(1)
    >>> result = LinearReconstruction(bits).run(lambda queries: queries @ bits + noise.uniform(-2.5, 2.5, len(queries)))
    >>> result.success > 0.98, result.questions
    (True, 800)
    """

    truth: ArrayLike = field(repr=False)
    method: Literal["least squares", "linear programming"] = "least squares"
    queries: int | None = None
    random_state: int = 0
    paper: ClassVar[str] = "Dinur and Nissim, Revealing information while preserving privacy, 2003"
    threat: ClassVar[ThreatModel] = ThreatModel(
        "answers, with errors", "which records there are, and no bit of them", "sums over sets of its choice"
    )

    def __post_init__(self) -> None:
        secret_bits(ASKED, self.truth)
        check_seed(ASKED, self.random_state)
        if not (isinstance(self.method, str) and self.method in TIMES):
            raise ParameterError(ASKED, f"the method is {shown(self.method)}", f"Give one of {', '.join(TIMES)}.")
        if self.queries is not None:
            check_whole(ASKED, "queries", self.queries)

    def run(self, target: Answers) -> AttackResult:
        """Ask the target, a function that takes an array of queries by records, and gives a number for each query."""
        start, bits = time.perf_counter(), secret_bits(ASKED, self.truth)
        asked = AskedQueries(ASKED, target)
        guessed = self._estimate(asked, len(bits)) > 0.5
        right = guessed == bits
        return AttackResult(
            f"Reconstruction by {self.method}",
            self.threat,
            "bits",
            int(right.sum()),
            len(bits),
            likelier(bits),
            time.perf_counter() - start,
            asked.questions,
            details={"queries refused": asked.refused},
        )

    def _estimate(self, asked: AskedQueries, records: int) -> Array:
        rng = np.random.default_rng(self.random_state)
        count = int(self.queries or TIMES[self.method] * records)
        if self.method == "least squares":
            return _least_squares(asked, records, count, rng)
        return _linear_program(asked, records, count, rng)


def _drawn(count: int, records: int, rng: np.random.Generator) -> Queries:
    return rng.integers(0, 2, (count, records)).astype(np.float64)


def _least_squares(asked: AskedQueries, records: int, count: int, rng: np.random.Generator) -> Array:
    """One half and what the answers add to it; only sums over queries are kept."""
    squares, sums = np.eye(records) * WEAK, np.zeros(records)
    for size in blocks(count, BLOCK):
        queries = _drawn(size, records, rng)
        answers = asked(queries)
        known = queries[~np.isnan(answers)]
        squares += known.T @ known
        sums += known.T @ (answers[~np.isnan(answers)] - known.sum(axis=1) / 2)
    return 0.5 + linalg.solve(squares, sums, assume_a="pos", overwrite_a=True)


def _linear_program(asked: AskedQueries, records: int, count: int, rng: np.random.Generator) -> Array:
    """Bits between 0 and 1 and the least sum of errors, each written as the difference of two numbers above zero."""
    queries = _drawn(count, records, rng)
    answers = asked(queries)
    known = queries[~np.isnan(answers)]
    if not len(known):
        return np.full(records, 0.5)
    errors = sparse.eye_array(len(known), format="csr")
    cost = np.concatenate([np.zeros(records), np.ones(2 * len(known))])
    matrix = sparse.hstack([sparse.csr_array(known), errors, -errors], format="csr")
    limits = [(0, 1)] * records + [(0, None)] * (2 * len(known))
    solved = optimize.linprog(cost, A_eq=matrix, b_eq=answers[~np.isnan(answers)], bounds=limits, method="highs-ipm")
    if solved.x is None:
        raise ParameterError(ASKED, f"the linear program was not solved: {solved.message}", "Use least squares.")
    return solved.x[:records]
