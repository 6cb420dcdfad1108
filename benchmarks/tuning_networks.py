"""The table behind the activation of private perceptrons, on made-up data that no benchmark uses.

    python -m benchmarks.tuning_networks

AUCs or R2 of fits to 5,000 or 6,000 records with all other settings as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.metrics import r2_score, roc_auc_score

from benchmarks.tuning_anova import OTHERS, skewed, waves
from benchmarks.tuning_linear import bent, marked
from discreet.deep.models.private_mlp import ACTIVATIONS
from discreet.deep.models.private_mlp_classifier import PrivateMLPClassifier
from discreet.deep.models.private_mlp_regressor import PrivateMLPRegressor

RECORDS, SEEDS = 6000, 3


def of_classes(features: int | None, activation: str, epsilon: float, seed: int) -> float:
    """The AUC on others: of classes that no plane separates; or of rare marks of categories, if not of features."""
    X, y = marked(RECORDS, 5) if features is None else bent(features, RECORDS + OTHERS)
    bounds = (-1, 1) if features is None else (X.min(axis=0) - 0.5, X.max(axis=0) + 0.5)
    model = PrivateMLPClassifier(
        activation=activation, classes=[0, 1], bounds=bounds, epsilon=epsilon, random_state=seed
    )
    found = model.fit(X[:RECORDS], y[:RECORDS]).predict_proba(X[RECORDS:])[:, 1]
    return float(roc_auc_score(y[RECORDS:], found))


def of_numbers(made: Callable[[int], Any], activation: str, epsilon: float, seed: int) -> float:
    """R2 on others."""
    data, mine, theirs = made(seed), slice(None, -OTHERS), slice(-OTHERS, None)
    model = PrivateMLPRegressor(
        activation=activation, target_bounds=data.target, bounds=data.bounds, epsilon=epsilon, random_state=seed
    )
    return float(r2_score(data.y[theirs], model.fit(data.X[mine], data.y[mine]).predict(data.X[theirs])))


def main() -> None:
    """A row for each set and epsilon, with the mean for each activation."""
    sets: dict[str, Callable[[str, float, int], float]] = {
        **{f"bent, {features} features": partial(of_classes, features) for features in (4, 8, 12, 16)},
        "marks": partial(of_classes, None),
        "waves": partial(of_numbers, waves),
        "skewed": partial(of_numbers, skewed),
    }
    for epsilon in (1.0, 5.0):
        for name, score in sets.items():
            means = [sum(score(one, epsilon, seed) for seed in range(SEEDS)) / SEEDS for one in ACTIVATIONS]
            row = "  ".join(f"{one} {mean:.3f}" for one, mean in zip(ACTIVATIONS, means, strict=True))
            print(f"{name:<20} {epsilon:>4}  {row}", flush=True)


if __name__ == "__main__":
    main()
