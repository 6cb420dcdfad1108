"""A copied table singles people out, a fresh one no better than it does strangers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.attacks import SinglingOut
from discreet.attacks.linkage.singling_out import RowCondition
from discreet.attacks.table_columns import TableColumns
from discreet.core.errors import ParameterError
from tests.attacks.linkage.made import people


def _tables(seed: int, *sizes: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [people(rng, size) for size in sizes]


def test_a_copy_singles_people_out() -> None:
    original, control = _tables(0, 600, 600)
    result = SinglingOut(original, control, guesses=200).run(original)
    assert result.success == 1.0
    assert result.details["rate on the control"] < 0.7
    assert result.beats_chance


def test_records_that_the_original_does_not_have_give_nobody_away() -> None:
    for seed in range(3):
        original, control, fresh = _tables(seed, 600, 600, 600)
        assert not SinglingOut(original, control, guesses=200).run(fresh).beats_chance
    constant = {name: [values[0]] * 100 for name, values in original.items()}
    result = SinglingOut(original, control, guesses=50).run(constant)
    assert (result.right, result.details["guesses that were found"], result.beats_chance) == (0, 0, False)


def test_a_larger_original_is_looked_at_in_as_many_records_as_the_control() -> None:
    """With all 3,000 a condition would hold for more than one, and a copy would look harmless."""
    original, control, fresh = _tables(4, 3000, 300, 300)
    assert not SinglingOut(original, control, guesses=200).run(fresh).beats_chance
    assert SinglingOut(control, original, guesses=200).run(control).beats_chance


def test_conditions_hold_as_they_are_written() -> None:
    table = TableColumns.of("a test", {"a": [1.0, 5.0, np.nan, 9.0], "b": ["x", "x", "x", None]})
    assert RowCondition.of(table, 1, ["a", "b"], {"a": 5.0}).holds(table).tolist() == [0, 1]
    assert RowCondition.of(table, 3, ["a", "b"], {"a": 5.0}).holds(table).tolist() == [3]
    assert RowCondition.of(table, 2, ["a"], {"a": 5.0}).holds(table).tolist() == []


def test_what_does_not_fit_is_refused() -> None:
    original, control = _tables(5, 50, 9)
    with pytest.raises(ParameterError, match="Give at least 10"):
        SinglingOut(original, control).run(original)
    for options in ({"width": 0}, {"guesses": 0}, {"random_state": -1}):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            SinglingOut(original, original, **options)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="share no column"):
        SinglingOut(original, original).run({"other": [1.0] * 50})
