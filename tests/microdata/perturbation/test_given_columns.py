"""Descriptions of columns that become wider."""

from __future__ import annotations

import pytest

from discreet.core.errors import SchemaError
from discreet.microdata.perturbation.given_columns import steps_of, widened
from discreet.schema.dates import Date
from discreet.schema.schema import Number


def test_a_wider_column_keeps_its_steps_and_its_kind() -> None:
    assert widened(Number(0, 10, step=5), 0.1) == Number(-5, 15, step=5)
    wider = widened(Date("2020-01-01", "2020-01-31"), 30.5)
    assert isinstance(wider, Date)
    assert (wider.shown(wider.lower), wider.shown(wider.upper)) == ("2019-12-01", "2020-03-02")
    assert widened(Number(0.0, 1.0), 2.0) == Number(-2.0, 3.0)
    for reach in (1e6, 1e9, 1e300):
        with pytest.raises(SchemaError, match="leave the years"):
            widened(Date("2020-01-01", "9999-01-31"), reach)
    assert steps_of((Number(0, 10, step=5), Number(0, 1))) == (5.0, 0.0)
