"""Estimates from projections: unbiased, with the variance of the theory, and errors that are estimated without bias."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.mechanisms.microdata.projected_records import MatrixLaw, random_matrix
from discreet.microdata.perturbation.projected_table import ProjectionLaw
from discreet.microdata.perturbation.projections import project_columns, project_rows, rotate
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData

RUNS = 5000
WAIVER = "public data"


@pytest.mark.parametrize(
    ("law", "width", "dimensions"), [("gaussian", 6, 4), ("orthogonal", 6, 4), ("orthogonal", 3, 2), ("gaussian", 2, 9)]
)
def test_products_and_distances_are_unbiased_with_the_variance_of_the_theory(
    law: MatrixLaw, width: int, dimensions: int
) -> None:
    rng, bits = np.random.default_rng(width), DeterministicBits(dimensions)
    pair = rng.normal(size=(2, width))
    pair[1] += pair[0]
    theory = ProjectionLaw.of(law, width, dimensions)
    if law == "gaussian":  # whose rows are independent: many matrices in one
        matrices = random_matrix(bits, 4 * RUNS * width, dimensions, law).reshape(-1, width, dimensions)
    else:
        matrices = np.array([random_matrix(bits, width, dimensions, law) for _ in range(RUNS)])
    drawn, runs = pair @ matrices, len(matrices)
    found = np.array([theory.products(one[:1], one[1:]).values[0, 0] for one in drawn[:1]])
    assert np.allclose(found, (drawn[:1, 0] * drawn[:1, 1]).sum(axis=1))
    products, lengths = (drawn[:, 0] * drawn[:, 1]).sum(axis=1), np.square(drawn).sum(axis=2).prod(axis=1)
    exact = theory.variance(pair[0] @ pair[1], np.square(pair).sum(axis=1).prod())
    assert abs(products.mean() - pair[0] @ pair[1]) < 5 * np.sqrt(exact / runs)
    assert products.var() == pytest.approx(exact, rel=0.12)
    assert theory.estimated_variance(products, lengths).mean() == pytest.approx(exact, rel=0.1)
    apart = np.square(drawn[:, 0] - drawn[:, 1]).sum(axis=1)
    distances = theory.squared_distances(drawn[:, 0], drawn[:1, 1] * 0)
    assert np.allclose(distances.values[:, 0], np.square(drawn[:, 0]).sum(axis=1))
    relative = distances.standard_error[0, 0] / distances.values[0, 0]
    assert abs(apart.mean() - np.square(pair[0] - pair[1]).sum()) < 5 * apart.std() / np.sqrt(runs)
    assert np.mean(np.square(relative * apart)) == pytest.approx(apart.var(), rel=0.1)


def test_estimates_of_projected_tables_hold_what_they_are_of() -> None:
    rows = np.random.default_rng(1).uniform(-3, 5, (40, 30))
    scaled, apart = (rows - 1) / 4, ~np.eye(40, dtype=bool)
    schema = Schema.numeric([-3.0] * 30 + [0.0], [5.0] * 30 + [40.0], 31)
    data = PrivateData.of(np.column_stack([rows, np.arange(40)]), schema, Budget(1.0))
    names, laws = [f"x{place}" for place in range(30)], ("gaussian", "orthogonal")
    for law in laws:
        off: list[list[Array]] = [[], []]
        for _ in range(20):
            table = project_columns(data, names, dimensions=20, law=law, unchanged="x30", waiver=WAIVER)  # type: ignore[arg-type]
            own = scaled[table.records[:, -1].astype(int)]
            exact = own @ own.T, np.square(own[:, None] - own).sum(axis=2)
            for place, found in enumerate((table.inner_products(), table.squared_distances())):
                squares = np.square((found.values - exact[place], found.standard_error))[:, apart]
                off[place].append(squares.mean(axis=1))
        for one in np.mean(off, axis=1):
            assert 0.6 < one[0] / one[1] < 1.6
    some = table.inner_products([3, 5], [7])
    assert np.allclose(some.values, table.inner_products().values[[3, 5]][:, [7]])


def test_a_rotation_has_exact_products_without_errors() -> None:
    rows = np.random.default_rng(2).uniform(-1, 1, (30, 5))
    names = [f"x{place}" for place in range(5)]
    table = rotate(PrivateData.of(rows, Schema.numeric(-1.0, 1.0, 5), Budget(1.0)), names, waiver=WAIVER)
    found = table.squared_distances()
    assert np.allclose(np.sort(found.values.sum(axis=0)), np.sort(np.square(rows[:, None] - rows).sum(axis=(1, 2))))
    assert not found.standard_error.any()
    assert not table.inner_products().standard_error.any()
    assert not np.allclose(np.sort(table.records[:, 0]), np.sort(rows[:, 0]))


def test_rows_that_are_not_there_and_too_many_pairs_are_refused() -> None:
    rows = np.random.default_rng(2).uniform(-1, 1, (5000, 2))
    table = rotate(PrivateData.of(rows, Schema.numeric(-1.0, 1.0, 2), Budget(1.0)), ["x0", "x1"], waiver=WAIVER)
    with pytest.raises(ParameterError, match="too many pairs"):
        table.inner_products()
    for row in (-1, 5000, 1.5, None):
        with pytest.raises(ParameterError, match="row is"):
            table.squared_distances([row])  # type: ignore[list-item]


def test_mixed_rows_have_unbiased_correlations_products_and_distances_of_columns() -> None:
    rng = np.random.default_rng(3)
    first = rng.uniform(0, 10, 500)
    rows = np.column_stack([first, first + rng.uniform(0, 10, 500), rng.uniform(0, 10, 500), np.full(500, 7.0)])
    data = PrivateData.of(rows, Schema.numeric(0.0, 20.0, 4), Budget(1.0))
    tables = [project_rows(data, ["x0", "x1", "x2", "x3"], dimensions=25, waiver=WAIVER) for _ in range(300)]
    exact = np.corrcoef(rows[:, :3], rowvar=False)
    found = np.array([table.correlations().values[:3, :3] for table in tables])
    errors = np.array([table.correlations().standard_error[:3, :3] for table in tables])
    theory = np.where(np.eye(3), 0.0, (1 + exact**2) / 25)
    assert (np.abs(found.mean(axis=0) - exact) <= 5 * np.sqrt(theory / 300) + 1e-12).all()
    assert np.allclose(found.var(axis=0), theory, rtol=0.4)
    assert np.allclose(np.square(errors).mean(axis=0), theory, rtol=0.1)
    assert np.isnan(tables[0].correlations().values[3, :3]).all()
    for name, wanted in (("inner_products", rows.T @ rows), ("squared_distances", None)):
        seen = [getattr(table, name)() for table in tables]
        wanted = np.square(rows[:, :, None] - rows[:, None]).sum(axis=0) if wanted is None else wanted
        values, deviations = (np.array([getattr(one, what) for one in seen]) for what in ("values", "standard_error"))
        assert (np.abs(values.mean(axis=0) - wanted) <= 5 * values.std(axis=0) / np.sqrt(300) + 1e-6).all()
        assert np.allclose(np.square(deviations).mean(axis=0), values.var(axis=0), rtol=0.5, atol=1e-6)
