"""The figures of the page about learners, one for each family: invented records, and bits that can be replayed.

`plot_privacy_utility` alone draws fresh noise, as it does for its users.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from discreet import Budget, Category, Number, PrivateData, Schema
from discreet.learners import (
    PCA,
    AdditiveClassifier,
    AnovaRegressor,
    DecisionTreeClassifier,
    GaussianMixture,
    GaussianNB,
    KMeans,
    LinearRegression,
    OnlinePCA,
    evaluate,
    plot_privacy_utility,
)
from discreet.noise.deterministic import DeterministicBits

DARK, LIGHT = "#222222", "#4c9f95"
BUDGET = Budget(1.0, 1e-6)  # for one plan
CLASSES = Category(("no", "yes"))


def invented(table: dict[str, Any], columns: dict[str, Any], seed: int) -> PrivateData:
    """Private data of made-up records, whose noise is the same every time."""
    return PrivateData.of(table, Schema(columns), BUDGET, bits=DeterministicBits(seed))


def axes(count: int = 2) -> tuple[Figure, Any]:
    """A figure with axes side by side."""
    drawn = Figure(figsize=(9, 3.4), layout="constrained")
    return drawn, drawn.subplots(1, count)


def linear() -> Figure:
    """Lines that were fitted to the same records again and again, at two epsilons."""
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 10, 1000)
    y = np.clip(2 + 0.5 * x + rng.normal(0, 1, 1000), 0, 10)
    drawn, pair = axes()
    ends = np.array([[0.0], [10.0]])
    for ax, epsilon in zip(pair, (0.1, 1.0), strict=True):
        ax.scatter(x[:200], y[:200], s=4, color="#bbbbbb")
        for seed in range(10):
            data = invented({"x": x, "y": y}, {"x": Number(0, 10), "y": Number(0, 10)}, seed)
            model = LinearRegression(target="y", epsilon=epsilon).fit(data)
            ax.plot(ends[:, 0], model.intercept_ + ends @ model.coef_, color=LIGHT, linewidth=0.8)
        slope, height = np.polyfit(x, y, 1)
        ax.plot(ends[:, 0], height + slope * ends[:, 0], color=DARK, linewidth=1.2, label="exact")
        ax.set(title=f"LinearRegression, epsilon {epsilon:g}", xlabel="x", ylabel="y", ylim=(0, 10))
        ax.legend(frameon=False)
    return drawn


def bayes_and_trees() -> Figure:
    """A tree, and what one feature adds in an additive model."""
    table = buyers(5000, 2)
    columns = {"age": Number(18, 90), "income": Number(0, 100), "buys": CLASSES}
    drawn, (left, right) = axes()
    DecisionTreeClassifier(2, target="buys").fit(invented(table, columns, 2)).plot(left)
    AdditiveClassifier(target="buys").fit(invented(table, columns, 3)).plot(right, feature=0)
    left.set_title("DecisionTreeClassifier, epsilon 1")
    right.set_title("AdditiveClassifier, epsilon 1")
    return drawn


def anova() -> Figure:
    """What one feature, and what a pair, adds in a smooth ANOVA model."""
    rng = np.random.default_rng(6)
    x, y = rng.uniform(-1, 1, (2, 10_000))
    target = np.cos(4 * x) + 2 * x * y + 0.5 * rng.normal(size=10_000)
    box = {"x": Number(-2, 2), "y": Number(-2, 2), "target": Number(-10, 10)}
    model = AnovaRegressor(target="target").fit(invented({"x": x, "y": y, "target": target}, box, 6))
    drawn, (left, right) = axes()
    model.plot(left, feature=0)
    places = np.linspace(-1, 1, 99)
    left.plot(places, np.cos(4 * places) - np.sin(4) / 4, color=DARK, linewidth=1.2, label="of the distribution")
    left.set(title="AnovaRegressor, epsilon 1", xlim=(-1, 1))
    left.legend(frameon=False)
    model.plot(right, pair=(0, 1))
    right.set(title="What the pair adds", xlim=(-1, 1), ylim=(-1, 1))
    return drawn


def buyers(n: int, seed: int) -> dict[str, Any]:
    """People in middle age buy, and the richer they are the more."""
    rng = np.random.default_rng(seed)
    age, income = rng.uniform(18, 90, n), np.clip(rng.gamma(3, 12, n), 0, 100)
    score = 3 * np.exp(-(((age - 50) / 14) ** 2)) + income / 40 - 2.2
    return {"age": age, "income": income, "buys": np.where(score + rng.logistic(0, 0.5, n) > 0, "yes", "no")}


def clusters() -> Figure:
    """Centers of k-means beside those that records were drawn around, and the Gaussians of a mixture."""
    rng = np.random.default_rng(4)
    means = np.array([[-5.0, -3.0], [0.0, 4.0], [5.0, -1.0]])
    shapes = np.array([[1.0, 0.6], [0.6, 1.2], [1.2, 1.0]])
    kinds = rng.integers(0, 3, 5000)
    X = np.clip(means[kinds] + shapes[kinds] * rng.normal(size=(5000, 2)), -10, 10)
    table, box = {"x": X[:, 0], "y": X[:, 1]}, {"x": Number(-10, 10), "y": Number(-10, 10)}
    drawn, (left, right) = axes()
    for ax in (left, right):
        ax.scatter(*X[:200].T, s=4, color="#bbbbbb")
        ax.set(xlabel="x", ylabel="y", xlim=(-10, 10), ylim=(-10, 10))
    left.scatter(*means.T, marker="+", s=120, color=DARK, label="of the distribution")
    left.scatter(
        *KMeans(3).fit(invented(table, box, 3)).cluster_centers_.T, marker="o", s=30, color=LIGHT, label="private"
    )
    left.set_title("KMeans, epsilon 1")
    left.legend(frameon=False)
    mixture = GaussianMixture(3, random_state=0).fit(invented(table, box, 4))
    for mean, covariance in zip(mixture.means_, mixture.covariances_, strict=True):
        values, vectors = np.linalg.eigh(covariance)
        width, height = 4 * np.sqrt(values)  # two deviations to each side
        turn = float(np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0])))
        right.add_patch(Ellipse(tuple(mean), width, height, angle=turn, fill=False, color=LIGHT, linewidth=1.5))
    right.set_title("GaussianMixture, epsilon 1")
    return drawn


def components() -> Figure:
    """The first component beside the exact one, and the regret of one that follows records through time."""
    rng = np.random.default_rng(5)
    X = np.clip(rng.normal(size=(5000, 2)) @ np.array([[2.4, 1.2], [-0.4, 0.8]]), -10, 10)
    box = {"x": Number(-10, 10), "y": Number(-10, 10)}
    model = PCA(1).fit(invented({"x": X[:, 0], "y": X[:, 1]}, box, 5))
    exact = np.linalg.eigh(np.cov(X.T))[1][:, -1]
    drawn, (left, right) = axes()
    left.scatter(*X[:200].T, s=4, color="#bbbbbb")
    left.plot(*(X.mean(axis=0) + np.outer([-7, 7], exact)).T, color="#999999", linewidth=4, label="exact")
    left.plot(*(model.mean_ + np.outer([-7, 7], model.components_[0])).T, color=LIGHT, linewidth=1.2, label="private")
    left.set(title="PCA, epsilon 1", xlabel="x", ylabel="y", xlim=(-10, 10), ylim=(-10, 10))
    left.legend(frameon=False)
    table = {"time": np.linspace(0, 1, 5000), "x": X[:, 0], "y": X[:, 1]}
    online = OnlinePCA(1, time="time", steps=32).fit(invented(table, {"time": Number(0, 1), **box}, 6))
    online.plot_regret(pd.DataFrame(table), right).set_title("OnlinePCA, epsilon 1")
    return drawn


def evaluation() -> Figure:
    """Accuracy against epsilon, and the calibration curve of a private evaluation."""
    table = buyers(8000, 7)
    X, y = np.column_stack([table["age"], table["income"]]), table["buys"]
    bounds = ([18, 0], [90, 100])
    drawn, (left, right) = axes()
    learner = GaussianNB(classes=CLASSES.values, bounds=bounds)
    plot_privacy_utility(learner, X[:2000], y[:2000], (0.1, 0.3, 1.0, 3.0), repeats=5, ax=left)
    left.set_title("GaussianNB, 1,500 rows")
    columns = {"age": Number(18, 90), "income": Number(0, 100), "buys": CLASSES}
    halves = [{name: values[some] for name, values in table.items()} for some in (slice(4000), slice(4000, None))]
    model = GaussianNB(target="buys").fit(invented(halves[0], columns, 7))
    evaluate(model, invented(halves[1], columns, 8), target="buys", bins=8, epsilon=1.0).calibration.plot(right)
    right.set_title("evaluate: calibration, epsilon 1")
    return drawn


FIGURES: dict[str, Callable[[], Figure]] = {
    f"learners_{draw.__name__}.svg": draw for draw in (linear, bayes_and_trees, anova, clusters, components, evaluation)
}
