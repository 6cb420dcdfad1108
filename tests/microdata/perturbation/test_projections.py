"""Projected tables: what ICA and known records find out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.decomposition import FastICA
from sklearn.neighbors import KNeighborsClassifier

from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.microdata.perturbation.projections import project_columns, project_rows, rotate
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData

WAIVER = "public data"
N, WIDTH = 4000, 6
NAMES = [f"x{place}" for place in range(WIDTH)]


def independent() -> Array:
    """Columns that are independent and not Gaussian; and who it is, at the end."""
    rng = np.random.default_rng(1)
    return np.column_stack([rng.uniform(-1, 1, (N, 3)), rng.beta(0.3, 0.3, (N, 3)), np.arange(N)])


def private(rows: Array) -> PrivateData:
    return PrivateData.of(
        rows, Schema.numeric([-1.0] * WIDTH + [0.0], [1.0] * WIDTH + [float(N)], WIDTH + 1), Budget(1.0)
    )


def in_order(records: Array) -> Array:
    return records[np.argsort(records[:, -1]), :-1]


def best_match(found: Array, exact: Array) -> Array:
    """For each true column the correlation with the most similar one that was found."""
    own = np.corrcoef(found.T, exact.T)[: found.shape[1], found.shape[1] :]
    matched: Array = np.abs(own).max(axis=0)
    return matched


def separated(seen: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: Array = FastICA(random_state=0, max_iter=500).fit_transform(seen)
    return found


def test_independent_component_analysis_undoes_a_rotation_without_knowing_anybody() -> None:
    rows = independent()
    seen = in_order(rotate(private(rows), NAMES, unchanged="x6", waiver=WAIVER).records)
    assert best_match(seen, rows[:, :WIDTH]).min() < 0.95
    matched = best_match(separated(seen), rows[:, :WIDTH])
    assert matched.min() > 0.99


def test_with_fewer_sums_than_columns_a_part_is_still_found() -> None:
    rows = independent()
    data = private(rows)
    seen = project_columns(data, NAMES, dimensions=5, unchanged="x6", waiver=WAIVER).records
    matched = best_match(separated(in_order(seen)), rows[:, :WIDTH])
    assert matched.max() > 0.9
    assert matched.min() < 0.9


def test_records_known_by_their_length_give_the_rotation_and_all_others() -> None:
    """Liu, Giannella and Kargupta 2006: nothing but a few records is known, not where they are in the table."""
    rows = independent()[:, :WIDTH]
    data = PrivateData.of(rows, Schema.numeric(-1.0, 1.0, WIDTH), Budget(1.0))
    seen = rotate(data, NAMES, waiver=WAIVER).records
    known = rows[:10]
    where = [int(np.abs(np.linalg.norm(seen, axis=1) - np.linalg.norm(one)).argmin()) for one in known]
    turn = np.linalg.lstsq(known, seen[where], rcond=None)[0]
    found = seen @ np.linalg.inv(turn)
    assert np.allclose(found[np.lexsort(found.T.round(6))], rows[np.lexsort(rows.T.round(6))], atol=1e-6)


def test_known_records_give_equations_for_all_others_where_there_are_fewer_sums() -> None:
    rows = independent()
    table = project_columns(private(rows), NAMES, dimensions=3, unchanged="x6", waiver=WAIVER)
    seen, exact = in_order(table.records), rows[:, :WIDTH]
    weights = np.linalg.lstsq(exact[:WIDTH], seen[:WIDTH], rcond=None)[0]
    assert np.allclose(exact @ weights, seen, atol=1e-9)
    guess = seen @ np.linalg.pinv(weights)
    assert np.square(guess - exact).mean() < np.square(exact - exact.mean(axis=0)).mean()


def test_who_learns_from_distances_alone_learns_the_same_from_a_rotation() -> None:
    rows = independent()
    rows[:, 6] = rows[:, 0] + rows[:, 1] > 0
    data = private(rows)
    table = rotate(data, NAMES, unchanged="x6", waiver=WAIVER)
    scores = []
    for own in (table.records, rows[np.random.default_rng(2).permutation(N)]):
        learner = KNeighborsClassifier().fit(own[: N // 2, :WIDTH], own[: N // 2, 6])
        scores.append(learner.score(own[N // 2 :, :WIDTH], own[N // 2 :, 6]))
    assert min(scores) > 0.8
    assert scores[0] == pytest.approx(scores[1], abs=0.03)


def test_two_tables_of_mixed_rows_with_a_person_and_without_differ_by_that_person() -> None:
    rows = independent()[:, :WIDTH]
    notes = []
    for own in (rows, rows[1:]):
        data = PrivateData.of(own, Schema.numeric(-1.0, 1.0, WIDTH), Budget(1.0))
        notes.append(project_rows(data, NAMES, dimensions=2, waiver=WAIVER).notes)
    total = [np.asarray(one["means"]) * one["records"] for one in notes]
    assert np.allclose(total[0] - total[1], rows[0], atol=1e-9)
