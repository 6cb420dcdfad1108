"""Attacks on membership against private releases of the library, beside what their epsilon allows.

    python -m benchmarks.attacks_private

Writes the table of the manual, docs/attack_table.md. Of each kind of release there are several, from coins for each
record; each is attacked, with the others of its kind as references, and all scores are judged together.
"""

from __future__ import annotations

import importlib
import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import discreet
from benchmarks.attacks_membership import together
from benchmarks.rows import Row, missing, report
from discreet import learners
from discreet.attacks import (
    RMIA,
    DensityRatio,
    MeansDistance,
    MeansLikelihoodRatio,
    MembershipData,
    MembershipScores,
    ModelTarget,
    NearestDistance,
    References,
    ThresholdAttack,
)
from discreet.microdata import synthesize

EPSILONS, DELTA = (0.5, 1.0, 2.0, 4.0, 8.0), 1e-6
RATES = (0.01, 0.1)
RELEASES, POOL = 8, 800  # of each kind; records, of which each release has about half
COLUMNS = 30  # whose means are published
RISK = 0.05 / 1000  # of one comparison, so that all of them together have 5 %
OTHERS = ("PrivatePipeline", "PrivateSearchCV", "FairClassifier")  # are made of others; or promise for groups alone
METHODS = ("tree", "adaptive", "contingency", "mwem", "privbayes", "diffgen")
PLAIN = {
    "LogisticRegression": LogisticRegression(),
    "DecisionTreeClassifier": DecisionTreeClassifier(random_state=0),
    "MLP": MLPClassifier((64,), max_iter=300, learning_rate_init=0.01, random_state=0),
}
TABLE = Path(__file__).parent.parent / "docs" / "attack_table.md"
INTRO = """# What attacks find in private releases

Each kind of release was made {releases} times or more, with a coin for each of up to {pool} records, and attacked; of
all attacks, the one with the largest area is shown. A release with epsilon and delta lets no attack accuse a larger
share of members than e^epsilon times that of others, plus delta: this is what is *allowed*. Exact releases of the same
kind show that the attacks work. {held} of {all} private rows are within what is allowed, intervals of all comparisons
together ({level:.0f} %) taken into account. Epsilon is for all numbers of a release together; delta is {delta:g} or
nothing.

Regressors learn labels as numbers, and are asked how far they are from one to the other; mixtures, centers and
isolation forests learn records without labels.

Made by `make attack-table`; noise is fresh each time.

"""


@dataclass(frozen=True)
class Attacked:
    """What the best attack found in releases of one kind, with the epsilon that they cost; infinite for exact ones."""

    release: str
    epsilon: float
    attack: str
    scores: MembershipScores

    @property
    def holds(self) -> bool:
        """Whether no lower end of a true-positive rate is above what the upper end of the false one allows."""
        members, others = len(self.scores.members), len(self.scores.others)
        for rate in RATES:
            wrong, right = self.scores.curve
            place = np.searchsorted(wrong, rate, side="right") - 1
            true, false = round(right[place] * members), round(wrong[place] * others)
            low = float(stats.beta.ppf(RISK, true, members - true + 1)) if true else 0.0
            high = float(stats.beta.ppf(1 - RISK, false + 1, others - false)) if false < others else 1.0
            if low > self.allowed(high):
                return False
        return True

    def allowed(self, rate: float) -> float:
        return min(1.0, math.exp(min(self.epsilon, 700.0)) * rate + DELTA)

    def line(self) -> str:
        """A row of the table of the manual."""
        rates = (
            f"{100 * self.scores.rate_at(rate):.1f} % of {100 * self.allowed(rate):.3g} %"
            if self.epsilon < math.inf
            else f"{100 * self.scores.rate_at(rate):.1f} %"
            for rate in RATES
        )
        cost = f"{self.epsilon:g}" if self.epsilon < math.inf else "exact"
        return f"| {self.release} | {cost} | {self.attack} | {self.scores.area:.3f} | {' | '.join(rates)} |"

    def row(self) -> Row:
        rates = ", ".join(f"{100 * self.scores.rate_at(rate):.2f} %" for rate in RATES)
        claim = f"{self.release}, epsilon {self.epsilon:g}: rates at 1 % and 10 %, by {self.attack}"
        return Row(claim, rates, "as allowed", self.epsilon == math.inf or self.holds)


def split(X: Any, y: Any, inside: Any) -> MembershipData:
    data = MembershipData.of(X[inside], y[inside], X[~inside], y[~inside], level=0.05)
    data.__dict__["warnings"] = ()  # coins were tossed for the sides
    return data


def best(release: str, epsilon: float, found: dict[str, list[Any]]) -> Attacked:
    """The attack with the largest area."""
    judged = {name: together(parts) for name, parts in found.items()}
    name = max(judged, key=lambda one: judged[one].area)
    return Attacked(release, epsilon, name, judged[name])


def learned(name: str, epsilon: float, train: Callable[[Any, Any], Any], labels: bool = True) -> Attacked:
    """Models of records with a pattern, of whose labels one in five is wrong; or without labels."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (POOL, 6))
    y = ((X[:, :2].sum(axis=1) > 0) ^ (rng.random(POOL) < 0.2)).astype(int)
    y = y if labels else np.ones_like(y)
    inside = rng.random((RELEASES, POOL)) < 0.5
    models = tuple(train(X[own], y[own]) for own in inside)
    margins = np.stack([np.clip(ModelTarget.of(model).margins(X, y), -30, 30) for model in models])
    references = References(X, y, inside, margins.astype(np.float32), models)
    found: dict[str, list[Any]] = {"RMIA": [], "threshold": []}
    for place, own in enumerate(inside):
        data = split(X, y, own)
        others = references.some([model for model in range(RELEASES) if model != place])
        for attack, made in (("RMIA", RMIA(data, others)), ("threshold", ThresholdAttack(data))):
            found[attack].append(made.run(models[place]).scores)
    return best(name, epsilon, found)


def synthetic(name: str, epsilon: float, make: Callable[[dict[str, Any]], Any]) -> Attacked:
    """Tables of two numbers and four categories."""
    rng = np.random.default_rng(2)
    rows = np.empty((2 * POOL, 6), dtype=object)
    kind = rng.integers(0, 4, 2 * POOL)
    rows[:, :2] = np.clip(rng.normal(20 + 20 * kind[:, None], 10, (2 * POOL, 2)), 0, 100)
    for place in range(2, 6):
        rows[:, place] = np.where(rng.random(2 * POOL) < 0.6, kind, rng.integers(0, 4, 2 * POOL)).astype(str)
    pool, reference, y = rows[:POOL], rows[POOL:], np.zeros(POOL)
    found: dict[str, list[Any]] = {"nearest": [], "density ratio": []}
    for own in rng.random((RELEASES, POOL)) < 0.5:
        data = split(pool, y, own)
        table = make({f"c{place}": pool[own, place] for place in range(6)})
        for attack, made in (("nearest", NearestDistance(data)), ("density ratio", DensityRatio(data, reference))):
            found[attack].append(made.run(table).scores)
    return best(name, epsilon, found)


def averaged(name: str, epsilon: float, release: Callable[[Any], Any]) -> Attacked:
    """Means of columns of zeros and ones, of a tenth of the pool."""
    rng = np.random.default_rng(3)
    shares = rng.uniform(0.1, 0.9, COLUMNS)
    rows = (rng.random((POOL, COLUMNS)) < shares).astype(float)
    pool, reference, y = rows[: POOL // 5], rows[POOL // 5 :], np.zeros(POOL // 5)
    found: dict[str, list[Any]] = {"Homer": [], "likelihood ratio": []}
    for own in rng.random((4 * RELEASES, len(pool))) < 0.5:
        data = split(pool, y, own)
        means = release(pool[own])
        for attack, made in (
            ("Homer", MeansDistance(data, reference)),
            ("likelihood ratio", MeansLikelihoodRatio(data, reference)),
        ):
            found[attack].append(made.run(means).scores)
    return best(name, epsilon, found)


def of_learners() -> Iterator[Attacked | Row]:
    for name, plain in PLAIN.items():
        yield learned(f"{name}, scikit-learn's", math.inf, partial(_cloned, plain))
    rooms = [learners]
    try:
        rooms.append(importlib.import_module("discreet.deep"))
    except ImportError:
        yield missing("networks, without torch")
    for name, kind in methods(rooms):
        for epsilon in EPSILONS:
            yield learned(name, epsilon, *_trained(kind, epsilon))


def methods(rooms: list[Any]) -> Iterator[tuple[str, Any]]:
    """Every estimator of these rooms that predicts something of a record, found by itself."""
    for room in rooms:
        for name in sorted({*room.__all__} - {*OTHERS}):
            if inspect.isclass(kind := getattr(room, name)) and hasattr(kind, "fit") and hasattr(kind, "predict"):
                yield name, kind


def _trained(kind: Any, epsilon: float) -> tuple[Callable[[Any, Any], Any], bool]:
    """How a model is trained and asked: for labels; for numbers, of which labels are made; or of records alone."""
    given = inspect.signature(kind).parameters
    if "classes" in given:
        return partial(_fitted, kind, epsilon), True
    if "target_bounds" in given:
        return partial(_regressed, kind, epsilon), True
    return partial(_described, kind, epsilon), False


def _cloned(plain: Any, X: Any, y: Any) -> Any:
    return clone(plain).fit(X, y)


def _fitted(kind: Any, epsilon: float, X: Any, y: Any) -> Any:
    """A private model; where it has a decision function alone, what it says is taken for log-odds."""
    model = kind(bounds=(-1, 1), classes=[0, 1], epsilon=epsilon, delta=DELTA).fit(X, y)
    return model if hasattr(model, "predict_proba") else partial(_by_margin, model)


def _by_margin(model: Any, rows: Any) -> Any:
    return _both(expit(model.decision_function(rows)))


def _regressed(kind: Any, epsilon: float, X: Any, y: Any) -> Any:
    """The same for numbers, 1 and 2 for the labels: how far it is from one to the other is taken for a probability."""
    model = kind(bounds=(-1, 1), target_bounds=(1, 2), epsilon=epsilon, delta=DELTA).fit(X, y + 1.0)
    return lambda rows: _both(np.clip(model.predict(rows) - 1, 0.001, 0.999))


def _described(kind: Any, epsilon: float, X: Any, _y: Any) -> Any:
    """What describes records without labels: how dense it is around a record, or how near the nearest center."""
    model = kind(bounds=(-1, 1), epsilon=epsilon, delta=DELTA).fit(X)
    if hasattr(model, "score_samples"):
        return lambda rows: _both(expit(model.score_samples(rows)))
    return lambda rows: _both(np.exp(-np.linalg.norm(rows - model.cluster_centers_[model.predict(rows)], axis=1)))


def _both(chances: Any) -> Any:
    return np.c_[1 - chances, chances]


def of_tables() -> Iterator[Attacked]:
    rng = np.random.default_rng(4)
    yield synthetic("a table of noisy copies", math.inf, partial(_copies, rng))
    for method in METHODS:
        for epsilon in EPSILONS:
            yield synthetic(f"`synthesize`, {method}", epsilon, partial(_synthesized, method, epsilon))


def _synthesized(method: str, epsilon: float, table: dict[str, Any]) -> Any:
    bounds: dict[str, Any] = {"c0": (0, 100), "c1": (0, 100), **{f"c{place}": [*"0123"] for place in range(2, 6)}}
    target = "c5" if method == "diffgen" else None
    return synthesize(table, bounds=bounds, method=method, target=target, bins=8, epsilon=epsilon, delta=DELTA)


def _copies(rng: np.random.Generator, table: dict[str, Any]) -> Any:
    rows = np.stack([*table.values()], axis=1)
    made = rows[rng.integers(0, len(rows), len(rows))].copy()
    made[:, :2] += rng.normal(0, 3, (len(made), 2))
    return made


def of_means() -> Iterator[Attacked]:
    yield averaged(f"means of {COLUMNS} columns", math.inf, lambda rows: rows.mean(axis=0))
    for epsilon in EPSILONS:
        yield averaged(f"`mean` of {COLUMNS} columns", epsilon, partial(_means, epsilon))


def _means(epsilon: float, rows: Any) -> list[float]:
    return [discreet.mean(column, bounds=(0, 1), epsilon=epsilon / COLUMNS).value for column in rows.T]


def attacked() -> list[Attacked | Row]:
    warnings.simplefilter("ignore")
    return [*of_learners(), *of_tables(), *of_means()]


def rows() -> list[Row]:
    """Whether every rate is within what epsilon allows; the table of the manual is written of the same releases."""
    found = attacked()
    TABLE.write_text(table([one for one in found if isinstance(one, Attacked)]), encoding="utf-8")
    return [one if isinstance(one, Row) else one.row() for one in found]


def table(found: list[Attacked]) -> str:
    """The page of the manual."""
    heads = " | ".join(f"true at {100 * rate:g} % false, of allowed" for rate in RATES)
    lines = [f"| release | epsilon | best attack | area | {heads} |", "|---|---|---|---|---|---|"]
    private = [one for one in found if one.epsilon < math.inf]
    held = sum(one.holds for one in private)
    intro = INTRO.format(releases=RELEASES, pool=POOL, held=held, all=len(private), level=95, delta=DELTA)
    return intro + "\n".join([*lines, *(one.line() for one in found)]) + "\n"


if __name__ == "__main__":
    report("attacks_private", rows())
