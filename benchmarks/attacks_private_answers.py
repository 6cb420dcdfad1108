"""The attacks on answers, tables and models, made on private releases: every rate within what epsilon allows.

    python -m benchmarks.attacks_private_answers

An attack shows an epsilon below which its success would be impossible. What is allowed is the epsilon that was paid, or
twice as much where a record that has another value is one removed and one added.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np

import discreet
from benchmarks.attacks_inference import known_people
from benchmarks.attacks_tables import correlated
from benchmarks.rows import Row, at_most, printed, report
from discreet.attacks import (
    AttackResult,
    AttributeFromModel,
    AttributeThroughMembership,
    Averaging,
    CountReconstruction,
    Differencing,
    LinearReconstruction,
    Linkability,
    Rephrasing,
    SingletonCluster,
    SinglingOut,
)
from discreet.learners import DecisionTreeClassifier, GaussianMixture, LogisticRegression
from discreet.schema.schema import Category, Number, Schema

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)


def shown(claim: str, result: AttackResult, epsilon: float, times: int = 1) -> Iterator[Row]:
    """The rate, and the epsilon that it shows, beside what is allowed."""
    yield printed(f"{claim}, epsilon {epsilon:g}: success (without the target {result.chance:.3f})", result.success)
    yield at_most(f"{claim}, epsilon {epsilon:g}: epsilon that is shown", result.epsilon, times * epsilon)


def sums(bits: Any, epsilon: float, questions: int) -> Callable[[Any], Any]:
    """Private sums of bits, so many of which cost this epsilon together."""

    def target(queries: Any) -> Any:
        each = epsilon / questions
        return [float(discreet.total(bits[query > 0], bounds=(0, 1), epsilon=each)) for query in queries]

    return target


def one_bit_rows() -> Iterator[Row]:
    """One record's bit, by two answers that cost half of epsilon each, in 400 tables of their own."""
    for epsilon in EPSILONS:
        rng, right = np.random.default_rng(5), 0
        for _ in range(400):
            bits = rng.integers(0, 2, 50).astype(float)
            right += Differencing(bits, rows=[0]).run(sums(bits, epsilon, 2)).right
        result = AttackResult("Differencing", Differencing.threat, "bits", right, 400, 0.5, 0.0, 800)
        yield from shown("Differencing of two sums", result, epsilon)
        yield printed(f"what epsilon {epsilon:g} allows at most", 1 / (1 + math.exp(-epsilon)))


def answer_rows() -> Iterator[Row]:
    """A record's bit changes a sum by one at most, as a record added does: epsilon is allowed once."""
    bits = np.random.default_rng(0).integers(0, 2, 100).astype(float)
    attacks: dict[str, tuple[Any, int]] = {
        "LinearReconstruction": (LinearReconstruction(bits, queries=800), 800),
        "Differencing": (Differencing(bits, repeats=5), 5 * 101),
        "Averaging": (Averaging(bits, repeats=20), 20 * 20),
        "Rephrasing": (Rephrasing(bits, repeats=20), 2 * 20 * 20),
    }
    for name, (attack, questions) in attacks.items():
        for epsilon in EPSILONS:
            result = attack.run(sums(bits, epsilon, questions))
            assert result.questions == questions
            yield from shown(f"{name} of private sums", result, epsilon)


def count_rows() -> Iterator[Row]:
    categories: dict[str, tuple[str, ...]] = {"age": tuple("012345"), "sex": ("f", "m"), "race": tuple("abcd")}
    schema = Schema({name: Category(values) for name, values in categories.items()})
    rng = np.random.default_rng(1)
    block, others = ({name: rng.choice(values, n) for name, values in categories.items()} for n in (60, 3000))
    for epsilon in EPSILONS:
        released = discreet.marginals(block, tuple(categories), bounds=schema, epsilon=epsilon)
        counts = {pair: released.marginal(pair).counts for pair in combinations(categories, 2)}
        result = CountReconstruction(block, others, categories, seconds=10.0).run(counts)
        yield from shown("CountReconstruction of private marginals", result, epsilon, 2)


def synthetic_rows() -> Iterator[Row]:
    rng = np.random.default_rng(2)
    original, control = (correlated(rng, 1000) for _ in range(2))
    schema = Schema({name: Number(-10, 10) for name in original})
    halves: dict[str, Any] = {"first": ["c0", "c1", "c2", "c3"], "second": ["c4", "c5", "c6", "c7"]}
    for method in ("tree", "privbayes"):
        for epsilon in EPSILONS:
            table = discreet.synthesize(original, bounds=schema, method=method, epsilon=epsilon)
            for attack in (SinglingOut(original, control, guesses=300), Linkability(original, control, **halves)):
                claim = f"{type(attack).__name__} by a synthetic table ({method})"
                yield from shown(claim, attack.run(table), epsilon)


def model_rows() -> Iterator[Row]:
    known = known_people(np.random.default_rng(3), 300, 600)
    for epsilon in EPSILONS:
        models = (
            LogisticRegression(bounds=(0.0, 2.0), classes=[0, 1], epsilon=epsilon),
            DecisionTreeClassifier(bounds=(0.0, 2.0), classes=[0, 1], epsilon=epsilon),
        )
        for model in models:
            model.fit(known.members_X, known.members_y)
            for attack in (AttributeFromModel(known, 5), AttributeThroughMembership(known, 5)):
                claim = f"{type(attack).__name__} by {type(model).__name__}"
                yield from shown(claim, attack.run(model), epsilon, 2)


def mixture_rows() -> Iterator[Row]:
    rng = np.random.default_rng(4)
    rows = np.r_[rng.normal(0, 1, (500, 2)), rng.normal(8, 1, (500, 2)), [[20.0, -15.0]]]
    for epsilon in EPSILONS:
        model = GaussianMixture(3, bounds=([-25.0, -25.0], [25.0, 25.0]), epsilon=epsilon).fit(rows)
        yield from shown("SingletonCluster by GaussianMixture", SingletonCluster(rows).run(model), epsilon)


def rows() -> Iterator[Row]:
    """All of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of estimators, about few records
        for part in (one_bit_rows, answer_rows, count_rows, synthetic_rows, model_rows, mixture_rows):
            yield from part()


if __name__ == "__main__":
    report("attacks_private_answers", list(rows()))
