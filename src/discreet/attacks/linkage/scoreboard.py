"""People found in sparse ratings by the few of their ratings that somebody knows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.linkage.linked_people import NOBODY, LinkedPeople, rows_of_people
from discreet.attacks.linkage.ratings import Ratings
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

SEES = "the released ratings, with or without dates, and no names"
Known = tuple[NDArray[np.int64], Array, Array]  # items, values and dates of one person


@dataclass(frozen=True)
class Scoreboard:
    """The user with whom everything that is known of a person agrees, if there is one alone.

    The score of a user is the least of the similarities of what is known: one for a rating and a date that are both
    within their errors, nothing otherwise. A single wrong rating hides a person; `ScoreboardRH` does not mind it.

    Parameters
    ----------
    known : Ratings
        What the adversary knows of each person, who are numbered from 0; nan for a value or a date that is not known.
    truth : sequence of int
        The row of each person in the target, to count what is right; -1 for who is not there.
    rating_error, date_error : float
        Public. How far a known rating, and a known date, may be from the true one.

    Notes
    -----
    Narayanan and Shmatikov 2008, section 4, with a similarity of 0 or 1, compared with the text of that section. Theirs
    gives equal probabilities to all records that agree; ours names one that is alone.

    Examples
    --------
    >>> released = Ratings.of([0, 0, 1, 1], [0, 1, 0, 2], [5, 3, 5, 1])
    >>> result = Scoreboard(Ratings.of([0, 0], [0, 2], [5, 1]), [1]).run(released)
    >>> result.right, result.trials
    (1, 1)
    """

    known: Ratings = field(repr=False)
    truth: Sequence[int] = field(repr=False)
    rating_error: float = 1.0
    date_error: float = 14.0
    paper: ClassVar[str] = "Narayanan and Shmatikov, Robust de-anonymization of large sparse datasets, 2008"
    threat: ClassVar[ThreatModel] = ThreatModel(SEES, "a few ratings of each person, all of them nearly right")

    def __post_init__(self) -> None:
        check_positive("Scoreboard", "rating_error", self.rating_error)
        check_positive("Scoreboard", "date_error", self.date_error)

    def run(self, target: Any) -> AttackResult:
        """Look for each person in Ratings, or in a sparse matrix of users by items."""
        return _run("Scoreboard", self, target, self._answer)

    def _answer(self, released: Ratings, _: Array, known: Known) -> tuple[int, float]:
        agreeing = np.zeros(released.people, dtype=np.int64)
        for item, value, date in zip(*known, strict=True):
            there = released.of_item(int(item))
            near = _near(released.values[there], value, self.rating_error)
            near &= _near(released.dates[there], date, self.date_error)
            agreeing[released.users[there][near]] += 1
        found = np.flatnonzero(agreeing == len(known[0])) if len(known[0]) else np.array([], dtype=np.int64)
        return (int(found[0]), float(len(known[0]))) if len(found) == 1 else (NOBODY, 0.0)


@dataclass(frozen=True)
class ScoreboardRH:
    """The user whose ratings are most like what is known of a person, if no other comes near.

    Each known rating adds exp(-|rating - known| / rating_scale) + exp(-|date - known| / date_scale) to the scores of
    those who rated the item, divided by the logarithm of how many they are: rare items say most. What is not known adds
    nothing; an item of which neither is known adds one. The eccentricity is the difference of the two highest scores in
    standard deviations of all scores; where it is not above the threshold, there is no answer.

    Parameters
    ----------
    known : Ratings
        What the adversary knows of each person, who are numbered from 0. Items, values and dates may be wrong, and nan
        stands for a value or a date that is not known.
    truth : sequence of int
        The row of each person in the target, to count what is right; -1 for who is not there.
    rating_scale, date_scale : float
        Public. The errors, in stars and in days, at which a similarity falls to 1 / e.
    eccentricity : float
        Public. The least one with which the adversary answers.

    Notes
    -----
    Narayanan and Shmatikov 2008: weights and eccentricity of section 4, similarities and the constants 1.5 stars, 30
    days and 1.5 deviations of section 5, compared with the text of both. What is not known, and items that one user
    alone rated, are ours.

    Examples
    --------
    >>> users, items = np.divmod(np.arange(400), 4)
    >>> released = Ratings.of(users, (7 * users + items * items) % 97, 1 + users % 5, 9 * users)
    >>> known = Ratings.of([0, 0, 0], [21, 22, 40], [4, 3, 1], [30, 25, 900])
    >>> result = ScoreboardRH(known, [3]).run(released)
    >>> result.right, result.wrong
    (1, 0)
    """

    known: Ratings = field(repr=False)
    truth: Sequence[int] = field(repr=False)
    rating_scale: float = 1.5
    date_scale: float = 30.0
    eccentricity: float = 1.5
    paper: ClassVar[str] = Scoreboard.paper
    threat: ClassVar[ThreatModel] = ThreatModel(SEES, "a few ratings of each person, some of them wrong")

    def __post_init__(self) -> None:
        for name in ("rating_scale", "date_scale", "eccentricity"):
            check_positive("ScoreboardRH", name, getattr(self, name))

    def run(self, target: Any) -> AttackResult:
        """Look for each person in Ratings, or in a sparse matrix of users by items."""
        return _run("ScoreboardRH", self, target, self._answer)

    def scores(self, released: Ratings, weights: Array, known: Known) -> Array:
        """The score of each user for one person, with the weights of items."""
        found = [released.of_item(int(item)) for item in known[0]]
        users = np.concatenate([released.users[there] for there in found])
        each = zip(found, *known, strict=True)
        parts = [
            weights[item] * self._alike(released, there, value, date)
            for there, item, value, date in each
            if there.stop > there.start
        ]
        return np.bincount(users, np.concatenate(parts) if parts else None, released.people).astype(np.float64)

    def _alike(self, released: Ratings, there: slice, value: float, date: float) -> Array:
        alike = np.zeros(there.stop - there.start)
        if not np.isnan(value):
            alike += _falling(released.values[there], value, self.rating_scale)
        if not np.isnan(date):
            alike += _falling(released.dates[there], date, self.date_scale)
        return alike + 1 if np.isnan(value) and np.isnan(date) else alike

    def _answer(self, released: Ratings, weights: Array, known: Known) -> tuple[int, float]:
        if len(known[0]) == 0:
            return NOBODY, 0.0
        scores = self.scores(released, weights, known)
        best, spread = int(scores.argmax()), float(scores.std())
        second = float(np.delete(scores, best).max(initial=0.0))
        eccentricity = (float(scores[best]) - second) / spread if spread > 0 else 0.0
        return (best if eccentricity > self.eccentricity else NOBODY), eccentricity


def _run(
    name: str,
    attack: Scoreboard | ScoreboardRH,
    target: Any,
    answer: Callable[[Ratings, Array, Known], tuple[int, float]],
) -> AttackResult:
    released, truth = Ratings.given(target), rows_of_people(name, attack.truth)
    if attack.known.people > len(truth) or truth.max() >= released.people:
        obstacle = f"{attack.known.people} people are known, {len(truth)} have a row, and there are {released.people}"
        raise ParameterError(name, obstacle, "Give the row of each person, below the number of users.")
    start = time.perf_counter()
    weights, known = 1 / np.log(np.maximum(released.support, 2)), attack.known
    parts = [(known.items[own], known.values[own], known.dates[own]) for own in known.of_users(len(truth))]
    found = [answer(released, weights, part) for part in parts]
    answers, strength = np.array([row for row, _ in found]), np.array([sure for _, sure in found])
    seconds = time.perf_counter() - start
    details = {"milliseconds a person": 1e3 * seconds / len(truth)}
    return LinkedPeople(answers, strength).result(name, attack.threat, truth, released.people, seconds, details)


def _near(values: Array, known: float, error: float) -> NDArray[np.bool_]:
    """Which values are within the error; all, where it is not known or was not released."""
    return np.isnan(known) | np.isnan(values) | (np.abs(values - known) <= error)


def _falling(values: Array, known: float, scale: float) -> Array:
    alike: Array = np.exp(-np.abs(values - known) / scale)
    return np.nan_to_num(alike)
