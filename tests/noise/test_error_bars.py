from __future__ import annotations

from decimal import Context, Decimal, localcontext

import numpy as np
import pytest

from discreet.core.errors import DiscreetError
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.error_bars import Function, assure, exponentials

EDGES = [1, 2, 3, 2**11, 2**53 - 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 2**40, 2**64 - 2049, 2**64 - 2, 2**64 - 1]
ALL: list[Function] = ["exp", "log", "cos", "sin"]


def test_error_bars_hold_every_real_that_the_word_allows() -> None:
    random = DeterministicBits(41).words(2000) >> (np.arange(2000) % 40).astype(np.uint64)
    words = np.concatenate([np.array(EDGES, dtype=np.uint64), random])
    words = words[words > 0]
    bars = exponentials(words)
    with localcontext(Context(prec=40)):
        for word, value, error in zip(words.tolist(), bars.value.tolist(), bars.error.tolist(), strict=True):
            high, low = (-(Decimal(word + i) / 2**64).ln() for i in (0, 1))
            assert Decimal(value) - Decimal(error) <= low
            assert high <= Decimal(value) + Decimal(error)
            assert error <= 2.0**-48 * (1 + value) + 3 / word


def test_the_smallest_values_are_not_negative_zeros() -> None:
    """Else dividing by one of them would give an error bar of minus infinity."""
    assert not np.signbit(exponentials(np.array([2**64 - 1], np.uint64)).value[0])


def test_nothing_is_known_of_a_word_of_zeros() -> None:
    assert np.isinf(exponentials(np.zeros(1, np.uint64)).error[0])


@pytest.mark.parametrize("function", ALL)
def test_the_library_of_this_machine_is_good_enough(function: Function) -> None:
    assure.__wrapped__(function, 2000)


@pytest.mark.parametrize("function", ALL)
def test_a_worse_library_is_refused(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    good = getattr(np, function)
    monkeypatch.setattr(np, function, lambda x: good(x) + np.where(x == x[7], 2.0**-45, 0.0))
    with pytest.raises(DiscreetError, match="off by"):
        assure.__wrapped__(function)
