"""Every mechanism, report and stream, found by walking, is made with public parameters of any kind or size, or refuses
them by name.
"""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from fractions import Fraction
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.sequential.continual_release import ContinualRelease
from discreet.sequential.counters.tree_counter import TreeCounter
from tests.conformance import test_odd_values
from tests.conformance.test_hostile_parameters import ODD, ODDER, fault
from tests.conformance.walk import mechanisms, public_classes, randomizers, stream_trial, streams

VALUES = [*ODD, *ODDER, Fraction(1, 3), np.float32(0.5), np.array(1.0), np.int64(3), [1], -5, 2**62]
GIVEN = test_odd_values.GIVEN
NOTHING_PAID = SimpleNamespace(entries=lambda: ())


def usual(kind: Any) -> dict[str, Any] | None:
    """Parameters that it is made with; none where it needs others than those of the walk."""
    if issubclass(kind, ContinualRelease):
        return {name: both[0] for name, both in stream_trial(kind).parameters.items()}
    parameters = inspect.signature(kind).parameters.items()
    needed = {name for name, one in parameters if one.default is one.empty}
    for noise in (Gaussian(1.0), Laplace(1.0)):
        given = {name: value for name, value in {**GIVEN, "noise": noise}.items() if name in needed}
        try:
            kind(**given)
        except (TypeError, ParameterError):  # it needs something else
            continue
        return given
    return None


def tried() -> dict[type[Any], dict[str, Any]]:
    """What can be made, and how."""
    rooms = [one for room in ("sequential", "mechanisms", "local") for one in public_classes(room)]
    wanted = [one for one in rooms if not (inspect.isabstract(one) or getattr(one, "_is_protocol", False))]
    found = {kind: usual(kind) for kind in wanted if not issubclass(kind, Exception)}
    return {kind: given for kind, given in found.items() if given is not None}


TRIED = tried()


def test_everything_that_releases_or_reports_is_tried() -> None:
    wanted = {*mechanisms(), *randomizers(), *streams()}
    assert {one for one in wanted if not inspect.isabstract(one)} - set(TRIED) == set()
    assert len(TRIED) > 90


@pytest.mark.parametrize("kind", TRIED, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("error")
def test_every_parameter_of_a_constructor_takes_any_value(kind: Any) -> None:
    for name in inspect.signature(kind).parameters:
        for value in VALUES:
            wrong = fault(partial(kind, **{**TRIED[kind], name: value}), NOTHING_PAID)
            assert wrong is None, f"{name} is {value!r:.50}: {wrong}"


def test_parameters_of_another_class_are_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="noise is 1"):
        TreeCounter(8, 1.0)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="neighbors is 'add_remove'"):
        TreeCounter(8, Laplace(1.0), neighbors="add_remove")  # type: ignore[arg-type]


def test_what_was_checked_is_replaced_and_pickled_as_before() -> None:
    assert pickle.loads(pickle.dumps(Laplace(2.0))) == dataclasses.replace(Laplace(1.0), multiplier=2.0)
