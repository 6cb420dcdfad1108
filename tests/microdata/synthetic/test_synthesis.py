"""What methods share: noise and choices at a share of a price, and the number of records."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.accounting.accountant import epsilon as epsilon_of
from discreet.microdata.synthetic.synthesis import MOST_ROWS, TableLayout, total_of
from discreet.schema.schema import Category, Schema

SCHEMA = Schema({"a": Category(("u", "v"))})


def test_shares_of_a_price_add_up() -> None:
    """In pure epsilon, without a delta; else in concentrated privacy, where a multiplier m costs 1 / (2 m^2)."""
    pure, other = (TableLayout(SCHEMA, ("a",), 16, own, True) for own in (True, False))
    for share in (0.01, 0.3, 1.0):
        assert epsilon_of(pure.noise(share).event, 0.0) == pytest.approx(share)
        assert epsilon_of(pure.choice(share).event, 0.0) == pytest.approx(share)
        assert 1 / (2 * other.noise(share).multiplier ** 2) == pytest.approx(share)
        assert other.choice(share).epsilon ** 2 / 8 == pytest.approx(share)


def test_the_number_of_records_is_public_or_that_of_the_columns_of_few_cells_first() -> None:
    ones = [np.array([60.0, 40]), np.full(100, 2.0)]
    assert total_of(ones, 70) == 70
    assert total_of(ones, 0) == 1
    assert total_of(ones, None) == pytest.approx((100 / 2 + 200 / 100) / (1 / 2 + 1 / 100))
    assert total_of([np.array([-5.0, 1.0])], None) == 1
    assert total_of([np.array([1e300, 1.0])], None) == MOST_ROWS
