"""Linkage: people found in made ratings, columns found in rotated tables.

python -m benchmarks.attacks_linkage
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.rows import Row, at_least, at_most, printed, report
from discreet.attacks import IndependentComponents, Ratings, Scoreboard, ScoreboardRH

USERS, ITEMS, DAYS, TARGETS = 50_000, 5_000, 2_000, 400


@dataclass(frozen=True)
class Knowledge:
    """What is known of a person: so many ratings within one star, so many of them wrong, and dates within days."""

    ratings: int
    wrong: int
    days: int | None

    @property
    def text(self) -> str:
        dates = "no dates" if self.days is None else f"{self.days} days"
        return f"{self.ratings} known, {self.wrong} wrong, {dates}"


def made_ratings(seed: int) -> Ratings:
    """Popularity falls as rank to the -0.8, numbers of ratings are log-normal, stars and days are uniform."""
    rng = np.random.default_rng(seed)
    popular = np.arange(1, ITEMS + 1) ** -0.8
    drawn = np.clip(rng.lognormal(3.6, 1.0, USERS).astype(int), 8, 600)
    users = np.repeat(np.arange(USERS), drawn)
    items = rng.choice(ITEMS, len(users), p=popular / popular.sum())
    return Ratings.of(users, items, rng.integers(1, 6, len(users)), rng.integers(0, DAYS, len(users)), people=USERS)


def known_of(released: Ratings, people: np.ndarray, knowledge: Knowledge, seed: int) -> Ratings:
    """Random ratings of each person, changed as the knowledge says."""
    rng = np.random.default_rng(seed)
    own = released.of_users(released.people)
    picked = [rng.choice(own[row], min(knowledge.ratings, len(own[row])), replace=False) for row in people]
    who = np.repeat(np.arange(len(people)), [len(some) for some in picked])
    bad = np.concatenate([np.arange(len(some)) < knowledge.wrong for some in picked])
    at, size = np.concatenate(picked), len(who)
    days = knowledge.days or 0
    items = np.where(bad, rng.integers(0, ITEMS, size), released.items[at])
    values = np.where(bad, rng.integers(1, 6, size), released.values[at] + rng.integers(-1, 2, size))
    dates = np.where(bad, rng.integers(0, DAYS, size), released.dates[at] + rng.integers(-days, days + 1, size))
    return Ratings.of(who, items, values, None if knowledge.days is None else dates, people=len(people))


def rating_rows() -> Iterator[Row]:
    released = made_ratings(0)
    people = np.random.default_rng(1).choice(USERS, TARGETS, replace=False)
    plain = Ratings.of(released.users, released.items, released.values, people=USERS)
    worst = 0.0
    for knowledge, goal in (
        (Knowledge(8, 2, 14), 0.985),
        (Knowledge(2, 0, 3), 0.85),
        (Knowledge(8, 2, None), 0.6),
        (Knowledge(4, 0, 14), None),
    ):
        known = known_of(released, people, knowledge, 2)
        result = ScoreboardRH(known, people.tolist()).run(plain if knowledge.days is None else released)
        claim = f"ScoreboardRH, {knowledge.text}: found"
        yield printed(claim, result.success) if goal is None else at_least(claim, result.success, goal)
        wrong = (result.wrong or 0) / result.trials
        claim = f"ScoreboardRH, {knowledge.text}: wrong"
        yield at_most(claim, wrong, 0.05) if knowledge.days is None else printed(claim, wrong)
        worst = max(worst, 1e3 * result.seconds / TARGETS)
    yield at_most("ScoreboardRH, milliseconds a person, the slowest", worst, 5.0)
    known = known_of(released, people, Knowledge(4, 0, 14), 3)
    yield printed(
        "Scoreboard, 4 known, 0 wrong, 14 days: found", Scoreboard(known, people.tolist()).run(released).success
    )


def rotation_rows() -> Iterator[Row]:
    """Eight independent columns, exponential and uniform, of 5,000 records."""
    rng = np.random.default_rng(4)
    sides = [rng.uniform(-1, 1, 5000) if place % 2 else rng.exponential(1, 5000) for place in range(8)]
    records = np.column_stack(sides)
    records = (records - records.mean(axis=0)) / records.std(axis=0)
    rotation = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    result = IndependentComponents(records).run(records @ rotation)
    yield at_least(
        "IndependentComponents, rotation of 8 columns: least correlation", result.details["least correlation"], 0.99
    )
    for sums in (6, 4, 2):
        part = IndependentComponents(records).run(records @ rng.normal(size=(8, sums)))
        yield printed(f"IndependentComponents, {sums} sums of 8: mean correlation", part.details["mean correlation"])


def rows() -> Iterator[Row]:
    """What was promised of linkage."""
    yield from rating_rows()
    yield from rotation_rows()


if __name__ == "__main__":
    report("attacks_linkage", list(rows()))
