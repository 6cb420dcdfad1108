"""Every attack, found by walking: it succeeds on what is broken, and only there.

One that can be made of a release is tried on the releases of this file; what they leave out, its own test file brings.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

from discreet.attacks import Attack, MembershipData, ModelMaterial, Prepared, TableMaterial, Unfit
from discreet.attacks.material import Material, attacks, prepared
from discreet.schema.roles import Roles
from discreet.schema.schema import Column, Number, Schema
from tests.attacks.membership.made import records
from tests.attacks.trial import AttackTrial, Runs
from tests.conformance.walk import for_each, has_mirror, mirror

SURE = 1 - 1e-4  # with which chance is beaten, over all attacks
EVERY = [*attacks().values()]
FITTED = [kind for kind in EVERY if hasattr(kind, "fitting")]


def remembering(seed: int, seen: int) -> ModelMaterial:
    """A function that is sure of the number of a row of bits that it has seen, and of nothing else."""
    people, known = (np.random.default_rng(one).integers(0, 2, (300, 20)).astype(float) for one in (seed, seen))
    data = MembershipData.of(people[:150], np.arange(150), people[150:], np.arange(150))
    return ModelMaterial(lambda rows: (rows[:, None] == known[:150]).all(axis=2) + 1e-9, data)


@cache
def broken() -> tuple[Material, ...]:
    """A model that knows its members by heart, and tables that were copied, rotated and made noisy."""
    data, rng = records(150), np.random.default_rng(0)
    columns: dict[str, Column] = {name: Number(-9, 9) for name in "abcd"}
    schema, roles = Schema(columns), Roles({"a": "quasi-identifier", "b": "quasi-identifier"})
    rows = rng.uniform(-1, 1, size=(600, 4))
    flat = rng.normal(size=(600, 1)) @ rng.normal(size=(1, 4))
    by_label = MembershipData.of(data.members_X, rng.normal(size=150), data.others_X, rng.normal(size=150))
    turned = rows[:300] @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
    return (
        ModelMaterial(KNeighborsClassifier(1).fit(data.members_X, data.members_y), data),
        ModelMaterial(DecisionTreeRegressor(random_state=0).fit(by_label.members_X, by_label.members_y), by_label),
        remembering(2, 2),
        TableMaterial(rows[:300].copy(), rows[:300], schema, rows[300:], roles),
        TableMaterial(turned, rows[:300], schema, rows[300:], roles),
        TableMaterial(flat[:300] + rng.normal(0, 0.5, (300, 4)), flat[:300], schema, flat[300:], roles),
    )


@cache
def silent() -> tuple[Material, ...]:
    """A model of other people, and a table of other people: neither knows anything of these."""
    data, other, rng = records(150), records(150, seed=9), np.random.default_rng(1)
    columns: dict[str, Column] = {name: Number(-9, 9) for name in "abcd"}
    rows, roles = rng.uniform(-1, 1, size=(900, 4)), Roles({"a": "quasi-identifier"})
    return (
        ModelMaterial(KNeighborsClassifier(1).fit(other.members_X, other.members_y), data),
        ModelMaterial(DecisionTreeRegressor(random_state=0).fit(other.members_X, rng.normal(size=150)), data),
        remembering(2, 3),
        TableMaterial(rows[600:], rows[:300], Schema(columns), rows[300:600], roles),
    )


def made(kind: type[Any], materials: tuple[Material, ...]) -> list[Prepared]:
    found = [prepared(material, {kind.__name__: kind})[kind.__name__] for material in materials]
    return [one for one in found if isinstance(one, Prepared)]


def beats_chance(one: Prepared) -> bool:
    return dataclasses.replace(one.attack.run(one.target), confidence=SURE).beats_chance


def brought(kind: type[Any]) -> AttackTrial:
    """The trial of the attack's own test file; of nothing, where it has none."""
    own = getattr(mirror(kind), "TRIALS", {}) if has_mirror(kind) else {}
    found: AttackTrial = own.get(kind.__name__, AttackTrial(tuple, tuple))
    return found


def tried(kind: type[Any], materials: tuple[Material, ...], own: Runs) -> list[Prepared]:
    """All that it is run on; an attack that nobody tries is told of."""
    found = [*(made(kind, materials) if hasattr(kind, "fitting") else ()), *(Prepared(*one) for one in own())]
    assert found, (
        f"its test file has to bring TRIALS = {{{kind.__name__!r}: AttackTrial(...)}} of tests/attacks/trial.py"
    )
    assert all(type(one.attack) is kind for one in found)
    return found


@for_each(FITTED)
def test_it_is_made_of_some_release_or_says_why_not(kind: type[Any]) -> None:
    assert kind.paper
    for material in (*broken(), *silent()):
        one = prepared(material, {kind.__name__: kind})[kind.__name__]
        if isinstance(one, Unfit):
            assert one.reason.endswith(".")
        else:
            assert isinstance(one.attack, Attack)
            assert dataclasses.is_dataclass(one.attack)
            assert type(one.attack) is kind
    assert made(kind, broken())


@for_each(EVERY)
def test_it_succeeds_on_something_that_is_broken(kind: type[Any]) -> None:
    own = brought(kind).broken
    assert any(beats_chance(one) for one in tried(kind, broken(), own))
    assert all(beats_chance(Prepared(*one)) for one in own())


@for_each(EVERY)
def test_it_stays_at_chance_where_there_is_nothing_to_find(kind: type[Any]) -> None:
    assert not any(beats_chance(one) for one in tried(kind, silent(), brought(kind).silent))


@for_each(FITTED)
def test_a_run_changes_nothing_and_finds_the_same_again(kind: type[Any]) -> None:
    for one in made(kind, broken())[:1]:
        arrays = [own.data.members_X if isinstance(own, ModelMaterial) else own.original for own in broken()]
        before = [array.copy() for array in arrays]
        first, again = (one.attack.run(one.target) for _ in range(2))
        assert (first.right, first.trials, first.worst) == (again.right, again.trials, again.worst)
        assert all((array == kept).all() for array, kept in zip(arrays, before, strict=True))
