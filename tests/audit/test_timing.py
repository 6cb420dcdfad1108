"""Times that tell data sets apart, and those that do not."""

from __future__ import annotations

import numpy as np

from discreet.audit.timing import slower


def test_a_warning_needs_a_difference_that_is_large_and_sure() -> None:
    noise = np.random.default_rng(1).random((2, 20))
    told = slower(list(1 + noise[0] / 10), list(2 + noise[1] / 10))
    assert told is not None
    assert told.startswith("On the second data set")
    swapped = slower(list(2 + noise[0] / 10), list(1 + noise[1] / 10))
    assert swapped is not None
    assert "first" in swapped
    assert slower(list(1 + noise[0] / 100), list(1.1 + noise[1] / 100)) is None
    assert slower([1.0, 5.0] * 10, [1.0, 9.0] * 10) is None
    assert slower([0.0] * 20, [0.0] * 20) is None
