"""Counts of two or three columns at a time rebuild a small table; noisy ones for one epsilon do not."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from discreet.attacks import CountReconstruction
from discreet.core.errors import ParameterError
from tests.attacks.trial import AttackTrial

CATEGORIES: dict[str, list[Any]] = {
    "age": [0, 1, 2, 3, 4, 5],
    "sex": ["f", "m"],
    "race": ["a", "b", "c", "d"],
    "ill": [0, 1],
}
Rng = np.random.Generator


def _people(rng: Rng, number: int) -> dict[str, Any]:
    return {
        "age": rng.choice(6, number, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05]),
        "sex": rng.choice(["f", "m"], number),
        "race": rng.choice(["a", "b", "c", "d"], number, p=[0.7, 0.15, 0.1, 0.05]),
        "ill": rng.integers(0, 2, number),
    }


def _counts(people: dict[str, Any], width: int) -> dict[tuple[str, ...], Any]:
    codes = {name: [CATEGORIES[name].index(value) for value in values] for name, values in people.items()}
    found = {}
    for names in combinations(CATEGORIES, width):
        found[names] = np.zeros([len(CATEGORIES[name]) for name in names])
        np.add.at(found[names], tuple(codes[name] for name in names), 1)
    return found


def _rebuilt(counted: int) -> list[tuple[CountReconstruction, Any]]:
    """Counts of these people, or of others who are as many."""
    people, others = (_people(np.random.default_rng(seed), number) for seed, number in ((5, 40), (6, 2000)))
    counts = _counts(_people(np.random.default_rng(counted), 40), 3)
    return [(CountReconstruction(people, others, CATEGORIES), counts)]


TRIALS = {"CountReconstruction": AttackTrial(lambda: _rebuilt(5), lambda: _rebuilt(7))}


def test_exact_counts_rebuild_a_block() -> None:
    rng = np.random.default_rng(0)
    people, others = _people(rng, 40), _people(rng, 2000)
    attack = CountReconstruction(people, others, CATEGORIES)
    three, two, one = (attack.run(_counts(people, width)) for width in (3, 2, 1))
    assert three.success == 1.0
    assert three.beats_chance
    assert 1.0 > two.success > two.details["guessed"] + 0.1 > one.success
    assert two.details["of those alone in their cell"] > 0.4
    assert not one.beats_chance
    assert three.details["guessed"] < three.chance < 0.8


def test_suppressed_counts_are_left_out_and_the_others_are_enough() -> None:
    rng = np.random.default_rng(1)
    people, others = _people(rng, 40), _people(rng, 2000)
    counts = _counts(people, 3)
    for own in counts.values():
        own.flat[::9] = np.nan
    attack = CountReconstruction(people, others, CATEGORIES)
    assert attack.run(counts).success > 0.9
    below = {names: np.where(own == 0, -0.4, own) for names, own in _counts(people, 3).items()}
    assert attack.run(below).success == 1.0  # a count may be too small, or too large
    assert attack.run({names: np.where(own == 0, 0.4, own) for names, own in below.items()}).success > 0.9


def test_noise_for_one_epsilon_of_all_counts_leaves_what_anybody_would_guess() -> None:
    rng = np.random.default_rng(2)
    people, others = _people(rng, 40), _people(rng, 2000)
    attack = CountReconstruction(people, others, CATEGORIES)
    counts = _counts(people, 2)
    private = {names: own + rng.laplace(0, len(counts), own.shape) for names, own in counts.items()}
    assert not attack.run(private).beats_chance
    assert not attack.run({names: np.zeros_like(own) for names, own in counts.items()}).beats_chance
    assert not attack.run(_counts(_people(rng, 40), 3)).beats_chance


def test_what_is_found_fits_the_counts() -> None:
    """A table of its own for each solution: with all columns at once there is one, whatever the order of rows."""
    rng = np.random.default_rng(3)
    people, others = _people(rng, 25), _people(rng, 500)
    order = rng.permutation(25)
    shuffled = {name: values[order] for name, values in people.items()}
    for table in (people, shuffled):
        result = CountReconstruction(table, others, CATEGORIES).run(_counts(people, 4))
        assert result.right == 25
    codes = list(zip(*(shuffled[name] for name in CATEGORIES), strict=True))
    assert [codes.count(codes[row]) for row in result.worst] == [1] * len(result.worst)


def test_what_does_not_fit_is_refused() -> None:
    people = _people(np.random.default_rng(4), 20)
    attack = CountReconstruction(people, people, CATEGORIES)
    for target in ({}, None, {("age",): [1, 2]}, {("no",): [1]}):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            attack.run(target)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="4096"):
        CountReconstruction(people, people, {name: range(50) for name in "abc"})
    with pytest.raises(ParameterError, match="not among its categories"):
        CountReconstruction(people, people, {**CATEGORIES, "age": [0, 1]}).run({("sex",): [10, 10]})
    with pytest.raises(ParameterError, match="seconds"):
        CountReconstruction(people, people, CATEGORIES, seconds=-1.0)
