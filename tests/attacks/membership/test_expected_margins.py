"""What a model should say of records: the likelihood ratio of laws that are known, learnt from references alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from discreet.attacks import MembershipScores
from discreet.attacks.membership import expected_margins
from discreet.attacks.membership.expected_margins import FREEDOM, Sides, _hats, _MarginLaw, _roles, log_ratios
from discreet.attacks.membership.near_records import NearRecords
from discreet.core.grid import Array

RECORDS = 3000


def world(seed: int) -> tuple[Array, Array, Sides, Sides]:
    """Errors of models on records, the log-odds of references and of a target, and who has seen what.

    A model is higher by 1 on what it has seen, with half of the error; and that is twice as large for hard records.
    """
    rng = np.random.default_rng(seed)
    hard = rng.uniform(-2, 2, RECORDS)
    half = rng.random((2, RECORDS)) < 0.5
    inside = np.stack([half, ~half], axis=1).reshape(-1, RECORDS)
    own = rng.random(RECORDS) < 0.5
    spread = np.where(hard < 0, 1.0, 0.5)
    seen = np.vstack([inside, own])
    margins = hard + seen + spread * np.where(seen, 0.5, 1.0) * rng.normal(size=seen.shape)
    return spread, margins, inside, own


def nobody(number: int = RECORDS) -> NearRecords:
    """Records without likeness: what is said of neighbors is noise."""
    return NearRecords(np.random.default_rng(9).normal(size=(number, 3)), np.zeros(number), 20)


def log_ratio(margins: Array, inside: Sides, near: NearRecords) -> Array:
    """Of the target alone."""
    return log_ratios(margins, inside, near, 2.0)[0]


def test_the_ratio_is_nearly_that_of_the_laws_that_are_known() -> None:
    """With the true laws and levels as known as four references make them, the scores are nearly in the same order."""
    spread, margins, inside, own = world(0)
    found = log_ratio(margins, inside, nobody())
    middle = margins[:-1].mean(axis=0) - 0.5
    unsure = (0.25 / 2 + 1 / 2) / 4  # the variance of the middle of two means of two, in units of the larger one
    errors = [spread * np.sqrt(own_part + unsure) for own_part in (0.25, 1.0)]
    exact = stats.norm.logpdf(margins[-1], middle + 1, errors[0]) - stats.norm.logpdf(margins[-1], middle, errors[1])
    areas = [MembershipScores.of(scores[own], scores[~own]).area for scores in (found, exact)]
    assert areas[0] > areas[1] - 0.02
    assert stats.spearmanr(found, exact).statistic > 0.92


def test_records_that_change_models_more_stand_out_more() -> None:
    """Half of the records raise a model by 2, the others by nothing: references show which, and that alone tells."""
    rng = np.random.default_rng(6)
    rise, half, own = 2.0 * (rng.random(RECORDS) < 0.5), rng.random((2, RECORDS)) < 0.5, rng.random(RECORDS) < 0.5
    inside = np.stack([half, ~half], axis=1).reshape(-1, RECORDS)
    seen = np.vstack([inside, own])
    margins = rng.normal(size=RECORDS) + rise * (seen - 0.5) + 0.3 * rng.normal(size=seen.shape)
    scores = log_ratio(margins, inside, nobody())
    strong = rise > 0
    assert MembershipScores.of(scores[own & strong], scores[~own & strong]).area > 0.98
    assert np.abs(scores[~strong]).mean() < 0.3 * np.abs(scores[strong]).mean()


def test_what_is_said_of_neighbors_is_no_sign_of_the_record() -> None:
    """A target that is surer of one place than of another hides no members there, once references did the same."""
    _, margins, inside, own = world(1)
    X = np.random.default_rng(2).normal(size=(RECORDS, 2))
    shifts = np.random.default_rng(3).normal(0, 1.5, (len(margins), 2))
    margins = margins + np.where(X[:, 0] > 0, shifts[:, :1], shifts[:, 1:])
    areas = []
    for near in (NearRecords(X, np.zeros(RECORDS), 60), nobody()):
        scores = log_ratio(margins, inside, near)
        areas.append(MembershipScores.of(scores[own], scores[~own]).area)
    assert areas[0] > areas[1] + 0.05


def test_the_own_way_of_a_target_is_no_sign_of_a_record() -> None:
    """Surer of all records, of hard ones or of one place, unlike all references: nearly the same order of records."""
    _, margins, inside, own = world(7)
    X = np.random.default_rng(8).normal(size=(RECORDS, 2))
    hard, near = margins[:-1].mean(axis=0), NearRecords(X, np.zeros(RECORDS), 60)
    as_they_are = log_ratio(margins, inside, near)
    for way in (np.full(RECORDS, 1.5), -hard, np.where(X[:, 0] > 0, 1.0, -1.0)):
        changed = np.vstack([margins[:-1], margins[-1] + way])
        scores = log_ratio(changed, inside, near)
        assert stats.spearmanr(scores, as_they_are).statistic > 0.85
        areas = [MembershipScores.of(one[own], one[~own]).area for one in (scores, as_they_are)]
        assert areas[0] > areas[1] - 0.04


def test_a_target_like_its_references_keeps_all_that_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own way is as large as theirs, and would take off what tells."""
    kept = 0
    for seed in range(10, 16):
        _, margins, inside, _ = world(seed)
        found = log_ratio(margins, inside, nobody())
        with monkeypatch.context() as patched:
            patched.setattr(expected_margins._Laws, "own_way", lambda *_: 0.0)
            kept += bool((log_ratio(margins, inside, nobody()) == found).all())
    assert kept >= 5


def test_references_in_the_role_of_the_target_are_told_as_the_target_is() -> None:
    _, margins, inside, own = world(8)
    scores, plays = log_ratios(margins, inside, nobody(), 2.0)
    target = MembershipScores.of(scores[own], scores[~own]).area
    assert [(play.own, play.others) for play in plays] == _roles(inside)
    for play in plays:
        there = inside[play.own, play.rows]
        assert MembershipScores.of(play.scores[there], play.scores[~there]).area == pytest.approx(target, abs=0.05)


def test_a_reference_is_not_compared_with_the_one_that_has_seen_the_rest() -> None:
    """It has seen what the first has not: what it says would tell, and the target has no such companion."""
    _, margins, inside, _ = world(4)
    assert _roles(inside) == [(0, [2, 3]), (1, [2, 3]), (2, [0, 1]), (3, [0, 1])]
    assert _roles(inside[[0, 0, 2]]) == [(0, [2]), (1, [2]), (2, [0, 1])]
    assert np.isnan(log_ratio(margins[[0, 1, -1]], inside[:2], nobody())).all()


def test_a_target_without_information_has_no_higher_scores_for_members() -> None:
    areas = []
    for seed in range(20):
        _, margins, inside, own = world(seed)
        margins[-1] = np.random.default_rng(seed).normal(size=RECORDS) if seed % 2 else 0.7
        scores = log_ratio(margins, inside, nobody())
        areas.append(MembershipScores.of(scores[own], scores[~own]).area)
    assert abs(np.mean(areas) - 0.5) < 0.01
    assert np.abs(np.array(areas) - 0.5).max() < 0.05


def test_what_is_not_known_has_no_ratio_and_changes_no_other() -> None:
    """A record that all references have seen, one on which the target raised, and references that are all alike."""
    _, margins, inside, _ = world(5)
    whole = inside.copy()
    whole[:, 0] = True
    margins[-1, 1] = np.nan
    found = log_ratio(margins, whole, nobody())
    assert np.isnan(found[:2]).all()
    assert np.isfinite(found[2:]).all()
    assert np.isnan(log_ratio(np.ones((5, 60)), inside[:, :60], nobody(60))).all()


def test_hats_are_one_at_their_knots_and_add_up_to_one() -> None:
    hats = _hats(np.array([-9.0, 0.0, 0.5, 2.0, 9.0]), np.array([0.0, 1.0, 2.0]))
    assert hats.tolist() == [[1, 0, 0], [1, 0, 0], [0.5, 0.5, 0], [0, 0, 1], [0, 0, 1]]


def test_the_density_is_that_of_student() -> None:
    columns = np.c_[np.eye(2), np.zeros((2, 4))]
    law = _MarginLaw(np.r_[0.5, 0.2, np.zeros(4)], np.array([1.0, 4.0]), 0.0)
    above = np.array([0.1, 3.0])
    expected = stats.t.logpdf(above, FREEDOM, [0.5, 0.2], [1.0, 2.0])
    assert np.diff(law.log_density(columns, above)) == pytest.approx(np.diff(expected))
