"""A few known records undo a rotation and a good part of a projection; without a map there is nothing to undo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.attacks import KnownSamples
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.microdata import project_columns, rotate
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData
from tests.attacks.trial import AttackTrial

Rng = np.random.Generator


def _rows(rng: Rng, columns: int = 6) -> Any:
    return rng.normal(3, 1, (800, columns)) @ rng.normal(size=(columns, columns))


def _turned(seed: int) -> list[tuple[KnownSamples, Any]]:
    """The rows, or those of others, after one rotation."""
    rows, behind = (_rows(np.random.default_rng(one)) for one in (5, seed))
    return [(KnownSamples(rows, range(7)), behind @ np.linalg.qr(np.random.default_rng(7).normal(size=(6, 6)))[0])]


TRIALS = {"KnownSamples": AttackTrial(lambda: _turned(5), lambda: _turned(6))}


def test_one_record_more_than_columns_undoes_a_rotation() -> None:
    rng = np.random.default_rng(0)
    rows = _rows(rng)
    rotated = rows @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
    result = KnownSamples(rows, range(7), tolerance=1e-3).run(rotated)
    assert result.success == 1.0
    assert result.trials == 793 * 6
    assert min(result.worst) >= 7
    assert KnownSamples(rows, range(3), tolerance=0.1).run(rotated).success < 0.5


def test_tables_that_the_library_mapped_are_undone() -> None:
    """Rows are in a random order, and a column that is unchanged tells which is which."""
    rng = np.random.default_rng(1)
    rows = np.column_stack([np.clip(rng.normal(0, 0.3, (500, 4)), -1, 1), np.arange(500) / 500])
    schema, names = Schema.numeric(-1.0, 1.0, 5), ["x0", "x1", "x2", "x3"]
    turned = rotate(PrivateData.of(rows, schema, Budget(1.0)), names, unchanged=["x4"], waiver="made up")
    own = np.rint(500 * turned["x4"]).astype(int)
    assert KnownSamples(rows[own, :4], range(6), tolerance=0.01).run(turned.records[:, :4]).success == 1.0
    data = PrivateData.of(rows, schema, Budget(1.0))
    three = project_columns(data, names, dimensions=3, unchanged=["x4"], waiver="made up")
    own = np.rint(500 * three["x4"]).astype(int)
    part = KnownSamples(rows[own, :4], range(50), tolerance=0.5).run(three.records[:, :3])
    assert part.beats_chance
    assert part.success < 1


def test_of_a_projection_the_most_probable_records_are_found() -> None:
    """Five columns that follow two: three sums say nearly all."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(800, 2)) @ rng.normal(size=(2, 5)) + rng.normal(0, 0.002, (800, 5))
    assert KnownSamples(rows, range(60)).run(rows @ rng.normal(size=(5, 3))).success > 0.97


def test_nothing_is_found_in_noise_or_in_a_constant() -> None:
    rng = np.random.default_rng(3)
    rows = _rows(rng)
    for target in (rng.normal(size=(800, 6)), np.zeros((800, 2))):
        assert not KnownSamples(rows, range(20)).run(target).beats_chance


def test_what_does_not_fit_is_refused() -> None:
    rows = _rows(np.random.default_rng(4))
    odd: list[tuple[Any, Any]] = [
        ([800], rows),
        ([], rows),
        (range(800), rows),
        ([0.5], rows),
        ([1], rows[:9]),
        ([1], "<b>"),
        ([1], np.full((800, 6), np.nan)),
        ([1], np.full((800, 6), 1e308)),
    ]
    for known, target in odd:
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            KnownSamples(rows, known).run(target)
    with pytest.raises(ParameterError, match="tolerance"):
        KnownSamples(rows, [1], tolerance=0.0)
