"""Statistics of a column by OpenDP. Prints JSON; the argument is `errors` or `seconds`.

Where the number of values is known, one may be replaced: two steps of the symmetric distance. Where it is not, one may
be there or not: one step. Then a mean is a sum over a count, each for half the budget as in OpenDP's own `dp.mean`, and
a variance is not offered. Quantiles are chosen among evenly spaced candidates; deciles one by one, or from a tree of
counts, whichever has the lesser error.

For errors, what is the same in every repetition is done once: transformations once, their noise every time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import opendp.prelude as dp

from benchmarks.peers.columns import BINS, SHARES, STEPS, ColumnQuestion
from benchmarks.peers.trials import Releases, error, main

dp.enable_features("contrib")
LEAVES = 1024
Private = Callable[[Any], Any]


def space(asked: ColumnQuestion) -> tuple[dp.Domain, dp.Metric]:
    size = asked.size if asked.relation == "replace" else None
    return dp.vector_domain(dp.atom_domain(T=float, nan=False), size=size), dp.symmetric_distance()


def private(transformation: Any, noise: Callable[[float], Any], asked: ColumnQuestion, price: float = 1.0) -> Private:
    """A transformation's output with the least noise for this part of the budget."""
    reach = transformation.map(2 if asked.relation == "replace" else 1)
    pair, epsilon = (transformation.output_domain, transformation.output_metric), asked.epsilon * price
    at_one = (pair >> noise(float(reach))).map(reach)
    found = pair >> noise(float(reach) * at_one / epsilon * (1 + 1e-9))
    if not found.check(reach, epsilon):
        raise SystemExit(f"{asked} costs {found.map(reach)}")
    return found


def clamped(asked: ColumnQuestion) -> Any:
    return space(asked) >> dp.t.then_clamp(asked.of.bounds)


def summed(asked: ColumnQuestion) -> tuple[Any, ...]:
    """The transformations of which a mean, a variance or a histogram is made."""
    match asked.statistic, asked.relation:
        case "mean", "replace":
            return (clamped(asked) >> dp.t.then_mean(),)
        case "mean", _:
            return clamped(asked) >> dp.t.then_sum(), space(asked) >> dp.t.then_count()
        case "variance", _:
            return (clamped(asked) >> dp.t.then_variance(ddof=0),)
        case _:
            return (binned(asked, BINS),)


def binned(asked: ColumnQuestion, bins: int) -> Any:
    edges = np.linspace(*asked.of.bounds, bins + 1)[1:-1].tolist()
    cells = list(range(bins))
    return (
        space(asked)
        >> dp.t.then_find_bin(edges)
        >> dp.t.then_count_by_categories(categories=cells, null_category=False)
    )


def candidates(asked: ColumnQuestion) -> list[float]:
    return np.linspace(*asked.of.bounds, STEPS + 1).tolist()


def scored(asked: ColumnQuestion, share: float) -> Any:
    return space(asked) >> dp.t.then_quantile_score_candidates(candidates(asked), share)


def leaves(asked: ColumnQuestion) -> Any:
    counts = binned(asked, LEAVES)
    return counts >> dp.t.then_b_ary_tree(leaf_count=LEAVES, branching_factor=dp.t.choose_branching_factor(asked.size))


def from_leaves(asked: ColumnQuestion) -> Callable[[Any], Any]:
    consistent = dp.t.make_consistent_b_ary_tree(dp.t.choose_branching_factor(asked.size))
    edges = np.linspace(*asked.of.bounds, LEAVES + 1).tolist()
    quantiles = dp.t.make_quantiles_from_counts(edges, list(asked.shares), F=float)
    return lambda tree: quantiles(consistent(tree))


def noisy_min(scale: float) -> Any:
    return dp.m.then_noisy_max(dp.max_divergence(), scale, negate=True)


def together(
    transformations: tuple[Any, ...], noise: Callable[[float], Any], asked: ColumnQuestion
) -> Callable[[Any], Any]:
    """Several releases that share the budget alike, as a function of their exact values."""
    price = 1 / len(transformations)
    measurements = [private(each, noise, asked, price) for each in transformations]
    return lambda exact: [measure(value) for measure, value in zip(measurements, exact, strict=True)]


def ways(asked: ColumnQuestion) -> list[tuple[tuple[Any, ...], Callable[[float], Any], Callable[[Any], Any]]]:
    """Transformations, their noise, and what is made of the noisy values: in one way or several."""
    if asked.statistic not in SHARES:
        ratio = asked.statistic == "mean" and asked.relation == "add_remove"
        made = (
            (lambda found: np.clip(found[0] / max(found[1], 1), *asked.of.bounds)) if ratio else (lambda found: found)
        )
        return [(summed(asked), dp.m.then_laplace, made)]
    values = np.array(candidates(asked))
    chosen = tuple(scored(asked, share) for share in asked.shares), noisy_min, lambda found: values[found]
    if asked.statistic != "deciles":
        return [chosen]
    tree = from_leaves(asked)
    return [chosen, ((leaves(asked),), dp.m.then_laplace, lambda found: tree(found[0]))]


def exactly(transformation: Any, values: np.ndarray) -> Any:
    """Scores and counts as arrays, which reach a measurement faster than lists."""
    kind = {"Vec<u64>": np.uint64, "Vec<i32>": np.int32}.get(str(transformation.output_domain.carrier_type))
    return transformation(values) if kind is None else np.array(transformation(values), dtype=kind)


def releases(asked: ColumnQuestion) -> Releases:
    """By the way that has the lesser error, which a first trial tells."""
    values, found = asked.values, []
    for transformations, noise, made in ways(asked):
        exact = [exactly(transformation, values) for transformation in transformations]
        measured = together(transformations, noise, asked)
        found.append(lambda count, m=measured, x=exact, f=made: [f(m(x)) for _ in range(count)])
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda way: error(way, asked.exact())["rmse"])


def job(asked: ColumnQuestion) -> Callable[[], Any]:
    values = asked.values
    transformations, noise, made = ways(asked)[-1]  # of deciles the faster one: a single pass
    measured = together(transformations, noise, asked)
    return lambda: made(measured([transformation(values) for transformation in transformations]))


if __name__ == "__main__":
    main("opendp", releases, job)
