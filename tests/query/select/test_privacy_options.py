"""What a text says of privacy as BigQuery does: understood where it means something here, and refused where not."""

from __future__ import annotations

import re

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted, ParameterError
from discreet.core.neighbors import Unit
from discreet.query.select.sql import read_sql
from discreet.trust.private_data import PrivateData

ROWS = 4
VISITS = {"who": [i // ROWS for i in range(40)], "ward": ["day", "icu"] * 20, "stay": [2.0, 9.0] * 20}
COUNTS = "ward, count(*) AS n FROM visits GROUP BY ward"


def private(unit: Unit = Unit("user", "who", ROWS)) -> PrivateData:  # noqa: B008 - frozen
    return PrivateData.of(VISITS, {"ward": ["day", "icu"], "stay": (0, 60)}, Budget(9.0), unit=unit)


def text(options: str, rest: str = COUNTS) -> str:
    return f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options})\n {rest}"


def test_all_that_the_data_have_already_is_understood() -> None:
    said = f"epsilon = 2, delta=1e-6, max_groups_contributed={ROWS}, max_rows_contributed=9, privacy_unit_column=v.WHO"
    assert read_sql(private(), text(said)).selection.budget == Budget(2.0, 1e-6)
    read_sql(private(), text("epsilon=1, max_groups_contributed=NULL,"))
    read_sql(private(), text("max_groups_contributed=1", "count(*) FROM visits"))  # all rows are one group


def test_groups_of_a_unit_are_limited_where_its_rows_are_brought_together() -> None:
    inner = "ward, sum(stay) AS s FROM visits GROUP BY who, ward"
    outer = f"ward, avg(s) AS s FROM (SELECT {inner}) AS q GROUP BY ward"
    counted = "ward, count(DISTINCT who) AS users FROM visits GROUP BY ward"
    for rest, most in ((outer, 1), (outer, 2), (counted, 1), (counted, 3)):
        found = read_sql(private(), text(f"epsilon=1, max_groups_contributed={most}", rest))
        assert found.selection.data.unit.rows == most
    assert read_sql(private(), text("epsilon=1", outer)).selection.data.unit.rows == ROWS


@pytest.mark.parametrize(
    ("said", "word", "why"),
    [
        ("epsilon=1, max_groups_contributed=3", "max_groups_contributed", "in as many groups"),
        ("epsilon=1, max_rows_contributed=3", "max_rows_contributed", "may have 4 rows"),
        ("epsilon=1, privacy_unit_column=ward", "privacy_unit_column", "protects units by who"),
        ("epsilon=1, group_selection_strategy=PUBLIC_GROUPS", "group_selection_strategy", "no option"),
    ],
)
def test_what_would_mean_something_else_here_is_refused_where_it_stands(said: str, word: str, why: str) -> None:
    data = private()
    with pytest.raises(NotPermitted, match=re.escape(f"sql {word!r}")) as found:
        read_sql(data, text(said))
    assert why in str(found.value)
    assert f"line 1, letter {text(said).index(word) + 1}" in str(found.value)
    assert not data.ledger.entries()


def test_a_unit_that_is_no_column_has_no_name() -> None:
    with pytest.raises(NotPermitted, match="protects each record by itself"):
        read_sql(private(Unit("record")), text("epsilon=1, privacy_unit_column=who"))


@pytest.mark.parametrize(
    "said", ["epsilon=one", "epsilon", "epsilon=1, Epsilon=2", "max_rows_contributed=0", "privacy_unit_column=a.b.c"]
)
def test_an_option_that_cannot_be_read_is_refused_where_it_stands(said: str) -> None:
    with pytest.raises(ParameterError, match=r"in line 1, letter \d+"):
        read_sql(private(), text(said))


def test_bounds_of_contributions_are_refused_with_the_way_to_write_them() -> None:
    for bounds, way in (("row", "least"), ("group", "GROUP BY who, ward")):
        given = f"ward,\n sum(stay, contribution_bounds_per_{bounds} => (0, 60)) FROM visits GROUP BY ward"
        with pytest.raises(NotPermitted, match=r"line 3, letter 12\b") as found:
            read_sql(private(), text("epsilon=1", given))
        assert way in str(found.value)


def test_what_stands_behind_the_options_is_refused_where_it_stands() -> None:
    with pytest.raises(DiscreetError, match=r"no column 'wards', in line 2, letter 2\b"):
        read_sql(private(), text("epsilon=1", COUNTS.replace("ward", "wards")))
    whole = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) avg(stays) FROM visits"
    with pytest.raises(DiscreetError, match=rf"in line 1, letter {whole.index('stays') + 1}\b"):
        read_sql(private(), whole)
