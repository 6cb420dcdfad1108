"""Several tables in one schema file: what they say, what they refuse, and that one account pays for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted, SchemaError
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import account_of
from discreet.query.schema_file import read_schema
from discreet.query.tables_file import OpenTables, opened_tables, read_tables
from discreet.trust.private_data import PrivateData

UNIT = '[unit]\nkind = "user"\ncolumn = "who"\nrows = 3\n'
WARD = '[columns.ward]\nkind = "category"\nvalues = ["day", "icu"]\n'
VISITS = f'{UNIT}{WARD}[columns.stay]\nkind = "number"\nlower = 0\nupper = 60\n'
PEOPLE = f'{UNIT.replace("3", "1")}[columns.age]\nkind = "number"\nlower = 0\nupper = 100\n'
WARDS = f'{WARD}[columns.beds]\nkind = "number"\nlower = 0\nupper = 40\n'
TABLES = """
[tables.people]
schema = "people.toml"
on = { who = "who" }

[tables.wards]
schema = "wards.toml"
public = true
key = ["ward"]
on = { ward = "ward" }
"""
ROWS: dict[str, dict[str, list[Any]]] = {
    "visits": {"who": [i // 3 for i in range(900)], "ward": ["day", "icu", "day"] * 300, "stay": [2.0, 9.0, 4.0] * 300},
    "people": {"who": list(range(300)), "age": [20, 70, 45] * 100},
    "wards": {"ward": ["day", "icu"], "beds": [20, 6]},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("visits", VISITS + TABLES), ("people", PEOPLE), ("wards", WARDS)):
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path


def opened(folder: Path, **records: Any) -> OpenTables:
    described = read_schema(folder / "visits.toml")
    ledger = account_of(Budget(1e6), Neighbors.ADD_REMOVE, described.unit)
    first = PrivateData.of(ROWS["visits"], described.schema, ledger, unit=described.unit)
    others = records or {name: ROWS[name] for name in ("people", "wards")}
    return opened_tables("visits", first, read_tables(folder / "visits.toml"), others)


def test_a_file_without_other_tables_has_none(folder: Path) -> None:
    assert read_tables(folder / "people.toml") == {}
    stated = read_tables(folder / "visits.toml")
    assert [stated["people"].described.unit, stated["wards"].public] == [Unit("user", "who", 1), True]


def test_tables_are_joined_as_the_file_says_and_one_account_pays(folder: Path) -> None:
    tables = opened(folder)
    for join in ("JOIN wards", "JOIN wards AS w", "JOIN wards USING (ward)", "JOIN wards w ON visits.ward = w.ward"):
        found = discreet.sql(tables, f"SELECT avg(beds) AS beds FROM visits {join}", epsilon=1e4)
        assert found["beds"].values[0] == pytest.approx((20 * 2 + 6) / 3, abs=0.1)
        assert found.receipt.unit.rows == 3  # the key says that a ward has one row
    swapped = discreet.sql(tables, "SELECT count(*) AS n FROM wards JOIN visits WHERE stay > 3", epsilon=1e4)
    assert swapped["n"].values[0] == 600
    text = (
        "SELECT ward, count(*) AS n, avg(age) AS age FROM visits JOIN people JOIN wards WHERE beds > 10 GROUP BY ward"
    )
    both = discreet.sql(tables, text, epsilon=1e4)
    assert both["n"].values.tolist() == [600, 0]
    assert both["age"].values[0] == pytest.approx(45, abs=0.1)
    assert len(tables["visits"].ledger.entries()) == 6  # type: ignore[union-attr]
    assert tables["people"].ledger is tables["visits"].ledger  # type: ignore[union-attr]


def test_a_plan_says_the_error_of_what_is_joined_and_asks_nothing(folder: Path) -> None:
    tables = opened(folder)
    text = "SELECT count(*) AS n, avg(age) AS age FROM visits JOIN people"
    expected = discreet.plan(tables, text, n=300, epsilon=[1.0, 4.0]).expectations
    assert tables["visits"].ledger.entries() == ()  # type: ignore[union-attr]
    found = discreet.sql(tables, text, epsilon=1.0)
    for one in expected[:2]:
        low, high = found[one.question.rpartition(": ")[2]].interval
        assert one.low / 1.15 <= float(high[0] - low[0]) / 2 <= one.high * 1.15
    assert expected[2].error < expected[0].error
    with pytest.raises(DiscreetError, match="there are several tables"):
        discreet.plan(tables, "mean of age", n=300)


def test_what_the_file_does_not_say_is_refused_before_any_charge(folder: Path) -> None:
    tables = opened(folder)
    (folder / "plain.toml").write_text(VISITS)
    unsaid = OpenTables(tables.tables)
    for data, text in (
        (tables, "SELECT count(*) FROM visits, wards"),
        (tables, "SELECT count(*) FROM visits CROSS JOIN wards"),
        (tables, "SELECT count(*) FROM visits NATURAL JOIN wards"),
        (tables, "SELECT count(*) FROM people JOIN wards"),
        (unsaid, "SELECT count(*) FROM visits JOIN wards"),
    ):
        with pytest.raises(NotPermitted, match="Nothing was released or spent"):
            discreet.sql(data, text, epsilon=1.0)
    assert tables["visits"].ledger.entries() == ()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('"people.toml"', '"absent.toml"'), "cannot be read"),
        (('schema = "people.toml"\n', ""), "which file describes it"),
        (("public = true\n", ""), "does not protect the same people"),
        (("public = true", "public = 1"), "public is 1"),
        (('key = ["ward"]', 'key = "ward"'), "key is 'ward'"),
        (('key = ["ward"]', 'key = ["word"]'), "no column 'word'"),
        (('on = { ward = "ward" }', 'on = { word = "ward" }'), "no column 'word'"),
        (('on = { ward = "ward" }', 'on = { ward = "who" }'), "no column 'who'"),
        (('on = { ward = "ward" }', "on = { ward = 3 }"), "on is"),
        (("[tables.wards]", "[tables.wards]\nrows = 3"), "nothing is called 'rows'"),
        (('on = { who = "who" }', 'key = ["who"]'), "whether a key holds"),
    ],
)
def test_mistakes_are_refused_with_their_table(change: tuple[str, str], says: str, folder: Path) -> None:
    (folder / "visits.toml").write_text(VISITS + TABLES.replace(*change))
    with pytest.raises(SchemaError, match=says):
        read_tables(folder / "visits.toml")


def test_a_public_table_that_protects_somebody_or_breaks_its_key_is_refused(folder: Path) -> None:
    (folder / "wards.toml").write_text(UNIT + WARDS)
    with pytest.raises(SchemaError, match="its file protects somebody"):
        read_tables(folder / "visits.toml")
    (folder / "wards.toml").write_text(WARDS)
    twice = {"ward": ["day", "icu", "icu"], "beds": [20, 6, 7]}
    with pytest.raises(SchemaError, match="several of its rows have the same ward"):
        opened(folder, wards=twice)
    with pytest.raises(SchemaError, match="says nothing of it"):
        opened(folder, beds=twice)
