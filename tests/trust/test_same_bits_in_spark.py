"""Relations drawn at random, with the noise off: Spark gives the same bits as arrays, and so as the other engines."""

from __future__ import annotations

from typing import Any

import pytest

from tests.trust.same_bits import KINDS, Opened, Table, as_arrow, swept

pytestmark = pytest.mark.xdist_group("spark")


def engines(spark: Any) -> dict[str, Opened]:
    def in_spark(table: Table) -> Any:
        return spark.createDataFrame(as_arrow(table)).repartition(2)

    return {"arrays": lambda table: table, "spark": in_spark}


def test_relations_have_the_same_bits_in_spark(spark: Any) -> None:
    taken = swept((58, 88, 95, 112), engines(spark))  # few that have steps of all kinds
    assert min(taken[kind] for kind in KINDS) >= 1
    assert taken["not in spark"] == 0


@pytest.mark.slow
def test_500_relations_have_the_same_bits_in_spark(spark: Any) -> None:
    taken = swept(range(500), engines(spark))
    assert min(taken[kind] for kind in KINDS) >= 20
    assert taken["not in spark"] == 0
