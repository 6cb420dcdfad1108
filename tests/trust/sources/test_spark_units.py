"""One row for each unit, made by Spark: the same bits as elsewhere, of joined rows, too."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.questions.columns.moments import moments_of
from discreet.questions.tables.contingency import contingency_of
from discreet.trust.private_data import PrivateData
from tests.trust.same_bits import Exact
from tests.trust.sources.trial import SourceTrial
from tests.trust.test_per_unit import BOUNDS, DESCRIBED, TEXTS, UNIT, VISITS, opened

pytestmark = [
    pytest.mark.skipif(find_spec("pyspark") is None, reason="pyspark is not installed"),
    pytest.mark.xdist_group("spark"),
]
TRIAL = SourceTrial(None, elsewhere="here, since it takes a Spark session")


def of_spark(spark: Any) -> PrivateData:
    visits = pa.Table.from_pandas(VISITS.drop(columns="admitted"), preserve_index=False)
    frame = spark.createDataFrame(visits).repartition(3)
    return PrivateData.of(frame, DESCRIBED, Budget(1e6), unit=UNIT, name="visits")


def test_it_has_the_same_bits_as_the_table_that_is_made_here(spark: Any) -> None:
    found = []
    for data in (opened(), of_spark(spark)):
        chosen = data.where("age >= 5").derive(score="floor(stay / 7) * 2 - age")
        each = chosen.per_unit(bounds=BOUNDS, **TEXTS, score="max of score")
        trust: Any = each._trust
        questions = [moments_of(each.schema, name, 2, False) for name in each.schema.features]
        questions += [contingency_of(each.schema, (name,), (0,)) for name in ("ever", "always", "ward")]
        found.append([trust.source.sum(question).tolist() for question in questions])
        assert each.unit.rows == 1
    assert found[0] == found[1]


def test_a_question_in_sql_is_answered_and_weights_are_refused(spark: Any) -> None:
    data = of_spark(spark)
    text = "SELECT avg(longest) AS m FROM (SELECT who, max(stay) AS longest FROM visits GROUP BY who) AS q"
    exact = VISITS.groupby("who")["stay"].max().clip(0, 60).mean()
    assert discreet.sql({"visits": data}, text, epsilon=1e4)["m"].values[0] == pytest.approx(exact, abs=0.1)
    before = data.ledger.entries()
    with pytest.raises(NotPermitted, match="does not make such rows"):
        data.join(data, "ward", how="weighted", prefix="other_")
    here = PrivateData.of(VISITS, DESCRIBED, data.ledger, unit=UNIT)
    for one, other in ((data, here), (here, data)):
        with pytest.raises(NotPermitted, match="another one is not"):
            one.join(other, prefix="other_")
    assert data.ledger.entries() == before


def test_joined_records_are_units_by_themselves(spark: Any) -> None:
    wards = discreet.PublicTable({"ward": ["day", "day"], "beds": [7, 9]}, {"ward": ["day", "icu"], "beds": (0, 20)})
    frame = spark.createDataFrame(pa.Table.from_pandas(VISITS.drop(columns="admitted"), preserve_index=False))
    found = []
    for records in (frame, VISITS):
        joined = PrivateData.of(records, DESCRIBED, Budget(1e6)).join(wards, "ward").derive(both="beds + stay")
        trust: Any = joined._trust
        found.append(trust.ask(moments_of(joined.schema, "both", 2, False), Exact()))
        assert joined.unit.rows == 2
    assert found[0] == found[1]
