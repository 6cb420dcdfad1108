"""Plain Python describes a schema in one way only, or not at all."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import SchemaError
from discreet.schema.dates import Date, Datetime
from discreet.schema.plain_schema import schema_of
from discreet.schema.schema import Boolean, Category, Number, Schema, Text
from discreet.statistics.moments.mean import mean

DAY, LATER = datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)
NOON = datetime.datetime(2020, 1, 1, 12)
ONE: dict[str, tuple[Any, Any]] = {
    "bounds": ((18, 100), Number(18, 100)),
    "bounds of numpy": ((np.int64(18), np.float64(100)), Number(18, 100)),
    "whole numbers": (range(18, 101), Number(18, 100, step=1)),
    "values": (["f", "m"], Category(("f", "m"))),
    "texts": (("f", "m", "x"), Category(("f", "m", "x"))),
    "codes": ([0, 1], Category((0, 1))),
    "truths": (bool, Boolean()),
    "text": (str, Text()),
    "dates": ((DAY, LATER), Date(DAY, LATER)),
    "times": ((NOON, NOON.replace(hour=13)), Datetime(NOON, "2020-01-01 13:00")),
    "a column": (Number(0, 1), Number(0, 1)),
}


def test_a_mapping_is_the_schema_that_it_describes() -> None:
    assert schema_of({name: plain for name, (plain, _) in ONE.items()}) == Schema({n: c for n, (_, c) in ONE.items()})


def test_what_is_not_clear_is_refused_by_the_name_of_its_column() -> None:
    for plain in ("ab", (1, 2, 3), {"f", "m"}, (100, 18), [], (), None, int, range(5, 0), (DAY, 3), [None]):
        with pytest.raises(SchemaError, match="column 'odd'"):
            schema_of({"odd": plain})
    others: list[Any] = ["age", 3, {}]
    for other in others:
        with pytest.raises(SchemaError):
            schema_of(other)


def test_a_statistic_takes_a_mapping_and_the_mean_of_truths_is_their_share() -> None:
    people = {"age": [30.0] * 600 + [50.0] * 400, "smoker": ["yes"] * 250 + [0] * 750}
    described = {"age": (18, 100), "smoker": bool}
    assert abs(float(mean(people, "age", bounds=described, epsilon=50.0)) - 38) < 1
    assert abs(float(mean(people, "smoker", bounds=described, epsilon=50.0)) - 0.25) < 0.01
