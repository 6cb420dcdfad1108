"""What a server asks of all parties: written in one way, read without trust, bound to the federation."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from discreet.core.bound import Bound
from discreet.core.errors import DiscreetError, NotPermitted, ParameterError, SchemaError
from discreet.core.events import PureLoss, written
from discreet.core.neighbors import Unit
from discreet.mechanisms.additive.gaussian import Gaussian, GaussianShare
from discreet.mechanisms.additive.laplace import Laplace, LaplaceShare
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import Recipe
from discreet.trust.call import Call, prepared
from tests.trust.network.stage import HEADS, federation

RECIPE = Recipe("count", {"column": "x0"})


@pytest.mark.parametrize("noise", [Gaussian(1.5), Laplace(0.3), Gaussian(1e12), Laplace(2.0**-30)])
def test_a_call_is_read_as_it_was_written(noise: Gaussian | Laplace) -> None:
    call = Call(Recipe("p.m:f", {"k": 3, "centers": np.eye(2), "names": ("a", "b")}), noise.event)
    again = Call.read(call.written())
    assert again == call
    assert again.written() == call.written()
    assert again.event == noise.event


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"[1]",
        b"[1,2]",
        b"[1,2,3]",
        b'"ab"',
        b"\xff",
        b"[" * 10**5,
        b'["", ""]',
        b"null",
        b'[null,"{}"]',
    ],
)
def test_what_is_no_call_is_refused(data: bytes) -> None:
    with pytest.raises(ParameterError):
        Call.read(data)


def changed(place: int, text: str) -> bytes:
    parts = json.loads(Call(RECIPE, Gaussian(1.0).event).written())
    parts[place] = text
    return json.dumps(parts).encode()


@pytest.mark.parametrize(
    "event",
    [
        written(PureLoss(1.0)),
        '{"discreet.event":1,"event":{"is":"gaussian","multiplier":"1"}}',
        '{"discreet.event":1,"event":{"is":"gaussian","multiplier":-1.0}}',
        '{"discreet.event":1,"event":{"is":"gaussian","multiplier":0}}',
        '{"discreet.event":1,"event":{"is":"gaussian","multiplier":NaN}}',
        '{"discreet.event":1,"event":{"is":"gaussian","multiplier":[1]}}',
        '{"discreet.event":1,"event":{"is":"gaussian","multiplier":1' + "0" * 400 + "}}",
        '{"discreet.event":1,"event":{"is":"gaussian"}}',
        '{"discreet.event":1,"event":{"is":"nothing"}}',
        '{"discreet.event":1,"event":7}',
        '{"discreet.event":2,"event":{"is":"gaussian","multiplier":1.0}}',
    ],
)
def test_a_promise_that_parties_cannot_share_is_refused(event: str) -> None:
    with pytest.raises(DiscreetError):
        Call.read(changed(1, event))


def test_noise_of_another_kind_is_not_permitted() -> None:
    with pytest.raises(NotPermitted, match="PureLoss is not the promise of noise that parties can share"):
        Call.read(changed(1, written(PureLoss(1.0))))


def test_everything_that_is_asked_or_agreed_on_decides_the_keys() -> None:
    agreed, call = federation(), Call(RECIPE, Gaussian(1.0).event)
    others = [
        call.about(federation(4)),
        call.about(dataclasses.replace(agreed, unit=Unit("user", "x0"))),
        Call(RECIPE, Gaussian(1.5).event).about(agreed),
        Call(RECIPE, Laplace(1.0).event).about(agreed),
        Call(RECIPE, Gaussian(1.0).event, "something else").about(agreed),
        Call(Recipe(RECIPE.name, {"column": "x1"}), Gaussian(1.0).event).about(agreed),
    ]
    assert len({call.about(agreed), *others}) == 1 + len(others)
    assert call.about(agreed) == Call.read(call.written()).about(agreed)


def test_each_noise_has_its_share() -> None:
    assert Call(RECIPE, Gaussian(2.0).event).share(3) == GaussianShare(2.0, 3)
    assert Call(RECIPE, Laplace(2.0).event).share(3) == LaplaceShare(2.0, 3)


def test_an_empty_sum_tells_size_and_grid() -> None:
    empty = prepared(Call(RECIPE, Gaussian(1.0).event), HEADS, federation())
    assert empty.size == 3
    assert not empty.steps.any()


def test_noise_that_could_keep_no_promise_is_found_before_anything_is_paid() -> None:
    with pytest.raises(ParameterError, match="share of noise"):
        prepared(Call(RECIPE, Gaussian(1e-9).event), HEADS, federation())


def test_a_column_that_nobody_has_is_found_before_anything_is_paid() -> None:
    question = BoundedSum(lambda rows: rows, Bound("l2", 1.0), columns=("x0", "zip"))
    with pytest.raises(SchemaError, match="'zip': the federation's schema has none"):
        prepared(Call(RECIPE, Gaussian(1.0).event), question, federation())
