"""The global threshold: members of a model learnt by heart, and no false alarm, whatever the target tries."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from discreet.attacks import MembershipData, ThresholdAttack
from tests.attacks.membership.made import records

DATA = records(200)


class Tiring:
    """A target that is less sure of every row than of the one before, and of every batch than of the last."""

    def __init__(self) -> None:
        self.asked = 0

    def predict_proba(self, rows: Any) -> Any:
        places = self.asked + np.arange(len(rows))
        self.asked += len(rows)
        sure = 0.5 + 0.4 * 0.999**places
        return np.c_[sure, 1 - sure]


def _hashed(rows: Any) -> Any:
    """A probability for each row that follows from its digits, and from nothing else."""
    share = np.abs(np.sin(1e4 * rows.sum(axis=1)))
    return np.c_[share, 1 - share]


def test_records_learnt_by_heart_have_the_higher_scores() -> None:
    result = ThresholdAttack(DATA).run(KNeighborsClassifier(1).fit(DATA.members_X, DATA.members_y))
    assert result.scores is not None
    assert (result.scores.members > 0).all()
    assert result.scores.area > 0.7
    assert result.questions == 400


def test_constant_and_random_targets_raise_no_alarm() -> None:
    rng = np.random.default_rng(1)
    for target in (lambda rows: np.full((len(rows), 2), 0.5), lambda rows: rng.dirichlet([1, 1], len(rows)), _hashed):
        assert not ThresholdAttack(DATA).run(target).beats_chance


def test_a_target_that_changes_with_every_question_raises_no_alarm() -> None:
    """Members are not asked before others: what depends on the order of questions says nothing of membership."""
    data = MembershipData.of(DATA.members_X, np.zeros(200), DATA.others_X, np.zeros(200))
    result = ThresholdAttack(data).run(Tiring())
    assert not result.beats_chance
    assert result.scores is not None
    assert len(np.unique(np.r_[result.scores.members, result.scores.others])) == 400


def test_scores_keep_the_order_of_rows() -> None:
    data = MembershipData.of(DATA.members_X, np.zeros(200), DATA.others_X, np.zeros(200))
    scores = ThresholdAttack(data).run(_hashed).scores
    assert scores is not None
    for X, own in ((data.members_X, scores.members), (data.others_X, scores.others)):
        assert (own == np.diff(np.log(_hashed(X)[:, ::-1]))[:, 0]).all()


def test_copies_of_a_record_count_once_and_rows_keep_their_numbers() -> None:
    """One lucky record, a hundred times among the members, is no hundred successes."""
    alarms = 0
    for place in range(8):
        X = np.concatenate([np.repeat(DATA.members_X[[place]], 150, axis=0), DATA.members_X[50:]])
        data = MembershipData.of(X, np.zeros(300), DATA.others_X, np.zeros(200))
        result = ThresholdAttack(data).run(_hashed)
        alarms += result.beats_chance
        assert result.trials == 351
        assert set(result.worst) <= {0, *range(150, 300)}
        assert "149 rows are copies" in result.warnings[0]
    assert alarms <= 1


def test_many_rows_are_asked_in_blocks() -> None:
    asked = []

    def target(rows: Any) -> Any:
        asked.append(len(rows))
        return np.c_[rows, 1 - rows]

    X = np.random.default_rng(2).random((80_000, 1))
    data = MembershipData.of(X[:40_000], np.zeros(40_000), X[40_000:], np.zeros(40_000))
    result = ThresholdAttack(data).run(target)
    assert max(asked) <= 2**16
    assert sum(asked) == result.questions == 80_000


@pytest.mark.slow
def test_a_million_rows_take_a_few_times_their_own_memory() -> None:
    X = np.random.default_rng(2).random((1_000_000, 8))
    tracemalloc.start()
    data = MembershipData.of(X[:500_000], np.zeros(500_000), X[500_000:], np.zeros(500_000))
    result = ThresholdAttack(data).run(lambda rows: np.c_[rows[:, 0], 1 - rows[:, 0]])
    assert result.trials == 1_000_000
    assert tracemalloc.get_traced_memory()[1] < 6 * X.nbytes
    tracemalloc.stop()


def test_a_target_that_denies_its_members_is_told_of() -> None:
    """It knows that it is attacked, and is unsure of whatever it has seen: turned round, that is as good a sign."""
    seen = {row.tobytes() for row in DATA.members_X}

    def denies(rows: Any) -> Any:
        share = np.where([row.tobytes() in seen for row in rows], 0.5, 0.9)
        return np.c_[share, 1 - share]

    data = MembershipData.of(DATA.members_X, np.zeros(200), DATA.others_X, np.zeros(200))
    result = ThresholdAttack(data).run(denies)
    assert not result.beats_chance
    assert "turns its guesses round" in result.warnings[-1]
    assert not any("round" in text for text in ThresholdAttack(data).run(_hashed).warnings)
