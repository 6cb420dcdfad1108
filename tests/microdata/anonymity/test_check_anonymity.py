"""The check of a table: against plain definitions, in every form of a table, and what is refused."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from decimal import Decimal
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError, SchemaError
from discreet.core.events import NoPromise
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt
from discreet.microdata.anonymity.check_anonymity import AnonymityReport, check_anonymity
from discreet.microdata.published_table import PublishedTable
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "sex": "quasi-identifier", "ill": "sensitive"}


def people(n: int = 120, missing: float = 0.1) -> dict[str, Any]:
    random = np.random.default_rng(4)
    table = {
        "age": random.integers(20, 60, n).astype(object),
        "town": random.choice(["Ulm", "Bonn", "Kiel"], n).astype(object),
        "sex": random.choice(["f", "m"], n).astype(object),
        "ill": random.choice(["flu", "cold", "gout"], n, p=[0.6, 0.3, 0.1]).astype(object),
        "cost": random.integers(1, 9, n).astype(object),
    }
    for column in table.values():
        column[random.random(n) < missing] = None
    return table


def uniques(table: dict[str, Any], names: list[str]) -> int:
    rows = list(zip(*(table[name] for name in names), strict=True)) if names else [()] * len(table["age"])
    return sum(count == 1 for count in Counter(rows).values())


def test_figures_are_those_of_their_definitions() -> None:
    table = people()
    report = check_anonymity(table, ROLES)
    quasi = ["age", "town", "sex"]
    classes: dict[Any, list[Any]] = {}
    for row in zip(*(table[name] for name in (*quasi, "ill")), strict=True):
        classes.setdefault(row[:-1], []).append(row[-1])
    assert report.classes == len(classes)
    assert report.k == report.l == 1
    assert report.uniques == uniques(table, quasi) > 20
    whole = Counter(table["ill"])
    distance = max(
        sum(abs(own.count(value) / len(own) - count / 120) for value, count in whole.items()) / 2
        for own in classes.values()
    )
    assert report.t == pytest.approx(distance)
    few = check_anonymity(table, {"sex": "quasi-identifier", "ill": "sensitive"}).sensitive[0]
    own = [[ill for ill, sex in zip(table["ill"], table["sex"], strict=True) if sex == one] for one in ("f", "m", None)]
    assert few.distinct == min(len(set(one)) for one in own)
    entropies = [-sum(c / len(one) * np.log(c / len(one)) for c in Counter(one).values()) for one in own]
    assert few.entropy == pytest.approx(np.exp(min(entropies)))
    ranked = [sorted(Counter(one).values(), reverse=True) for one in own]
    assert few.recursive == pytest.approx(max(one[0] / sum(one[few.distinct - 1 :]) for one in ranked))


def test_shares_are_means_over_all_orders_and_add_up() -> None:
    table = people()
    report = check_anonymity(table, ROLES)
    names = ["age", "town", "sex"]
    for risk in report.columns:
        gains = [
            uniques(table, [*order[: order.index(risk.name)], risk.name])
            - uniques(table, list(order[: order.index(risk.name)]))
            for order in permutations(names)
        ]
        assert risk.share == pytest.approx(np.mean(gains))
        assert risk.alone == uniques(table, [risk.name])
        assert risk.vanish == report.uniques - uniques(table, [name for name in names if name != risk.name])
    assert sum(risk.share for risk in report.columns) == pytest.approx(report.uniques)


def same(*reports: AnonymityReport) -> None:
    assert len({json.dumps(one.to_dict()) for one in reports}) == 1


def test_all_forms_of_a_table_are_the_same() -> None:
    table = people()
    frame = pd.DataFrame(table)
    typed = frame.astype({"age": "Int64", "town": "category", "sex": "string", "cost": "float"})
    roles = {**ROLES, "cost": "sensitive"}
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    same(*(check_anonymity(one, roles) for one in (table, frame, typed, pl.from_pandas(frame), pa.table(frame))))
    schema = Schema(
        {
            "age": Number(0, 120, step=1),
            "town": Category(("Kiel", "Ulm", "Bonn")),
            "sex": Category(("f", "m")),
            "ill": Category(("flu", "cold", "gout")),
            "cost": Number(0, 10),
        }
    )
    coded = [
        [np.nan if v is None else float(c.values.index(v) if isinstance(c, Category) else v) for v in table[name]]
        for name, c in schema.columns.items()
        if not isinstance(c, str)
    ]
    receipt = Receipt("example", NoPromise("made up"), 0.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")
    rows = np.array(coded).T
    published = PublishedTable(name="example", receipt=receipt, confidence=None, schema=schema, records=rows)
    same(check_anonymity(table, roles), check_anonymity(published, roles))
    ordered = check_anonymity(published, roles, ordered=["ill"]).sensitive[0]
    assert ordered.ordered
    assert ordered.t != check_anonymity(published, roles).sensitive[0].t


def test_a_missing_value_is_a_value_however_it_is_written() -> None:
    for nothing in (None, float("nan"), np.float64("nan"), pd.NA, pd.NaT):
        found = check_anonymity({"sex": ["f", "f", nothing, nothing, nothing]}, {"sex": "quasi-identifier"})
        assert (found.k, found.classes) == (2, 2)
    days = np.array(["2020-01-01", "NaT", "NaT"], "M8[D]")
    assert check_anonymity({"day": days}, {"day": "quasi-identifier"}).classes == 2


def test_numbers_and_dates_have_an_order_and_large_integers_are_told_apart() -> None:
    def t(values: Any) -> tuple[bool, float]:
        found = check_anonymity({"q": [0, 0, 1, 1], "s": values}, {"q": "quasi-identifier", "s": "sensitive"})
        return found.sensitive[0].ordered, round(found.sensitive[0].t, 9)

    for ordered in ([1, 2, 3, 4], [Decimal(1), 2, 3.0, 4], [datetime.date(2020, 1, i) for i in (1, 2, 3, 4)]):
        assert t(ordered) == (True, round(1 / 3, 9))
    assert t(np.array([1.0, 2.0, 3.0, np.nan])) == (True, round(1 / 3, 9))
    assert t(["a", "b", "c", "d"]) == (False, 0.5)
    assert t([True, False, True, False]) == (False, 0.0)
    assert t([True, None, False, False]) == (False, 0.5)
    assert check_anonymity({"id": [2**60, 2**60 + 1]}, {"id": "quasi-identifier"}).k == 1


def test_it_says_that_it_is_not_private_and_nothing_in_it_is_markup() -> None:
    report = check_anonymity({"<b>": [1, 2]}, {"<b>": "quasi-identifier"})
    for shown in (str(report), report._repr_html_(), json.dumps(report.to_dict())):
        assert "NOT PRIVATE" in shown
    assert "<b>" not in report._repr_html_()


def test_many_columns_have_no_shares_and_say_so() -> None:
    table = {f"x{i}": np.arange(2000) % (i + 2) for i in range(20)}
    report = check_anonymity(table, dict.fromkeys(table, "quasi-identifier"))
    assert np.isnan([one.share for one in report.columns]).all()
    assert report.to_dict()["columns"][0]["share"] is None
    assert "no answer" in str(report)


def test_what_is_no_table_is_refused() -> None:
    roles = {"age": "quasi-identifier"}
    with pytest.raises(SchemaError, match="no column is a quasi-identifier"):
        check_anonymity(people(), {"age": "sensitive"})
    with pytest.raises(SchemaError, match="there is no column 'aeg'"):
        check_anonymity(people(), {"aeg": "quasi-identifier"})
    data = PrivateData.of({"age": [1.0]}, {"age": (0, 2)}, Budget(1.0))
    for table, words in (
        ([1, 2], "a list is no table"),
        (data, "a PrivateData is no table"),
        ({"age": []}, "no records"),
        ({"age": [[1], [2]]}, "2 dimensions"),
        ({"age": [{}, {}]}, "cannot be compared"),
    ):
        with pytest.raises(ParameterError, match=words):
            check_anonymity(table, roles)
    with pytest.raises(ParameterError, match="differ in length"):
        check_anonymity({"age": [1, 2], "ill": [1]}, {**roles, "ill": "sensitive"})


def test_columns_that_name_people_are_told_where_they_are_still_there() -> None:
    roles = {"age": "quasi-identifier", "name": "identifying", "absent": "identifying"}
    report = check_anonymity({"age": [1, 1], "name": ["a", "b"]}, roles)
    assert report.identifying == ("name",)
    assert "identifying: name: still there" in str(report)
    assert "identifying" not in str(check_anonymity({"age": [1, 1]}, roles))
