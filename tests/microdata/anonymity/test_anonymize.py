"""Anonymous tables: what they show, what is refused before anything goes on record, and what breaks them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import KeyReused, NotPermitted, ParameterError, SchemaError
from discreet.core.neighbors import Neighbors, Unit
from discreet.microdata import anonymize, check_anonymity
from discreet.microdata.published_table import PublishedTable
from discreet.schema.dates import Date
from discreet.schema.schema import Category, Column, Number, Text
from discreet.trust.private_data import PrivateData

ROLES = {
    "name": "identifying",
    "age": "quasi-identifier",
    "income": "quasi-identifier",
    "town": "quasi-identifier",
    "born": "quasi-identifier",
    "ill": "sensitive",
}
TOWNS = ("Ulm", "Bonn", "Kiel", "Jena", "Trier", "Gera")
ILLS = ("flu", "cold", "gout", "rash")
SCHEMA: dict[str, Column] = {
    "name": Text(),
    "ill": Category(ILLS),
    "age": Number(0, 120, step=1),
    "income": Number(0.0, 1e6),
    "town": Category(TOWNS),
    "born": Date("1920-01-01", "2020-12-31"),
    "height": Number(0.0, 2.5),
}
HIERARCHIES: dict[str, Any] = {
    "age": (5, 20),
    "income": (1000, 10_000, 100_000),
    "town": [{"south": ["Ulm", "Trier"], "north": ["Bonn", "Kiel"], "east": ["Jena", "Gera"]}],
    "born": ["year", "decade"],
}


def people(n: int = 240) -> dict[str, Any]:
    random = np.random.default_rng(2)
    age = random.integers(0, 100, n).astype(float)
    age[: n // 12] = np.nan
    return {
        "name": [f"person {i}" for i in range(n)],
        "age": age,
        "income": np.exp(random.normal(8, 1, n)),
        "town": random.choice(TOWNS, n),
        "born": np.datetime64("1925-01-01") + random.integers(0, 30_000, n),
        "ill": random.choice(ILLS, n, p=(0.4, 0.3, 0.2, 0.1)),
        "height": np.round(random.normal(1.7, 0.1, n), 3),
    }


def private(records: Any = None, schema: Any = None, **options: Any) -> PrivateData:
    return PrivateData.of(
        people() if records is None else records, SCHEMA if schema is None else schema, Budget(1.0), **options
    )


def asked(data: PrivateData, roles: Mapping[str, str] = ROLES, **options: Any) -> PublishedTable:
    return anonymize(data, roles, **{"k": 5, "waiver": "made-up people", **options})


MODELS: list[dict[str, Any]] = [
    {"k": 6},
    {"k": 4, "l": 3},
    {"k": 3, "l": 2.5, "diversity": "entropy"},
    {"k": 3, "l": 2, "diversity": "recursive", "c": 2.0},
    {"k": 3, "t": 0.4},
]


@pytest.mark.parametrize("method", ["mondrian", "lattice"])
def test_the_table_is_what_was_asked_for(method: str) -> None:
    records = people()
    for model in MODELS:
        more: dict[str, Any] = {"hierarchies": HIERARCHIES, "suppression": 0.1} if method == "lattice" else {}
        table = asked(private(records), method=method, **model, **more)
        assert list(table.schema.columns) == ["ill", "age", "income", "town", "born", "height"]
        report = check_anonymity(table, ROLES)
        assert report.k >= model["k"]
        assert report.classes > 1
        (ill,) = report.sensitive
        if "t" in model:
            assert ill.t <= model["t"] + 1e-9
        elif "c" in model:
            assert ill.distinct >= 2
        elif "diversity" in model:
            assert ill.entropy >= model["l"] - 1e-9
        elif "l" in model:
            assert ill.distinct >= model["l"]
        assert len(table) == 240 - table.notes.get("left_out", 0)
        if method == "mondrian":
            assert np.array_equal(np.sort(table["height"]), np.sort(records["height"]))
            assert Counter(table["ill"]) == Counter(records["ill"])


def test_sensitive_values_stay_with_their_records() -> None:
    """Each row is in the box of a record that has the same height, which is almost unique."""
    records = people()
    records["height"] = 1.0 + np.arange(240) / 1000
    table = asked(private(records))
    born = records["born"].astype("M8[D]")
    for height, age, income, town, day, ill in zip(*(table[n] for n in ("height", *list(ROLES)[1:])), strict=True):
        row = round((height - 1) * 1000)
        assert ill == records["ill"][row]
        assert records["town"][row] in town
        low, high = income.strip("[])").split(", ")
        assert float(low) <= records["income"][row] < float(high)
        first, last = day.strip("[])").split(", ")
        assert first <= str(born[row]) <= last
        if np.isnan(records["age"][row]):
            assert age is None or age.endswith(" or missing")
        else:
            low, high = age.removesuffix(" or missing").strip("[])").split(", ")
            assert float(low) <= records["age"][row] <= float(high)


def test_without_a_hierarchy_a_column_is_as_it_is_or_one_value() -> None:
    table = asked(private(), method="lattice", k=20)
    assert table.notes["levels"] == {"age": 1, "income": 1, "town": 0, "born": 1}
    assert set(table["age"]) == {"*"}
    assert table.schema.columns["town"] == SCHEMA["town"]


def test_the_same_key_gives_the_same_table_and_another_question_is_refused() -> None:
    data = private()
    first, again = (asked(data, key="monday") for _ in range(2))
    assert again.receipt.replayed
    assert first.records.tobytes() == again.records.tobytes()
    assert first.schema == again.schema
    with pytest.raises(KeyReused):
        asked(data, key="monday", k=6)


def refused(error: type[Exception], words: str, data: PrivateData | None = None, **options: Any) -> None:
    data = private() if data is None else data
    with pytest.raises(error, match=words) as found:
        asked(data, **options)
    assert "Nothing was released or spent" in str(found.value)
    assert not data.ledger.entries()
    assert "person" not in str(found.value)


def test_what_can_be_known_before_is_refused_before_anything_goes_on_record() -> None:
    refused(NotPermitted, "keeps no promise .*discreet.synthesize", waiver=None)
    refused(SchemaError, "no column is a quasi-identifier", roles={"age": "sensitive"})
    refused(SchemaError, "there is no column 'aeg'", roles={"aeg": "quasi-identifier"})
    for role in ({}, {"name": "quasi-identifier"}, {"name": "sensitive"}):
        refused(SchemaError, "'name' is text whose.*buy_categories", roles={"age": "quasi-identifier", **role})
    refused(SchemaError, "about sensitive columns", roles={**ROLES, "ill": "other"}, l=2)
    refused(ParameterError, "l is 6 and 'ill' has 4 values", l=6)
    refused(ParameterError, "k is 241 and there are 240 records", private(neighbors=Neighbors.REPLACE), k=241)
    refused(ParameterError, "Did you mean 'lattice'", method="latice")
    refused(ParameterError, "method is None", method=None)
    refused(ParameterError, "suppression is 1", method="lattice", suppression=1.0)
    refused(ParameterError, "suppression is nan", method="lattice", suppression=float("nan"))
    refused(ParameterError, "Mondrian cuts by itself, and suppression", suppression=0.1)
    refused(ParameterError, "Mondrian cuts by itself, and hierarchies", hierarchies=HIERARCHIES)
    refused(ParameterError, "hierarchies is 5", method="lattice", hierarchies=5)
    refused(SchemaError, "'ill' has a hierarchy and is no quasi-identifier", method="lattice", hierarchies={"ill": ()})
    refused(SchemaError, "'age' is ordered and no sensitive column", ordered=["age"])
    refused(ParameterError, "ordered is 5", ordered=5)


def test_a_lattice_that_is_too_large_is_refused_with_columns_to_leave_out() -> None:
    schema: dict[str, Column] = {f"x{i}": Number(0, 2**20, step=1) for i in range(6)}
    data = private({name: [0.0] for name in schema}, schema)
    widths = {name: tuple(2**i for i in range(1, 17)) for name in schema}
    with pytest.raises(ParameterError, match=r"34,012,224 combinations .* Leave out x0, x1") as found:
        anonymize(
            data, dict.fromkeys(schema, "quasi-identifier"), k=2, method="lattice", hierarchies=widths, waiver="a"
        )
    assert not data.ledger.entries()
    assert found.value.values["nodes"] == 18**6


def test_where_no_table_is_enough_it_says_how_near_it_came_and_a_key_says_so_again() -> None:
    data = private()
    for _ in range(2):
        with pytest.raises(
            ParameterError, match=r"no table meets 500-anonymity: all records together are 240\. The wai"
        ):
            asked(data, k=500, key="monday")
    assert len(data.ledger.entries()) == 1
    with pytest.raises(ParameterError, match=r"distinct 5-diversity: .*reaches l = 4; at least 240 records"):
        asked(data, method="lattice", l=5)
    for records in ({name: column[:0] for name, column in people(24).items()}, people(1)):
        with pytest.raises(ParameterError, match=r"all records together are [01]"):
            asked(private(records))


def test_people_with_several_rows_are_counted_once() -> None:
    records = {**people(), "who": [f"id {i // 3}" for i in range(240)]}
    table = asked(private(records, unit=Unit("user", column="who", rows=3)), k=4)
    assert check_anonymity(table, ROLES).k >= 12


def test_files_and_logs_do_not_name_what_was_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    records: dict[str, Any] = {"age": [30.0] * 40 + [117.0], "ill": ["flu", "cold"] * 20 + ["flu"]}
    schema = {"age": Number(0, 120, step=1), "ill": Category(("flu", "cold"))}
    roles = {"age": "quasi-identifier", "ill": "sensitive"}
    for widths in ((), (1, 2)):
        options: dict[str, Any] = {"method": "lattice", "suppression": 0.1, "hierarchies": {"age": widths}}
        table = asked(private(records, schema), roles, **options)
        assert table.notes["left_out"] == 1
        table.to_csv(tmp_path / "a.csv")
        shown = (
            (tmp_path / "a.csv").read_text() + str(table) + table._repr_html_() + repr(table.schema) + str(table.notes)
        )
        assert "117" not in shown + str(table.to_dict()) + caplog.text
        assert "116" not in shown + caplog.text


def test_two_tables_of_the_same_people_differ_by_one_who_is_found() -> None:
    """Composition: each table is 5-anonymous, and somebody who came between them is not hidden by both."""
    records = people(60)
    records["ill"] = np.array(["flu", "cold"] * 30)
    records["ill"][17] = "gout"
    fewer = {name: np.delete(np.asarray(column, dtype=object), 17).tolist() for name, column in records.items()}
    before, after = (asked(private(one)) for one in (fewer, records))
    assert check_anonymity(before, ROLES).k >= 5
    assert check_anonymity(after, ROLES).k >= 5
    found = Counter(after["ill"]) - Counter(before["ill"])
    assert found == {"gout": 1}


def test_classes_of_two_tables_intersect_in_fewer_than_k() -> None:
    """Whoever is known to be in both is in one class of each: few people are in both."""
    records = people()
    identity = np.arange(240) / 1000
    records["height"] = identity
    mondrian = asked(private(records), k=10)
    lattice = asked(private(records), k=10, method="lattice", hierarchies=HIERARCHIES)
    classes = []
    for table in (mondrian, lattice):
        keys = list(zip(*(table[name] for name in ("age", "income", "town", "born")), strict=True))
        classes.append(dict(zip(table["height"].tolist(), keys, strict=True)))
    both = Counter((classes[0][one], classes[1][one]) for one in identity.tolist())
    assert min(Counter(classes[0].values()).values()) >= 10
    assert min(both.values()) < 10


def test_no_row_of_the_table_is_a_row_of_the_original() -> None:
    records = people()
    table = asked(private(records))
    original = set(zip(*(map(str, records[name]) for name in ("age", "income", "town", "born")), strict=True))
    shown = set(zip(*(map(str, table[name]) for name in ("age", "income", "town", "born")), strict=True))
    assert not original & shown
