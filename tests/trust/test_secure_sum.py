"""Secure sums: the price of a curator, no exact sum for anybody, and parties that may vanish."""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.accounting.calibration import calibrate
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted, ParameterError
from discreet.core.events import Repeated
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.core.receipt import Participants
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.errors import TooFewSurvivors
from discreet.crypto.identity import Identity
from discreet.crypto.messages import Signed
from discreet.learners.clusters.kmeans import KMeans
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.exponential import Exponential
from discreet.noise.system_bits import system_bits
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import RECENT, recipe
from discreet.schema.schema import Schema
from discreet.statistics.moments.mean import mean
from discreet.statistics.tables.histogram import histogram
from discreet.trust.call import Call
from discreet.trust.federation import Federation
from discreet.trust.party import Party
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import OtherSurvivors, SecureSum
from discreet.trust.sources.matrix import Matrix
from tests.trust import trial
from tests.trust.trial import TrustTrial

PLAIN = {
    "SecureSum": "the names of parties are made plain",
}
"""Why these print no texts of others: see `tests/conformance/test_plain_text.py`."""

READ_ELSEWHERE = {
    "SecureSum": "opens its records as private data do",
}
"""Why odd values are not handed over to these: see `tests/conformance/test_odd_values.py`."""


def of_three(rows: Array, bits: Bits) -> SecureSum:
    """A party for each row; one of them may have none."""
    parts = {f"p{i}": rows[i : i + 1] for i in range(3)}
    return SecureSum.rehearsal(parts, trial.SCHEMA, threshold=2, bits=bits)


TRIAL = TrustTrial(of_three)

SCHEMA = Schema.numeric(0.0, 1.0, 1)
PACKAGES = ("discreet", __name__.partition(".")[0])


@recipe("tests.trust.test_secure_sum:heads")
def heads(schema: Schema) -> BoundedSum:
    return BoundedSum(lambda records: np.ones((len(records), 1)), Bound("l2", 1.0), ("x0",))


@recipe("tests.trust.test_secure_sum:many")
def many(schema: Schema) -> BoundedSum:
    return BoundedSum(lambda records: np.full((len(records), MANY), 1 / MANY), Bound("l1", 1.0), ("x0",))


MANY = 2**10
HEADS = heads(SCHEMA)


class Vanishing:
    """Takes so many steps and is gone."""

    def __init__(self, channel: Any, steps: int) -> None:
        self._channel, self._left = channel, steps
        self.name, self.secret, self.units = channel.name, True, 0

    async def exchange(self, message: Signed, hear: Any, most: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise ConnectionError(f"{self.name} is gone")
        await self._channel.exchange(message, hear, most)


def hospitals(
    rows: Array, count: int = 4, steps: dict[int, int] | None = None, schema: Schema = SCHEMA, **options: Any
) -> SecureSum:
    tables = {f"h{i}": part for i, part in enumerate(np.array_split(rows, count))}
    trust = SecureSum.rehearsal(tables, schema, packages=PACKAGES, **{"threshold": 3, **options})
    for i, left in (steps or {}).items():
        trust._here[f"h{i}"] = Vanishing(trust._here[f"h{i}"], left)  # type: ignore[assignment]
    return trust


def test_the_total_is_that_of_everybody_and_the_price_that_of_a_curator() -> None:
    people = np.random.default_rng(0).uniform(0, 1, (4000, 1))
    data = PrivateData(hospitals(people), MemoryLedger(Budget(1.0, 1e-6)))
    estimate = mean(data, "x0", epsilon=1.0, delta=1e-6)
    assert estimate.value == pytest.approx(people.mean(), abs=4 * estimate.half_width)
    assert estimate.receipt.event == calibrate(Laplace(), Budget(1.0, 1e-6)).event


@pytest.mark.parametrize("budget", [Budget(1.0), Budget(1.0, 1e-6)])
def test_whole_numbers_are_counted_too(budget: Budget) -> None:
    people = np.random.default_rng(0).uniform(0, 1, (4000, 1))
    data = PrivateData(hospitals(people), MemoryLedger(budget))
    cells = histogram(data, "x0", bins=5, epsilon=1.0, delta=budget.delta)
    np.testing.assert_allclose(cells.counts, np.histogram(people, 5, (0, 1))[0], atol=5 * cells.half_width)


def test_the_honest_survivors_alone_hold_the_noise_that_was_paid_for() -> None:
    """2048 Laplace draws show their deviation to 2.5 % (one standard error), Gaussian ones to 1.6 %."""
    for colluding, noise in itertools.product((0, 2), (Gaussian(5.0), Laplace(5.0 / np.sqrt(2)))):
        trust = hospitals(np.zeros((40, 1)), threshold=4, colluding=colluding)
        first, second = (trust.ask(many(SCHEMA), noise) for _ in range(2))
        expected = 5.0 * np.sqrt(4 / (4 - colluding))
        both = np.concatenate([first, second])
        assert np.std(both) == pytest.approx(expected, rel=0.15)
        assert both.sum() == pytest.approx(2 * 40, abs=5 * expected * np.sqrt(2 * MANY))
        assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(MANY)
        assert trust.reports == pytest.approx(4 / (4 - colluding))


@pytest.mark.parametrize("steps", range(5))
def test_a_party_may_vanish_at_any_step(steps: int) -> None:
    trust = hospitals(np.zeros((4000, 1)), steps={1: steps})
    total = trust.ask(HEADS, Gaussian(1.0))[0]
    assert total == pytest.approx(4000 if steps >= 3 else 3000, abs=12)


def test_with_too_few_left_there_is_an_error_and_no_sum() -> None:
    with pytest.raises(TooFewSurvivors):
        hospitals(np.zeros((40, 1)), steps={0: 1, 1: 2}).ask(HEADS, Gaussian(1.0))


def test_a_learner_runs_without_a_line_of_its_own() -> None:
    rng = np.random.default_rng(0)
    points = rng.permutation(np.vstack([rng.normal(center, 0.05, (3000, 2)) for center in (-0.5, 0.5)]))
    trust = hospitals(points, schema=Schema.numeric(-1.0, 1.0, 2), threshold=4, colluding=1)
    model = KMeans(2, epsilon=1.0, random_state=0).fit(PrivateData(trust, MemoryLedger(Budget(1.0, 1e-6))))
    np.testing.assert_allclose(np.sort(model.cluster_centers_[:, 0]), [-0.5, 0.5], atol=0.1)


def test_noise_that_cannot_be_shared_is_refused_before_anything_is_spent() -> None:
    trust = hospitals(np.zeros((8, 1)))
    data = PrivateData(trust, MemoryLedger(Budget(1.0, 1e-6)))
    with pytest.raises(NotPermitted, match="Nothing was released or spent"):
        data.permit(Exponential().event, "best")
    mean(data, "x0", epsilon=1.0)
    with pytest.raises(NotPermitted, match="stays so"):
        trust.ask(HEADS, Exponential())


@pytest.mark.parametrize(
    "options", [{"threshold": 2}, {"threshold": 5}, {"threshold": 3, "colluding": 2}, {"colluding": -1}]
)
def test_terms_that_protect_nobody_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(DiscreetError):
        hospitals(np.zeros((8, 1)), **options)


def test_parties_with_other_schemas_or_identities_are_refused() -> None:
    federation = hospitals(np.zeros((8, 1))).federation
    north = Identity.drawn("h0", system_bits())
    with pytest.raises(ParameterError, match="another key"):
        Party(north, np.zeros((1, 1)), federation)
    with pytest.raises(ParameterError, match="not in the federation"):
        Party(Identity.drawn("h9", system_bits()), np.zeros((1, 1)), federation)
    cards = (PartyCertificate.of(north), *federation.parties[1:])
    other = Matrix(np.zeros((1, 1)), Schema.numeric(0.0, 2.0, 1))
    with pytest.raises(ParameterError, match="Agree"):
        Party(north, other, dataclasses.replace(federation, parties=cards))


def test_the_number_of_records_is_public_only_where_nobody_may_drop_out() -> None:
    trust = hospitals(np.zeros((8, 1)), neighbors=Neighbors.REPLACE, threshold=4)
    assert PrivateData(trust, MemoryLedger(Budget(1.0))).public_size == 8
    with pytest.raises(ParameterError, match="drops out"):
        hospitals(np.zeros((8, 1)), neighbors=Neighbors.REPLACE, threshold=3)


def test_code_of_the_askers_own_is_not_asked() -> None:
    with pytest.raises(NotPermitted, match="recipe"):
        hospitals(np.zeros((8, 1))).ask(dataclasses.replace(HEADS, recipe=None), Gaussian(1.0))


def test_a_party_that_does_not_know_the_recipe_says_so() -> None:
    tables = {f"h{i}": np.zeros((3, 1)) for i in range(3)}
    with (
        SecureSum.rehearsal(tables, SCHEMA, threshold=2) as trust,
        pytest.raises(TooFewSurvivors, match=r"h0: .*not among the packages that are trusted"),
    ):
        trust.ask(HEADS, Gaussian(1.0))


def test_every_party_pays_from_its_own_account_and_is_asked_no_more_than_that(tmp_path: Path) -> None:
    identities = [Identity.drawn(name, system_bits()) for name in ("asker", "north", "east", "south")]
    cards = [PartyCertificate.of(one) for one in identities]
    federation = Federation(tuple(cards[1:]), cards[0], 2, SCHEMA)
    caps = [1.0, 1.0, 0.1]
    ledgers = [
        SqliteLedger.create(tmp_path / f"{i}", Budget(cap, 1e-6), name="ward", neighbors=Neighbors.ADD_REMOVE)
        for i, cap in enumerate(caps)
    ]
    parties = [
        Party(one, np.zeros((100, 1)), federation, ledger=ledger, packages=PACKAGES)
        for one, ledger in zip(identities[1:], ledgers, strict=True)
    ]
    noise = calibrate(Gaussian(), Budget(0.5, 1e-6))
    with SecureSum(federation, identities[0], parties) as trust:
        assert trust.ask(HEADS, noise)[0] == pytest.approx(200, abs=8 * noise.multiplier)
        assert [len(ledger.entries()) for ledger in ledgers] == [1, 1, 0]
        assert ledgers[0].entries()[0].event == noise.event
        assert ledgers[0].entries()[0].committed
        while ledgers[0].affords(noise.event):
            trust.ask(HEADS, noise)
        with pytest.raises(TooFewSurvivors, match="its account cannot pay"):
            trust.ask(HEADS, noise)
    assert all(ledger.balance().certified <= cap for ledger, cap in zip(ledgers, caps, strict=True))


def asked_otherwise(signed: Signed, identity: Identity, federation: Federation) -> Signed:
    """The server's call with other noise."""
    call = Call.of(HEADS, Gaussian(0.5).event, federation)
    return dataclasses.replace(signed.message, body=call.written()).signed(identity)


def test_a_server_cannot_ask_parties_for_different_noise() -> None:
    """Were one asked for the whole noise and the others for next to none, its share alone would protect it."""

    class Lied:
        def __init__(self, channel: Any) -> None:
            self._channel, self.name, self.secret = channel, channel.name, True

        async def exchange(self, message: Signed, hear: Any, most: int) -> None:
            if message.message.kind == "call":
                message = asked_otherwise(message, trust._identity, trust.federation)
            await self._channel.exchange(message, hear, most)

    trust = hospitals(np.zeros((40, 1)), threshold=4)
    for name in ("h1", "h2", "h3"):
        trust._here[name] = Lied(trust._here[name])  # type: ignore[assignment]
    with pytest.raises(TooFewSurvivors, match="signed for other terms"):
        trust.ask(HEADS, Gaussian(1.0))


@dataclasses.dataclass
class Edition:
    """What this version of the library builds."""

    radius: float = 1.0
    exponent: int = -20
    nonnegative: bool = False


EDITION = Edition()


@recipe("tests.trust.test_secure_sum:edited")
def edited(schema: Schema) -> BoundedSum:
    bound = Bound("l2", EDITION.radius, EDITION.nonnegative)
    return BoundedSum(lambda records: np.ones((len(records), 1)), bound, ("x0",), grid=Grid(EDITION.exponent))


class OfAnotherVersion:
    """A party in which other code is installed."""

    def __init__(self, channel: Any, changes: dict[str, Any]) -> None:
        self._channel, self._changes = channel, changes
        self.name, self.secret, self.units = channel.name, True, 0

    async def exchange(self, message: Signed, hear: Any, most: int) -> None:
        with pytest.MonkeyPatch.context() as patch:
            # what the others have built is not its own
            patch.setattr("discreet.questions.recipe.RECENT", type(RECENT)())
            for name, value in self._changes.items():
                patch.setattr(name, value)
            await self._channel.exchange(message, hear, most)


@pytest.mark.parametrize(
    "changes",
    [
        {f"{__name__}.EDITION.radius": 0.5},
        {f"{__name__}.EDITION.exponent": -22},
        {f"{__name__}.EDITION.nonnegative": True},
        {"discreet.trust.call.VERSION": 1},
        {"discreet.core.answer.FEWEST_CELLS": 26},
    ],
    ids=lambda changes: next(iter(changes)).rpartition(".")[2],
)
def test_a_party_that_builds_something_else_is_left_out_before_it_pays(changes: dict[str, Any], tmp_path: Path) -> None:
    """Its sum would count for half or four times as much in the others' steps, and nobody would see it."""
    trust = hospitals(np.zeros((400, 1)))
    path = tmp_path / "l"
    with SqliteLedger.create(path, Budget(100.0, 1e-6), name="h1", neighbors=Neighbors.ADD_REMOVE) as ledger:
        trust._here["h1"]._party.ledger = ledger
        trust._here["h1"] = OfAnotherVersion(trust._here["h1"], changes)  # type: ignore[assignment]
        assert trust.ask(edited(SCHEMA), Gaussian(1.0))[0] == pytest.approx(300, abs=12)
        assert ledger.entries() == ()


def test_the_difference_is_told() -> None:
    trust = hospitals(np.zeros((400, 1)), threshold=4)
    other = OfAnotherVersion(trust._here["h1"], {f"{__name__}.EDITION.radius": 0.5})
    trust._here["h1"] = other  # type: ignore[assignment]
    with pytest.raises(TooFewSurvivors, match=r"l2 Bound 0\.5, .*; the asker has version .* l2 Bound 1\.0, "):
        trust.ask(edited(SCHEMA), Gaussian(1.0))


def test_a_receipt_tells_who_was_in_every_sum() -> None:
    trust = hospitals(np.zeros((400, 1)), steps={1: 0})
    data = PrivateData(trust, MemoryLedger(Budget(1.0)))
    receipt = mean(data, "x0", epsilon=1.0).receipt
    assert receipt.participants == Participants(("h0", "h2", "h3"))
    assert "parties: h0, h2, h3\n" in f"{receipt}\n"
    assert "h0, h2, h3" in receipt._repr_html_()


def test_sums_of_different_parties_are_told_apart_and_warned_of() -> None:
    """Their difference is what one party's records and noise add up to: masks hide it in each round, not in two."""
    trust, ones = hospitals(np.zeros((4000, 1))), Gaussian(1.0)
    totals = [trust.ask(HEADS, ones)[0]]
    assert trust.participants == Participants(("h0", "h1", "h2", "h3"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trust.ask(HEADS, ones)
    trust._here["h1"] = Vanishing(trust._here["h1"], 0)  # type: ignore[assignment]
    with pytest.warns(OtherSurvivors, match="the noisy sum of h1 alone") as warned:
        totals.append(trust.ask(HEADS, ones)[0])
    assert totals[0] - totals[1] == pytest.approx(1000, abs=12)
    assert trust.participants == Participants(("h0", "h2", "h3"), ("h1",))
    assert warned[0].message.participants == trust.participants  # type: ignore[union-attr]
    trust._here["h1"] = trust._here["h1"]._channel  # type: ignore[attr-defined]
    trust.ask(HEADS, ones)  # as the first one: nothing new can be told, and nobody is warned again
    assert trust.participants == Participants(("h0", "h1", "h2", "h3"), ("h1",))


def test_a_plan_of_several_sums_tells_who_was_in_all_and_who_in_some() -> None:
    trust = hospitals(np.zeros((400, 1)), steps={2: 7})
    data = PrivateData(trust, MemoryLedger(Budget(100.0)))
    noise = Laplace(1.0)
    with data.permit(Repeated(noise.event, 2), "twice") as permit:
        permit.ask(HEADS, noise)
        with pytest.warns(OtherSurvivors):
            permit.ask(HEADS, noise)
    assert permit.receipt.participants == Participants(("h0", "h1", "h3"), ("h2",))
    assert "beside other answers, this one shows the noisy sum of h2 alone" in str(permit.receipt)
