"""Audit a mechanism of one's own: propose neighbors, look for the worst, and hold its outputs against the claim."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from discreet.audit.audit_report import AuditReport, of_verdict
from discreet.audit.audited_estimator import audited_estimator
from discreet.audit.audited_function import AuditedFunction
from discreet.audit.function_audit import FunctionAudit
from discreet.audit.lower_bound import CONFIDENCE
from discreet.audit.neighboring_records import ASKED, Corners, given_pairs, proposed
from discreet.audit.trial import judged, trial
from discreet.core.checks import check_seed, check_whole, is_number, shown
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, Event, PureLoss
from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits

RUNS, FEWEST, MOST = 100_000, 200, 10**8
LARGEST = 10**4  # records of a data set that is proposed


def audited(
    function: Any,
    neighbors: Any = None,
    *,
    claim: Event | float | None = None,
    delta: float = 0.0,
    bounds: Any = (0.0, 1.0),
    size: int = 8,
    runs: int = RUNS,
    grid: float | None = None,
    confidence: float = CONFIDENCE,
    random_state: int | None = None,
) -> AuditReport:
    """Try to refute what a mechanism of your own is said to cost.

    Parameters
    ----------
    function : callable, mechanism or estimator
        Called as `function(records)` or `function(records, rng)`, with an array of records and a numpy generator. It
        returns a number, or an array of one shape. With a parameter `runs` it returns so many independent outputs at
        once, along the first axis: far quicker. If it has `probabilities(records)`, a mapping from every output to its
        probability, these are looked at exactly, too. A mechanism of discreet is tried on the neighbors it names, and
        what has a `fit` by canaries, in a single run; see `audited_estimator`.
    neighbors : Neighbors, or pairs of arrays, optional
        Which neighbors are proposed, by default `Neighbors.ADD_REMOVE`; or the data sets themselves, in pairs.
    claim : Event or float
        What it is said to cost: an event, or epsilon. A mechanism of discreet states its own.
    delta : float
        That goes with an epsilon.
    bounds : (lower, upper)
        Public. Where the proposed records lie: two numbers, or two lists with a number for each column. Nothing outside
        is tried: if the function is to clip, give wider bounds.
    size : int
        Public. About how many records the proposed data sets have; some have none, or one.
    runs : int
        How many outputs are drawn on each of the two data sets that seem worst. The search for them draws more.
    grid : float, optional
        Outputs are rounded to its multiples before anything is looked at. Without it their last bits count, which
        noise in floating-point numbers gives away.
    confidence : float
        One minus the risk that a true claim is refuted.
    random_state : int, optional
        Seeds the generator; drawn, and reported, if not given.

    Returns
    -------
    AuditReport
        `holds` is False where the claim is refuted. Otherwise there is a lower bound of epsilon, which proves nothing.

    Raises
    ------
    ParameterError
        If outputs are no numbers or change their shape, or if the function raises on every data set.

    Guarantee
    ---------
    A true claim is refuted with probability at most 1 - `confidence`, provided that the outputs are independent. The
    worst pair is looked for on outputs that are not used again; the values, their last bits and whether the function
    raises share the risk (Bonferroni); see `judged`.

    Examples
    --------
    >>> def noisy_count(records, runs, rng):
    ...     noise = rng.geometric(1 - np.exp(-1.0), (2, runs))
    ...     return len(records) + noise[0] - noise[1]
    >>> audited(noisy_count, claim=1.0, runs=20_000, random_state=1).holds
    True
    >>> report = audited(noisy_count, claim=0.5, runs=20_000, random_state=1)
    >>> report.refuted, 0.5 < report.epsilon <= 1.0
    (True, True)
    """
    check_whole(ASKED, "runs", runs, FEWEST, MOST)
    check_whole(ASKED, "size", size, 0, LARGEST)
    check_seed(ASKED, random_state)
    if not (is_number(confidence) and 0.5 <= confidence < 1):
        raise ParameterError(ASKED, f"confidence is {shown(confidence)}", "Give a confidence in [0.5, 1).")
    confidence, started = float(confidence), time.perf_counter()
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if random_state is None else int(random_state)
    if _is_mechanism(function):
        return _of_mechanism(function, claim, delta, int(runs), confidence, seed, started)
    event = claimed(claim, delta)
    if hasattr(function, "fit"):
        return audited_estimator(function, event, bounds=bounds, confidence=confidence, random_state=seed)
    audit = FunctionAudit(AuditedFunction.of(function, grid), event, int(runs), confidence, seed)
    proposals = [] if _given(neighbors) else proposed(Corners.of(bounds), _relation(neighbors), int(size))
    pairs = given_pairs(neighbors) if _given(neighbors) else [proposal.pair for proposal in proposals]
    return audit.report(_name(function), pairs, proposals, Corners.of(bounds), started)


def claimed(claim: Event | float | None, delta: float) -> Event:
    """The event of a claim that may be a number."""
    if isinstance(claim, Event):
        return claim
    if not is_number(delta):
        raise ParameterError(ASKED, f"delta is {shown(delta)}", "Give a delta in [0, 1).", parameter="delta")
    if not is_number(claim):
        remedy = "Give `claim=`: an epsilon, or an event such as GaussianLoss(1.0)."
        raise ParameterError(ASKED, f"the claim is {shown(claim)}", remedy, parameter="claim")
    return PureLoss(float(claim)) if delta == 0 else ApproximateLoss(float(claim), delta)


def _given(neighbors: Any) -> bool:
    return neighbors is not None and not isinstance(neighbors, Neighbors | str)


def _relation(neighbors: Any) -> Neighbors:
    try:
        return Neighbors.ADD_REMOVE if neighbors is None else Neighbors(neighbors)
    except ValueError:
        remedy = "Give 'add_remove' or 'replace', or pairs of data sets."
        raise ParameterError(ASKED, f"neighbors is {shown(neighbors)}", remedy, parameter="neighbors") from None


def _name(function: Any) -> str:
    named = getattr(function, "func", function)
    return str(getattr(named, "__name__", type(named).__name__))


def _is_mechanism(function: Any) -> bool:
    return all(hasattr(function, part) for part in ("event", "release", "worst_neighbors"))


def _of_mechanism(
    mechanism: Any, claim: Event | float | None, delta: float, runs: int, confidence: float, seed: int, started: float
) -> AuditReport:
    """A mechanism of discreet knows its worst neighbors and its event; another claim is held against its releases."""
    verdict = trial(mechanism, DeterministicBits(seed), runs=runs, confidence=confidence)
    if claim is not None:
        pair, bits = mechanism.worst_neighbors(), DeterministicBits(seed)
        sides = (np.asarray(mechanism.release(side.stacked(runs), bits)) for side in (pair.first, pair.second))
        verdict = judged(claimed(claim, delta), *sides, confidence=confidence)
    options = {"runs": runs, "confidence": confidence, "random_state": seed}
    findings, seconds = of_verdict("values", verdict), time.perf_counter() - started
    return AuditReport(_name(mechanism), verdict.claim, findings, confidence, 1, 2 * runs, seconds, options)
