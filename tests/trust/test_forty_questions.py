"""Forty questions with the noise off: a curator, masks, verified shares and aggregators give the same bits.

Verified shares of counts answer counts, and refuse the others before any charge. Verified shares of sums answer all:
counts with the same bits, and others with those of sums that each party has floored on the grid that noise allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import NotPermitted
from discreet.crypto.odo import share_dealing
from discreet.crypto.odo.public_coins import PublicCoins
from discreet.mechanisms.additive.binomial import Binomial
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.columns.moments import grouped_moments_of, moments_of
from discreet.questions.columns.total import count_of, total_of
from discreet.questions.question import BoundedSum
from discreet.questions.series.fourier import fourier_of_events, fourier_of_people
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.vectors.center import center_of, distances_of
from discreet.questions.vectors.class_moments import class_moments_of, record_lengths_of
from discreet.questions.vectors.clusters import FINE, cluster_residuals_of, clusters_of
from discreet.questions.vectors.directed_products import complete_count_of
from discreet.questions.vectors.pair_moments import pair_moments_of
from discreet.questions.vectors.second_moments import central_moments_of, second_moments_of
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.call import Call, prepared
from discreet.trust.curator import Curator
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.frame import Frame
from tests.trust.aggregation.unproved import QuickAggregated
from tests.trust.silence import silence

SCHEMA = Schema(
    {"age": Number(0, 100), "cost": Number(-20, 100), "days": Number(0, 25), "kind": Category(("a", "b", "c"))}
)
PARTIES, ROWS = 4, 30
BOTH = ("cost", "days")
CENTERS = FINE.values(FINE.cut(np.random.default_rng(5).uniform(-1, 1, (3, 2))))
COUNTS: dict[str, Callable[[], BoundedSum]] = {
    **{f"count of {name}": partial(count_of, SCHEMA, name) for name in ("age", "cost", "days")},
    **{f"histogram of {n}": partial(contingency_of, SCHEMA, ("age",), (n,)) for n in (2, 3, 7, 50)},
    **{f"costs in {n} cells": partial(contingency_of, SCHEMA, ("cost",), (n,)) for n in (1, 5)},
    "kinds": lambda: contingency_of(SCHEMA, ("kind",), (0,)),
    "kinds by age": lambda: contingency_of(SCHEMA, ("kind", "age"), (0, 4)),
    "ages by costs": lambda: contingency_of(SCHEMA, ("age", "cost"), (3, 3)),
    "three columns": lambda: contingency_of(SCHEMA, ("kind", "age", "days"), (0, 2, 2)),
    "complete records": lambda: complete_count_of(SCHEMA, BOTH),
    "distances": lambda: distances_of(SCHEMA, BOTH, CENTERS, 2.0, 6),
    "lengths": lambda: record_lengths_of(SCHEMA, BOTH, (0.5, 1.0)),
}
SUMS: dict[str, Callable[[], BoundedSum]] = {
    **{f"total of {name}": partial(total_of, SCHEMA, name, 0.0) for name in ("age", "cost", "days")},
    "total from the lower bound": lambda: total_of(SCHEMA, "cost", -20.0),
    **{f"mean of {name}": partial(moments_of, SCHEMA, name, 1, False) for name in ("age", "cost")},
    **{f"variance of {name}": partial(moments_of, SCHEMA, name, 2, False) for name in ("cost", "days")},
    **{f"moments over a public n, {k}": partial(moments_of, SCHEMA, "age", k, True) for k in (1, 2)},
    **{f"moments by kind, {k}": partial(grouped_moments_of, SCHEMA, "kind", "cost", k) for k in (1, 2)},
    "center": lambda: center_of(SCHEMA, BOTH),
    "second moments, for PCA": lambda: second_moments_of(SCHEMA, BOTH, 1.0),
    "central moments": lambda: central_moments_of(SCHEMA, BOTH, np.array([0.25, -0.5]), 1.0),
    **{f"k-means, {norm}": partial(clusters_of, SCHEMA, BOTH, CENTERS, norm) for norm in ("l1", "l2")},
    "k-means, residuals": lambda: cluster_residuals_of(SCHEMA, BOTH, CENTERS, 1.0, "l2"),
    "naive Bayes": lambda: class_moments_of(SCHEMA, BOTH, "kind", 1.0, 1.0, "l2"),
    "pairs": lambda: pair_moments_of(SCHEMA, BOTH, 1.0, "l2"),
    "Fourier series of people": lambda: fourier_of_people(SCHEMA, ("age", "cost", "days"), 2, 0.0, None),
    "Fourier series of events": lambda: fourier_of_events(SCHEMA, "age", "cost", 8, 3, "l2", None),
    "Fourier series of counts": lambda: fourier_of_events(SCHEMA, "days", None, 8, 3, "l2", None),
    "ages and costs, second moments": lambda: second_moments_of(SCHEMA, ("age", "cost", "days"), 1.5),
}
COINS = Binomial.of_coins(12)


def table(number: int) -> dict[str, Any]:
    rng = np.random.default_rng(number)
    age, cost, days = rng.uniform(0, 100, ROWS), rng.normal(30, 30, ROWS), rng.exponential(8, ROWS)
    cost[rng.integers(ROWS, size=3)] = np.nan
    return {"age": age, "cost": cost, "days": days, "kind": rng.choice(["a", "b", "c"], ROWS)}


TABLES = {f"p{number}": table(number) for number in range(PARTIES)}
POOLED = {name: np.concatenate([one[name] for one in TABLES.values()]) for name in SCHEMA.columns}


@contextmanager
def even_coins() -> Iterator[None]:
    """As many coins up as down, and none turned over."""

    def tossed(bits: object, rows: int, size: int, chance: float) -> np.ndarray:
        return np.tile(np.array([[255], [0]], np.uint8), (rows // 2, -(-size // 8)))

    with silence(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(share_dealing, "packed_coins", tossed)
        patch.setattr(
            PublicCoins, "flips", lambda coins, index: np.zeros((coins.terms.coins, coins.terms.size), dtype=np.bool_)
        )
        yield


def parties(**options: Any) -> SecureSum:
    return SecureSum.rehearsal(TABLES, SCHEMA, threshold=3, **options)


def test_there_are_forty() -> None:
    assert len(COUNTS) + len(SUMS) == 40
    built = {build().recipe for build in (*COUNTS.values(), *SUMS.values())}
    assert len({repr(one) for one in built}) == 40


def test_forty_questions_have_the_same_bits_whoever_adds() -> None:
    curator, devices = Curator(Frame(POOLED, SCHEMA)), QuickAggregated(Frame(POOLED, SCHEMA), least=1)
    with silence(), parties() as wide, parties(largest=ROWS) as narrow:
        for number, (name, build) in enumerate({**COUNTS, **SUMS}.items()):
            noise = (Laplace(2.0), Gaussian(2.0))[number % 2]
            exact = curator.ask(build(), noise)
            assert np.any(exact != 0), name
            for trust in (wide, narrow, devices):
                assert trust.ask(build(), noise).tobytes() == exact.tobytes(), (name, trust)


def test_verified_shares_agree_on_counts_and_refuse_the_others() -> None:
    curator = Curator(Frame(POOLED, SCHEMA))
    with even_coins(), parties(scheme="odo", largest=ROWS + 1) as shares, parties(largest=ROWS) as masks:
        for name, build in COUNTS.items():
            exact = curator.ask(build(), COINS).tobytes()
            assert shares.ask(build(), COINS).tobytes() == exact, name
            assert masks.ask(build(), COINS).tobytes() == exact, name
        for build in SUMS.values():
            with pytest.raises(NotPermitted, match="is no count"):
                shares.ask(build(), Gaussian(2.0))


def test_verified_shares_of_sums_have_the_same_bits_but_for_what_each_party_floors() -> None:
    """Counts are on every grid; of other sums those of the parties are floored one by one, and then added up."""
    curator, alone = Curator(Frame(POOLED, SCHEMA)), [Curator(Frame(one, SCHEMA)) for one in TABLES.values()]
    with silence(), parties(scheme="odo-vector", largest=ROWS + 1) as trust:
        for number, (name, build) in enumerate({**COUNTS, **SUMS}.items()):
            noise = (Laplace(2.0), Gaussian(2.0))[number % 2]
            call = Call.of(build(), noise.event, trust.federation)
            step = prepared(call, build(), trust.federation).grid.step
            floored = np.sum([np.floor(one.ask(build(), noise) / step) for one in alone], axis=0) * step
            found = trust.ask(build(), noise)
            assert found.tobytes() == floored.tobytes(), name
            assert (found.tobytes() == curator.ask(build(), noise).tobytes()) == (name in COUNTS), name
