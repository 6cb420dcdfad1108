"""Members and others: what is refused, and the warning where they differ without the target."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks import MembershipData
from discreet.core.errors import ParameterError
from tests.attacks.membership.made import records


def test_records_on_both_sides_are_refused_by_row() -> None:
    X, y = np.arange(12.0).reshape(6, 2), np.zeros(6)
    with pytest.raises(ParameterError, match=r"1 of the others are members too \(rows 2") as refused:
        MembershipData.of(X[:3], y[:3], X[[4, 5, 1]], y[:3], level=0.5)
    assert refused.value.values["rows"] == (2,)
    assert MembershipData.of(X[:3], y[:3], X[[4, 5, 1]], y[:3] + 1, level=0.5)  # another label is another record


def test_too_few_others_are_refused_with_the_number_that_is_needed() -> None:
    data = records(150)
    with pytest.raises(ParameterError, match="at least 1000 others") as refused:
        MembershipData.of(data.members_X, data.members_y, data.others_X, data.others_y, level=0.001)
    assert refused.value.values["needed"] == 1000


def test_other_columns_and_missing_labels_are_refused() -> None:
    with pytest.raises(ParameterError, match="same columns"):
        MembershipData.of_rows(np.zeros((3, 2)), np.ones((3, 3)), level=0.5)
    with pytest.raises(ParameterError, match="one label for each"):
        MembershipData.of(np.zeros((3, 2)), np.zeros(2), np.ones((3, 2)), np.zeros(3), level=0.5)


def test_a_shift_between_members_and_others_is_told() -> None:
    data = records(150)
    shifted = MembershipData.of(data.members_X, data.members_y, data.others_X + 1.0, data.others_y)
    assert "without the target" in shifted.warnings[0]
    assert sum(len(records(150, seed).warnings) for seed in range(3)) == 0


def test_duplicates_of_one_side_are_no_shift() -> None:
    data = records(150)
    twice = MembershipData.of(np.tile(data.members_X, (4, 1)), np.tile(data.members_y, 4), data.others_X, data.others_y)
    assert twice.warnings == ("450 rows are copies of others of their side; each record counts once.",)
    assert [rows.tolist() for rows in twice.records] == [[*range(150)]] * 2


def test_copies_do_not_make_others_many() -> None:
    X = np.arange(20.0).reshape(10, 2)
    with pytest.raises(ParameterError, match="1 others cannot show 10 %"):
        MembershipData.of_rows(X[:5], np.tile(X[9], (40, 1)), level=0.1)


def test_labels_that_are_equal_numbers_are_one_label() -> None:
    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises(ParameterError, match="members too"):
        MembershipData.of(X[:3], np.ones(3, int), X[2:], np.ones(4), level=0.5)


def test_mislabelled_others_are_a_shift() -> None:
    data = records(150)
    members = MembershipData.of(data.members_X, data.members_X[:, 0] > 0, data.others_X, data.others_X[:, 0] <= 0)
    assert "without the target" in members.warnings[0]


def test_texts_are_rows_too() -> None:
    rng = np.random.default_rng(0)
    letters = np.array([f"a{number}" for number in rng.permutation(240)], dtype=object).reshape(120, 2)
    assert MembershipData.of_rows(letters[:60], letters[60:], level=0.1).warnings == ()
