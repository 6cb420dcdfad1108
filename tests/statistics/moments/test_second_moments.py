"""Second moments: exact sums of products, a bound that holds for the very numbers that are added, honest errors."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from discreet.accounting.accountant import delta
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum
from discreet.questions.vectors import row_steps
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.second_moments import second_moments_of, unfolded, weights_of
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.moments.second_moments import second_moments
from discreet.trust.exact_sum import exact_sum
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.file import File
from discreet.trust.sources.matrix import Matrix
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial({"radius": 1.0}, {"radius": [0.0, -1.0]})

rng = np.random.default_rng(0)
SCHEMA = Schema({"a": Number(-3, 5), "b": Number(0, 1e-3), "c": Number(-2e9, -1e9)})
COLUMNS = SCHEMA.features
MIDDLE, HALF = np.array([1.0, 5e-4, -1.5e9]), np.array([4.0, 5e-4, 5e8])
ODD = np.array([[np.nan, 0, 0], [1e308, -1e308, 0], [0, 0, np.nan], [-0.0, 5e-324, -1e9], [5, 1e-3, -1e9]])
WILD = np.vstack([MIDDLE + HALF * rng.uniform(-1, 1, (700, 3)), MIDDLE + HALF * rng.normal(size=(300, 3)), ODD])
RECORDS = np.clip(WILD, MIDDLE - HALF, MIDDLE + HALF)
RADII = [2.0**-6, 0.3, 1.0, 1.5, math.sqrt(3), 100.0]
radii = pytest.mark.parametrize("radius", RADII)


def question(radius: float, columns: tuple[str, ...] = COLUMNS) -> BoundedSum:
    return second_moments_of(SCHEMA, columns, radius)


def fused(asked: BoundedSum, records: Any) -> list[int]:
    assert asked.total is not None
    return [int(step) for step in asked.total(records)]


inside_or_not = pytest.mark.parametrize("records", [RECORDS, WILD, RECORDS[:0]], ids=["inside", "wild", "none"])


@radii
@inside_or_not
def test_the_fused_sum_is_the_sum_of_its_clipped_rows(radius: float, records: np.ndarray) -> None:
    asked = question(radius)
    assert fused(asked, records) == [int(step) for step in asked.steps(records).sum(axis=0)]


@radii
@inside_or_not
def test_clipping_never_acts_and_cutting_changes_nothing(radius: float, records: np.ndarray) -> None:
    asked = question(radius)
    rows = asked.of(records)
    np.testing.assert_array_equal(asked.bound.clip(rows), rows)
    np.testing.assert_array_equal(asked.grid.values(asked.steps(records)), rows)


@pytest.mark.parametrize("size", [1, 2, 7, 40])
@radii
def test_the_bound_holds_for_the_products_as_they_are_added(radius: float, size: int) -> None:
    """In exact fractions, on rows at the corners, rows on the sphere, and rows that rounding makes longer."""
    schema = Schema.numeric(-1.0, 1.0, size)
    asked = second_moments_of(schema, schema.features, radius)
    coordinates = Coordinates.of(schema, schema.features, radius)
    step = coordinates.grid.step
    normal = rng.normal(size=(30, size))
    sphere = min(radius, math.sqrt(size)) * normal / np.linalg.norm(normal, axis=1, keepdims=True)
    halfway = np.clip((np.floor(sphere / step) + 0.5) * step, -1, 1)
    records = np.vstack([rng.choice([-1.0, 1.0], (10, size)), np.eye(size)[:1], sphere, halfway, 1.0001 * halfway])
    rows = asked.of(records)
    squares, most = np.square(rows).sum(axis=1), asked.bound.radius**2
    assert (squares <= (1 + 1e-12) * most).all()
    for row in rows[squares >= (1 - 1e-12) * most]:  # of the others, float64 can tell
        assert sum(Fraction(value) ** 2 for value in row) <= Fraction(asked.bound.radius) ** 2
    u = coordinates.steps(records, np.empty((1 + size, len(records))))
    lengths = (u[1:] ** 2).sum(axis=0)
    assert (lengths <= coordinates.longest).all()
    assert lengths.max() >= (1 - 1e-3) * coordinates.longest
    assert 2 * coordinates.longest > min(radius**2, size) / step**2


@radii
def test_the_sum_is_that_of_python_integers(radius: float) -> None:
    """Scaled, rounded and shrunk one by one."""
    coordinates = Coordinates.of(SCHEMA, COLUMNS, radius)
    reach = 2**-coordinates.grid.exponent
    sums = [0] * 10
    inside = (math.sqrt(coordinates.longest) - math.sqrt(3) / 2) * (1 - 2.0**-40)
    for record in RECORDS[~np.isnan(RECORDS).any(axis=1)].tolist():
        scaled = [(x - m) * (reach / h) for x, m, h in zip(record, MIDDLE.tolist(), HALF.tolist(), strict=True)]
        whole = [round(z) for z in scaled]
        length = sum(q * q for q in whole)
        if length > coordinates.longest:
            whole = [round(q * (inside / math.sqrt(length))) for q in whole]
        u = [coordinates.constant, *whole]
        pairs = [(i, j) for i in range(4) for j in range(i, 4)]
        sums = [total + (8 if i == j else 11) * u[i] * u[j] for total, (i, j) in zip(sums, pairs, strict=True)]
    assert fused(question(radius), RECORDS) == sums


def test_order_batches_layout_and_slices_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = question(1.0)
    expected = fused(asked, RECORDS)
    moved = RECORDS[rng.permutation(len(RECORDS))]
    assert exact_sum(asked, [moved[:7], moved[7:500], moved[500:]]).tolist() == expected
    assert fused(asked, np.asfortranarray(RECORDS)) == expected
    monkeypatch.setattr(row_steps, "SLICE", 5)
    assert fused(asked, np.tile(RECORDS, (9, 1))) == [9 * number for number in expected]


def test_a_full_batch_of_the_largest_products_is_exact() -> None:
    for radius in (1.0, 2.0**-6):
        corner = np.tile(MIDDLE + HALF, (2**16, 1))
        one = [int(step) for step in question(radius).steps(corner[:1])[0]]
        assert fused(question(radius), corner) == [2**16 * step for step in one]
        assert max(one) * 2**29 < 2**63


def test_a_parquet_file_gives_the_sum_of_a_matrix(tmp_path: Path) -> None:
    wild = np.vstack([WILD, [[np.inf, 0.0, -1e9], [-np.inf, 1.0, 2.0], [np.nan, np.nan, np.nan]]])
    table = {name: pa.array(wild[:, i], from_pandas=True) for i, name in enumerate(COLUMNS)}
    pyarrow.parquet.write_table(pa.table(table), tmp_path / "x.parquet", row_group_size=100)
    read = File(tmp_path / "x.parquet", SCHEMA).sum(question(1.0))
    assert read.tolist() == Matrix(wild, SCHEMA).sum(question(1.0)).tolist()
    assert read.tolist() == fused(question(1.0), RECORDS[~np.isnan(RECORDS).any(axis=1)])


def test_it_is_built_again_from_its_recipe() -> None:
    asked = question(0.7, ("c", "a"))
    assert asked.recipe is not None
    again = question_of(asked.recipe, SCHEMA)
    assert (again.bound, again.grid, again.columns) == (asked.bound, asked.grid, asked.columns)
    assert fused(again, RECORDS[:, [2, 0]]) == fused(asked, RECORDS[:, [2, 0]])


def test_without_noise_the_matrix_is_that_of_numpy() -> None:
    inside = RECORDS[:700]
    asked, coordinates = question(2.0), Coordinates.of(SCHEMA, COLUMNS, 2.0)
    sums = unfolded(asked.grid.values(np.array(fused(asked, inside))), coordinates)
    z = np.column_stack([np.ones(700), (inside - MIDDLE) / HALF])
    np.testing.assert_allclose(sums / 700, z.T @ z / 700, atol=2 * coordinates.grid.step)
    x = np.column_stack([np.ones(700), inside])
    own, scale = coordinates.back(sums / 700), np.array([1.0, *HALF])
    np.testing.assert_allclose(own / np.outer(scale, scale), x.T @ x / 700 / np.outer(scale, scale), atol=2e-3)


@pytest.mark.parametrize("size", [2, 5, 20])
def test_the_constant_is_close_to_the_best_for_a_covariance_matrix(size: int) -> None:
    """The noise of cov = S2 / n - s s' / n^2 by its derivatives, over constants; a mean of squared length r^2 / 3."""
    radius, mean = math.sqrt(size), np.full(size, math.sqrt(1 / 3))

    eye, of_products, of_sums = np.eye(size), 0.0, 0.0
    for i in range(size):
        for j in range(i, size):
            product = (np.outer(eye[i], eye[j]) + np.outer(eye[j], eye[i])) / (2 if i == j else 1)
            of_products += (product**2).sum() / weights_of(2)[0 if i == j else 1] ** 2
        one = np.outer(eye[i], mean)
        of_sums += ((one + one.T) ** 2).sum() / weights_of(2)[1] ** 2

    def noise(weight: float) -> float:
        variance = of_products + of_sums / weight**2 + (np.outer(mean, mean) ** 2).sum() / weight**4
        return float((weight**2 + radius**2) ** 2 * variance)

    schema = Schema.numeric(-1.0, 1.0, size)
    best = min(noise(weight) for weight in np.geomspace(0.05, 5, 200) * radius)
    assert noise(Coordinates.of(schema, schema.features, radius).weight) <= 1.15 * best


def data(seed: int, budget: Budget, neighbors: Neighbors = Neighbors.ADD_REMOVE) -> PrivateData:
    return PrivateData.of(WILD, SCHEMA, budget, neighbors=neighbors, bits=DeterministicBits(seed))


@pytest.mark.parametrize("budget", [Budget(8.0), Budget(2.0, 1e-6)], ids=["pure", "approximate"])
def test_the_error_bars_hold_the_truth_as_often_as_they_say(budget: Budget) -> None:
    """80 runs of 95 % bars, from fixed generators: fewer than 66 hits have probability below 2e-5."""
    kept = RECORDS[~np.isnan(RECORDS).any(axis=1)]
    hits = np.zeros(4)
    for seed in range(80):
        found = second_moments(data(seed, budget), epsilon=budget.epsilon, delta=budget.delta)
        low, high = found.interval
        hits[0] += abs(found.count.value - len(kept)) <= found.count.half_width
        mean = kept.mean(axis=0)
        hits[1:] += (low - 1e-4 * HALF <= mean) & (mean <= high + 1e-4 * HALF)
    assert hits.min() >= 66


def test_products_of_two_columns_have_less_noise_than_squares() -> None:
    """Three times 300 draws of each: the ratio of their spreads has an error of 3.4 %, a third of the margin."""
    asked, coordinates, noise = question(1.0), Coordinates.of(SCHEMA, COLUMNS, 1.0), Gaussian(1.0)
    found = []
    for seed in range(300):
        with data(seed, Budget(10.0, 1e-6)).permit(noise.event, "noise") as permit:
            found.append(unfolded(permit.ask(asked, noise), coordinates)[1:, 1:])
    spread = np.std(found, axis=0)
    assert spread[np.triu_indices(3, 1)].mean() / np.diag(spread).mean() == pytest.approx(8 / 11, rel=0.1)
    assert np.diag(spread).mean() == pytest.approx(asked.bound.radius, rel=0.1)


def test_the_price_is_the_budget_and_no_more() -> None:
    event = second_moments(data(1, Budget(0.3, 1e-6)), epsilon=0.3, delta=1e-6).receipt.event
    assert 0.99e-6 <= delta(event, 0.3) <= 1e-6


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize(
    "records", [WILD[:0], WILD[:1], ODD, np.full((9, 3), np.inf)], ids=["none", "one", "odd", "inf"]
)
def test_odd_records_give_numbers_of_the_same_shape(records: np.ndarray, neighbors: Neighbors) -> None:
    private = PrivateData.of(records, SCHEMA, Budget(1.0, 1e-6), neighbors=neighbors)
    found = second_moments(private)
    assert found.matrix.shape == (3, 3)
    for value in (found.count.value, found.count.half_width, found.values, *found.interval, found.matrix):
        assert np.isfinite(value).all()
    assert (np.abs(found.values - MIDDLE) <= HALF * (1 + 1e-9)).all()


@pytest.mark.parametrize("radius", [0.0, -1.0, float("nan"), 0.01])
def test_a_radius_without_use_is_refused(radius: float) -> None:
    with pytest.raises(ParameterError, match="radius is"):
        Coordinates.of(SCHEMA, COLUMNS, radius)


def test_columns_that_cannot_be_multiplied_are_refused() -> None:
    with pytest.raises(ParameterError, match="they are none"):
        question(1.0, ())
    with pytest.raises(ParameterError, match="too close to compute with"):
        second_moments_of(Schema({"a": Number(0.0, 5e-324)}), ("a",), 1.0)
    with pytest.raises(DiscreetError, match="not numeric"):
        second_moments_of(Schema({"a": Category(("x",))}), ("a",), 1.0)


def test_it_prints_means_and_their_products() -> None:
    found = second_moments(data(1, Budget(1.0, 1e-6)), ["a", "b"])
    lines = str(found).splitlines()
    assert lines[0] == "second moments of a, b (95% for these data)"
    assert lines[1].split() == ["column", "mean", "times", "a", "times", "b"]
    assert lines[2].split()[0] == "a"
    assert "±" in lines[2]
    assert len(lines) == 4
    wide = Schema.numeric(0.0, 1.0, 9)
    many = second_moments(PrivateData.of(np.ones((9, 9)), wide, Budget(1.0, 1e-6)))
    assert [len(line.split()) for line in str(many).splitlines()[2:]] == [4] * 9
    assert str(found.count).startswith("number of records: 1,0")
