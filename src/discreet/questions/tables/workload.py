"""Many linear queries over the cells of a domain: the workload of Li, Hay, Rastogi, Miklau and McGregor 2010."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_size
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.domain import Condition, Domain
from discreet.schema.schema import Schema

MOST_WEIGHTS = 2**25
HEAVIEST = 2.0**30  # of a weight


@recipe("workload")
def workload_of(
    schema: Schema, columns: tuple[str, ...], bins: tuple[int, ...], queries: Array | str, norm: Norm
) -> BoundedSum:
    """What each record counts in each query: the column of its cell in the weights; `norm` measures its length.

    Queries are weights, or conditions as JSON, which is shorter.
    """
    domain = Domain.listed(schema, columns, bins)
    check_one_of("workload", "norm", norm, ("l1", "l2"))
    weights = _conditions(domain, queries) if isinstance(queries, str) else _checked(domain, queries)
    bound = length_of(weights, norm)
    grid = Grid(0) if bool((weights == np.rint(weights)).all()) else Grid.of_radius(bound.radius)

    def of(records: Array) -> Array:
        added = np.zeros((len(records), len(weights)))
        added[~np.isnan(records).any(axis=1)] = weights.T[domain.codes(records)]
        return added

    def total(records: Array) -> Array:
        return np.bincount(domain.codes(records), minlength=domain.size) @ grid.cut(bound.clip(weights.T))

    return BoundedSum(of, bound, domain.columns, grid, total)


def _conditions(domain: Domain, text: str) -> Array:
    """The weights of conditions in JSON."""
    try:
        conditions = [dict(one) for one in json.loads(text)]
        check_size("workload", len(conditions) * domain.size, MOST_WEIGHTS)
        return weights_of(domain, conditions)
    except (ValueError, TypeError, RecursionError) as why:
        raise ParameterError("workload", f"its queries are no conditions ({why})", "Name columns and values.") from why


def _checked(domain: Domain, weights: Array) -> Array:
    """The weights, if they are one for each query and cell, and neither negative nor too large to be added exactly."""
    check_size("workload", weights.size, MOST_WEIGHTS)
    fits = weights.ndim == 2 and weights.shape[1] == domain.size
    if not fits or weights.min() < 0 or weights.max() > HEAVIEST:
        obstacle = f"its weights are a {weights.shape} array, or some are not between 0 and {HEAVIEST:g}"
        raise ParameterError("workload", obstacle, f"Give a row of {domain.size} weights for each query.")
    return weights


def weights_of(domain: Domain, conditions: Sequence[Condition]) -> Array:
    """Which cells each condition counts, one row for each."""
    return np.array([domain.where(one) for one in conditions], dtype=np.float64).reshape(len(conditions), domain.size)


def length_of(weights: Array, norm: Norm) -> Bound:
    """The longest that the counts of one record in all queries can be; rounded up."""
    lengths = np.abs(weights).sum(axis=0) if norm == "l1" else np.sqrt(np.square(weights).sum(axis=0))
    return Bound(norm, float(lengths.max(initial=2.0**-20)) * (1 + 2.0**-40), nonnegative=True)
