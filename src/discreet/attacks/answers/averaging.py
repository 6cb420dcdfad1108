"""Noise that is drawn afresh for every answer, averaged away by asking again, in the same words or in others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from discreet.attacks.answers.asked_queries import Answers, AskedQueries, Queries, blocks, secret_bits
from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.core.checks import check_seed, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

MOST = 2**21  # numbers in the queries of one call
KNOWS = "which records there are, and how many bits are one"


@dataclass(frozen=True)
class Averaging:
    """Exact counts over random sets of records, each asked again and again and averaged.

    Parameters
    ----------
    truth : array-like of 0 and 1
        The secret bits, to count what is right.
    repeats : int
        Public. How often each count is asked.
    sets : int
        Public. How many sets there are, each a random half of the records.
    random_state : int
        Public. Of the sets.

    Notes
    -----
    The mean of r answers with noise of standard deviation s is off by s / sqrt(r), and a count is found once that is
    below about 1/4. A target that keeps its answers gives the same one again; `Rephrasing` gets round that. Chance is
    the most probable count of a random half.

    Examples
    --------
    >>> bits, noise = np.random.default_rng(0).integers(0, 2, 100), np.random.default_rng(1)
    >>> result = Averaging(bits, sets=10).run(lambda queries: queries @ bits + noise.laplace(0, 3, len(queries)))
    >>> result.success, result.questions
    (1.0, 10000)
    """

    truth: ArrayLike = field(repr=False)
    repeats: int = 1000
    sets: int = 20
    random_state: int = 0
    paper: ClassVar[str] = "Dwork and Roth, The algorithmic foundations of differential privacy, 2014"
    threat: ClassVar[ThreatModel] = ThreatModel("answers with noise", KNOWS, "the same question again and again")
    parts: ClassVar[int] = 1  # questions that add up to one count

    def __post_init__(self) -> None:
        _check("Averaging", self)

    def run(self, target: Answers) -> AttackResult:
        """Ask the target, a function that takes an array of queries by records, and gives a number for each query."""
        return _run("Averaging", self, target)

    def phrased(self, members: Array, number: int, rng: np.random.Generator) -> Queries:
        """The same question, so many times."""
        return np.tile(members, (number, 1))


@dataclass(frozen=True)
class Rephrasing:
    """Exact counts over random sets of records, asked as sums of two parts that are different every time.

    A target that keeps its answers, and gives them again to the same question, has seen none of these questions before.
    Each costs the noise of two answers.

    Parameters
    ----------
    truth : array-like of 0 and 1
        The secret bits, to count what is right.
    repeats : int
        Public. Into how many pairs of parts each set is cut.
    sets : int
        Public. How many sets there are, each a random half of the records.
    random_state : int
        Public. Of the sets and their parts.

    Notes
    -----
    In words, "age below 40" is "age below 40.000001", or "women below 40" and "men below 40": whether two questions are
    one cannot be decided by their form. The mean of r such sums is off by s sqrt(2 / r).

    Examples
    --------
    >>> bits, noise = np.random.default_rng(0).integers(0, 2, 100), np.random.default_rng(2)
    >>> kept = {}
    >>> def target(queries):
    ...     return [kept.setdefault(query.tobytes(), query @ bits + noise.laplace(0, 3)) for query in queries]
    >>> Rephrasing(bits, sets=5).run(target).right, Averaging(bits, sets=5).run(target).beats_chance
    (5, False)
    """

    truth: ArrayLike = field(repr=False)
    repeats: int = 1000
    sets: int = 20
    random_state: int = 0
    paper: ClassVar[str] = "Dwork and Roth, The algorithmic foundations of differential privacy, 2014"
    threat: ClassVar[ThreatModel] = ThreatModel("answers with noise, which are kept", KNOWS, "sums over parts of sets")
    parts: ClassVar[int] = 2

    def __post_init__(self) -> None:
        _check("Rephrasing", self)

    def run(self, target: Answers) -> AttackResult:
        """Ask the target, a function that takes an array of queries by records, and gives a number for each query."""
        return _run("Rephrasing", self, target)

    def phrased(self, members: Array, number: int, rng: np.random.Generator) -> Queries:
        """Random halves of the set, each followed by the rest of it."""
        halves = members * rng.integers(0, 2, (number, len(members)))
        return np.stack([halves, members - halves], axis=1).reshape(2 * number, -1)


def _check(asked: str, attack: Averaging | Rephrasing) -> None:
    if len(secret_bits(asked, attack.truth)) < 2:
        raise ParameterError(asked, "there is one record", "Give at least two.")
    check_whole(asked, "repeats", attack.repeats)
    check_whole(asked, "sets", attack.sets)
    check_seed(asked, attack.random_state)


def _run(name: str, attack: Averaging | Rephrasing, target: Answers) -> AttackResult:
    start, bits, rng = time.perf_counter(), secret_bits(name, attack.truth), np.random.default_rng(attack.random_state)
    asked, half = AskedQueries(name, target), len(bits) // 2
    found, true = list[float](), list[float]()
    for _ in range(int(attack.sets)):
        members = np.zeros(len(bits))
        members[rng.choice(len(bits), half, replace=False)] = 1.0
        found.append(_averaged(asked, _phrases(attack, members, rng), attack.parts))
        true.append(float(members @ bits))
    errors = np.array(found) - true
    law, ones = stats.hypergeom(len(bits), int(bits.sum()), half), np.arange(half + 1)
    return AttackResult(
        name,
        attack.threat,
        "counts found exactly",
        int((np.abs(errors) < 0.5).sum()),
        len(true),
        float(law.pmf(ones).max()),
        time.perf_counter() - start,
        asked.questions,
        details={"queries refused": asked.refused, "root mean square error": float(np.sqrt(np.mean(errors**2)))},
    )


def _phrases(attack: Averaging | Rephrasing, members: Array, rng: np.random.Generator) -> Iterator[Queries]:
    for part in blocks(int(attack.repeats), max(1, MOST // len(members))):
        yield attack.phrased(members, part, rng)


def _averaged(asked: AskedQueries, phrases: Iterator[Queries], parts: int) -> float:
    """The mean of what the parts of a set add up to; nan, which is no count, where none was answered."""
    total, answered = 0.0, 0
    for queries in phrases:
        sums = asked(queries).reshape(-1, parts).sum(axis=1)
        total += float(np.nansum(sums))
        answered += int((~np.isnan(sums)).sum())
    return total / answered if answered else np.nan
