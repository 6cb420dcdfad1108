"""Everything that has an event and releases, reports, fits or goes on, in every room, has a trial: what all have to be.

Whatever has the methods is found; where it lives, and what it derives from, plays no part.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

import pytest
from sklearn.base import BaseEstimator, clone

from discreet.accounting.accountant import epsilon
from discreet.core.events import read, written
from tests.conformance.walk import BROUGHT, for_each, promising, trial

FOUND = list(dict.fromkeys(kind for verb in BROUGHT for kind in promising(verb)))
every = for_each(FOUND)


def made(kind: type[Any]) -> Any:
    """One of a class: by its defaults, or as its test file sets it."""
    return trial(kind).made(kind)


@every
def test_it_has_a_trial(kind: type[Any]) -> None:
    assert trial(kind) is not None


def test_the_walk_finds_what_releases_in_every_room() -> None:
    homes = {kind.__module__.split(".")[1] for kind in FOUND}
    assert homes >= {"mechanisms", "trust", "local", "learners", "deep", "sequential"}


@every
def test_its_docstring_says_what_is_public_and_what_it_promises(kind: type[Any]) -> None:
    text = inspect.cleandoc(kind.__doc__ or "")
    assert "Guarantee\n---------" in text, "say what it promises, under Guarantee"
    assert re.search(r"\d{4}", text.partition("Guarantee")[2]), "the theorem is not named"
    parameters = text.partition("Parameters\n----------")[2].partition("\n\n")[0]
    for name in inspect.signature(kind).parameters:
        pattern = rf"^[^:\n]*\b{name}\b[^\n]*\n\s+Public\."
        assert name == "bits" or re.search(pattern, parameters, flags=re.MULTILINE), f"{name} does not begin 'Public.'"


@every
def test_it_is_frozen_or_can_be_cloned(kind: type[Any]) -> None:
    one = made(kind)
    if isinstance(one, BaseEstimator):
        assert clone(one).get_params().keys() == one.get_params().keys()
        return
    name = dataclasses.fields(one)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(one, name, getattr(one, name))
    assert one == made(kind)
    if all(one.default is not one.empty for one in inspect.signature(kind).parameters.values()):
        assert hash(kind()) == hash(kind())


@for_each(kind for kind in FOUND if not issubclass(kind, BaseEstimator))
def test_its_event_is_that_of_every_other_with_the_same_parameters_and_survives_json(kind: type[Any]) -> None:
    """Of an estimator, which has it after a fit, see `test_learners`."""
    event = made(kind).event
    assert event == made(kind).event == read(written(event))


@every
def test_what_is_set_by_its_epsilon_costs_no_less(kind: type[Any]) -> None:
    """Without a delta: an audit of few neighbors may not use up the whole price, and would not see two thirds of it."""
    for price in (0.5, 1.0, 2.0) if getattr(kind, "calibrated", "") == "epsilon" else ():
        one = dataclasses.replace(made(kind), epsilon=price)
        assert epsilon(one.event, 0.0) >= 0.99 * price
