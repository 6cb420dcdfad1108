"""A date is one number, whatever writes it."""

from __future__ import annotations

import datetime
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import SchemaError
from discreet.schema.dates import Date, Datetime, seconds_of
from discreet.schema.value import text_of

PLAIN = {
    "Temporal": "dates are checked where they are given, and shown by their repr",
}
"""Why these print no texts of others: see `tests/conformance/test_plain_text.py`."""

ZONE = datetime.timezone(datetime.timedelta(hours=-3))


@given(st.datetimes(timezones=st.sampled_from([None, datetime.UTC, ZONE])))
def test_a_time_is_the_same_as_an_object_as_text_and_in_an_array(time: datetime.datetime) -> None:
    try:
        utc = time.replace(tzinfo=None) - (time.utcoffset() or datetime.timedelta())
    except OverflowError:
        return
    for column in (Date("2020-01-01", "2021-01-01"), Datetime("2020-01-01", "2021-01-01")):
        wanted = (utc - datetime.datetime(1970, 1, 1)) // datetime.timedelta(seconds=column.seconds)
        assert column.count(seconds_of(text_of(time))) == wanted
        assert column.count(seconds_of(time.isoformat(" "))) == wanted
        assert column.counts(np.array([utc], dtype="M8[us]")).tolist() == [wanted]


def test_what_is_no_date_is_missing() -> None:
    for text in (
        None,
        "",
        "2020",
        "20200101",
        "2020-02-30",
        "2020-W01-1",
        "2020-01-01x",
        "0000-01-01",
        "x" * 50,
        "1e9",
    ):
        assert math.isnan(seconds_of(text))
    odd = np.array(["NaT", "-0001-01-01", "10000-01-01"], dtype="M8[D]")
    assert np.isnan(Date("2020-01-01", "2021-01-01").counts(odd)).all()


def test_bounds_are_two_dates_in_order() -> None:
    first, last = datetime.date(2020, 1, 1), datetime.date(2024, 12, 31)
    assert Date(first, last) == Date("2020-01-01", "2024-12-31")
    assert hash(Date(first, last)) == hash(Date(first, last))
    assert pickle.loads(pickle.dumps(Date(first, last))) == Date(first, last)
    for ends in ((last, first), ("2020", "2021"), (0, 1), (None, last)):
        with pytest.raises(SchemaError):
            Date(*ends)
