"""Without noise, every trust model and every source gives the same release, to the last bit.

The noise is what trust models differ in. So with the noise off, which only `silence` can do, whatever is left is the
sum, and that must not depend on who holds the records, in which form, or how many hold them.
"""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.core.answer import whole_numbers
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import Repeated
from discreet.core.neighbors import RECORD, Neighbors
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Identity
from discreet.learners.clusters.kmeans import KMeans
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.mechanisms.additive.bounded_noise import BoundedNoise
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.system_bits import system_bits
from discreet.questions.columns.moments import grouped_moments_of, moments_of
from discreet.questions.columns.total import count_of, total_of
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.vectors.clusters import FINE, clusters_of
from discreet.questions.vectors.second_moments import second_moments_of
from discreet.schema.schema import Schema
from discreet.schema.value import name_of
from discreet.statistics.moments.mean import mean
from discreet.trust.curator import Curator
from discreet.trust.federation import Federation
from discreet.trust.local import Local
from discreet.trust.network.serving import Serving
from discreet.trust.party import Party
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.frame import Frame
from discreet.trust.sources.kept_rows import start
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.source import Batched
from discreet.trust.sources.source_of import source_of
from discreet.trust.trust_model import TrustModel
from tests.conformance.walk import mechanisms
from tests.trust.aggregation.unproved import QuickAggregated
from tests.trust.silence import silence
from tests.trust.sources.tables import COST, FORMS, PERSON, SCHEMA, Table, table

NUMBERS = Schema({name: SCHEMA.columns[name] for name in (COST, "days")})
CENTERS = FINE.values(FINE.cut(np.random.default_rng(5).uniform(-1, 1, (3, 2))))
NUMERIC: dict[str, Callable[[Schema], BoundedSum]] = {
    "mean": lambda schema: moments_of(schema, COST, 1, False),
    "mean over a public number": lambda schema: moments_of(schema, COST, 1, True),
    "variance": lambda schema: moments_of(schema, "days", 2, False),
    "count": lambda schema: count_of(schema, "days"),
    "total": lambda schema: total_of(schema, COST, 0.0),
    "total from the lower bound": lambda schema: total_of(schema, COST, -20.0),
    "histogram": lambda schema: contingency_of(schema, (COST,), (7,)),
    "k-means, l1": lambda schema: clusters_of(schema, schema.features, CENTERS, "l1"),
    "k-means, l2": lambda schema: clusters_of(schema, schema.features, CENTERS, "l2"),
    "second moments": lambda schema: second_moments_of(schema, (COST, "days"), 1.0),
}
RECIPES = {
    **NUMERIC,
    "categories": lambda schema: contingency_of(schema, ("kind",), (0,)),
    "mean by groups": lambda schema: grouped_moments_of(schema, "kind", COST, 1),
    "variance by groups": lambda schema: grouped_moments_of(schema, "kind", COST, 2),
}
NOISES = [Laplace(1.0), Gaussian(1.0)]
UNITS = {"record": RECORD, "user": PERSON}
WEALTH = Budget(1000.0, 1e-6)

Releases = dict[str, bytes]


def released(
    trust: TrustModel, recipes: Mapping[str, Callable[[Schema], BoundedSum]] = RECIPES, noises: Sequence[Any] = NOISES
) -> Releases:
    """What `PrivateData` releases of each recipe with each kind of noise, bit by bit."""
    found = {}
    for noise in noises:
        data = PrivateData(trust, MemoryLedger(WEALTH))
        with data.permit(Repeated(noise.event, len(recipes)), "all recipes") as permit:
            for name, build in recipes.items():
                found[f"{name}, {type(noise).__name__}"] = permit.ask(build(data.schema), noise).tobytes()
    return found


@cache
def expected(units: str) -> Releases:
    with silence():
        return released(Curator(source_of(table(), SCHEMA, UNITS[units])))


def agrees(trust: TrustModel, units: str) -> bool:
    """Whether the trust model releases what it should: Laplace noise for records, Gaussian for users."""
    found = released(trust, noises=NOISES[:1] if units == "record" else NOISES[1:])
    return found == {name: release for name, release in expected(units).items() if name in found}


@pytest.fixture
def silent() -> Iterator[None]:
    with silence():
        yield


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("form", FORMS)
def test_a_curator_agrees_on_every_source(form: str, tmp_path: Path) -> None:
    records = FORMS[form](table(), tmp_path)
    for units, unit in UNITS.items():
        assert agrees(Curator(source_of(records, SCHEMA, unit)), units)


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("form", FORMS)
def test_local_trust_agrees_on_every_source(form: str, tmp_path: Path) -> None:
    source = source_of(FORMS[form](table(), tmp_path), SCHEMA)
    assert isinstance(source, Batched)
    if source.counted:
        assert agrees(Local(source), "record")
    else:
        with pytest.raises(ParameterError, match="may choose rows by what they hold"):
            Local(source)


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("trust", [Curator, Local])
def test_a_matrix_agrees_where_all_columns_are_numbers(trust: Callable[[Matrix], TrustModel]) -> None:
    values = np.array([table()[name] for name in NUMBERS.columns], dtype=np.float64).T
    found = released(trust(Matrix(values, NUMBERS)), NUMERIC)
    assert found == {name: release for name, release in expected("record").items() if name in found}


PARTIES = {"north": "csv", "east": "polars", "south": "relation", "west": "parquet folder", "harbour": "pandas"}


def parts(folder: Path) -> dict[str, Any]:
    """The table cut among parties, so that no unit is with two of them, in another form for each."""
    whole, size = table(), len(PARTIES)
    places = [start(name_of((name or "").strip(" \t"))) % size for name in whole["who"]]
    cut = {}
    for number, (party, form) in enumerate(PARTIES.items()):
        own: Table = {
            name: [value for value, place in zip(values, places, strict=True) if place == number]
            for name, values in whole.items()
        }
        (folder / party).mkdir()
        cut[party] = FORMS[form](own, folder / party)
    return cut


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(("units", "colluding"), [("record", 0), ("user", 2)])
def test_a_secure_sum_agrees_whatever_each_party_reads(units: str, colluding: int, tmp_path: Path) -> None:
    with SecureSum.rehearsal(parts(tmp_path), SCHEMA, threshold=4, colluding=colluding, unit=UNITS[units]) as trust:
        assert agrees(trust, units)


@pytest.mark.usefixtures("silent")
def test_aggregators_agree_on_sums_that_nobody_holds() -> None:
    """Sums of shares, without their proofs, which are tried elsewhere: these are long."""
    assert agrees(QuickAggregated(Frame(table(), SCHEMA), least=1), "record")


class Served:
    """A thread in which parties take calls, as `discreet party --listen` does."""

    def __init__(self, parties: Sequence[Party]) -> None:
        self._parties, self._told = parties, queue.SimpleQueue[str]()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> list[str]:
        self._thread.start()
        self._work = [
            asyncio.run_coroutine_threadsafe(Serving(party, self._told.put).listen("127.0.0.1:0"), self._loop)
            for party in self._parties
        ]
        addresses: list[str] = []
        while len(addresses) < len(self._parties):
            _, listens, address = self._told.get(timeout=60).partition(" listens at ")
            addresses += [address] if listens else []
        return addresses

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stopped(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stopped(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.wait(others)


@pytest.mark.usefixtures("silent")
def test_a_secure_sum_agrees_across_a_network(tmp_path: Path) -> None:
    server, *identities = (Identity.drawn(name, system_bits()) for name in ("server", *PARTIES))
    federation = Federation(
        tuple(PartyCertificate.of(one) for one in identities), PartyCertificate.of(server), 4, SCHEMA
    )
    tables = zip(identities, parts(tmp_path).values(), strict=True)
    parties = [Party(one, records, federation) for one, records in tables]
    with Served(parties) as addresses, SecureSum(federation, server, addresses) as trust:
        assert agrees(trust, "record")


@pytest.mark.slow
@pytest.mark.usefixtures("silent")
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_curator_agrees_on_spark(spark: Any) -> None:
    recipes = {name: RECIPES[name] for name in ("mean by groups", "categories", "k-means, l2", "second moments")}
    frame = spark.createDataFrame(pa.table(table())).repartition(3)
    found = released(Curator(source_of(frame, SCHEMA, PERSON)), recipes)
    assert found == {name: release for name, release in expected("user").items() if name in found}


@pytest.mark.usefixtures("silent")
def test_a_learner_ends_at_the_same_centers_under_every_trust(tmp_path: Path) -> None:
    """Every step starts from the centers of the one before, so a single bit would show. The budget is so large that no
    cluster counts as lost in noise, whose size does depend on the trust model."""
    people = {name: table()[name] for name in NUMBERS.columns}
    halves = {f"{name} half": {n: v[i::2] for n, v in people.items()} for i, name in enumerate(["one", "other"])}
    budget, frame = Budget(50.0, 1e-6), Frame(people, NUMBERS)
    with SecureSum.rehearsal(halves, NUMBERS, threshold=2) as secure:
        models: list[TrustModel] = [Curator(frame), Curator(frame, Neighbors.REPLACE), Local(frame), secure]
        fits = [
            KMeans(2, init="random", epsilon=50.0, max_iter=4, random_state=0).fit(
                PrivateData(trust, MemoryLedger(budget))
            )
            for trust in models
        ]
    assert len({fit.cluster_centers_.tobytes() for fit in fits}) == 1
    assert len(np.unique(fits[0].cluster_centers_)) == 4


def test_what_is_left_is_the_sum_itself() -> None:
    """By hand, in Python's integers."""
    days = [value for value in table()["days"] if value is not None]
    costs = [value for value in table()[COST] if value is not None and np.isfinite(value)]
    scaled = [Fraction(int(np.trunc(np.clip(value, -20.0, 100.0) * 2.0**23)), 2**23) for value in costs]
    for noise in ("Laplace", "Gaussian"):
        assert np.frombuffer(expected("record")[f"count, {noise}"]) == [len(days)]
        assert np.frombuffer(expected("record")[f"total, {noise}"]) == [float(sum(scaled))]


TABLED = {BoundedNoise}  # drawn from a table of its own, for a curator alone


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("kind", [kind for kind in mechanisms() if issubclass(kind, Additive) and kind not in TABLED])
def test_every_additive_mechanism_is_silenced(kind: type[Additive]) -> None:
    answer = whole_numbers([-3, 0, 5], Bound("l1", 1.0 if kind.tossed else 2.0**30))
    assert kind(1.0).release(answer, system_bits()).tolist() == [-3, 0, 5]


def trusts(records: np.ndarray) -> list[TrustModel]:
    source = Matrix(records, Schema.numeric(0.0, 1.0, 1))
    secure = SecureSum.rehearsal({"a": records[::2], "b": records[1::2]}, source.schema, threshold=2)
    return [Curator(source), Local(source), secure]


@pytest.mark.parametrize("noise", NOISES)
def test_outside_the_block_no_two_releases_are_alike(noise: Laplace | Gaussian) -> None:
    """A deviation of 2**29 steps or more: two draws are equal with a chance below 2**-29."""
    for trust in trusts(np.full((50, 1), 0.5)):
        question = total_of(trust.schema, "x0", 0.0)
        with silence():
            assert trust.ask(question, noise) == trust.ask(question, noise) == [25.0]
        assert trust.ask(question, noise) != trust.ask(question, noise)


def test_the_switch_is_outside_the_package() -> None:
    assert not Path(inspect.getfile(silence)).is_relative_to(Path(discreet.__file__).parent)


@pytest.mark.parametrize("multiplier", [0, 0.0, -1.0, float("nan"), 2.0**-41])
def test_noise_cannot_be_asked_away(multiplier: float) -> None:
    for kind in (Laplace, Gaussian):
        with pytest.raises(ParameterError):
            kind(multiplier)


def test_noise_that_can_be_foreseen_is_on_the_receipt() -> None:
    schema = Schema.numeric(0.0, 1.0, 1)
    data = PrivateData.of(np.zeros((5, 1)), schema, Budget(1.0), bits=DeterministicBits(1))
    assert "NOT PRIVATE" in str(mean(data, "x0", epsilon=1.0).receipt)
