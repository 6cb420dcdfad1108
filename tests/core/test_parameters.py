"""Parameters are what their annotations say, or refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest

from discreet.core.checks import check_one_of, check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.parameters import checked, fits


@checked
def asked(n: int, q: tuple[float, float] = (0.0, 1.0), *, kind: Literal["a", "b"] | None = None) -> Any:
    return n, q, kind


def test_what_fits_is_passed_on_and_what_does_not_is_refused_by_name() -> None:
    assert asked(3, (0, 1), kind="a") == (3, (0, 1), "a")
    assert asked(np.int64(3), (0.5, np.float64(1))) == (3, (0.5, 1.0), None)  # type: ignore[arg-type]
    for given, named, name in (
        ((True,), {}, "n"),
        ((1.5,), {}, "n"),
        ((10**400,), {}, "n"),
        ((1, (0, 1, 2)), {}, "q"),
        ((1, ("a", 1)), {}, "q"),
        ((1,), {"kind": "c"}, "kind"),
        ((1,), {"kind": np.array(["a", "b"])}, "kind"),
    ):
        with pytest.raises(ParameterError, match=f"asked: {name} is .*Nothing was released or spent"):
            asked(*given, **named)
    with pytest.raises(TypeError, match="unexpected keyword"):
        asked(1, nonsense=2)  # type: ignore[call-arg]


def test_truth_values_texts_and_numbers_beyond_64_bits_are_no_numbers() -> None:
    for value in (True, "3", 10**400, 3j, None, [1], np.array([1.0])):
        with pytest.raises(ParameterError):
            check_positive("noise", "multiplier", value)  # type: ignore[arg-type]
        with pytest.raises(ParameterError):
            check_whole("noise", "times", value)  # type: ignore[arg-type]
        with pytest.raises(ParameterError):
            check_one_of("noise", "kind", value, ("a", 1.0))
    check_whole("noise", "times", 3.0)


def test_several_values_are_checked_one_by_one_and_a_name_may_stand_alone() -> None:
    assert fits("age", Sequence[str])
    assert fits(["a", "b"], Sequence[str])
    assert fits(np.array([1.0, 2.0]), Sequence[float])
    for odd in (b"ab", {"a": 1}, np.array("x"), 3, [1]):
        assert not fits(odd, Sequence[str])
    assert fits(object(), Any)
