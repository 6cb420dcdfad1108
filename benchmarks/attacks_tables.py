"""Tables: people found by shared columns, synthetic tables, and values found again in perturbed ones.

python -m benchmarks.attacks_tables
"""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.rows import Row, at_least, at_most, printed, report
from discreet.attacks import (
    BayesEstimate,
    FellegiSunter,
    KnownSamples,
    Linkability,
    QuasiIdentifiers,
    SinglingOut,
    SpectralFilter,
    SwapsUndone,
)

ROWS, PEOPLE = 1_000_000, 10_000
Table = dict[str, Any]


def census(rng: np.random.Generator, number: int) -> Table:
    """Independent columns: day of birth, area of 2,000, sex, income, and one of fifty occupations."""
    return {
        "born": rng.integers(0, 30_000, number).astype(float),
        "area": rng.integers(0, 2000, number).astype(float),
        "sex": rng.integers(0, 2, number).astype(float),
        "income": rng.normal(50, 15, number),
        "work": rng.integers(0, 50, number).astype(float),
    }


def with_errors(known: Table, rng: np.random.Generator) -> Table:
    """A tenth of births wrong, a fifth of occupations missing, incomes off by one on average."""
    size = len(known["born"])
    return {
        **known,
        "born": np.where(rng.random(size) < 0.1, rng.integers(0, 30_000, size), known["born"]),
        "work": np.where(rng.random(size) < 0.2, np.nan, known["work"]),
        "income": known["income"] + rng.normal(0, 1, size),
    }


def people_rows() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    table = census(rng, ROWS)
    rows = rng.choice(ROWS, PEOPLE, replace=False)
    known = with_errors({name: values[rows] for name, values in table.items()}, rng)
    attacks: dict[str, Any] = {
        "QuasiIdentifiers on birth, area and sex": QuasiIdentifiers(known, rows.tolist(), ["born", "area", "sex"]),
        "FellegiSunter, blocked on area": FellegiSunter(
            known, rows.tolist(), tolerances={"income": 2.0}, blocking=["area"]
        ),
    }
    for name, attack in attacks.items():
        tracemalloc.start()
        result = attack.run(table)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        goal = 0.85 if "Quasi" in name else 0.93
        yield at_least(f"{name}, 10,000 of 1,000,000, a tenth of births wrong: found", result.success, goal)
        yield printed(f"{name}: wrong", (result.wrong or 0) / result.trials)
        yield at_most(f"{name}: megabytes beside the tables", peak / 1e6, 150.0)
        yield printed(f"{name}: seconds", result.seconds)


def correlated(rng: np.random.Generator, number: int) -> Table:
    """Eight columns behind which are three."""
    hidden = rng.normal(size=(number, 3))
    mixed = hidden @ np.random.default_rng(99).normal(size=(3, 8)) + rng.normal(0, 0.5, (number, 8))
    return {f"c{place}": column for place, column in enumerate(mixed.T)}


def synthetic_rows() -> Iterator[Row]:
    """A synthesizer that copies, one that copies with a little noise, and one that draws afresh."""
    rng = np.random.default_rng(1)
    original, control, fresh = (correlated(rng, 2000) for _ in range(3))
    blurred = {name: values + rng.normal(0, 0.1, 2000) for name, values in original.items()}
    attacks: dict[str, Any] = {
        "SinglingOut": SinglingOut(original, control, guesses=500),
        "Linkability": Linkability(original, control, first=["c0", "c1", "c2", "c3"], second=["c4", "c5", "c6", "c7"]),
    }
    for name, attack in attacks.items():
        for text, table in (("copied", original), ("copied with noise", blurred)):
            result, claim = attack.run(table), f"{name}, {text}: success above the control"
            above = result.success - result.chance
            yield at_least(claim, above, 0.1) if text == "copied" else printed(claim, above)
        yield at_most(f"{name}, drawn afresh: epsilon that is shown", attack.run(fresh).epsilon, 0.0)


def perturbed_rows() -> Iterator[Row]:
    rng = np.random.default_rng(2)
    records = np.column_stack([*correlated(rng, 3000).values()])
    rotated = records @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
    yield at_least("KnownSamples, 9 of 3,000 known, rotation: values found", _known(records, rotated, 9), 1.0)
    for sums in (6, 4, 2):
        projected = records @ rng.normal(size=(8, sums))
        yield printed(f"KnownSamples, 50 known, {sums} sums of 8: found within .1", _known(records, projected, 50))
    wide = rng.normal(size=(3000, 3)) @ rng.normal(size=(3, 30))
    noisy = wide + rng.normal(0, 1, wide.shape)
    for name, attack in (("SpectralFilter", SpectralFilter(wide, 1.0)), ("BayesEstimate", BayesEstimate(wide, 1.0))):
        result = attack.run(noisy)
        left = result.details["error in standard deviations"] / result.details["error as released"]
        yield at_most(f"{name}, 3 causes of 30 columns: part of the error that is left", left, 0.4)
        yield printed(f"{name}: values found within .25", result.success)
    yield from swap_rows()


def _known(records: Any, released: Any, number: int) -> float:
    return KnownSamples(records, range(number)).run(released).success


def swap_rows() -> Iterator[Row]:
    """Five tables of 600 records of four towns, a hundred occupations and sixty ages; counts by town are known."""
    rng = np.random.default_rng(3)
    for pairs, goal in ((10, 0.9), (30, None), (100, None)):
        found = float(np.mean([_put_back(rng, pairs) for _ in range(5)]))
        claim = f"SwapsUndone, {pairs} pairs of 600 records: moved rows put back"
        yield printed(claim, found) if goal is None else at_least(claim, found, goal)


def _put_back(rng: np.random.Generator, pairs: int) -> float:
    towns = rng.choice(["a", "b", "c", "d"], 600)
    others = {"work": rng.integers(0, 100, 600), "age": rng.integers(0, 60, 600)}
    swapped = towns.copy()
    for one, other in rng.permutation(600)[: 2 * pairs].reshape(-1, 2):
        swapped[one], swapped[other] = swapped[other], swapped[one]
    margins = {name: Counter(zip(towns.tolist(), values.tolist(), strict=True)) for name, values in others.items()}
    result = SwapsUndone(towns, "town", margins, seconds=20.0).run({"town": swapped, **others})
    return float(result.details["moved rows put back"])


def rows() -> Iterator[Row]:
    """What was promised of tables."""
    yield from people_rows()
    yield from synthetic_rows()
    yield from perturbed_rows()


if __name__ == "__main__":
    report("attacks_tables", list(rows()))
