"""Masked sums of as few bytes as the question, the parties and the noise need: exact, and the same bits as ever."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.events import Event
from discreet.core.mechanism import Noise
from discreet.crypto.derivation import PROTOCOL
from discreet.crypto.errors import TooFewSurvivors
from discreet.crypto.masked_sum.mask_graph import Choice
from discreet.crypto.masked_sum.mask_terms import SECOND, MaskTerms
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive import binomial, gaussian, laplace
from discreet.mechanisms.additive.binomial import Binomial
from discreet.mechanisms.additive.gaussian import Gaussian, GaussianShare
from discreet.mechanisms.additive.laplace import Laplace, LaplaceShare
from discreet.query.federation_file import read_federation, written_federation
from discreet.questions.columns.moments import moments_of
from discreet.questions.columns.total import count_of, total_of
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.schema import Number, Schema
from discreet.trust.call import Call, prepared
from discreet.trust.private_data import PrivateData
from discreet.trust.schemes import masks
from discreet.trust.schemes.masks import Masks
from discreet.trust.secure_sum import SecureSum
from tests.trust.silence import silence

SCHEMA = Schema({"age": Number(-50, 100)})
ROWS = 40
TABLES = {f"p{i}": {"age": np.random.default_rng(i).uniform(-50, 100, ROWS)} for i in range(5)}
COINS = Binomial.of_coins(80)
QUESTIONS: dict[str, Any] = {
    "count": lambda: count_of(SCHEMA, "age"),
    "histogram": lambda: contingency_of(SCHEMA, ("age",), (7,)),
    "total": lambda: total_of(SCHEMA, "age", 0.0),
    "variance": lambda: moments_of(SCHEMA, "age", 2, False),
}
NOISES: list[tuple[str, Noise]] = [("count", COINS), ("histogram", COINS)]
NOISES += [(name, noise) for name in QUESTIONS for noise in (Laplace(2.0), Gaussian(3.0), Laplace(1e-3), Gaussian(1e6))]


def asked(largest: int | None = ROWS, tables: Any = TABLES, **options: Any) -> SecureSum:
    return SecureSum.rehearsal(tables, SCHEMA, threshold=4, largest=largest, **options)


def terms_in(trust: SecureSum, question: BoundedSum, event: Event) -> MaskTerms:
    call = Call.of(question, event, trust.federation)
    terms = call.terms(trust.federation, "r1", prepared(call, question, trust.federation))
    assert isinstance(terms, MaskTerms)
    return terms


def test_whatever_is_asked_is_exact_in_few_bytes() -> None:
    """Noise off, the same bits as in eight bytes; and with it, never a multiple of the modulus off."""
    with asked(None) as wide, asked() as trust:
        for name, noise in NOISES:
            question = QUESTIONS[name]()
            with silence():
                assert trust.ask(question, noise).tobytes() == wide.ask(question, noise).tobytes(), (name, noise)
        assert terms_in(trust, QUESTIONS["histogram"](), COINS.event).width == 2
        assert terms_in(trust, QUESTIONS["total"](), Gaussian(3.0).event).width < 8
        assert terms_in(wide, QUESTIONS["histogram"](), COINS.event).form == ""
        assert terms_in(wide, QUESTIONS["histogram"](), COINS.event).protocol == PROTOCOL
        assert terms_in(trust, QUESTIONS["histogram"](), COINS.event).protocol == SECOND


@pytest.mark.parametrize("end", [-1, 1])
def test_sums_are_exact_when_every_coin_and_every_record_is_at_its_end(
    end: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(binomial, "coin_sums", lambda bits, shape, coins: np.full(shape, end * coins // 2))
    for largest in (1, 37, 6503, 13_105, 13_106, 3_355_441):
        tables = {name: {"age": np.full(min(largest, 50), 0.5)} for name in TABLES}
        with asked(largest, tables) as trust:
            monkeypatch.setattr(
                trust._here["p0"]._party.source, "sum", lambda question, n=largest: np.full(question.size, n)
            )
            total = trust.ask(contingency_of(SCHEMA, ("age",), (1,)), COINS)
            most = largest + 4 * min(largest, 50)
            assert total[0] == most + end * 5 * COINS.share(4).coins // 2
            for name in TABLES:
                monkeypatch.setattr(
                    trust._here[name]._party.source, "sum", lambda question, n=largest: np.full(question.size, n)
                )
            total = trust.ask(contingency_of(SCHEMA, ("age",), (1,)), COINS)
            assert total[0] == 5 * largest + end * 5 * COINS.share(4).coins // 2


def test_one_unit_more_asks_for_one_byte_more_where_it_must() -> None:
    """Five parties with c coins each have sums from -5 c / 2 to 5 (n + 1) + 5 c / 2: by hand, where 16 bits end."""
    coins = COINS.share(4).coins
    fits = (2**16 - 1 - 5 * coins) // 5 - 1
    for largest, width in ((fits, 2), (fits + 1, 3)):
        with asked(largest) as trust:
            assert terms_in(trust, QUESTIONS["histogram"](), COINS.event).width == width


def test_a_party_with_more_units_than_agreed_counts_as_if_it_had_as_many() -> None:
    with silence(), asked(10) as trust:
        assert trust.ask(count_of(SCHEMA, "age"), COINS).tolist() == [50.0]
        signed = {name: {"age": np.full(ROWS, -50.0)} for name in TABLES}
    with silence(), asked(10, signed) as trust:
        assert trust.ask(total_of(SCHEMA, "age", 0.0), Gaussian(3.0))[0] == pytest.approx(-50 * 50 * 2, rel=1e-6)


def chance_beyond(one: np.ndarray, parties: int, reach: int) -> float:
    """That the sum of so many independent draws of a symmetric law is farther from zero than that, both ways."""
    law = one
    for _ in range(parties - 1):
        law = np.convolve(law, one)
    middle = len(law) // 2
    return float(law[: middle - reach].sum() + law[middle + reach + 1 :].sum())


@pytest.mark.parametrize("honest", [3, 5])
def test_noise_stays_within_its_reach_but_for_the_chance_that_is_stated(
    honest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By exact convolution of shares, with a chance that can be computed: 1e-6 instead of 2**-64."""
    for module in (gaussian, laplace):
        monkeypatch.setattr(module, "SELDOM", math.log(1e6))
    monkeypatch.setattr(GaussianShare, "own_scale", lambda share, empty: 9.0)
    monkeypatch.setattr(LaplaceShare, "own_scale", lambda share, empty: 9.0)
    empty: Any = type("Empty", (), {"size": 1})()
    steps = np.arange(-600, 601)
    normal = np.exp(-(steps**2) / (2 * 9.0**2))
    ups = np.exp(np.cumsum([0.0, *np.log((np.arange(600) + 1 / honest) / np.arange(1, 601)) - 1 / 9.0]))
    laws: dict[Any, np.ndarray] = {GaussianShare(1.0, honest): normal / normal.sum()}
    laws[LaplaceShare(1.0, honest)] = np.convolve(ups / ups.sum(), ups[::-1] / ups.sum())
    for share, law in laws.items():
        reach = share.reach(empty, 5)
        assert chance_beyond(law, 5, reach) < 1e-6
        assert chance_beyond(law, 5, reach // 3) > 1e-6
        assert share.reach(type("Empty", (), {"size": 1000})(), 5) > reach


def test_a_party_of_an_earlier_version_is_refused_before_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    class Earlier:
        """Knows of eight bytes alone."""

        def __init__(self, channel: Any) -> None:
            self._channel, self.name, self.secret, self.units = channel, channel.name, True, 0

        async def exchange(self, message: Any, hear: Any, most: int) -> None:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Masks, "terms", lambda scheme, terms, share, largest, empty: MaskTerms.of(terms))
                await self._channel.exchange(message, hear, most)

    with asked() as trust:
        accounts = {name: MemoryLedger(Budget(1e3, 1e-6)) for name in ("p0", "p1")}
        for name, account in accounts.items():
            trust._here[name]._party.ledger = account
            trust._here[name] = Earlier(trust._here[name])  # type: ignore[assignment]
        with pytest.raises(TooFewSurvivors, match=r"p0: recipe .*here it builds.*numbers of 2 bytes from"):
            trust.ask(QUESTIONS["histogram"](), COINS)
        assert accounts["p0"].entries() == accounts["p1"].entries() == ()


def test_a_limit_is_in_the_file_and_in_its_digest_and_without_one_files_are_as_ever(tmp_path: Path) -> None:
    digests = set()
    for largest, sizes in itertools.product((None, ROWS, ROWS + 1), ((), (40,) * 5)):
        with asked(None) as trust:
            agreed = trust.federation
        agreed = type(agreed)(agreed.parties, agreed.server, 4, agreed.schema, largest=largest, sizes=sizes)
        path = tmp_path / "f.toml"
        path.write_text(written_federation(agreed))
        assert ("largest" in path.read_text()) is (largest is not None)
        assert read_federation(path) == agreed
        digests.add(agreed.digest)
    assert len(digests) == 6


def test_noise_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 cells show the deviation to 1.6 %, one standard error; and the answer is what was asked for."""
    wide = Schema({"age": Number(0, 2000)})
    tables = {f"p{i}": {"age": np.full(20, 0.5)} for i in range(5)}
    with SecureSum.rehearsal(tables, wide, threshold=5, largest=20) as trust:
        data = PrivateData(trust, MemoryLedger(Budget(1e3, 1e-3)))
        cells = discreet.histogram(data, "age", bins=2000, epsilon=1.0, delta=1e-6)
    errors = np.asarray(cells.counts, dtype=float) - np.r_[100, np.zeros(1999)]
    assert errors.std() == pytest.approx(cells.stddev, rel=0.1)
    assert np.abs(errors).max() < 10 * cells.stddev


def test_above_a_number_of_parties_each_masks_with_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """That number is 61; here it is twelve, for the same rounds in less time."""
    monkeypatch.setattr(masks, "SPARSE", 12)
    monkeypatch.setattr(masks, "choice_of", lambda *quorum: Choice(8, 5))
    for many in (11, 12):
        tables = {f"p{i:02}": {"age": np.full(3, 10.0)} for i in range(many)}
        with SecureSum.rehearsal(tables, SCHEMA, threshold=9, largest=3) as trust:
            assert terms_in(trust, QUESTIONS["histogram"](), COINS.event).degree == (8 if many == 12 else 0)
            del trust._here["p07"]
            with silence():
                assert trust.ask(QUESTIONS["histogram"](), COINS)[2] == 3 * (many - 1)


@pytest.mark.slow
def test_of_sixty_one_parties_each_masks_with_a_few_and_one_may_leave() -> None:
    """The sum is that of all who stay, in numbers of two bytes, with the noise that was paid for."""
    tables = {f"p{i:02}": {"age": np.full(3, 10.0)} for i in range(61)}
    with SecureSum.rehearsal(tables, SCHEMA, threshold=55, largest=3) as trust:
        terms = terms_in(trust, QUESTIONS["histogram"](), COINS.event)
        assert (terms.degree, terms.needed, terms.width) == (20, 14, 2)
        del trust._here["p07"]
        with silence():
            counts = trust.ask(QUESTIONS["histogram"](), COINS)
    assert counts.tolist() == [0.0, 0.0, 180.0, 0.0, 0.0, 0.0, 0.0]
