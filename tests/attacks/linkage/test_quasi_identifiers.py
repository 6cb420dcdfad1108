"""People are found by what two tables share, not in a table of classes, and not among strangers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.attacks import Attack, QuasiIdentifiers
from discreet.core.errors import ParameterError
from tests.attacks.linkage.made import chosen, people
from tests.attacks.trial import AttackTrial

COLUMNS = ["born", "sex", "zip"]


def _linked(strangers: bool) -> list[tuple[QuasiIdentifiers, Any]]:
    """What is known of people in the table, or of others."""
    rng = np.random.default_rng(3)
    table, elsewhere, rows = people(rng, 500), people(rng, 500), list(range(100))
    return [(QuasiIdentifiers(chosen(elsewhere if strangers else table, rows), rows, COLUMNS), table)]


TRIALS = {"QuasiIdentifiers": AttackTrial(lambda: _linked(strangers=False), lambda: _linked(strangers=True))}


def test_people_are_found_by_birth_sex_and_town() -> None:
    rng = np.random.default_rng(0)
    table = people(rng)
    rows = rng.choice(2000, 300, replace=False)
    attack = QuasiIdentifiers(chosen(table, rows), rows.tolist(), COLUMNS)
    result = attack.run(pd.DataFrame(table))
    assert result.success >= 0.99
    assert result.wrong == 0
    assert set(result.worst) <= set(rows.tolist())
    assert isinstance(attack, Attack)


def test_the_answers_are_those_of_a_loop_over_all_rows() -> None:
    """Few values, so that many rows are alike; missing ones, which agree with nothing."""
    rng = np.random.default_rng(1)
    released = {"a": rng.integers(0, 9, 80).astype(float), "b": rng.choice(["x", "y", "z"], 80).astype(object)}
    released["a"][::7], released["b"][::9] = np.nan, None
    truth = np.arange(80)
    found = QuasiIdentifiers(released, truth.tolist()).run(released)
    rows = list(zip(released["a"], released["b"], strict=True))
    alone = [row[0] == row[0] and row[1] is not None and rows.count(row) == 1 for row in rows]
    assert (found.right, found.wrong, found.details["answered"]) == (sum(alone), 0, np.mean(alone))
    assert list(found.worst) == np.flatnonzero(alone)[:10].tolist()
    nothing = QuasiIdentifiers({"a": [np.nan]}, [0]).run({"a": [np.nan, 1.0]})
    assert (nothing.right, nothing.wrong) == (0, 0)


def test_classes_of_k_and_strangers_give_nobody_away() -> None:
    rng = np.random.default_rng(2)
    table, elsewhere, rows = people(rng), people(rng), list(range(300))
    known = chosen(table, rows)
    coarse: dict[str, Any] = {"born": table["born"] // 10_000, "sex": table["sex"]}
    result = QuasiIdentifiers({"born": known["born"] // 10_000, "sex": known["sex"]}, rows).run(coarse)
    assert (result.right, result.wrong, result.details["rows alone"]) == (0, 0, 0.0)
    assert not QuasiIdentifiers(known, rows, COLUMNS).run(elsewhere).beats_chance
    constant = {name: [values[0]] * 50 for name, values in table.items()}
    assert QuasiIdentifiers(chosen(table, range(50)), range(50)).run(constant).right == 0


def test_columns_named_to_harm_stay_text() -> None:
    name = "<script>alert(1)</script>"
    result = QuasiIdentifiers({name: [1, 2]}, [0, 1], [name]).run({name: [1, 2]})
    assert result.right == 2
    assert "<script" not in result._repr_html_()
    json.loads(result.to_json())
    with pytest.raises(ParameterError, match="no column"):
        QuasiIdentifiers({name: [1]}, [0], [name]).run({"a": [1]})


def test_what_does_not_fit_is_refused() -> None:
    known = {"a": [1, 2]}
    wrong: list[tuple[Any, Any]] = [
        ([0], known),
        ([0, 9], known),
        ([0.5, 1.0], known),
        ([0, 1], {"b": [1]}),
        ([0, 1], 7),
    ]
    for truth, target in wrong:
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            QuasiIdentifiers(known, truth).run(target)
