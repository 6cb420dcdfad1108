"""What diffprivlib reaches on the data sets of learners, appended to `learners.csv`.

    python -m benchmarks.peers.diffprivlib_learners DATA ...

Version 0.6.6 or later, beside the newest scikit-learn that it imports. Its bounds and norms are public ones, the
tightest that hold for every record of the data set.
"""

from __future__ import annotations

import csv
import math
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.cells import EPSILONS, PEERS
from benchmarks.learning_data import Split, classified

warnings.filterwarnings("ignore")  # it warns of every bound that is not given
SEEDS = 10
CATEGORIES = 4  # of "adult", whose marks are the last columns: a record has one mark of each at most


def logistic(data: Split, C: float, **how: Any) -> Any:
    """With marks of 0 and 1, of which a record has few."""
    from diffprivlib.models import LogisticRegression

    X, others, norm = data.X, data.others, math.sqrt(data.X.shape[1])
    if marks := np.isin(X, (-1.0, 1.0)).all(axis=0).sum():
        numbers = X.shape[1] - marks
        X, others = (np.column_stack([rows[:, :numbers], (rows[:, numbers:] + 1) / 2]) for rows in (X, others))
        norm = math.sqrt(numbers + CATEGORIES)
    return LogisticRegression(C=C, data_norm=norm, **how).fit(X, data.y).predict(others)


def bounded(kind: str, data: Split, **how: Any) -> Any:
    """Predictions of a learner that needs bounds."""
    from diffprivlib import models

    if kind != "GaussianNB":
        how["classes"] = list(range(data.classes))
    bounds = (-np.ones(data.X.shape[1]), np.ones(data.X.shape[1]))
    return getattr(models, kind)(bounds=bounds, **how).fit(data.X, data.y).predict(data.others)


LEARNERS: dict[str, Callable[..., Any]] = {
    "logistic C=1": lambda data, **how: logistic(data, 1.0, **how),
    "logistic C=0.01": lambda data, **how: logistic(data, 0.01, **how),
    "naive Bayes": lambda data, **how: bounded("GaussianNB", data, **how),
    "forest": lambda data, **how: bounded("RandomForestClassifier", data, **how),
    "tree": lambda data, **how: bounded("DecisionTreeClassifier", data, **how),
}


def main(names: list[str]) -> None:
    """A row for each learner, data set and epsilon."""
    with PEERS.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for name in names:
            for learner, fitted in LEARNERS.items():
                for epsilon in EPSILONS:
                    scores = [
                        data.scored(fitted(data, epsilon=epsilon, random_state=seed))
                        for seed, data in ((seed, classified(name, seed)) for seed in range(SEEDS))
                    ]
                    row = [learner, name, f"{epsilon:g}", f"{np.mean(scores):.4f}", f"{np.std(scores):.4f}", SEEDS]
                    print(*row, flush=True)
                    writer.writerow([*row, f"diffprivlib {version('diffprivlib')}"])


if __name__ == "__main__":
    main(sys.argv[1:])
