"""A data set with computed columns: the same account, every source and trust model alike, nothing about it unpaid."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import KeyReused, ParameterError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.learners.clusters.kmeans import KMeans
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.columns.moments import moments_of
from discreet.questions.transformed import derivation, transformed
from discreet.statistics.moments.count import count
from discreet.statistics.moments.mean import mean
from discreet.statistics.tables.key_counts import key_counts
from discreet.trust.curator import Curator
from discreet.trust.derived_trust import MOST_STEPS, DerivedTrust
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.source_of import source_of
from tests.trust import trial
from tests.trust.trial import TrustTrial

TRIAL = TrustTrial(
    lambda rows, bits: DerivedTrust(
        Curator(Matrix(rows, trial.SCHEMA), bits=bits), derivation(trial.SCHEMA, {"twice": "2 * x0"}, {})
    )
)
N = 3000
RNG = np.random.default_rng(0)
VISITS = pd.DataFrame(
    {
        "who": [f"p{i}" for i in RNG.integers(0, N // 3, N)],
        "stay": RNG.uniform(0, 60, N),
        "age": RNG.integers(0, 100, N).astype(float),
        "ward": RNG.choice(["day", "icu"], N),
        "town": RNG.choice(["Bern", "Basel"], N),
    }
)
VISITS.loc[::7, "age"] = np.nan
VISITS.loc[::11, "stay"] = 0.0
DESCRIBED = {"stay": (0, 60), "age": (0, 110), "ward": ["day", "icu"], "town": str}
TEXTS = {
    "hours": "stay * 24",
    "rate": "age / stay",
    "score": "case when ward == 'icu' then 2 * hours else coalesce(rate, 1) end",
}


def derived(data: PrivateData) -> PrivateData:
    first = data.derive(hours=TEXTS["hours"], rate=TEXTS["rate"], bounds={"rate": (0, 10)})
    return first.derive(score=TEXTS["score"])


def private(records: Any = VISITS, budget: float = 1e6, **how: Any) -> PrivateData:
    return PrivateData.of(records, DESCRIBED, Budget(budget, 1e-6), **how)


def test_every_source_adds_the_same_bits() -> None:
    table = duckdb.connect()
    table.register("given", VISITS)
    table.execute("CREATE TABLE visits AS SELECT * FROM given")
    described = {name: kind for name, kind in DESCRIBED.items() if name != "town"}
    for unit in (RECORD, Unit("user", "who", 2), Unit("user", "who", pooled=True)):
        sums = []
        for records in (VISITS, table.table("visits"), VISITS.to_dict("list")):
            data = derived(PrivateData.of(records, described, Budget(1.0), unit=unit))
            inner: Any = data._trust
            source = source_of(records, inner.trust.trust.schema, data.unit)
            question: Any = transformed(
                transformed(moments_of(data.schema, "score", 2, False), inner.by), inner.trust.by
            )
            assert question.tally is not None
            assert len(question.tally.before) == 4
            sums.append(source.sum(question.for_unit(data.unit)).tolist())
        assert sums[0] == sums[1] == sums[2]


def test_what_is_computed_is_what_numpy_computes() -> None:
    data = derived(private()).where("hours > 24 and score < 500")
    own = VISITS.assign(hours=VISITS.stay * 24, rate=np.clip(VISITS.age / VISITS.stay.replace(0, np.nan), 0, 10))
    own["score"] = np.where(own.ward == "icu", 2 * own.hours, own.rate.fillna(1))
    own = own[(own.hours > 24) & (own.score < 500)]
    assert count(data, epsilon=1e4).value == len(own)
    assert mean(data, "score", epsilon=1e5).value == pytest.approx(own.score.mean(), abs=1e-2)
    assert key_counts(data, "town", epsilon=1e4, delta=1e-8).counts == own.town.value_counts().to_dict()


def test_a_filter_before_and_one_after_are_the_same() -> None:
    first, last = (
        private().where("age >= 18").derive(hours="stay * 24"),
        private().derive(hours="stay * 24").where("age >= 18"),
    )
    assert str(first.condition) == str(last.condition)
    assert count(first, epsilon=1e4).value == count(last, epsilon=1e4).value


def test_the_ledger_says_what_was_computed_and_tells_computations_apart() -> None:
    data = private()
    mean(data.derive(hours="stay * 24"), "hours", epsilon=1.0, key="k")
    assert data.ledger.entries()[-1].purpose == "mean of hours with hours = (stay * 24)"
    with pytest.raises(KeyReused):
        mean(data.derive(hours="stay * 25"), "hours", epsilon=1.0, key="k")
    with pytest.raises(KeyReused):
        mean(data.derive(hours="stay * 24", bounds={"hours": (0, 100)}), "hours", epsilon=1.0, key="k")


def test_what_reads_no_computed_column_is_computed_in_one_step() -> None:
    data = private()
    for place in range(30):
        data = data.derive(bounds=None, **{f"x{place}": f"stay + {place}"})
    trust: Any = data._trust
    assert trust.steps == 1
    assert mean(data, "x29", epsilon=1e5).value == pytest.approx(VISITS.stay.mean() + 29, abs=0.1)


def test_too_many_steps_are_refused() -> None:
    data = private().derive(x0="stay + 1")
    for place in range(1, MOST_STEPS):
        data = data.derive(bounds=None, **{f"x{place}": f"x{place - 1} + 1"})
    assert mean(data, f"x{MOST_STEPS - 1}", epsilon=1e5).value == pytest.approx(VISITS.stay.mean() + MOST_STEPS, abs=1)
    with pytest.raises(ParameterError, match="more than 8 steps"):
        data.derive(more=f"x{MOST_STEPS - 1} + 1")


def test_a_learner_takes_a_computed_column() -> None:
    data = private().derive(hours="stay * 24")
    model = KMeans(1, columns=["hours"], epsilon=1e4, delta=1e-8).fit(data)
    assert model.cluster_centers_[0, 0] == pytest.approx(24 * VISITS.stay.mean(), rel=0.05)


def test_every_device_computes_its_own() -> None:
    rows = VISITS.drop(columns=["who", "town"]).dropna()
    data = PrivateData.of(rows, {name: DESCRIBED[name] for name in rows}, Budget(1e6), neighbors=Neighbors.REPLACE)
    trust: Any = data._trust
    local = PrivateData(Local(trust._source, bits=DeterministicBits(0)), data.ledger)
    found = mean(local.derive(hours="stay * 24"), "hours", epsilon=50.0)
    assert found.value == pytest.approx(24 * rows.stay.mean(), rel=0.2)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "nothing is computed"),
        ({"age": "stay + 1"}, "there is a column 'age' already"),
        ({"rate": "age / stay"}, "too large or too close"),
        ({"new": "stay - stay * 1 + absent"}, "there is no column 'absent'"),
        ({"new": "stay", "bounds": {"other": (0, 1)}}, "bounds for 'other'"),
        ({"new": "stay", "bounds": {"new": (1, 0)}}, "is not below"),
        ({"new": "0 * stay"}, "is 0 for every record"),
    ],
)
def test_what_cannot_be_computed_is_refused_before_anything_is_spent(given: dict[str, Any], says: str) -> None:
    data = private()
    with pytest.raises((ParameterError, ValueError), match=says):
        data.derive(**given)
    assert not data.ledger.entries()
