"""What was probably meant is found by spelling, and named as it is spelled."""

from __future__ import annotations

from discreet.core.checks import LISTED, instead_of, near_name


def test_case_and_small_mistakes_do_not_matter() -> None:
    names = ["age", "Weight_KG", "sex"]
    assert [near_name(name, names) for name in ("AGE", "weigth_kg", "sexx", "income")] == [
        "age",
        "Weight_KG",
        "sex",
        None,
    ]


def test_a_long_list_is_cut() -> None:
    many = [f"question {i}" for i in range(LISTED + 5)]
    assert instead_of("abc", many).endswith(f"question {LISTED - 1} and 5 more.")
    assert instead_of("abc", many[:2]) == "There are question 0, question 1."
