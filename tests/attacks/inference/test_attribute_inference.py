"""A model that remembers gives hidden attributes of its members away; what holds for everybody is not its fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from discreet.attacks import (
    Attack,
    AttributeFromModel,
    AttributeThroughMembership,
    MembershipData,
    ModelMaterial,
    Prepared,
)
from discreet.core.errors import ParameterError

BOTH: tuple[Any, ...] = (AttributeFromModel, AttributeThroughMembership)


def _people(rng: np.random.Generator, number: int) -> tuple[Any, Any]:
    """Eight attributes of three values, of which two have to do with the label."""
    X = rng.integers(0, 3, (number, 8)).astype(float)
    return X, (X[:, 0] + X[:, 1] + rng.normal(0, 1.5, number) > 2).astype(int)


def _known(rng: np.random.Generator) -> MembershipData:
    X, y = _people(rng, 200)
    others, labels = _people(rng, 600)
    inside = {(*row, label) for row, label in zip(X.tolist(), y.tolist(), strict=True)}
    new = [(*row, label) not in inside for row, label in zip(others.tolist(), labels.tolist(), strict=True)]
    return MembershipData.of(X, y, others[new][:300], labels[new][:300])


def _forest(X: Any, y: Any, seed: int = 0) -> Any:
    return RandomForestClassifier(30, bootstrap=False, max_features=2, random_state=seed).fit(X, y)


def test_a_forest_that_remembers_gives_attributes_away() -> None:
    rng = np.random.default_rng(0)
    known = _known(rng)
    forest = _forest(known.members_X, known.members_y)
    references = [_forest(*_people(rng, 200), seed) for seed in range(3)]
    for column in (0, 5):
        plain = AttributeFromModel(known, column).run(forest)
        through = AttributeThroughMembership(known, column, references).run(forest)
        assert plain.beats_chance
        assert through.success > 0.85 > plain.details["rate on others"] + 0.3
        assert through.questions == 3 * 500
        assert isinstance(AttributeFromModel(known, column), Attack)


def test_attributes_that_are_texts_are_given_away_as_numbers_are() -> None:
    """The same people with towns instead of a number; who has none is asked about, and nobody guesses that."""
    rng, towns = np.random.default_rng(0), np.array(["east", "north", "west"], dtype=object)
    known = _known(rng)
    forest = _forest(known.members_X, known.members_y)
    sides = []
    for X in (known.members_X, known.others_X):
        mixed = X.astype(object)
        mixed[:, 5] = towns[X[:, 5].astype(int)]
        sides.append(mixed)

    def asked(rows: Any) -> Any:
        return forest.predict_proba(np.column_stack([rows[:, :5], np.searchsorted(towns, rows[:, 5]), rows[:, 6:]]))

    texts = MembershipData.of(sides[0], known.members_y, sides[1], known.others_y)
    for attack in BOTH:
        numbers, found = attack(known, 5).run(forest), attack(texts, 5).run(asked)
        assert found.right == numbers.right > 0.6 * found.trials
        made = attack.fitting(ModelMaterial(asked, texts))
        assert isinstance(made, Prepared)
    sides[0][:20, 5], sides[0][20:30, 5] = None, float("nan")
    lost = np.where(np.arange(200)[:, None] < 30, np.nan, known.members_X)
    for X, others, target in ((sides[0], sides[1], asked), (lost, known.others_X, forest)):
        result = AttributeFromModel(MembershipData.of(X, known.members_y, others, known.others_y), 5).run(target)
        assert result.questions == 3 * 500
        assert not {*result.worst} & {*range(30)}


def test_what_holds_for_everybody_is_not_the_targets_fault() -> None:
    """A target without these members, one of two coefficients, and a constant; the attribute does say something."""
    rng = np.random.default_rng(1)
    known = _known(rng)
    elsewhere = _forest(*_people(rng, 200))
    general = LogisticRegression().fit(*_people(rng, 5000))
    for target in (elsewhere, general, lambda rows: np.full((len(rows), 2), 0.5)):
        for attack in BOTH:
            result = attack(known, 0).run(target)
            assert not result.beats_chance, result.title
    assert AttributeFromModel(known, 0).run(general).details["rate on others"] > 0.4


def test_an_attribute_that_follows_from_the_label_is_nobodys_secret() -> None:
    """All are guessed, of members and of others, and no epsilon is shown."""
    rng = np.random.default_rng(4)
    rows = np.column_stack([rng.integers(0, 3, 400), rng.random(400)])
    labels = rows[:, 0].astype(int)
    known = MembershipData.of(rows[:150], labels[:150], rows[150:], labels[150:])
    result = AttributeFromModel(known, 0).run(LogisticRegression().fit(rows[150:], labels[150:]))
    assert result.success == 1.0
    assert not result.beats_chance


def test_the_rows_that_are_named_are_those_of_which_the_target_is_surest() -> None:
    """It is surer of the true value of each later row; the last but one raises on any other value."""
    rows = np.column_stack([np.arange(40) % 2, np.arange(40.0)])
    known = MembershipData.of(rows[:30], np.ones(30, dtype=int), rows[30:], np.ones(10, dtype=int), level=0.1)

    def target(asked: Any) -> Any:
        true = asked[:, 0] == asked[:, 1] % 2
        if ((asked[:, 1] == 28) & ~true).any():
            raise RuntimeError("no")
        sure = 0.5 + asked[:, 1] / 100
        own = np.where(true, sure, 1 - sure)
        return np.column_stack([1 - own, own])

    for attack in BOTH:
        assert attack(known, 0).run(target).worst == (28, 29, *range(27, 19, -1))
    even = AttributeThroughMembership(known, 0).run(lambda asked: np.full((len(asked), 2), 0.5))
    assert even.right == 0  # where both values are alike, none is a guess


def test_the_guess_is_the_most_probable_value() -> None:
    """By hand: p(label 1) is .9, .5, .1 for values 0, 1, 2, which are 1, 2 and 4 of 7 of the others."""
    likely = np.array([0.9, 0.5, 0.1])
    others = np.repeat([[0.0, 9.0], [1.0, 9.0], [2.0, 9.0]], [10, 20, 40], axis=0)
    members = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    known = MembershipData.of(members, [1, 1, 0], others, np.ones(70, dtype=int), level=0.5)

    def target(rows: Any) -> Any:
        own = likely[rows[:, 0].astype(int)]
        return np.column_stack([1 - own, own])

    posterior = likely * np.array([11, 21, 41])
    assert posterior.argmax() == 1
    assert (AttributeFromModel(known, 0).run(target).right, AttributeThroughMembership(known, 0).run(target).right) == (
        2,
        2,
    )
    assert AttributeFromModel(known, 0).run(target).worst == (2, 1)  # 36.9 against 10.5; 10.5 against 9.9
    assert AttributeThroughMembership(known, 0).run(target).worst == (0, 2)


def test_a_target_that_raises_on_a_value_is_a_finding() -> None:
    known = _known(np.random.default_rng(2))

    def target(rows: Any) -> Any:
        if (rows[:, 5] == 2).any():
            raise RuntimeError("no")
        return np.full((len(rows), 2), 0.5)

    for attack in BOTH:
        result = attack(known, 5).run(target)
        assert result.details["questions on which the target raised"] == 500
        assert not result.beats_chance


def test_what_does_not_fit_is_refused() -> None:
    known = _known(np.random.default_rng(3))
    numbers = MembershipData.of(np.random.default_rng(0).random((100, 2)), range(100), np.zeros((100, 2)), range(100))
    for attack in BOTH:
        for given, column in ((known, 8), (known, -1), (known, 0.5), (numbers, 0)):
            with pytest.raises(ParameterError, match="Nothing was released or spent"):
                attack(given, column)
