"""A copied table joins halves of records; fresh records join them no better than those of strangers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.attacks import Linkability
from discreet.attacks.linkage import linkability
from discreet.core.errors import ParameterError
from tests.attacks.linkage.made import people

HALVES: dict[str, Any] = {"first": ["born", "sex", "income"], "second": ["zip", "work"]}


def test_a_copy_joins_halves_and_fresh_records_do_not() -> None:
    rng = np.random.default_rng(0)
    original, control, fresh = (people(rng, 800) for _ in range(3))
    attack = Linkability(original, control, **HALVES, attacks=400)
    copied = attack.run(original)
    assert copied.success > 0.6  # a fourth of zip and work together is somebody else's too
    assert copied.beats_chance
    assert set(copied.worst) <= set(range(0, 800, 2))
    assert not attack.run(fresh).beats_chance
    constant = attack.run({name: [values[0]] * 90 for name, values in original.items()})
    assert not constant.beats_chance
    assert constant.success < 0.1  # of 90 that are equally near, each half has one of its own


def test_more_neighbors_join_more_in_both() -> None:
    rng = np.random.default_rng(1)
    original, control, fresh = (people(rng, 400) for _ in range(3))
    one, many = (Linkability(original, control, **HALVES, neighbors=k).run(fresh) for k in (1, 20))
    assert many.details["rate on the control"] > one.details["rate on the control"]
    assert not many.beats_chance


def test_the_nearest_are_those_of_gower_and_parts_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    original, control = people(rng, 60), people(rng, 60)
    original["born"][3] = np.nan
    attack = Linkability(original, control, ["income"], ["income", "born"], neighbors=1)
    range_of = {name: np.ptp(control[name]) for name in ("income", "born")}
    apart = {name: np.abs(original[name][:, None] - control[name]) / range_of[name] for name in range_of}
    first = apart["income"].argmin(axis=1)
    second = (apart["income"] + np.nan_to_num(apart["born"], nan=1.0)).argmin(axis=1)
    assert attack.run(control).right == int((first == second).sum())
    monkeypatch.setattr(linkability, "CELLS", 130)
    assert attack.run(control).right == int((first == second).sum())


def test_what_does_not_fit_is_refused() -> None:
    rng = np.random.default_rng(3)
    table = people(rng, 50)
    for first, second, options in (
        (["nothing"], ["zip"], {}),
        (["born"], ["zip"], {"neighbors": 0}),
        (["born"], ["zip"], {"attacks": 0}),
        (["born"], ["zip"], {"attacks": 5}),
    ):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            Linkability(table, table, first, second, **options).run(table)
