"""Secrets from answers: how many bits, counts, values and records are found, and in which time.

python -m benchmarks.attacks_answers
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.rows import Row, at_least, at_most, printed, report
from discreet.attacks import Averaging, CountReconstruction, Intersection, LinearReconstruction, Rephrasing
from discreet.core.budget import Budget
from discreet.microdata import anonymize
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData


def reconstruction_rows() -> Iterator[Row]:
    for method, records, goal in (
        ("linear programming", 300, 0.95),
        ("least squares", 1000, 0.99),
        ("least squares", 3000, 0.99),
    ):
        rng = np.random.default_rng(records)
        bits, error = rng.integers(0, 2, records), np.sqrt(records) / 4
        attack = LinearReconstruction(bits, method)  # type: ignore[arg-type]
        result = attack.run(lambda queries: queries @ bits + rng.uniform(-error, error, len(queries)))  # noqa: B023
        yield at_least(f"bits found of {records}, errors of sqrt(n) / 4, {method}", result.success, goal)
        yield printed(f"seconds of it, {records}", result.seconds)
    bits, rng = np.random.default_rng(7).integers(0, 2, 1000), np.random.default_rng(8)
    private = LinearReconstruction(bits).run(lambda queries: queries @ bits + rng.laplace(0, 8000, len(queries)))
    yield at_most("epsilon that is shown where 8,000 answers cost epsilon 1 together", private.epsilon, 1.0)
    yield printed("bits found there, of 1,000", private.success)


def averaging_rows() -> Iterator[Row]:
    """Noise of scale 10, fresh for every answer, or kept for the same question."""
    bits, noise = np.random.default_rng(0).integers(0, 2, 200), np.random.default_rng(1)
    kept: dict[bytes, float] = {}

    def fresh(queries: Any) -> Any:
        return queries @ bits + noise.laplace(0, 10, len(queries))

    def remembered(queries: Any) -> Any:
        return [kept.setdefault(query.tobytes(), query @ bits + noise.laplace(0, 10)) for query in queries]

    once = Averaging(bits, repeats=10_000, sets=10).run(fresh)
    yield at_least("Averaging, 10,000 answers with noise of scale 10: counts found", once.success, 0.95)
    yield printed("Averaging: root mean square error", once.details["root mean square error"])
    again = Averaging(bits, repeats=100, sets=10).run(remembered)
    yield printed("Averaging of answers that are kept: root mean square error", again.details["root mean square error"])
    other = Rephrasing(bits, repeats=10_000, sets=10).run(remembered)
    yield at_least("Rephrasing, 10,000 pairs, answers are kept: counts found", other.success, 0.9)
    yield printed("Rephrasing: root mean square error", other.details["root mean square error"])


def composition_rows() -> Iterator[Row]:
    """1,000 people in two 5-anonymous tables, each with 1,000 others; fifty illnesses."""
    rng, ills = np.random.default_rng(2), tuple(map(str, range(50)))
    schema = Schema({"age": Number(0, 100, step=1), "zip": Number(0, 1000, step=1), "ill": Category(ills)})
    roles = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}

    def people() -> dict[str, Any]:
        return {
            "age": rng.integers(0, 100, 1000),
            "zip": rng.integers(0, 1000, 1000),
            "ill": rng.choice(ills, 1000),
        }

    shared, tables = people(), []
    for _ in range(2):
        both = {name: np.concatenate([shared[name], values]) for name, values in people().items()}
        tables.append(anonymize(PrivateData.of(both, schema, Budget(1.0)), roles, k=5, waiver="made up"))
    attack = Intersection({name: shared[name] for name in ("age", "zip")}, shared["ill"], "ill")
    result = attack.run(tables)
    yield printed("Intersection of two 5-anonymous tables: sensitive values found", result.success)
    yield printed("Intersection: in one table alone", result.details["found in table 1 alone"])
    yield printed("Intersection: known for sure", result.details["known for sure"])


def count_rows() -> Iterator[Row]:
    """A block of 40 people of 96 kinds, and what all tables of two or of three columns rebuild."""
    rng, categories = np.random.default_rng(3), {"age": range(6), "sex": range(2), "race": range(4), "ill": range(2)}
    block, others = (
        {name: rng.integers(0, len(values), number) for name, values in categories.items()} for number in (40, 3000)
    )
    for width, goal in ((3, 0.95), (2, None)):
        counts = {}
        for names in combinations(categories, width):
            counts[names] = np.zeros([len(categories[name]) for name in names])
            np.add.at(counts[names], tuple(block[name] for name in names), 1)
        result = CountReconstruction(block, others, categories).run(counts)
        claim = f"CountReconstruction, all tables of {width} columns: records rebuilt"
        yield printed(claim, result.success) if goal is None else at_least(claim, result.success, goal)
        yield printed(f"CountReconstruction, {width} columns: guessed without them", result.details["guessed"])


def rows() -> Iterator[Row]:
    """What was promised of attacks on answers."""
    yield from reconstruction_rows()
    yield from averaging_rows()
    yield from composition_rows()
    yield from count_rows()


if __name__ == "__main__":
    report("attacks_answers", list(rows()))
