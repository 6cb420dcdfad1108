"""Decoding RAPPOR counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csc_matrix

from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.local.rappor.count_regression import sparse_lasso
from discreet.local.rappor.decoded_strings import decoded, discoveries, regression
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.rappor_parameters import bloom_design

RAPPOR = Rappor()
STRINGS = [f"s{number}" for number in range(1, 201)]


def counted(rappor: Rappor, strings: list[str], counts: Array, rng: np.random.Generator) -> Steps:
    """The tally of one report of each client, drawn from its law at once: bits are independent given the strings."""
    per = np.stack([rng.multinomial(int(count), np.full(rappor.cohorts, 1 / rappor.cohorts)) for count in counts])
    design = bloom_design(rappor, strings).toarray().reshape(rappor.cohorts, rappor.bits, len(strings))
    having = np.einsum("mks,sm->mk", design, per).astype(np.int64)
    n = per.sum(axis=0)[:, None]
    ones = rng.binomial(having, rappor.one_if_set) + rng.binomial(n - having, rappor.one_if_clear)
    return np.concatenate([n, ones], axis=1)


def exponential(n: int) -> Array:
    """The paper's: 100 strings of exponential frequencies, and 100 that nobody has."""
    weights = np.where(np.arange(200) < 100, np.exp(-np.arange(200) / 20), 0.0)
    return np.floor(n * weights / weights.sum())


def test_the_paper_s_setting_finds_forty_strings_with_few_false_ones() -> None:
    true = false = 0
    for seed in range(6):
        tally = counted(RAPPOR, STRINGS, exponential(10**6), np.random.default_rng(seed))
        places = np.array([STRINGS.index(one) for one in decoded(RAPPOR, tally, candidates=STRINGS).found])
        true, false = true + int((places < 100).sum()), false + int((places >= 100).sum())
    assert true / 6 >= 40
    assert false <= 0.05 * (true + false)


def test_estimates_are_off_as_much_as_they_say() -> None:
    """The standardised errors of the ten most common strings over 30 draws: 300 numbers of deviation one."""
    counts, errors = exponential(10**6), []
    for seed in range(30):
        found = decoded(RAPPOR, counted(RAPPOR, STRINGS, counts, np.random.default_rng(seed)), candidates=STRINGS)
        for string, count, error in zip(found.found, found.counts, found.errors, strict=True):
            if STRINGS.index(string) < 10:
                errors.append((count - counts[STRINGS.index(string)]) / error)
    assert len(errors) == 300
    assert 0.8 < np.std(errors) < 1.2
    assert abs(np.mean(errors)) < 0.4


def test_split_p_values_are_uniform_where_nobody_has_a_string_and_others_too_small() -> None:
    honest: list[float] = []
    naive: list[float] = []
    for seed in range(15):
        tally = counted(RAPPOR, STRINGS, exponential(10**6), np.random.default_rng(seed))
        even, odd = (regression(RAPPOR, tally, STRINGS, slice(start, None, 2)) for start in (0, 1))
        chosen = even.selected()
        tested = odd.fitted(chosen.kept)
        for fit, p_values in ((chosen, naive), (tested, honest)):
            p_values += stats.norm.sf(fit.shares / fit.errors)[fit.kept >= 100].tolist()
    assert len(honest) > 50
    assert stats.kstest(honest, "uniform").pvalue > 0.001
    assert np.mean(naive) < 0.2
    assert decoded(RAPPOR, tally, candidates=STRINGS, split=True).split


def test_with_nobody_there_nothing_is_found() -> None:
    """Clients whose strings are not candidates: at Bonferroni's level a false string in one run of twenty."""
    false = 0
    for seed in range(10):
        strings = [f"other {number}" for number in range(50)]
        tally = counted(RAPPOR, strings, np.full(50, 20_000.0), np.random.default_rng(seed))
        false += len(decoded(RAPPOR, tally, candidates=STRINGS, correction="bonferroni").found)
    assert false <= 3


def test_two_corrections() -> None:
    p_values = np.array([0.04, 0.0001, 0.011, 0.03])
    assert discoveries(p_values, 5, 0.05, "bonferroni").tolist() == [False, True, False, False]
    assert discoveries(p_values, 5, 0.05, "benjamini-hochberg").tolist() == [True, True, True, True]
    assert discoveries(p_values, 7, 0.05, "benjamini-hochberg").tolist() == [False, True, True, False]
    assert discoveries(p_values[:0], 5, 0.05, "benjamini-hochberg").size == 0


def test_the_result_can_be_read_and_drawn() -> None:
    from matplotlib.figure import Figure

    tally = counted(RAPPOR, STRINGS, exponential(10**6), np.random.default_rng(0))
    found = decoded(RAPPOR, tally, candidates=STRINGS)
    assert "s1" in found.found[:4]
    assert (np.diff(found.counts) <= 0).all()
    assert found.to_dict()["receipt"]["epsilon"] == RAPPOR.epsilon
    assert "s1" in str(found)
    ax = found.plot(Figure().add_subplot())
    assert len(ax.containers) == 1


def test_what_cannot_be_decoded_is_refused() -> None:
    tally = counted(RAPPOR, STRINGS, exponential(1000), np.random.default_rng(0))
    half = np.where(np.arange(16)[:, None] % 2 == 0, tally, 0)
    for wrong, candidates, split in (
        (tally, [], False),
        (tally, ["a", "a"], False),
        (0 * tally, ["a"], False),
        (half, ["a"], True),
        (tally[:-1], ["a"], False),
        (tally * np.append(1, np.full(128, 9)), ["a"], False),
    ):
        with pytest.raises(ParameterError, match="as they were"):
            decoded(RAPPOR, wrong, candidates=candidates, split=split)


def test_the_lasso_on_few_columns_is_that_on_all() -> None:
    rng = np.random.default_rng(3)
    columns = csc_matrix(rng.random((60, 400)) < 0.2, dtype=float)
    goal = columns[:, :5] @ np.arange(10.0, 15.0) + rng.normal(size=60)
    found = sparse_lasso(columns, goal, 4.0)
    slope = columns.T @ (goal - columns @ found)
    assert 0 < (found > 0).sum() < 60
    assert found.min() == 0
    assert slope.max() < 4.0 * 1.002  # the conditions of Karush, Kuhn and Tucker, on all columns
    assert np.abs(slope[found > 0] - 4.0).max() < 0.04
