"""Parameters are what their annotations say, or refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType, SimpleNamespace
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest

from discreet.core.budget import Budget
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


def test_of_what_may_hold_records_an_error_names_the_kind_alone() -> None:
    """A mapping of records in the place of a number, or of data that are to be guarded, is not printed."""

    @checked
    def halved(data: Budget, n: int = 1) -> None: ...

    records = {"name": ["Ada Lovelace"]}
    held: list[Any] = [
        records,
        list(records.values()),
        np.array(records["name"]),
        pd.DataFrame(records),
        {"Ada Lovelace"},
    ]
    held += [set(records["name"]), SimpleNamespace(**records), iter(records["name"]), MappingProxyType(records)]
    for one in held:
        for given in ({"data": one}, {"data": Budget(1.0), "n": one}):
            with pytest.raises(ParameterError, match=rf"is a {type(one).__name__}\.") as refusal:
                halved(**given)
            assert "Lovelace" not in f"{refusal.value!r} {vars(refusal.value)}"
        for check in (check_positive, check_whole):
            with pytest.raises(ParameterError, match=rf"is a {type(one).__name__}\.") as refusal:
                check("noise", "multiplier", one)
            assert "Lovelace" not in str(refusal.value)
    with pytest.raises(ParameterError, match="n is 'three'"):
        halved(Budget(1.0), "three")  # type: ignore[arg-type]
