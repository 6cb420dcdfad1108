"""Whoever lies, the sum is right, its noise has the promised law, and no honest party is named."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from discreet.crypto.errors import ProtocolError, TooFewSurvivors, WrongShares
from discreet.crypto.messages import Signed
from discreet.crypto.odo.proceedings import SAID
from tests.crypto.odo.cheats import (
    CHEATS,
    Accuser,
    AllHeads,
    AnswersOne,
    FalseSum,
    Leaver,
    NotABit,
    OtherSeed,
    WrongShare,
    WrongToAll,
)
from tests.crypto.odo.rehearsal import OdoRehearsal, terms_of

MANY = terms_of(7, 2, size=400, coins=6, largest=1)


def within(run: OdoRehearsal, noise: np.ndarray, parties: int) -> bool:
    """Whether the noise can be that of so many parties' coins at all."""
    return bool((np.abs(noise) <= run.terms.coins * parties // 2).all())


def test_without_liars_the_noise_is_that_of_all_coins() -> None:
    run = OdoRehearsal(MANY)
    total = run.run()
    noise = run.noise(total)
    assert (total.survivors, total.liars, run.gone) == (MANY.parties, (), {})
    assert noise.var() == pytest.approx(7 * 6 / 4, rel=6 * np.sqrt(2 / 400))
    assert abs(noise.mean()) < 6 * np.sqrt(7 * 6 / 4 / 400)
    assert len(set((noise % 2).tolist())) == 2  # both parities


@pytest.mark.parametrize("cheat", CHEATS, ids=lambda kind: kind.__name__)
def test_one_cheat_is_named_or_does_no_harm(cheat: Any) -> None:
    run = OdoRehearsal(terms_of(4, 1), {"p2": cheat})
    total = run.run()
    counts, named = cheat.fate in ("counts", "false sum"), cheat.fate in ("refuted", "false sum")
    assert total.survivors == tuple(name for name in run.terms.parties if name != "p2" or counts)
    assert total.liars == (("p2",) if named else ())
    assert within(run, run.noise(total), len(total.survivors))
    assert not set(run.gone) - {"p2"}


def test_numbers_without_coins_are_exact_whoever_lies() -> None:
    """As sums with their own noise are added: in another field, with an offset, and each in an exact range."""
    for cheat in CHEATS:
        run = OdoRehearsal(terms_of(4, 1, size=2, coins=0, largest=2**30 + 5, offset=1000), {"p2": cheat})
        total = run.run()
        assert run.terms.field.size == 8
        assert not run.noise(total).any(), cheat
        assert ("p2" in total.survivors) == (cheat.fate in ("counts", "false sum")), cheat
        assert ("p2" in total.liars) == (cheat.fate in ("refuted", "false sum")), cheat


@pytest.mark.parametrize("step", SAID[1:])
def test_a_party_may_leave_at_each_step(step: str) -> None:
    gone = type("Gone", (Leaver,), {"leaves": step})
    others = {"p4": Accuser} if step == "agreed" else {}
    run = OdoRehearsal(terms_of(7, 2), {"p1": gone, **others})
    total = run.run()
    assert "gone" in run.gone["p1"]
    assert within(run, run.noise(total), len(total.survivors))
    assert ("p1" in total.survivors) == (SAID.index(step) > SAID.index("proof"))
    assert total.liars == ()  # to leave is no lie


def test_whoever_is_accused_and_leaves_is_missing_and_not_a_liar() -> None:
    gone = type("Gone", (Leaver, WrongShare), {"leaves": "answers"})
    run = OdoRehearsal(terms_of(4, 1), {"p1": gone})
    total = run.run()
    assert "p1" not in total.survivors
    assert total.liars == ()


class Counting(OdoRehearsal):
    """Notes which messages of the relay are heard."""

    heard: set[str]

    def step(self, name: str, message: Signed) -> None:
        self.heard.add(message.message.kind)
        super().step(name, message)


def test_nobody_is_asked_to_agree_again_where_nobody_complained() -> None:
    for cheats, steps in (({}, 7), ({"p1": Accuser}, 8), ({"p2": FalseSum}, 7)):
        run = Counting(terms_of(4, 1), cheats)
        run.heard = set()
        assert run.run().survivors == terms_of(4, 1).parties
        assert len(run.heard) == steps
        assert ("accord" in run.heard) == (steps == 8)


def test_a_dealer_who_answers_one_party_only_is_named_and_the_other_is_not() -> None:
    """Two complaints are as many as liars could make, so they alone refute nobody."""
    run = OdoRehearsal(terms_of(7, 2), {"p4": AnswersOne})
    total = run.run()
    assert (total.liars, "p4" in total.survivors, list(run.gone)) == (("p4",), False, ["p4"])
    assert "does not open the shares of 'p1'" in run.gone["p4"]
    answered = OdoRehearsal(terms_of(7, 2), {"p4": type("AnswersBoth", (WrongShare,), {"many": 2})})
    assert (answered.run().liars, answered.gone) == ((), {})


def test_secrets_are_in_no_repr_log_or_error(caplog: pytest.LogCaptureFixture) -> None:
    """Shares of the widest field, as digits or in hexadecimal: whatever anybody says, logs or prints of a round."""
    caplog.set_level(0)
    for cheat in CHEATS:
        run = OdoRehearsal(terms_of(4, 1, size=2, coins=0, largest=2**30 + 5, offset=1000), {"p2": cheat})
        total = run.run()
        shown = [repr(one) for one in (*run.members.values(), run.relay, total, *map(vars, run.members.values()))]
        text = " ".join([*shown, *run.gone.values(), *run.relay.refuted.values(), caplog.text])
        for member in run.members.values():
            for value in (*member._own.rows.ravel().tolist(), *member._own.seed.ravel().tolist()):
                assert value < 10**9 or (str(value) not in text and f"{value:x}" not in text), cheat


def test_the_reason_is_told() -> None:
    told = {WrongToAll: "3 parties hold shares that its proof", NotABit: "is no bit", OtherSeed: "its seed is not"}
    for cheat, words in told.items():
        run = OdoRehearsal(terms_of(4, 1), {"p2": cheat})
        run.run()
        assert words in run.relay.refuted["p2"]


def test_coins_that_were_not_tossed_do_not_change_the_law() -> None:
    """Two of seven have only heads, and the noise is that of all coins."""
    run = OdoRehearsal(MANY, {"p0": AllHeads, "p5": AllHeads})
    noise = run.noise(run.run())
    assert noise.var() == pytest.approx(7 * 6 / 4, rel=6 * np.sqrt(2 / 400))
    assert abs(noise.mean()) < 6 * np.sqrt(7 * 6 / 4 / 400)


def test_as_many_liars_as_are_allowed_are_named_and_one_more_ends_the_round() -> None:
    terms = terms_of(7, 2)
    run = OdoRehearsal(terms, {"p1": FalseSum, "p4": FalseSum})
    total = run.run()
    assert total.liars == ("p1", "p4")
    assert within(run, run.noise(total), 7)
    with pytest.raises(WrongShares, match="More parties lied"):
        OdoRehearsal(terms, {"p1": FalseSum, "p4": FalseSum, "p6": FalseSum}).run()
    with pytest.raises(TooFewSurvivors):
        OdoRehearsal(terms, {"p1": NotABit, "p4": NotABit, "p6": NotABit}).run()


def scheduled(seed: int) -> None:
    """A round with random cheats in random places: right, or a clear end, and never the wrong name."""
    rng = random.Random(seed)
    parties = rng.choice([4, 5, 7])
    faults = (parties - 1) // 3
    leavers = [type("Gone", (Leaver,), {"leaves": step}) for step in SAID[1:]]
    chosen: Any = {name: rng.choice(CHEATS + leavers) for name in rng.sample(terms_of(parties, faults).parties, faults)}
    run = OdoRehearsal(terms_of(parties, faults, size=2, coins=2, largest=1), chosen, seed)
    try:
        total = run.run()
    except ProtocolError:
        raise AssertionError((seed, chosen)) from None  # so few liars cannot end a round
    assert set(total.liars) <= set(chosen), (seed, chosen)
    assert not set(run.gone) - set(chosen), (seed, chosen, run.gone)
    assert set(run.terms.parties) - set(chosen) <= set(total.survivors), (seed, chosen)
    assert within(run, run.noise(total), len(total.survivors)), (seed, chosen)


def test_random_cheats_in_random_places_change_nothing_and_nobody_else_is_named() -> None:
    for seed in range(8):
        scheduled(seed)


@pytest.mark.slow
def test_a_thousand_random_schedules_of_faults() -> None:
    for seed in range(1000):
        scheduled(seed)
