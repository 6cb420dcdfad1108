"""Records without a pattern, which a model can only learn by heart, and models that do."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from discreet.attacks import Attack, MembershipData, References, SmallNetworks
from discreet.attacks.membership.small_networks import SmallNetwork

NEAREST = KNeighborsClassifier(1)
NETWORKS = SmallNetworks((32,), max_iter=30)


def records(number: int, seed: int = 0, columns: int = 6) -> MembershipData:
    """As many members as others, drawn alike, with random labels."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(2 * number, columns)), rng.integers(0, 2, 2 * number)
    return MembershipData.of(X[:number], y[:number], X[number:], y[number:])


@cache
def networks_and_target() -> tuple[MembershipData, References, SmallNetwork]:
    """Records with a pattern and one label in ten wrong, 32 networks on halves of them, and one on the members."""
    data = patterned(300, 0.1)
    references = References.fitted(NETWORKS, *data.rows, number=32)
    return data, references, NETWORKS.trained(data.members_X, data.members_y)


def patterned(number: int, wrong: float, seed: int = 0) -> MembershipData:
    """Members and others with a pattern in their labels, of which a share is wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * number, 16))
    y = ((X[:, :4].sum(axis=1) > 0) ^ (rng.random(2 * number) < wrong)).astype(int)
    return MembershipData.of(X[:number], y[:number], X[number:], y[number:])


@cache
def many_pools() -> tuple[tuple[MembershipData, References], ...]:
    """Twelve small sets of records, each with references that have learnt little."""
    pools = [patterned(100, 0.1, seed) for seed in range(12)]
    return tuple((data, References.fitted(SmallNetworks((8,), max_iter=5), *data.rows, number=8)) for data in pools)


def alarms(attack: Callable[[MembershipData, References], Attack]) -> int:
    """How often an attack sees something in targets without information: constant, random, and of other records.

    Of these 36, two are expected at its level of 5 %; those on one set of records are alarms together, or none is.
    """
    found, rng = 0, np.random.default_rng(3)
    stranger = NETWORKS.trained(rng.normal(size=(100, 16)), rng.integers(0, 2, 100))
    targets: tuple[Any, ...] = (
        lambda rows: np.full((len(rows), 2), 0.5),
        lambda rows: rng.dirichlet([1, 1], len(rows)),
        stranger,
    )
    for data, references in many_pools():
        made = attack(data, references)
        found += sum(made.run(target).beats_chance for target in targets)
    return found
