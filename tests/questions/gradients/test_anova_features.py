"""Features of ANOVA models: functions of columns and their products, shrunk to a length."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from discreet.core.bound import ORDER, Norm
from discreet.core.grid import Array
from discreet.questions.columns.column_trees import LEAVES
from discreet.questions.gradients.anova_features import FEATURES, AnovaFeatures, Bases, anova_products_of
from discreet.questions.vectors.second_moments import unfolded
from tests.questions.trial import SCHEMA, Trial, summed

COLUMNS, CELLS = ("x", "kind", "y"), 4
STARTS = np.array([[0, 1000, 1000, 3000], [0, 1, 2, 3], [0, 5, 2048, LEAVES]], dtype=np.float64)
FUNCTIONS = np.random.default_rng(5).normal(size=(6, CELLS)).clip(-2, 2)
BASES = Bases((2, 2, 2), STARTS, FUNCTIONS, (0.25, 0.5, 0.75), (0, 1, 2), 2)
START = {"columns": COLUMNS, **BASES.given, "reach": 0.5}
TRIALS = {
    "anova_products": Trial(
        START,
        "78ac0659afee",
        forged=[
            {"functions": FUNCTIONS[:5]},
            {"functions": FUNCTIONS * 1e9},
            {"functions": -1e9 * np.abs(FUNCTIONS)},
            {"functions": FUNCTIONS * np.nan},
            {"starts": STARTS[:, ::-1]},
            {"starts": STARTS * 2},
            {"sizes": (2, 2)},
            {"sizes": (2, 2, 0)},
            {"scales": (0.5, 0.5)},
            {"scales": (0.5, 2.0, 0.5)},
            {"paired": (0, 3)},
            {"paired": (1, 0)},
            {"paired": (0, 0)},
            {"products": 0},
            {"products": 100},
            {"columns": ("x", "kind", "x")},
            {"columns": ("x", "kind", "note")},
            {"reach": 0.0},
            {"reach": 1e9},
        ],
    )
}
EXTREME = np.array([[-10, 0, 0], [110, 2, 1], [np.nan, 1, 0.5], [np.nan] * 3, [1e300, 0, -1e300], [50, np.nan, 0.2]])


def people(n: int = 300) -> Array:
    rng = np.random.default_rng(3)
    some = np.column_stack([rng.uniform(-10, 110, n), rng.integers(0, 3, n).astype(float), rng.uniform(0, 1, n)])
    return np.vstack([some, EXTREME])


def expected(records: Array) -> Array:
    """Features by their definition, before they are shrunk."""
    rows = []
    for record in records:
        own = []
        for place, value in enumerate(record):
            leaf = value if place == 1 else (value - (-10, 0, 0)[place]) / (120, 1, 1)[place] * LEAVES
            cell = np.searchsorted(STARTS[place], np.clip(np.floor(leaf), 0, LEAVES - 1), side="right") - 1
            own.append(np.zeros(2) if np.isnan(value) else FUNCTIONS[2 * place : 2 * place + 2, cell])
        both = [np.outer(0.75 * own[i], 0.75 * own[j]).ravel() for i, j in combinations(range(3), 2)]
        rows.append(np.concatenate([[0.25], *[0.5 * one for one in own], *both]))
    return np.array(rows)


def made(reach: float = 0.5, norm: Norm = "l2") -> AnovaFeatures:
    return AnovaFeatures(SCHEMA, COLUMNS, BASES, reach, norm)


def test_features_are_functions_of_cells_and_products_of_them() -> None:
    features, records = made(), people()
    found = FEATURES.values(features.features(features.cells(records)))
    np.testing.assert_allclose(found.T, expected(records), atol=4e-3)  # factors of products are on a grid of 2**-10


def test_no_record_is_longer_than_the_reach_and_long_ones_reach_it() -> None:
    norms: tuple[Norm, ...] = ("l1", "l2")
    for norm in norms:
        features, records = made(norm=norm), people()
        cells = features.cells(records)
        rows = FEATURES.values(features.features(cells)) * features.factors(cells)
        lengths = np.linalg.norm(rows, ORDER[norm], axis=0)
        assert lengths.max() <= 0.5 * (1 + 1e-12)
        long = np.linalg.norm(expected(records), ORDER[norm], axis=1) > 0.6
        np.testing.assert_allclose(lengths[long], 0.5)


def test_products_are_those_of_shrunk_features() -> None:
    features, records = made(), people()
    rows = expected(records)
    short = rows * np.minimum(0.5 / np.linalg.norm(rows, axis=1, keepdims=True), 1)
    found = unfolded(summed(anova_products_of(SCHEMA, **START), records), features)
    np.testing.assert_allclose(found, short.T @ short, atol=0.5)  # 306 records, each within 0.004 of what it should be


def test_the_longest_record_reaches_the_bound_of_products() -> None:
    question = anova_products_of(SCHEMA, **START)
    lengths = np.linalg.norm(question.of(people()), axis=1)
    assert lengths.max() <= question.bound.radius
    diagonal = made().products(people()[:1])
    assert np.trace(diagonal) * 4.0**-15 == pytest.approx(0.25, rel=1e-3)


def test_what_a_record_adds_does_not_depend_on_the_others() -> None:
    question, records = anova_products_of(SCHEMA, **START), people(40)
    alone = np.vstack([question.of(record[None, :]) for record in records])
    np.testing.assert_array_equal(question.of(records), alone)
