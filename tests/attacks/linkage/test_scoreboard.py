"""People are found by a few ratings, wrong ones among them; ratings of others tell nothing, and silence is kept."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from discreet.attacks import Attack, Ratings, Scoreboard, ScoreboardRH
from discreet.core.errors import ParameterError
from tests.attacks.trial import AttackTrial

USERS, ITEMS, DAYS, PEOPLE = 2000, 400, 1000, 100
Rng = np.random.Generator


def _ratings(rng: Rng) -> Ratings:
    users = np.repeat(np.arange(USERS), 20)
    popular = np.arange(1, ITEMS + 1) ** -0.8
    items = rng.choice(ITEMS, len(users), p=popular / popular.sum())
    return Ratings.of(users, items, rng.integers(1, 6, len(users)), rng.integers(0, DAYS, len(users)), people=USERS)


def _known(released: Ratings, people: list[int], number: int, wrong: int, rng: Rng) -> Ratings:
    """So many ratings of each person, within a star and a week, of which some are of another item and day."""
    own = released.of_users(USERS)
    at = np.concatenate([rng.choice(own[row], number, replace=False) for row in people])
    bad = np.tile(np.arange(number) < wrong, len(people))
    items = np.where(bad, rng.integers(0, ITEMS, len(at)), released.items[at])
    dates = np.where(bad, rng.integers(0, DAYS, len(at)), released.dates[at] + rng.integers(-7, 8, len(at)))
    values = released.values[at] + rng.integers(-1, 2, len(at))
    return Ratings.of(np.repeat(np.arange(len(people)), number), items, values, dates, people=len(people))


def _runs(kind: type[Scoreboard], strangers: bool) -> list[tuple[Scoreboard, Ratings]]:
    """What is known is of people in the target, or of others."""
    rng = np.random.default_rng(5)
    released, elsewhere, people = _ratings(rng), _ratings(rng), list(range(PEOPLE))
    known = _known(elsewhere if strangers else released, people, 4, 0, rng)
    return [(kind(known, people), released)]


TRIALS = {
    kind.__name__: AttackTrial(
        lambda kind=kind: _runs(kind, strangers=False),  # type: ignore[misc]
        lambda kind=kind: _runs(kind, strangers=True),  # type: ignore[misc]
    )
    for kind in (Scoreboard, ScoreboardRH)
}


def test_people_are_found_though_a_quarter_of_what_is_known_is_wrong() -> None:
    rng = np.random.default_rng(0)
    released, people = _ratings(rng), list(range(50, 50 + PEOPLE))
    known = _known(released, people, 8, 2, rng)
    robust, strict = ScoreboardRH(known, people).run(released), Scoreboard(known, people).run(released)
    assert robust.success >= 0.97
    assert set(robust.worst) <= set(people)
    assert strict.success <= 0.03  # one wrong rating hides a person from it
    assert Scoreboard(_known(released, people, 3, 0, rng), people).run(released).success >= 0.97
    assert isinstance(ScoreboardRH(known, people), Attack)


def test_without_dates_fewer_are_found_and_more_silence_is_kept() -> None:
    rng = np.random.default_rng(1)
    released, people = _ratings(rng), list(range(PEOPLE))
    known = _known(released, people, 8, 2, rng)
    matrix = sparse.coo_array((released.values, (released.users, released.items)), shape=(USERS, ITEMS))
    dateless = ScoreboardRH(replace(known, dates=np.full(len(known.users), np.nan)), people).run(matrix.tocsr())
    assert 0.2 <= dateless.success < ScoreboardRH(known, people).run(released).success
    assert dateless.wrong is not None
    assert dateless.wrong <= 0.1 * PEOPLE
    assert dateless.details["answered"] == dateless.success + dateless.wrong / PEOPLE


def test_ratings_of_others_are_worth_nothing() -> None:
    """What is known is about people who are not in the target, so that every answer is wrong and none is right."""
    rng = np.random.default_rng(2)
    released, elsewhere, people = _ratings(rng), _ratings(rng), list(range(PEOPLE))
    known = _known(elsewhere, people, 8, 0, rng)
    for attack in (Scoreboard, ScoreboardRH):
        assert not attack(known, people).run(released).beats_chance
        assert attack(known, [-1] * PEOPLE).run(released).right == 0
    assert (ScoreboardRH(known, people).run(released).wrong or 0) <= 0.35 * PEOPLE
    assert ScoreboardRH(known, people, eccentricity=6.0).run(released).wrong == 0


def test_scores_are_those_of_the_definition() -> None:
    released = Ratings.of([0, 1, 2, 0, 1], [0, 0, 0, 1, 1], [5, 3, np.nan, 1, 1], [10, 40, 10, 0, 5])
    known = (np.array([0, 1, 7]), np.array([4.0, np.nan, 1.0]), np.array([10.0, np.nan, 1.0]))
    weights = 1 / np.log([3.0, 2.0])
    falling = np.exp([-1 / 1.5, -1 / 1.5 - np.inf, -30 / 30])
    wanted = [
        weights[0] * (falling[0] + 1) + weights[1],
        weights[0] * (falling[0] + falling[2]) + weights[1],
        weights[0],
    ]
    assert ScoreboardRH(released, [0]).scores(released, weights, known) == pytest.approx(wanted)


def test_the_order_of_ratings_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    released, people = _ratings(rng), list(range(PEOPLE))
    known, order = _known(released, people, 5, 1, rng), rng.permutation(len(released.users))
    columns = (released.users, released.items, released.values, released.dates)
    other = Ratings.of(*(each[order] for each in columns), people=USERS)
    for attack in (Scoreboard(known, people), ScoreboardRH(known, people)):
        assert replace(attack.run(released), seconds=0.0, details={}) == replace(
            attack.run(other), seconds=0.0, details={}
        )


def test_two_who_agree_alike_are_not_told_apart() -> None:
    released = Ratings.of([0, 1, 2], [0, 0, 1], [5, 5, 2])
    alike, alone = Ratings.of([0], [0], [5]), Ratings.of([0], [1], [2])
    assert (Scoreboard(alike, [0]).run(released).right, Scoreboard(alike, [0]).run(released).wrong) == (0, 0)
    assert Scoreboard(alone, [2]).run(released).right == 1


def test_a_rare_item_says_more_than_two_popular_ones() -> None:
    """User 0 rated the two that 300 rated, user 400 the one that nobody else did: 2 / log 300 against 1 / log 2."""
    users = np.r_[np.arange(300), 0, np.arange(500, 799), 400]
    released = Ratings.of(users, np.repeat([0, 1, 2], [300, 300, 1]), np.full(601, 3))
    known = Ratings.of([0, 0, 0], [0, 1, 2], [3, 3, 3])
    assert ScoreboardRH(known, [400]).run(released).right == 1


def test_odd_knowledge_is_no_crash() -> None:
    released = Ratings.of([0, 1], [0, 1], [np.inf, 2], np.array(["2020-01-01", "NaT"], "M8[D]"))
    empty = Ratings.of([], [], people=1)
    for attack in (Scoreboard, ScoreboardRH):
        for known in (empty, Ratings.of([0], [99], [np.nan]), Ratings.of([0], [0], [1e300], [-1e300])):
            result = attack(known, [0]).run(released)
            assert result.wrong == 0
            json.loads(result.to_json())
            assert "<" not in result.attack
        assert attack(empty, [0]).run(Ratings.of([], [], people=1)).right == 0


def test_what_does_not_fit_is_refused() -> None:
    one = Ratings.of([0], [0], [1.0])
    for make in (
        lambda: Scoreboard(one, [0]).run("<b>table"),
        lambda: ScoreboardRH(one, [5]).run(one),
        lambda: ScoreboardRH(one, []).run(one),
        lambda: ScoreboardRH(one, [0], eccentricity=-1.0),
        lambda: Scoreboard(one, [0], date_error=float("nan")),
    ):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            make()
