"""Every mechanism, report and stream, found by walking, is made with public parameters of any kind or size, or refuses
them by name.
"""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from fractions import Fraction
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.held import Held
from discreet.mechanisms.additive.laplace import Laplace
from discreet.sequential.counters.tree_counter import TreeCounter
from tests.conformance.test_hostile_parameters import ODD, ODDER, fault
from tests.conformance.walk import concrete, mechanisms, promising, public_classes, streams, trial

VALUES = [*ODD, *ODDER, Fraction(1, 3), np.float32(0.5), np.array(1.0), np.int64(3), [1], -5, 2**62]
NOTHING_PAID = SimpleNamespace(entries=lambda: ())
BY_TRIAL = [*mechanisms(), *promising("reports"), *streams()]


@cache
def known() -> dict[str, Any]:
    """Values of parameters that the trials of streams have: others, such as agents of bandits, share them."""
    return {name: both[0] for kind in streams() for name, both in trial(kind).parameters.items()}


def usual(kind: Any) -> dict[str, Any] | None:
    """Parameters that it is made with: those of its trial; none where it has none, and needs what no stream has."""
    needed = [name for name, one in inspect.signature(kind).parameters.items() if one.default is one.empty]
    if kind in BY_TRIAL:
        return {name: getattr(trial(kind).made(kind), name) for name in needed}
    given = {name: known()[name] for name in needed if name in known()}
    try:
        kind(**given)
    except (TypeError, ParameterError):  # it needs something else
        return None
    return given


def tried() -> list[type[Any]]:
    """What has a trial, and what can be made without one."""
    rooms = [one for room in ("sequential", "mechanisms", "local") for one in public_classes(room)]
    others = [one for one in rooms if concrete(one) and one not in BY_TRIAL and not issubclass(one, Exception | Held)]
    return [*BY_TRIAL, *(kind for kind in others if usual(kind) is not None)]


TRIED = tried()


def test_the_walk_finds_what_can_be_made() -> None:
    assert len(TRIED) > 90


@pytest.mark.parametrize("kind", TRIED, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("error")
def test_every_parameter_of_a_constructor_takes_any_value(kind: Any) -> None:
    given = usual(kind) or {}
    for name in inspect.signature(kind).parameters:
        for value in VALUES:
            wrong = fault(partial(kind, **{**given, name: value}), NOTHING_PAID)
            assert wrong is None, f"{name} is {value!r:.50}: {wrong}"


def test_parameters_of_another_class_are_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="noise is 1"):
        TreeCounter(8, 1.0)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="neighbors is 'add_remove'"):
        TreeCounter(8, Laplace(1.0), neighbors="add_remove")  # type: ignore[arg-type]


def test_what_was_checked_is_replaced_and_pickled_as_before() -> None:
    assert pickle.loads(pickle.dumps(Laplace(2.0))) == dataclasses.replace(Laplace(1.0), multiplier=2.0)
