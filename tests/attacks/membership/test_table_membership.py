"""Membership in the original of a table: copies with noise give members away, tables without information nobody."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.attacks import DensityRatio, MembershipData, NearestDistance
from discreet.core.errors import ParameterError


def _people(seed: int, number: int = 300) -> np.ndarray:
    """Rows of three numbers and two categories, which depend on one another."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, number)
    rows = np.empty((number, 5), dtype=object)
    rows[:, :3] = rng.standard_t(5, (number, 3)) + 2 * kind[:, None]
    rows[:, 3], rows[:, 4] = np.array(["a", "b", "c"])[kind], rng.choice(["x", "y"], number)
    return rows


def _copied(rows: np.ndarray, noise: float, seed: int) -> np.ndarray:
    """A table as from a generator that has learnt its records by heart, up to some noise."""
    rng = np.random.default_rng(seed)
    made = rows[rng.integers(0, len(rows), 2 * len(rows))].copy()
    made[:, :3] += rng.normal(0, noise, (len(made), 3))
    return made


MEMBERS, OTHERS, REFERENCE = _people(0), _people(1), _people(2, 600)
DATA = MembershipData.of_rows(MEMBERS, OTHERS)
ATTACKS: tuple[Any, ...] = (NearestDistance(DATA), DensityRatio(DATA, REFERENCE))


def test_noisy_copies_give_members_away() -> None:
    for attack in ATTACKS:
        result = attack.run(_copied(MEMBERS, 0.2, 3))
        assert result.scores.area > 0.75
        assert result.beats_chance
        assert result.questions == 0


def test_tables_without_information_raise_no_alarm() -> None:
    """Other people of the same population, one row again and again, and the members' columns, each shuffled."""
    shuffled = np.stack([np.random.default_rng(place).permutation(column) for place, column in enumerate(MEMBERS.T)], 1)
    for attack in ATTACKS:
        for table in (_people(5, 600), np.repeat(REFERENCE[:1], 50, axis=0), shuffled):
            assert not attack.run(table).beats_chance


def test_the_density_ratio_sees_what_the_nearest_row_does_not() -> None:
    """Frequent records are near some row, members or not; members of a copied table have more rows than they should."""
    rng = np.random.default_rng(6)
    spread = np.where(rng.random(1800) < 0.7, 0.1, 3.0)[:, None]
    rows = rng.normal(size=(1800, 3)) * spread
    data, reference = MembershipData.of_rows(rows[:300], rows[300:600]), rows[600:]
    table = rows[rng.integers(0, 300, 600)] + rng.normal(0, 0.05, (600, 3))
    nearest, ratio = (attack.run(table).scores for attack in (NearestDistance(data), DensityRatio(data, reference)))
    assert nearest is not None
    assert ratio is not None
    assert ratio.area > nearest.area + 0.02


def test_the_ratio_is_that_of_the_densities() -> None:
    """Table and reference of two normal laws, whose ratio is known; the order of scores is about that of the ratio."""
    rng = np.random.default_rng(7)
    table, reference = rng.normal(0.5, 1, (20_000, 1)), rng.normal(0, 1, (20_000, 1))
    points = rng.normal(size=(400, 1))
    data = MembershipData.of_rows(points[:200], points[200:])
    scores = DensityRatio(data, reference, neighbors=800).run(table).scores
    assert scores is not None
    exact = (points - 0.25).ravel() / 2
    assert stats.spearmanr(np.r_[scores.members, scores.others], exact)[0] > 0.97


def test_the_reference_itself_has_the_ratio_one_everywhere() -> None:
    scores = DensityRatio(DATA, REFERENCE).run(REFERENCE).scores
    assert scores is not None
    assert np.r_[scores.members, scores.others] == pytest.approx(0.0)


def test_frequencies_of_equal_rows_count() -> None:
    """One record of a category is in the table far more often than in the population."""
    rng = np.random.default_rng(8)
    rows = rng.integers(0, 3, (600, 6)).astype(str).astype(object)
    rows = np.unique(rows.astype(str), axis=0).astype(object)
    rows = rows[rng.permutation(len(rows))]
    data = MembershipData.of_rows(rows[:100], rows[100:200])
    table = np.concatenate([np.repeat(rows[:100], 5, axis=0), rows])
    result = DensityRatio(data, rows).run(table)
    assert result.scores is not None
    assert result.scores.area > 0.8


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ParameterError, match="columns of the records"):
        NearestDistance(DATA).run(np.zeros((5, 2)))
    with pytest.raises(ParameterError, match="columns of the records"):
        DensityRatio(DATA, np.zeros((5, 2)))
    with pytest.raises(ParameterError, match="neighbors"):
        DensityRatio(DATA, REFERENCE, neighbors=0)
    with pytest.raises(ParameterError, match="column 0"):
        NearestDistance(DATA).run(np.full((5, 5), "a", dtype=object))


def test_one_row_is_a_table() -> None:
    for attack in ATTACKS:
        assert np.isfinite(attack.run(MEMBERS[:1]).scores.members).all()
