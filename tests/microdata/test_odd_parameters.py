"""Every function of the room, found by walking: whatever its parameters are, it answers, or refuses before a charge."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

import numpy as np
import pytest

import discreet.microdata as microdata
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.microdata.published_table import PublishedTable
from discreet.releases.declaration import declaration_of
from discreet.schema.schema import Category, Column, Number, Text
from discreet.trust.private_data import PrivateData
from tests.conformance.test_hostile_parameters import ODD, ODDER, fault
from tests.conformance.walk import statistics
from tests.microdata.perturbation.test_refusals import USUAL as PERTURBED

COLUMNS: dict[str, Column] = {
    "age": Number(0, 100, step=1),
    "tea": Category(("no", "yes")),
    "ill": Category(("flu", "cold", "none")),
    "name": Text(),
}
HELD = {
    "age": [31, 40, 52, 31, None] * 8,
    "tea": ["yes", "no"] * 20,
    "ill": ["flu", "cold", "none", "none"] * 10,
    "name": ["somebody"] * 40,
}
ROLES = {"age": "quasi-identifier", "ill": "sensitive", "name": "identifying"}
UNHASHABLE: list[Any] = [[1], {"a": [1]}, {1}, bytearray(b"x"), HELD]
WAIVED = {"waiver": "the board agreed", "key": "monday"}


def private() -> PrivateData:
    return PrivateData.of(HELD, COLUMNS, Budget(9.0, 1e-6))


def published() -> PublishedTable:
    return microdata.swap_ranks(private(), ["age", "tea", "ill"], window=0.2, waiver="the board agreed")


MINED = microdata.mine_rules(HELD, ["tea", "ill"], bounds=COLUMNS, support=0.1, confidence=0.2)
USUAL: dict[str, tuple[Any, dict[str, Any]]] = {
    "anonymize": (private, {"roles": ROLES, "k": 2, "l": 2, "t": 0.9, **WAIVED}),
    "hide_rules": (private, {"sensitive": [MINED.rules[0]], "mined": MINED, **WAIVED}),
    "utility_report": (published, {"truth": private, **WAIVED}),
    "synthesize": (private, {"columns": ["age", "tea", "ill"], "bins": 4, "key": "monday"}),
    "private_rules": (private, {"columns": ["tea", "ill"], "k": 3, "key": "monday"}),
    "evaluate_table": (private, {"table": published, "key": "monday"}),
    "check_anonymity": (published, {"roles": {"age": "quasi-identifier"}}),
    "mine_rules": (published, {"columns": ["tea", "ill"]}),
    "pram_counts": (lambda: [40, 60], {"matrix": [[0.9, 0.1], [0.2, 0.8]]}),
    "reconstruct_distribution": (lambda: np.arange(10.0), {"column": COLUMNS["age"], "stddev": 2.0}),
}
WALKED = {declaration_of(one).name for one in statistics()}  # by the conformance tests, parameter by parameter
each = pytest.mark.parametrize("name", USUAL)


def asked(name: str, **other: Any) -> tuple[Any, list[PrivateData]]:
    """A function with its usual parameters but for one; and what it could charge."""
    first, options = USUAL[name]
    made = {one: value() if callable(value) else value for one, value in {"": first, **options}.items()}
    guarded = [value for value in made.values() if isinstance(value, PrivateData)]
    start = made.pop("")
    return partial(getattr(microdata, name), start, **{**made, **other}), guarded


def test_every_function_of_the_room_is_walked() -> None:
    functions = {name for name in microdata.__all__ if inspect.isfunction(getattr(microdata, name))}
    assert functions == {*USUAL, *PERTURBED}


@each
def test_what_is_usual_is_answered(name: str) -> None:
    assert str(asked(name)[0]())


@each
def test_every_parameter_takes_any_value(name: str) -> None:
    taken = list(inspect.signature(getattr(microdata, name)).parameters)[1:]
    for parameter in taken if name not in WALKED else ("key",):
        for value in [*ODD, *ODDER, *UNHASHABLE]:
            call, guarded = asked(name, **{parameter: value})
            wrong = fault(call, guarded[0].ledger if guarded else private().ledger)
            assert wrong is None, f"{parameter} is {value!r:.50}: {wrong}"


@each
def test_what_is_no_data_set_is_refused(name: str) -> None:
    call, _ = asked(name)
    for value in (5, "a", None, True, [[1.0]], object(), HELD):
        said = fault(partial(call.func, value, **call.keywords), private().ledger)
        assert said is None, f"{value!r:.50}: {said}"


@pytest.mark.parametrize("name", [*PERTURBED, "anonymize", "hide_rules", "utility_report", "evaluate_table"])
def test_records_in_the_place_of_data_or_of_a_table_are_not_printed(name: str) -> None:
    function = getattr(microdata, name)
    options = PERTURBED[name] if name in PERTURBED else asked(name)[0].keywords
    for given in (HELD, list(HELD.values()), np.array(HELD["name"])):
        options = {**options, "table": given} if name == "evaluate_table" else options
        with pytest.raises(ParameterError, match=f"a {type(given).__name__}") as refusal:
            function(private() if name == "evaluate_table" else given, **options)
        assert "somebody" not in f"{refusal.value!r} {vars(refusal.value)}"


@each
def test_an_unknown_column_is_named_before_a_charge(name: str) -> None:
    wrong: dict[str, Any] = {
        "anonymize": {"roles": {**ROLES, "heigth": "quasi-identifier"}},
        "check_anonymity": {"roles": {"heigth": "quasi-identifier"}},
        "hide_rules": {"fixed": ["heigth"]},
        "utility_report": {"target": "heigth"},
    }
    options = wrong.get(name, {"columns": ["tea", "heigth"]})
    if set(options) <= set(inspect.signature(getattr(microdata, name)).parameters):
        call, guarded = asked(name, **options)
        with pytest.raises(ParameterError, match="heigth"):
            call()
        assert not any(data.ledger.entries() for data in guarded)


@each
def test_keys_and_waivers_are_texts_and_roles_are_roles(name: str) -> None:
    taken = inspect.signature(getattr(microdata, name)).parameters
    for parameter, values in {"key": [5, [1], b"x"], "waiver": [5, [1], b"x", True], "roles": [5, [1], "age"]}.items():
        for value in values if parameter in taken else ():
            call, guarded = asked(name, **{parameter: value})
            with pytest.raises(ParameterError, match="Nothing was released or spent"):
                call()
            assert not any(data.ledger.entries() for data in guarded)
    if "waiver" in taken:
        for none in (None, " ", "\t"):
            call, guarded = asked(name, waiver=none)
            with pytest.raises(NotPermitted, match=r"keeps no promise.*(synthesize|evaluate_table)"):
                call()
            assert not guarded[0].ledger.entries()


def test_a_permit_takes_texts_alone() -> None:
    """The one door, for whoever has no function in front of it."""
    data, event = private(), microdata.synthesize(HELD, bounds=COLUMNS, rows=1).receipt.event
    values: list[Any] = [5, [1], b"x", True, {}]
    for name in ("key", "analyst", "waiver"):
        for odd in values:
            with pytest.raises(ParameterError, match=f"{name} is"):
                data.permit(event, "test", **{name: odd})
    assert not data.ledger.entries()
