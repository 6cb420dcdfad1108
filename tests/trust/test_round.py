"""One round as the server drives it: goes on without those who leave, and says who they were."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest

from discreet.crypto.errors import TooFewSurvivors, WrongShares
from discreet.crypto.masked_sum.server import Server
from discreet.crypto.messages import Message, Signed, framed, labelled, split, unlabelled
from discreet.crypto.rounds.speaker import Total
from discreet.crypto.rounds.terms import UsedRounds
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.questions.recipe import Recipe
from discreet.trust.call import Call
from discreet.trust.round import Hear, InProcess, PartyChannel, Round
from tests.trust.network.stage import HEADS, LONG, NAMES, NOISE, federation, identity, party

STEPS = ("call", "announcements", "delivery", "survivors", "agreements")


class Upset:
    """Attends until a message of some kind, and then does something else."""

    def __init__(self, name: str, kind: str, instead: Callable[[], object]) -> None:
        self._inner, self._kind, self._instead = InProcess(party(name)), kind, instead
        self.name, self.secret, self.units = name, True, 0
        self.upset = self.cancelled = False

    async def exchange(self, message: Signed, hear: Hear, most: int) -> None:
        if message.message.kind != self._kind:
            await self._inner.exchange(message, hear, most)
            return
        self.upset = True
        try:
            if asyncio.iscoroutine(done := self._instead()):
                await done
        except asyncio.CancelledError:
            self.cancelled = True
            raise


def raising(error: Exception) -> Callable[[], object]:
    def instead() -> None:
        raise error

    return instead


def waiting() -> object:
    return asyncio.Event().wait()


def begun(patience: float | None = 0.05) -> tuple[Round, Call]:
    call = Call.of(HEADS, NOISE.event, federation())
    terms = federation().terms("r1", 3, call.about(federation()))
    return Round(identity("server"), federation(), terms, UsedRounds(), patience), call


def asked(*upset: Upset, patience: float | None = 0.05) -> tuple[Round, Total]:
    """A round in which nobody but these leaves: the others answer without waiting for anything."""
    channels: dict[str, PartyChannel] = {name: InProcess(party(name)) for name in NAMES}
    channels |= {one.name: one for one in upset}
    round, call = begun(patience)
    return round, asyncio.run(asyncio.wait_for(round.total(call, channels), LONG))


def test_all_who_stay_are_in_the_sum() -> None:
    round, total = asked()
    assert total.survivors == NAMES
    assert round.left == {}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("instead", "why"),
    [
        (raising(ConnectionError("the line is broken.")), "the line is broken"),
        (raising(ConnectionError()), "it is gone"),
        (raising(WrongShares("party", "it will not", "", "")), "it will not"),
        (waiting, "it did not answer within 0.05 s"),
    ],
    ids=["broken", "gone", "refuses", "late"],
)
def test_who_leaves_is_named_with_the_reason(step: str, instead: Callable[[], object], why: str) -> None:
    round, total = asked(Upset("north", step, instead))
    stays = STEPS.index(step) > STEPS.index("delivery")
    assert total.survivors == tuple(name for name in NAMES if stays or name != "north")
    assert list(round.left) == ["north"]
    assert why in round.left["north"]


def test_with_too_few_left_the_error_names_the_round_and_all_reasons() -> None:
    lost = Upset("north", "call", raising(ConnectionError("the line is broken")))
    late = Upset("west", "delivery", waiting)
    with pytest.raises(TooFewSurvivors) as few:
        asked(lost, late)
    assert "round 'r1': 2 parties are left at the step of masked and 3 are needed" in str(few.value)
    assert "north: the line is broken" in str(few.value)
    assert "west: it did not answer within" in str(few.value)
    assert few.value.values["count"] == 2
    assert late.cancelled


def test_other_failures_of_the_protocol_name_the_round_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(server: Server) -> Total:
        raise WrongShares("seed of 'east'", "it is not the one that was committed to", "", "Nothing was opened.")

    monkeypatch.setattr(Server, "total", wrong)
    with pytest.raises(WrongShares) as refused:
        asked(Upset("north", "call", raising(ConnectionError("the line is broken"))))
    assert "round 'r1': seed of 'east': it is not the one that was committed to; north: the line" in str(refused.value)


class Liar(InProcess):
    """Takes part in everything, and in the end gives away shares that nobody dealt."""

    async def exchange(self, message: Signed, hear: Hear, most: int) -> None:
        def lied(signed: Signed) -> None:
            if signed.message.kind == "reveal":
                seeds, keys = (unlabelled(part) for part in split(signed.message.body, 2))
                false = framed(labelled({name: bytes(len(one)) for name, one in seeds.items()}), labelled(keys))
                signed = Message("r1", self.name, "reveal", false).signed(identity(self.name))
            hear(signed)

        await super().exchange(message, lied, most)


def test_one_who_gives_false_shares_is_named_and_does_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    for liar in NAMES:
        channels: dict[str, PartyChannel] = {name: InProcess(party(name)) for name in NAMES}
        round, call = begun(patience=None)
        total = asyncio.run(round.total(call, {**channels, liar: Liar(party(liar))}))
        assert total.survivors == NAMES
        assert caplog.messages == [f"round r1: {liar} gave false shares; the sum was opened without them"]
        caplog.clear()


def test_two_who_give_false_shares_are_named_and_nobody_else() -> None:
    round, call = begun(patience=None)
    channels: dict[str, PartyChannel] = {name: InProcess(party(name)) for name in ("east", "north")}
    liars: dict[str, PartyChannel] = {name: Liar(party(name)) for name in ("south", "west")}
    with pytest.raises(WrongShares) as refused:
        asyncio.run(round.total(call, channels | liars))
    assert "'south', 'west' gave false shares, 2 true ones are left and 3 are needed" in str(refused.value)
    assert refused.value.values["liars"] == ("south", "west")


def test_nobody_at_all_is_too_few() -> None:
    round, call = begun()
    with pytest.raises(TooFewSurvivors, match="0 parties are left at the step of keys"):
        asyncio.run(round.total(call, {}))


def test_an_error_that_nobody_foresaw_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        asked(Upset("north", "delivery", raising(ZeroDivisionError("a mistake in the code"))))


def test_without_patience_all_are_waited_for() -> None:
    """Parties of this process may take as long as they need."""
    slow = Upset("north", "call", lambda: asyncio.sleep(0.1))
    _, total = asked(slow, patience=None)
    assert set(total.survivors) == {"east", "south", "west"}  # it slept in place of an answer


@pytest.mark.parametrize("step", STEPS)
def test_a_round_that_is_cancelled_leaves_nothing_under_way(step: str) -> None:
    silent = [Upset(name, step, waiting) for name in NAMES]

    async def cancelled() -> None:
        round, call = begun(patience=None)
        total = asyncio.ensure_future(round.total(call, {one.name: one for one in silent}))
        while not all(one.upset for one in silent):
            await asyncio.sleep(0)
        total.cancel()
        await asyncio.wait([total])
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(cancelled())
    assert all(one.cancelled for one in silent)


def test_a_call_is_bound_into_every_key_of_the_round() -> None:
    """Parties that are asked something else sign for other terms, and are left out."""
    round, _ = begun()
    other = Call.of(HEADS, Gaussian(0.5).event, federation())
    channels: dict[str, PartyChannel] = {name: InProcess(party(name)) for name in NAMES}
    with pytest.raises(TooFewSurvivors, match="signed for other terms"):
        asyncio.run(round.total(other, channels))


def test_a_call_for_an_unknown_recipe_is_refused_by_all() -> None:
    round, _ = begun()
    channels: dict[str, PartyChannel] = {name: InProcess(party(name)) for name in NAMES}
    with pytest.raises(TooFewSurvivors, match="has no recipe"):
        asyncio.run(round.total(Call(Recipe("none", {}), NOISE.event), channels))


def test_the_total_is_modulo_two_to_the_64() -> None:
    _, total = asked()
    assert total.vector.dtype == np.uint64
