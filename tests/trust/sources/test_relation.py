"""Relations of DuckDB as sources."""

from __future__ import annotations

import duckdb
import pytest

from discreet.core.errors import DiscreetError
from discreet.schema.schema import Number, Schema
from discreet.trust.sources.relation import Relation
from tests.trust.sources.tables import relation_of
from tests.trust.sources.trial import SourceTrial

TRIAL = SourceTrial(lambda table, schema, folder: Relation(relation_of(table), schema))


def test_a_relation_whose_table_is_gone_is_refused_before_anything_is_charged() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people AS SELECT 1.0 AS x")
    source = Relation(connection.table("people"), Schema({"x": Number(0, 1)}))
    source.check_ready()
    connection.execute("DROP TABLE people")
    with pytest.raises(DiscreetError):
        source.check_ready()
