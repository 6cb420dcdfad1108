from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import DiscreetError
from discreet.noise.libm import Function, assure

ALL: list[Function] = ["exp", "log", "cos", "sin"]


@pytest.mark.parametrize("function", ALL)
def test_the_library_of_this_machine_is_good_enough(function: Function) -> None:
    assure.__wrapped__(function, 2000)


@pytest.mark.parametrize("function", ALL)
def test_a_worse_library_is_refused(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    good = getattr(np, function)
    monkeypatch.setattr(np, function, lambda x: good(x) + np.where(x == x[7], 2.0**-45, 0.0))
    with pytest.raises(DiscreetError, match="off by"):
        assure.__wrapped__(function)
