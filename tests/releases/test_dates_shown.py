"""Results about dates read as dates."""

from __future__ import annotations

import re

from discreet.schema.dates import Date, Datetime
from discreet.statistics.moments.grouped import grouped
from discreet.statistics.moments.mean import mean
from discreet.statistics.ranks.quantile import median, quantile
from discreet.statistics.tables.histogram import histogram

VISITS = {"day": [f"2020-{1 + n % 5:02}-15" for n in range(6000)], "time": ["2020-03-01 12:00"] * 6000}
SCHEMA = {"day": Date("2020-01-01", "2020-12-31"), "time": Datetime("2020-01-01", "2021-01-01")}


def test_a_mean_and_a_median_are_dates() -> None:
    found = str(mean(VISITS, "day", bounds=SCHEMA, epsilon=1.0))
    day = r"2020-0[234]-[0-9]{2}"
    assert re.fullmatch(rf"mean of day: {day} \[{day}, {day}\] \(95% for these data\)", found), found
    middle = median(VISITS, "day", bounds=SCHEMA, epsilon=5.0)
    assert str(middle).startswith("median of day: 2020-03-15 [")
    assert middle.value == Date("2020-01-01", "2020-03-15").upper
    assert "T12:00:00" in str(median(VISITS, "time", bounds=SCHEMA, confidence=None, epsilon=5.0))


def test_tables_of_quantiles_and_groups_show_dates_as_text_and_as_html() -> None:
    visits, schema = {**VISITS, "ward": ["a", "b"] * 3000}, {**SCHEMA, "ward": ["a", "b"]}
    tables = [
        quantile(visits, "day", q=[0.25, 0.5], bounds=schema, epsilon=5.0),
        median(visits, "day", by="ward", bounds=schema, epsilon=5.0),
        mean(visits, "day", by="ward", bounds=schema, epsilon=5.0),
        grouped(visits, "day", by="ward", bounds=schema, epsilon=5.0),
        mean(visits, "day", bounds=schema, epsilon=5.0),
    ]
    for table in tables:
        for form in (str(table), table._repr_html_()):
            assert "2020-0" in form, form
            assert "18," not in form, form  # days since 1970


def test_cells_are_named_by_their_first_and_last_day() -> None:
    labels = histogram(VISITS, "day", bins=2, bounds=SCHEMA, epsilon=1.0).labels[0]
    assert labels == ("2020-01-01 to 2020-07-01", "2020-07-02 to 2020-12-31")
