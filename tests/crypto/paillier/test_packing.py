"""What a packing holds comes out as it went in; what it does not is refused; no slot reaches into the next one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import ParameterError
from discreet.crypto.paillier.encrypted_array import encrypt
from discreet.crypto.paillier.packing import Packing, StepInterval
from tests.crypto.paillier.small_keys import small_key


@given(
    st.integers(-(2**40), 2**40), st.integers(0, 2**40), st.integers(1, 2**30), st.lists(st.integers(0, 4), max_size=9)
)
def test_no_slot_changes_its_neighbour_in_any_packing(low: int, span: int, headroom: int, chosen: list[int]) -> None:
    """Numbers at the ends of the range, times weights that use the headroom up, of all signs."""
    packing = Packing(low, low + span, headroom=headroom)
    room = 2 ** (packing.width - 1) - 1
    ends = [packing.interval.low * headroom, packing.interval.high * headroom, 0, room, -room]
    numbers = [ends[one] for one in chosen] or [room]
    plain = packing.packed(numbers)
    assert plain == sum(number << packing.width * slot for slot, number in enumerate(numbers))
    assert packing.unpacked(plain, len(numbers)) == numbers
    assert abs(plain) < 2 ** (packing.width * len(numbers)) // 2
    packing.check_fits("sum", packing.interval.times(headroom, 0))
    packing.check_fits("sum", packing.interval.times(0, headroom))
    with pytest.raises(ParameterError, match="Pack with headroom"):
        packing.check_fits("sum", StepInterval(0, room + 1))
    with pytest.raises(ParameterError, match="Pack with headroom"):
        packing.check_fits("sum", StepInterval(-room - 1, 0))


@given(st.integers(1, 200), st.integers(256, 3072))
def test_a_full_plaintext_is_below_half_of_every_modulus(width: int, key_bits: int) -> None:
    packing = Packing(-(2 ** (width - 1)) + 1, 2 ** (width - 1) - 1) if width > 1 else Packing(0, 0)
    assert packing.width == max(width, 1)
    slots = packing.slots(key_bits)
    largest = packing.packed([2 ** (packing.width - 1) - 1] * slots)
    assert largest < 2 ** (key_bits - 1) // 2  # a modulus of so many bits is at least 2**(key_bits - 1)


def test_what_lies_above_the_slots_is_noticed() -> None:
    packing = Packing(-7, 7)
    assert packing.unpacked(packing.packed([1, 2]) + (1 << 2 * packing.width), 2) is None
    assert packing.unpacked(-packing.packed([0, 0, 1]), 2) is None
    assert packing.unpacked(packing.packed([1, 2]), 2) == [1, 2]


@pytest.mark.parametrize(
    "values",
    [[1.0], [True], ["1"], [None], [float("nan")], [11], [-1], [2**70], [[1, 2], [3, 99]], [1 + 2j], [b"1"]],
)
def test_what_is_no_integer_in_range_is_refused_with_the_range(values: Any) -> None:
    with pytest.raises(ParameterError, match=r"Nothing was encrypted\. Give integers from 0 to 10\.") as refused:
        encrypt(values, Packing(0, 10), small_key())
    assert (refused.value.values["low"], refused.value.values["high"]) == (0, 10)
    assert "99" not in str(refused.value)


def test_fixed_point_takes_floats_in_range_and_rounds_to_its_steps() -> None:
    packing = Packing(-1.0, 1.0, exponent=-4)
    assert packing.steps([1.0, -1.0, 0.03, 1 / 32, 3 / 32]).tolist() == [16, -16, 0, 0, 2]
    for bad in (np.nan, np.inf, -np.inf, 1.0000001, -1.5, 1e300):
        with pytest.raises(ParameterError, match=r"numbers on steps of 2\*\*-4, from -1\.0 to 1\.0"):
            packing.steps([0.0, bad])
    assert packing.steps(np.array([1, -1], np.int8)).tolist() == [16, -16]
    coarse = Packing(0, 100, exponent=3)
    assert coarse.steps([100.0, 4.0, 12.0]).tolist() == [12, 0, 2]
    assert coarse.interval == StepInterval(0, 12)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.int64, object])
def test_integers_of_every_type_come_back(dtype: Any) -> None:
    key, packing = small_key(), Packing(0, 2**64 - 1)
    values = np.array([0, 1, 100], dtype)
    assert key.decrypt(encrypt(values, packing, key)).tolist() == [0, 1, 100]
    assert key.decrypt(encrypt([2**64 - 1, 7], packing, key)).tolist() == [2**64 - 1, 7]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((0, 0.5), "only integers are packed"),
        ((2, 1), "lower end first"),
        ((np.nan, 1), "finite"),
        ((0, np.inf), "finite"),
        ((0, True), "finite number"),
        ((0, "1"), "finite number"),
        ((0, 1, 0, 0), "headroom is 0"),
        ((0, 1, 0.5), "exponent is 0.5"),
        ((0, 1, 501), "exponent is 501"),
        ((0, 10**400, -3), "finite number"),
        ((0, 2**1024), "1024 bits"),
    ],
)
def test_packings_that_cannot_be_are_refused(given: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Packing(*given)


def test_a_slot_wider_than_the_key_is_refused() -> None:
    with pytest.raises(ParameterError, match="Take a longer key"):
        Packing(0, 2**600).slots(512)
