"""Numbers for a reader."""

from __future__ import annotations

import math

import pytest

from discreet.display.digits import error_bar, number


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (1234.5678, 0.0123, "1,234.568"),
        (0.000012, 0.000001, "1.2e-05"),
        (-3.14159, 0.5, "-3.14"),
        (1e18, 1.0, "1e+18"),
        (0.0, 0.0, "0"),
        (math.nan, 1.0, "nan"),
        (120.0, 0.0, "120"),
        (0.5, 0.0, "0.5"),
    ],
)
def test_a_number_is_cut_where_its_error_begins(value: float, error: float, shown: str) -> None:
    assert number(value, error) == shown


@pytest.mark.parametrize("error", [1e-7, 0.00999, 0.123, 1.0, 9.99, 10.0, 43.1, 99.1, 12345.6, 1e12])
def test_a_shown_error_bar_is_never_too_short(error: float) -> None:
    shown = float(error_bar(error).replace(",", ""))
    assert error * (1 - 1e-9) <= shown <= error * 1.11
