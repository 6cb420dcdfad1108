"""Labels alone: right ones, and how long they stay right under noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from discreet.attacks import LabelOnly, MembershipData
from discreet.core.errors import ParameterError
from tests.attacks.membership.made import records

DATA = records(150)


def _near_members(rows: Any) -> Any:
    """Label 1 within half a unit of a member, and 0 elsewhere: noise takes a row out of its ball."""
    gaps = np.linalg.norm(rows[:, None, :] - DATA.members_X, axis=2).min(axis=1)
    return (gaps < 0.5).astype(int)


def test_labels_learnt_by_heart_give_members_away() -> None:
    result = LabelOnly(DATA, draws=0).run(KNeighborsClassifier(1).fit(DATA.members_X, DATA.members_y).predict)
    assert result.scores is not None
    assert (result.scores.members == 1).all()
    assert result.beats_chance


def test_noise_sees_how_far_the_boundary_is() -> None:
    """Members are right and so are half of the others; a member sits in the middle of its ball, they at its edge."""
    rng = np.random.default_rng(3)
    steps = rng.normal(size=DATA.members_X.shape)
    edge = DATA.members_X + 0.45 * steps / np.linalg.norm(steps, axis=1, keepdims=True)
    data = MembershipData.of(DATA.members_X, np.ones(150), edge, np.ones(150))
    blunt, fine = (LabelOnly(data, draws=draws, scales=(0.1,)).run(_near_members) for draws in (0, 20))
    assert not blunt.beats_chance
    assert fine.scores is not None
    assert fine.scores.area > 0.9
    assert fine.questions == 300 * 21


def test_labels_without_information_raise_no_alarm() -> None:
    rng = np.random.default_rng(4)
    for target in (lambda rows: np.zeros(len(rows)), lambda rows: rng.integers(0, 2, len(rows))):
        assert not LabelOnly(DATA, draws=3).run(target).beats_chance


def test_what_cannot_be_disturbed_is_refused() -> None:
    words = np.array([[str(row)] for row in range(40)], dtype=object)
    data = MembershipData.of_rows(words[:20], words[20:], level=0.1)
    with pytest.raises(ParameterError, match="draws=0"):
        LabelOnly(data)
    assert LabelOnly(data, draws=0).run(lambda rows: np.zeros(len(rows))).trials == 40
    for wrong in ({"draws": -1}, {"scales": (np.nan,)}, {"scales": (-1.0,)}, {"random_state": -1}):
        with pytest.raises(ParameterError):
            LabelOnly(DATA, **wrong)
