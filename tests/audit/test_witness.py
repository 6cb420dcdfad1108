"""A witness: an event that is likelier on one of two data sets, with what that shows."""

from __future__ import annotations

import math

from discreet.audit.witness import Count, Witness

PLAIN = {"Witness": "its event is written by the audit, of numbers alone"}
"""Why these print no texts of others: see `tests/conformance/test_plain_text.py`."""


def test_what_it_shows_is_on_the_safe_side_and_grows_with_the_trials() -> None:
    few, many = (Witness("output > 0", "first", Count(9 * n, 10 * n), Count(n, 10 * n), 1e-4) for n in (10, 10_000))
    assert few.epsilon(0.0) < many.epsilon(0.0) < math.log(9)
    assert few.least < 0.9
    assert few.most > 0.1
    assert many.epsilon(0.9) == 0.0
