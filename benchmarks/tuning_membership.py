"""The table behind the constants of RMIA, on pools of made records that no benchmark uses.

    python -m benchmarks.tuning_membership [first seed] [last seed]

Each row is one setting, and what four references are worth with it: the rates at 1 % and 0.1 % over those of LiRA with
four references at its better variance, and the area over that of LiRA with 16, as geometric means over all pools. The
rule: the setting of the highest row at 1 % is the default, and it is so before the benchmark of membership is run.
With seed 0 that was 20 neighbors, in place of 60; with both seeds, twenty pools, UNLIKE 2, in place of 1.5: 1.009 +-
.005 of it, before a temperature of 1.5 with 1.006 +- .005 (60 neighbors: .981 +- .010). Targets here are like their
references; what is done for others must cost them nothing. UNLIKE 0 costs 6 %; for unlike targets 2 does what 1.5 does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.attacks_membership import MODELS, NETWORKS
from benchmarks.made_pools import KINDS, pool
from discreet.attacks import RMIA, LiRA, MembershipData, MembershipScores, References
from discreet.attacks.membership import expected_margins, near_records
from discreet.core.grid import Array

TARGETS, FIRST, LAST = 8, 0, 1
SETTINGS: dict[str, tuple[dict[str, Any], dict[str, float]]] = {
    "default": ({}, {}),
    "the ratio alone": ({"near": 0}, {}),
    **{f"near {near}": ({"near": near}, {}) for near in (5, 60, 150)},
    **{f"BEND {value:g}": ({}, {"BEND": value}) for value in (2.0, 8.0)},
    **{f"HATS {value:g}": ({}, {"HATS": value}) for value in (4, 9)},
    **{f"FREEDOM {value:g}": ({}, {"FREEDOM": value}) for value in (3, 10)},
    **{f"RIDGE {value:g}": ({}, {"RIDGE": value}) for value in (1.0, 10.0, 30.0)},
    **{f"UNLIKE {value:g}": ({}, {"UNLIKE": value}) for value in (0.0, 1.5, 3.0)},
    **{f"LEAST {value:g}": ({}, {"LEAST": value}) for value in (0.005, 0.1)},
    **{f"temperature {value:g}": ({"temperature": value}, {}) for value in (1.0, 1.5, 3.0)},
}


class _Known:
    """A model whose answers are kept: the log-odds of all records of the pool, in their order."""

    def __init__(self, margins: Array) -> None:
        self.kept = margins

    def margins(self, _X: Any, _y: Any) -> Array:
        return self.kept


@dataclass(frozen=True)
class Pool:
    """One pool with its references, of which each can be the target of some others."""

    references: References
    neighborhoods: dict[int, list[Any]] = field(default_factory=dict)

    @classmethod
    def made(cls, kind: str, seed: int) -> Pool:
        X, y = pool(kind, seed)
        return cls(References.fitted(NETWORKS, X, y, number=MODELS, random_state=seed))

    def rate(self, attack: Callable[[MembershipData, References], Any], few: int) -> MembershipScores:
        """The scores of some targets by an attack with so many references, together."""
        members, others = [], []
        X, y = self.references.X, self.references.y
        data = MembershipData.of(X[:1], y[:1], X[1:], y[1:], level=1.0)
        for place in range(TARGETS):
            pairs = np.delete(np.arange(MODELS // 2), place // 2)
            pairs = np.random.default_rng(place).permutation(pairs)[: few // 2]
            some = self.references.some([model for pair in pairs.tolist() for model in (2 * pair, 2 * pair + 1)])
            target: Any = _Known(self.references.margins[place].astype(np.float64))
            scores = attack(data, some).scores(target, X, y)
            inside = self.references.inside[place]
            members.append(scores[inside])
            others.append(scores[~inside])
        return MembershipScores.of(np.concatenate(members), np.concatenate(others))

    def near(self, records: near_records.NearRecords) -> Iterator[Any]:
        """The neighborhoods of the pool, which are the same for all targets."""
        if records.number not in self.neighborhoods:
            self.neighborhoods[records.number] = list(PLAIN(records))
        return iter(self.neighborhoods[records.number])


PLAIN = near_records.NearRecords._neighborhoods


def compared(one: Pool) -> dict[str, tuple[float, float, float]]:
    """For each setting, the logarithms of what it is worth on a pool."""
    lira = [one.rate(partial(LiRA, shared=shared), 4) for shared in (8.0, 1e9)]
    best = [max(scores.rate_at(rate) for scores in lira) for rate in (0.01, 0.001)]
    area = one.rate(LiRA, 16).area
    found = {}
    for name, (fields, constants) in SETTINGS.items():
        with ExitStack() as stack:
            stack.enter_context(
                patch.object(near_records.NearRecords, "_neighborhoods", lambda records: one.near(records))
            )
            for constant, value in constants.items():
                stack.enter_context(patch.object(expected_margins, constant, value))
            scores = one.rate(partial(RMIA, **fields), 4)
        rates = [max(scores.rate_at(rate), 1e-5) / own for rate, own in zip((0.01, 0.001), best, strict=True)]
        found[name] = (np.log(rates[0]), np.log(rates[1]), np.log(scores.area / area))
    return found


def main(first: int = FIRST, last: int = LAST) -> None:
    """All pools of these seeds."""
    found = [compared(Pool.made(kind, seed)) for seed in range(first, last + 1) for kind in KINDS]
    for name in SETTINGS:
        values = np.array([one[name] for one in found])
        against = values[:, 0] - np.array([one["default"][0] for one in found])
        error = against.std(ddof=1) / np.sqrt(len(found))
        one, tenth, area = np.exp(values.mean(axis=0))
        gain = f"{np.exp(against.mean()):.3f} +- {error:.3f} of the default"
        print(f"{name:<18} {one:.3f} at 1 %  {tenth:.3f} at .1 %  area {area:.4f}  {gain}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
