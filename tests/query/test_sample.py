"""The bundled table: synthetic, small, made again bit by bit."""

from __future__ import annotations

import re

import pytest

import discreet
from discreet.core.errors import ParameterError
from discreet.query.sample import SCHEMA, TABLE
from discreet.query.sample.make_sample import COLUMNS, ROWS, table
from discreet.query.schema_file import read_schema


def test_the_committed_table_is_what_the_script_makes() -> None:
    assert TABLE.read_text(encoding="utf-8") == table()


def test_the_schema_describes_every_column() -> None:
    assert tuple(read_schema(SCHEMA).schema.columns) == COLUMNS


def test_it_is_small_and_has_rare_values_and_gaps() -> None:
    lines = TABLE.read_text(encoding="utf-8").splitlines()[1:]
    towns = [line.split(",")[5] for line in lines]
    assert len(lines) == ROWS
    assert TABLE.stat().st_size < 250_000
    assert min(towns.count(town) for town in set(towns)) < 20
    assert max(towns.count(town) for town in set(towns)) > 500
    assert sum(line.split(",")[2] == "" for line in lines) > 50


def test_every_call_opens_an_account_of_its_own() -> None:
    first, second = discreet.sample("patients"), discreet.sample("patients", epsilon=0.5, delta=0.0)
    assert discreet.count(first, "sex", epsilon=1.0).value == pytest.approx(ROWS, abs=40)  # exp(-40) of a chance
    assert first.ledger.balance().used > 0 == second.ledger.balance().used
    assert second.ledger.budget == discreet.Budget(0.5)


def test_missing_numbers_are_missing_and_texts_are_kept() -> None:
    patients = discreet.sample(epsilon=200.0, delta=1e-2)
    weighed = sum(line.split(",")[2] != "" for line in TABLE.read_text(encoding="utf-8").splitlines()[1:])
    assert discreet.count(patients, "weight_kg", epsilon=50.0).value == weighed  # noise of exp(-50)
    assert "Alderford" in discreet.key_counts(patients, "town", epsilon=20.0, delta=1e-3).counts


def test_an_unknown_sample_is_refused_by_name() -> None:
    with pytest.raises(ParameterError, match=re.escape("none called 'cats'. Nothing was released or spent.")):
        discreet.sample("cats")
