"""Every table without a promise names the attack that breaks it, and a test shows that it works."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import discreet.microdata as microdata
from discreet.core.budget import Budget
from discreet.mechanisms.microdata.anonymity_model import AnonymityModel
from discreet.microdata import anonymize, check_anonymity
from discreet.microdata.published_table import PublishedTable
from discreet.schema.schema import Category, Number
from discreet.trust.private_data import PrivateData

NOISE, SWAPS, ROOM = "perturbation.test_add_noise", "perturbation.test_swaps", "perturbation.test_projections"
NAMED: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "add_noise": [("can be filtered out", NOISE, "test_the_spectral_filter_takes_most_of_the_independent_noise_off")],
    "add_correlated_noise": [
        ("those farthest out are recognised", NOISE, "test_records_far_out_are_recognised_after_correlated_noise")
    ],
    "multiply_noise": [("Zeros and signs stay", NOISE, "test_zeros_and_the_largest_are_seen_through_factors")],
    "project_columns": [
        ("known records", ROOM, "test_known_records_give_equations_for_all_others_where_there_are_fewer_sums"),
        ("independent component analysis", ROOM, "test_with_fewer_sums_than_columns_a_part_is_still_found"),
    ],
    "project_rows": [
        ("differ by that person", ROOM, "test_two_tables_of_mixed_rows_with_a_person_and_without_differ_by_that_person")
    ],
    "rotate": [
        ("found by its length", ROOM, "test_records_known_by_their_length_give_the_rotation_and_all_others"),
        (
            "independent component analysis",
            ROOM,
            "test_independent_component_analysis_undoes_a_rotation_without_knowing_anybody",
        ),
    ],
    "swap_ranks": [("window of ranks", SWAPS, "test_several_columns_single_out_records_after_rank_swapping")],
    "swap_places": [("exact table of the place", SWAPS, "test_swapped_pairs_are_recovered_from_an_exact_table_beside")],
    "pram": [
        (
            "unmasked by the majority",
            "perturbation.test_pram",
            "test_tables_of_the_same_people_are_unmasked_by_the_majority",
        )
    ],
    "invariant_pram": [
        (
            "unmasked by the majority",
            "perturbation.test_pram",
            "test_tables_of_the_same_people_are_unmasked_by_the_majority",
        )
    ],
    "microaggregate": [
        (
            "k - 1 others give a value away",
            "perturbation.test_microaggregate",
            "test_whoever_knows_all_but_one_of_a_group_knows_that_one",
        )
    ],
    "anonymize": [
        ("have one sensitive value", "test_what_breaks_them", "test_a_class_with_one_illness_tells_it_of_all"),
        (
            "values are rare or alike",
            "test_what_breaks_them",
            "test_diverse_classes_tell_that_a_rare_illness_is_likely",
        ),
        ("knows some records", "test_what_breaks_them", "test_records_that_are_known_are_taken_off_a_close_class"),
        ("composition", "anonymity.test_anonymize", "test_two_tables_of_the_same_people_differ_by_one_who_is_found"),
    ],
    "hide_rules": [
        (
            "slightly lower threshold",
            "mechanisms.test_hidden_rules",
            "test_a_hidden_rule_is_found_just_below_the_threshold_unless_there_is_a_margin",
        )
    ],
}


def test_every_function_that_takes_a_waiver_for_a_table_is_here() -> None:
    functions = {name: getattr(microdata, name) for name in microdata.__all__}
    waived = {
        name
        for name, own in functions.items()
        if inspect.isfunction(own) and "waiver" in inspect.signature(own).parameters and name != "utility_report"
    }
    assert waived == set(NAMED)


@pytest.mark.parametrize("name", NAMED)
def test_its_docstring_names_an_attack_that_a_test_shows(name: str) -> None:
    words = " ".join((getattr(microdata, name).__doc__ or "").split())
    assert any(said in words for said in ("keeps a promise", "keep a promise", "with a promise"))  # the private way
    for attack, file, test in NAMED[name]:
        assert attack in words
        package = "tests.mechanisms.microdata" if file.startswith("mechanisms.") else "tests.microdata"
        assert callable(getattr(importlib.import_module(f"{package}.{file.removeprefix('mechanisms.')}"), test))


def test_models_name_what_breaks_each_of_them() -> None:
    words = AnonymityModel.__doc__ or ""
    for attack in ("homogeneity", "background", "skewness", "similarity", "single", "minimality", "composition"):
        assert attack in words


ROLES = {"age": "quasi-identifier", "ill": "sensitive"}
ILLS = ("flu", "cold", "gout", "ulcer", "gastritis", "cancer")


def table_of(ages: Sequence[float], ills: Sequence[str], **model: Any) -> PublishedTable:
    schema = {"age": Number(0, 120, step=1), "ill": Category(ILLS)}
    data = PrivateData.of({"age": np.array(ages), "ill": list(ills)}, schema, Budget(1.0))
    return anonymize(data, ROLES, waiver="made-up people", **model)


def class_of(table: PublishedTable, age: float) -> list[str]:
    """The illnesses of all who may be somebody of this age."""
    found = []
    for ages, ill in zip(table["age"], table["ill"], strict=True):
        low, high = map(float, ages.strip("[])").split(", "))
        if low <= age < high or (low <= age <= high and ages.endswith("]")):
            found.append(ill)
    return found


def test_a_class_with_one_illness_tells_it_of_all() -> None:
    """Homogeneity, and background knowledge: all of a class have it, or have it who are known not to have another."""
    ages = [*range(20, 30), *range(60, 70)]
    table = table_of(ages, ["gout"] * 10 + ["flu", "cold"] * 5, k=10)
    assert check_anonymity(table, ROLES).k == 10
    assert set(class_of(table, 25)) == {"gout"}
    assert set(class_of(table, 65)) - {"flu"} == {"cold"}  # of somebody who is known to have no flu


def test_diverse_classes_tell_that_a_rare_illness_is_likely() -> None:
    """Skewness: two in a hundred have it, and half of a class. Similarity: three illnesses are all of the stomach."""
    table = table_of([*range(96), *range(100, 104)], ["flu", "cold"] * 48 + ["cancer", "flu"] * 2, k=4, l=2)
    assert (check_anonymity(table, ROLES).l or 0) >= 2
    assert np.mean(np.array(class_of(table, 102)) == "cancer") >= 10 * np.mean(table["ill"] == "cancer")
    table = table_of([20, 21, 22, 60, 61, 62], ["ulcer", "gastritis", "cancer", "flu", "cold", "gout"], k=3, l=3)
    assert check_anonymity(table, ROLES).l == 3
    assert set(class_of(table, 21)) == {"ulcer", "gastritis", "cancer"}


def test_records_that_are_known_are_taken_off_a_close_class() -> None:
    """t-closeness: a class is as the whole table is, and two who tell what they have give the others away."""
    ages = [*range(20, 24), *range(60, 64)]
    table = table_of(ages, ["flu", "flu", "cancer", "cancer"] * 2, k=4, t=0.05)
    assert check_anonymity(table, ROLES).k == 4
    left = class_of(table, 20)
    for known in ("flu", "flu"):
        left.remove(known)
    assert set(left) == {"cancer"}
