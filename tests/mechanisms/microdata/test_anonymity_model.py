"""What classes fulfil: the models, what grows with classes, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.mechanisms.microdata.anonymity_model import AnonymityModel, SensitiveValues

OWN = np.array([0, 0, 0, 0, 1, 1, 1, 1])
CODES = np.array([0, 0, 0, 1, 0, 0, 1, 1])
MODELS = (
    AnonymityModel(3),
    AnonymityModel(2, l=2),
    AnonymityModel(2, l=1.8, diversity="entropy"),
    AnonymityModel(2, l=2, diversity="recursive", c=2.0),
    AnonymityModel(2, t=0.3),
)


def met(model: AnonymityModel, own: Any = OWN, codes: Any = CODES, rows: int = 1) -> list[bool]:
    column = SensitiveValues.of(codes, ordered=False)
    return list(model.met([column], own, np.bincount(own), rows))


def test_each_model_is_its_definition() -> None:
    assert met(AnonymityModel(4)) == [True, True]
    assert met(AnonymityModel(5)) == [False, False]
    assert met(AnonymityModel(2), rows=3) == [False, False]
    assert met(AnonymityModel(2, l=2)) == [True, True]
    assert met(AnonymityModel(2, l=3)) == [False, False]
    assert met(AnonymityModel(2, l=1.75, diversity="entropy")) == [True, True]
    assert met(AnonymityModel(2, l=1.76, diversity="entropy")) == [False, True]
    assert met(AnonymityModel(2, l=2, diversity="entropy")) == [False, True]
    assert met(AnonymityModel(2, l=2, diversity="recursive", c=3.0)) == [False, True]
    assert met(AnonymityModel(2, l=2, diversity="recursive", c=3.001)) == [True, True]
    assert met(AnonymityModel(2, t=0.125)) == [True, True]
    assert met(AnonymityModel(2, t=0.12)) == [False, False]


def test_some_rows_are_compared_with_the_whole_table() -> None:
    some = SensitiveValues.of(CODES, False).among(np.array([6, 7]))
    assert list(AnonymityModel(1, t=0.62).met([some], np.zeros(2, int), np.array([2]))) == [False]
    assert list(AnonymityModel(1, t=0.625).met([some], np.zeros(2, int), np.array([2]))) == [True]


def test_classes_that_fulfil_a_model_do_so_together_and_some_models_with_any_other_class() -> None:
    """What bisection in the lattice rests on."""
    spoilt, random = set[str](), np.random.default_rng(3)
    for _ in range(300):
        sizes = random.integers(1, 6, 2)
        own = np.repeat([0, 1], sizes)
        codes = random.integers(0, 3, sizes.sum())
        for model in MODELS:
            column = SensitiveValues(codes, np.array([5, 4, 3]), False)
            one = model.met([column], own, sizes)
            both = model.met([column], 0 * own, np.array([sizes.sum()]))[0]
            assert both or not one.all()
            assert both or not one.any() or not model.grows
            if one.any() and not both:
                spoilt.add(model.described)
            assert model.necessary.grows
            assert not (one & ~model.necessary.met([column], own, sizes)).any()
    assert len(spoilt) == 3  # the others would be bisected without need


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 0},
        {"k": 2.5},
        {"k": float("nan")},
        {"l": 0},
        {"l": 2.5},
        {"t": 0.0},
        {"t": 1.5},
        {"t": float("nan")},
        {"diversity": "entropic", "l": 2},
        {"diversity": "entropy"},
        {"diversity": "recursive", "l": 2},
        {"c": 2.0, "l": 2},
        {"diversity": "recursive", "l": 2, "c": 0.0},
    ],
)
def test_parameters_without_meaning_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="Nothing was released"):
        AnonymityModel(**{"k": 2, **wrong})


def test_it_says_how_near_all_records_come() -> None:
    column = [SensitiveValues.of(CODES, False)]
    assert AnonymityModel(9).shortfall(column, 8) == "all records together are 8"
    assert "of at least 3 people" in AnonymityModel(9).shortfall(column, 8, 3)
    assert "reaches l = 2" in AnonymityModel(2, l=3).shortfall(column, 8)
    assert "reaches l = 1.94" in AnonymityModel(2, l=2, diversity="entropy").shortfall(column, 8)
    assert "c above 1.67" in AnonymityModel(2, l=2, diversity="recursive", c=1).shortfall(column, 8)
    assert "out of reach" in AnonymityModel(2, l=3, diversity="recursive", c=1).shortfall(column, 8)
    assert "are 0" in AnonymityModel(2, l=3).shortfall(column, 0)
