"""Kernel densities: the kernel that was asked for, the noise that was paid for, and a bandwidth at no cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import gamma, gaussian_kde, norm

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.columns.knots import Knots, bump_length, cosines, splines_of
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.curves.density import density
from discreet.statistics.curves.kernel_density import KernelDensity, kernel_density
from discreet.statistics.curves.smoother import FLAT, GAUSSIAN, multipliers, risks
from discreet.trust.private_data import PrivateData
from tests.statistics.trial import StatisticTrial

TRIAL = StatisticTrial({"bins": 4}, {"bandwidth": [0.0, -1.0, "wide"], "noise": ["none"]})

SCHEMA = Schema({"stay": Number(0, 100), "cost": Number(-1, 1), "size": Number(0, 1), "ward": Category(("a", "b"))})
rng = np.random.default_rng(8)
STAYS, COSTS = np.clip(rng.gamma(2, 15, 1500), 0, 100), rng.uniform(-1, 0.5, 1500)
TABLE: dict[str, Any] = {
    "stay": np.append(STAYS, np.nan),
    "cost": np.append(COSTS, 0.3),
    "size": np.full(1501, 0.5),
    "ward": ["a"] * 1501,
}
QUIET, LOUD = Budget(1e7), Budget(0.5, 1e-6)
EVERYWHERE = np.linspace(0, 100, 301)
ONE = Schema({"x": Number(0, 1)})
THREE = Schema({"x": Number(0, 1), "y": Number(0, 1), "z": Number(0, 1)})
TWO = Schema({"x": Number(0, 1), "y": Number(0, 1)})
WITHIN = np.append(np.linspace(0, 1, 331), [0.5, np.nextafter(1, 0), 5e-324, np.nan])


def stays(seed: int, budget: Budget, **options: Any) -> PrivateData:
    return PrivateData.of(TABLE, SCHEMA, budget, bits=DeterministicBits(seed), **options)


def released(seed: int, budget: Budget, columns: Any = "stay", **options: Any) -> KernelDensity:
    relation = {"neighbors": options.pop("neighbors")} if "neighbors" in options else {}
    data = stays(seed, budget, **relation)
    return kernel_density(data, columns, epsilon=budget.epsilon, delta=budget.delta, **options)


@lru_cache
def stays_smoothed(bandwidth: float) -> np.ndarray:
    """The kernel density of the stays, by its definition."""
    return mirrored(EVERYWHERE, STAYS, bandwidth, 100)


def mirrored(points: np.ndarray, records: np.ndarray, bandwidth: float, width: float) -> np.ndarray:
    """The mean of Gaussian kernels around records between 0 and a width, with images beyond both."""
    turns = 2 * width * np.array([-2, -1, 0, 1, 2])
    images = np.concatenate([side + turn for turn in turns for side in (records, -records)])
    away = (points[:, None] - images) / bandwidth
    return np.asarray(np.exp(-0.5 * np.square(away)).sum(axis=1) / (math.sqrt(2 * math.pi) * bandwidth * len(records)))


def test_without_noise_it_is_the_sum_of_kernels() -> None:
    ways: list[tuple[Budget, Any]] = [(QUIET, "least"), (Budget(1e3, 1e-6), "process")]
    for (budget, noise), bandwidth in product(ways, (3.0, 8.0, 60.0)):
        found = released(0, budget, bandwidth=bandwidth, noise=noise)
        exact, peak = stays_smoothed(bandwidth), 0.4 / bandwidth
        np.testing.assert_allclose(found.reading.at(EVERYWHERE[:, None] / 100) / 100, exact, atol=2e-4 * peak)
        np.testing.assert_allclose(found(EVERYWHERE), exact, atol=1e-3 * peak)


def test_the_kernel_of_a_single_record_is_off_by_less_than_a_thousandth_of_its_peak() -> None:
    for place in (0.31, 0.5, 0.013):
        data = PrivateData.of(np.full((100, 1), place), ONE, QUIET, bits=DeterministicBits(0))
        found = kernel_density(data, "x", bandwidth=0.05, epsilon=1e7)
        points = np.linspace(0, 1, 401)
        exact = mirrored(points, np.array([place]), 0.05, 1)
        np.testing.assert_allclose(found.reading.at(points[:, None]), exact, atol=1e-3 * exact.max())


def test_without_noise_two_columns_have_a_product_of_kernels() -> None:
    found = released(0, QUIET, ("stay", "cost"), bandwidth=(10.0, 0.2))
    points = np.stack(np.meshgrid([20.0, 50.0], [-0.9, 0.4]), axis=-1).reshape(-1, 2)
    away = (points[:, None] - np.stack([STAYS, COSTS], axis=1)) / (10, 0.2)
    inner = norm.pdf(away).prod(axis=2).mean(axis=1) / 2
    low = norm.pdf((points[:, 1, None] + 2 + COSTS) / 0.2) * norm.pdf(away[:, :, 0])
    left = norm.pdf((points[:, 0, None] + STAYS) / 10) * norm.pdf(away[:, :, 1])
    np.testing.assert_allclose(found(points), inner + (low + left).mean(axis=1) / 2, rtol=0.02)


def test_the_path_of_noise_has_the_kernel_for_its_covariance() -> None:
    """Of 120 releases of nothing: their covariances deviate by 13 % of the peak or less, and 65 % is five of these."""
    points = np.linspace(0.4, 0.6, 9)[:, None]
    nobody = np.zeros((0, 1))
    paths = []
    for seed in range(120):
        data = PrivateData.of(nobody, ONE, Budget(1.0, 1e-6), bits=DeterministicBits(seed))
        found = kernel_density(data, "x", bandwidth=0.05, noise="process", delta=1e-6)
        paths.append(found.reading.at(points) * found.reading._number)
    multiplier = found.reading.spread.stddev / bump_length(1)
    peak = 1 / (math.sqrt(2 * math.pi) * 0.05)
    kernel = np.exp(-0.5 * np.square((points - points.T) / 0.05))
    np.testing.assert_allclose(np.cov(np.array(paths).T) / (multiplier * peak) ** 2, kernel, atol=0.65)
    weights = found.reading.readers[0].weights(points[:, 0]) * bump_length(1)
    np.testing.assert_allclose(weights @ weights.T / peak**2, kernel, atol=2e-6)


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_a_process_has_the_published_sensitivity_and_less_noise(neighbors: Neighbors) -> None:
    """Noise where there is no record, in units of sqrt(reach) kernel peaks over n: what the budget asks, no more."""
    many = np.full((20_000, 1), 0.2)
    data = PrivateData.of(many, ONE, LOUD, neighbors=neighbors, bits=DeterministicBits(0))
    found = kernel_density(data, "x", bandwidth=0.04, noise="process", epsilon=LOUD.epsilon, delta=LOUD.delta)
    assert isinstance(found.reading.spread.noise, Gaussian)
    unit = math.sqrt(neighbors.reach) / (math.sqrt(2 * math.pi) * 0.04) / found.count
    times = found.standard_errors(0.7) / unit
    assert times == pytest.approx(found.reading.spread.noise.multiplier, rel=0.005)
    assert times < math.sqrt(2 * math.log(2 / LOUD.delta)) / LOUD.epsilon


def test_later_readings_go_on_along_the_same_path() -> None:
    found = released(3, LOUD, bandwidth=4.0, noise="process")
    whole = found(EVERYWHERE)
    np.testing.assert_allclose(found(EVERYWHERE[::7]), whole[::7], rtol=1e-9)
    np.testing.assert_allclose([found(point) for point in EVERYWHERE[:20]], whole[:20], rtol=1e-9)


def test_the_least_noise_is_chosen() -> None:
    for budget, kind in ((Budget(1.0, 1e-6), Laplace), (Budget(1.0, 0.2), Gaussian)):
        least = released(0, budget, bandwidth=10.0)
        process = released(0, budget, bandwidth=10.0, noise="process")
        assert isinstance(least.reading.spread.noise, kind)
        assert least.standard_errors(EVERYWHERE).mean() <= 1.02 * process.standard_errors(EVERYWHERE).mean()


def test_the_number_of_records_is_secret_or_public_with_its_missing_values() -> None:
    secret, public = (released(0, Budget(0.5), bins=20, neighbors=neighbors) for neighbors in Neighbors)
    assert secret.reading.apart is None
    assert secret.count == pytest.approx(1500, abs=60)
    assert public.reading.apart == 1.0
    assert public.count == pytest.approx(1500, abs=20)
    assert public.count != 1500


LAWS: dict[str, Any] = {
    "normal": norm(50, 10),
    "skewed": gamma(2, scale=10),
    "bimodal": (norm(35, 6), norm(65, 6)),
}


def drawn(name: str, size: int, seed: int) -> np.ndarray:
    rng, law = np.random.default_rng(seed), LAWS[name]
    halves = [one.rvs(size // 2, random_state=rng) for one in (law if isinstance(law, tuple) else (law, law))]
    return np.clip(np.concatenate(halves), 0, 100)


def law_at(name: str, points: np.ndarray) -> np.ndarray:
    law = LAWS[name]
    return np.mean([one.pdf(points) for one in (law if isinstance(law, tuple) else (law,))], axis=0)


@pytest.mark.parametrize(
    ("name", "size", "epsilon"),
    [("normal", 1000, 0.3), ("skewed", 1000, 0.3), ("skewed", 20_000, 1.0), ("bimodal", 20_000, 1.0)],
)
def test_it_is_closer_to_the_population_than_a_histogram_and_nearly_as_close_as_without_privacy(
    name: str, size: int, epsilon: float
) -> None:
    smooth: list[float] = []
    rough: list[float] = []
    open_: list[float] = []
    for seed in range(5):
        records, exact = drawn(name, size, seed), law_at(name, EVERYWHERE)
        for found, ask in ((smooth, kernel_density), (rough, density)):
            data = PrivateData.of(
                records[:, None], Schema.numeric(0.0, 100.0, 1), Budget(9.0), bits=DeterministicBits(seed)
            )
            found.append(np.square(ask(data, "x0", epsilon=epsilon)(EVERYWHERE) - exact).mean())
        open_.append(np.square(gaussian_kde(records)(EVERYWHERE) - exact).mean())
    assert np.mean(smooth) < 0.4 * np.mean(rough)
    if size > 1000:
        assert np.mean(smooth) < 2 * np.mean(open_)


@pytest.mark.parametrize("stddev", [2.0, 12.0])
def test_the_estimated_risk_has_no_bias(stddev: float) -> None:
    """The difference of two bandwidths' risks over 250 samples, with its own standard error."""
    places = (np.arange(480) + 0.5) / 480
    knots, exact = Knots.spline(24, 1), law_at("bimodal", 100 * places) * 100
    kernels = multipliers(np.array([0.015, 0.12]), 24, FLAT)
    question = splines_of(ONE, ("x",), (24,), 1, False)
    rng, size, estimated, true = np.random.default_rng(1), 400, [], []
    for seed in range(250):
        shares = question.steps(drawn("bimodal", size, seed)[:, None] / 100).sum(axis=0)
        masses = question.grid.values(shares) + rng.normal(0, stddev, 24)
        found = risks(masses, [knots], stddev, size, [kernels], caution=1.0)
        coefficients = np.append(1.0, (knots.waves @ masses / size)[1:])
        first, second = (np.square((row * coefficients) @ cosines(24, places) - exact).mean() for row in kernels)
        estimated.append(found[0] - found[1])
        true.append(first - second)
    off = np.array(estimated) - np.array(true)
    assert abs(off.mean()) < 4.5 * off.std() / math.sqrt(len(off)) + 0.02 * abs(np.mean(true))


def test_more_noise_means_more_smoothing() -> None:
    calm, noisy = (
        np.mean([released(seed, Budget(epsilon), bins=50).bandwidth[0] for seed in range(8)]) for epsilon in (10.0, 0.1)
    )
    assert noisy > 1.5 * calm


def hits(budget: Budget, neighbors: Neighbors, runs: int, **options: Any) -> float:
    """How often the band holds what the same smoothing makes of the exact records."""
    held = []
    for seed in range(runs):
        found = released(seed, budget, neighbors=neighbors, **options)
        if "bandwidth" in options:
            exact = stays_smoothed(round(found.bandwidth[0], 9))
        else:
            schema, knots = Schema({"stay": Number(0, 100)}), found.reading.masses.size
            question = splines_of(schema, ("stay",), (knots,), 1, False)
            assert question.total is not None
            weights = found.reading.readers[0].weights(EVERYWHERE / 100)
            exact = weights @ question.grid.values(question.total(STAYS[:, None])) / 150_000
        band = found.band(EVERYWHERE)
        held.append(((band.low <= np.maximum(exact, 0) + 1e-7) & (exact <= band.high + 1e-7)).all())
    return float(np.mean(held))


WAYS: list[tuple[Budget, dict[str, Any]]] = [
    (Budget(0.3), {}),
    (Budget(0.3), {"bandwidth": 5.0}),
    (LOUD, {"bandwidth": 5.0, "noise": "process"}),
]


@pytest.mark.parametrize(("budget", "options"), WAYS)
def test_the_band_holds_the_smoothed_density_everywhere(budget: Budget, options: dict[str, Any]) -> None:
    """12 runs of a 95 % band: 7 hits or fewer have probability below 1e-3."""
    assert hits(budget, Neighbors.ADD_REMOVE, 12, **options) > 7 / 12


@pytest.mark.slow
@pytest.mark.parametrize(("budget", "options"), WAYS)
@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_coverage_in_the_long_run(budget: Budget, options: dict[str, Any], neighbors: Neighbors) -> None:
    """1200 runs: the deviation is 0.63 %."""
    assert 0.935 <= hits(budget, neighbors, 1200, **options) <= 0.97


def test_it_is_a_density_whatever_the_noise() -> None:
    every = [("stay",), ("stay", "cost"), ("stay", "cost", "size")] * 2
    budgets = [Budget(0.05), Budget(5.0, 1e-6)] * 3
    for columns, budget, neighbors in zip(every, budgets, [*Neighbors, *Neighbors, *Neighbors], strict=True):
        found = released(1, budget, columns, neighbors=neighbors)
        points = found.sample(200)
        assert (found(points) >= 0).all()
        assert np.isfinite(found.standard_errors(points)).all()
        assert found.integral() == pytest.approx(1.0)
    fine = released(1, Budget(0.5))
    assert fine(np.linspace(0, 100, 40_001)).mean() * 100 == pytest.approx(1.0, abs=1e-3)


def test_few_and_equal_records_are_an_answer() -> None:
    schema = Schema.numeric(0.0, 10.0, 1)
    every: list[list[float]] = [[], [5.0], [np.nan], [7.0] * 500]
    for rows, bandwidth in product(every, (None, 0.5, 1e6)):
        for neighbors in Neighbors:
            data = PrivateData.of(np.array(rows).reshape(-1, 1), schema, Budget(1.0), neighbors=neighbors)
            found = kernel_density(data, "x0", bandwidth=bandwidth)
            assert np.isfinite(found(np.linspace(0, 10, 50))).all()
            assert found.integral() == pytest.approx(1.0)


def test_a_retry_is_the_same_release() -> None:
    data = PrivateData.of(TABLE, SCHEMA, Budget(1.0))
    first, again = (kernel_density(data, "stay", epsilon=1.0, key="once") for _ in range(2))
    np.testing.assert_array_equal(first(EVERYWHERE), again(EVERYWHERE))
    assert again.receipt.replayed


def test_it_is_printed_and_drawn() -> None:
    found = released(0, Budget(1.0), bandwidth=5.0)
    assert str(found).startswith("kernel density of stay, Gaussian kernel of bandwidth 5 (95% for these data)")
    assert found.order == GAUSSIAN
    assert "flat kernel" in str(released(0, Budget(1.0)))
    assert len(found.plot().collections) == 1
    whole = released(0, Budget(1.0), ("stay", "cost", "size"), bins=4)
    assert len(str(whole).splitlines()) == 26
    with pytest.raises(DiscreetError, match="3 columns"):
        whole.plot()


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    data = stays(0, Budget(2.0))
    mistakes: list[Callable[[PrivateData], Any]] = [
        lambda data: kernel_density(data, "ward", epsilon=2.0),
        lambda data: kernel_density(data, ("stay", "cost", "size", "ward"), epsilon=2.0),
        lambda data: kernel_density(data, "stay", bandwidth=0.0, epsilon=2.0),
        lambda data: kernel_density(data, "stay", bandwidth=(1.0, 2.0), epsilon=2.0),
        lambda data: kernel_density(data, "stay", bandwidth=np.nan, epsilon=2.0),
        lambda data: kernel_density(data, "stay", bandwidth="wide", epsilon=2.0),  # type: ignore[arg-type]
        lambda data: kernel_density(data, "stay", bandwidth=1e-5, epsilon=2.0),
        lambda data: kernel_density(data, "stay", bandwidth=1.0, bins=5, epsilon=2.0),
        lambda data: kernel_density(data, "stay", bins=2**16, epsilon=2.0),
        lambda data: kernel_density(data, "stay", expected_size=2.5, epsilon=2.0),  # type: ignore[call-overload]
        lambda data: kernel_density(data, "stay", noise="process", epsilon=2.0),
        lambda data: kernel_density(data, "stay", noise="process", bandwidth=5.0, epsilon=2.0),
        lambda data: kernel_density(data, "stay", noise="none", epsilon=2.0),  # type: ignore[call-overload]
        lambda data: kernel_density(data, "stay", confidence=1.0, epsilon=2.0),
        lambda data: kernel_density(data, "stay", epsilon=3.0),
        lambda data: kernel_density(np.zeros((5, 4)), bounds=(0, 1), epsilon=2.0),
    ]
    for wrong in mistakes:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            wrong(data)
    kernel_density(data, "stay", bins=4, epsilon=2.0)
