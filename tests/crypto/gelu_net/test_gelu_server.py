"""The server: who may do what, in which order, and bytes that are none."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pytest

from discreet.core.errors import DiscreetError, NotPermitted
from discreet.crypto.errors import BadSignature, Malformed, OutOfOrder, ProtocolError, UnknownParty
from discreet.crypto.gelu_net import gelu_server
from discreet.crypto.gelu_net.gelu_client import GeluClient
from discreet.crypto.gelu_net.gelu_message import GeluBody
from discreet.crypto.gelu_net.linear_cipher import PlainSealer
from discreet.crypto.gelu_net.updates import ClearUpdates, MaskedUpdates
from discreet.crypto.identity import Identity
from discreet.crypto.messages import Message, Signed
from discreet.noise.system_bits import system_bits
from tests.crypto.gelu_net.two_sides import ANN, BOB, ROSTER, SERVER, SMALL, Sides, batch, sealer, served, sides

PLAIN = {"GeluServer": "names are shown as repr shows texts, without what would upset a terminal"}
PRODUCT = {"number": 1, "place": 0, "direction": "forward", "rows": 3, "batch": 1, "sent": 1}


def said(own: Sides, kind: str, facts: dict[str, object], payload: bytes = b"", by: Identity = ANN) -> Signed:
    body = GeluBody(facts, payload).to_bytes()
    return Message(own.client._session, by.name, kind, body).signed(by)


def ready(purpose: str = "train", cipher: str = "plain", limit: int = 1000) -> Sides:
    """A session in which one product was asked."""
    own = sides(SMALL, cipher, purpose=purpose, limit=limit)  # type: ignore[arg-type]
    packing = SMALL.packing(0, "forward")
    payload = own.client._sealer.sealed(np.ones((3, 16), dtype=np.int64), packing)
    own.server.answer(said(own, "product", PRODUCT | {"number": 0, "batch": 0}, payload))
    return own


def payload(own: Sides, columns: int = 16) -> bytes:
    return own.client._sealer.sealed(np.ones((3, columns), dtype=np.int64), SMALL.packing(0, "forward"))


def test_messages_are_answered_once_and_in_order() -> None:
    own = ready()
    first = said(own, "product", PRODUCT, payload(own))
    own.server.answer(first)
    for number in (0, 1, 3):
        with pytest.raises(OutOfOrder, match="number 2 is due"):
            own.server.answer(said(own, "product", PRODUCT | {"number": number}, payload(own)))
    with pytest.raises(OutOfOrder):
        own.server.answer(first)
    own.server.answer(said(own, "product", PRODUCT | {"number": 2}, payload(own)))


def test_a_replayed_session_is_refused() -> None:
    """Every message of a finished session, in its order, in a new one of the same client, by whoever recorded it."""
    own, (inputs, classes) = sides(SMALL, "paillier"), batch(SMALL, 5)
    own.client.step(inputs, classes)
    before = own.server.weights.copied_values()
    own.server.answer(own.said[0])  # its opening, which gets a session of another name
    for recorded in own.said[1:]:
        with pytest.raises(OutOfOrder, match="no such session"):
            own.server.answer(recorded)
    own.server.end("ann")
    with pytest.raises(OutOfOrder):
        own.server.answer(own.said[-1])
    for one, other in zip(before, own.server.weights.copied_values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_sessions_belong_to_whom_opened_them() -> None:
    own = ready()
    with pytest.raises(OutOfOrder, match="no such session"):
        own.server.answer(said(own, "product", PRODUCT, payload(own), BOB))
    forged = said(own, "product", PRODUCT, payload(own), BOB)
    with pytest.raises(BadSignature):
        own.server.answer(Signed("ann", forged.written, forged.signature))
    eve = Identity.drawn("eve", system_bits())
    with pytest.raises(UnknownParty):
        own.server.answer(said(own, "product", PRODUCT, payload(own), eve))
    with pytest.raises(Malformed, match="asks itself"):
        own.server.answer(said(own, "product", PRODUCT, payload(own), SERVER))


def test_who_only_asks_may_not_train() -> None:
    own = ready("predict")
    deltas = PRODUCT | {"place": 1, "direction": "backward"}
    with pytest.raises(NotPermitted, match="deltas are for training"):
        own.server.answer(said(own, "product", deltas, payload(own, 4)))
    with pytest.raises(NotPermitted, match="updates are for training"):
        own.server.answer(said(own, "update", {"number": 1}, bytes(4 * SMALL.weights)))
    with pytest.raises(NotPermitted, match="'ann' may not train"):
        sides(SMALL, server=served(SMALL, trainers=("bob",)))


def test_a_client_over_its_number_of_questions_is_not_permitted() -> None:
    """Slots are counted, over sessions, layer by layer; and nothing is computed for what is refused."""
    server = served(SMALL, limit=10)
    for asked in (4, 6):
        own = sides(SMALL, "paillier", purpose="predict", server=server)
        assert own.client.left == server.allowance.left("ann")
        own.client.outputs(batch(SMALL, asked)[0])
    own, worked = sides(SMALL, "paillier", purpose="predict", server=server), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(server.weights), "matrix", lambda *_: worked.append(1))
        with pytest.raises(NotPermitted, match="1 slots are asked, and 'ann' has 0 left of 10"):
            own.client.outputs(batch(SMALL, 1)[0])
    assert not worked
    other = GeluClient(SMALL, BOB, ROSTER, "server", server.answer, sealer("paillier", SMALL))
    other.outputs(batch(SMALL, 10)[0])  # whose count is its own
    own.server.end("ann")


def test_a_trainer_that_asks_for_predictions_is_counted_too() -> None:
    server = served(SMALL, limit=2)
    with pytest.raises(NotPermitted):
        sides(SMALL, purpose="predict", server=server).client.outputs(batch(SMALL, 3)[0])


def test_products_that_the_network_does_not_have_are_malformed() -> None:
    own = ready()
    for wrong in (
        {"place": 2},
        {"direction": "sideways"},
        {"direction": "backward"},
        {"rows": 0},
        {"rows": 65},
        {"sent": 0},  # batch 1, which nobody has sent
        {"sent": 0, "batch": 0, "rows": 4},
        {"sent": 0, "batch": 9},
        {"rows": -3},
        {"rows": 2**31},
        {"rows": True},
        {"batch": 1.0},
        {"more": 1},
    ):
        with pytest.raises(Malformed):
            own.server.answer(said(own, "product", PRODUCT | wrong, b"" if "sent" in wrong else payload(own)))
    with pytest.raises(Malformed, match="no such batch"):
        own.server.answer(said(own, "product", PRODUCT | {"batch": 0, "sent": 0}, payload(own)))
    with pytest.raises(Malformed, match="there is no 'steal'"):
        own.server.answer(said(own, "steal", {"number": 1}))
    own.server.answer(said(own, "product", PRODUCT | {"batch": 0, "sent": 0}))
    own.server.answer(said(own, "product", PRODUCT | {"number": 2}, payload(own)))


def test_sessions_that_cannot_be_are_not_opened() -> None:
    server = served()
    facts = {"purpose": "predict", "update": "clear", "cipher": "plain", "nonce": "0" * 64}

    def opening(change: Mapping[str, object]) -> Signed:
        return Message("hello", "ann", "open", GeluBody({**facts, **change}).to_bytes()).signed(ANN)

    server.answer(opening({}))
    for wrong, error in (
        ({"purpose": "own"}, Malformed),
        ({"update": "none"}, Malformed),
        ({"nonce": "00"}, Malformed),
        ({"cipher": "rot13"}, NotPermitted),
        ({"cipher": "paillier"}, Malformed),
        ({"update": "masked", "cipher": "ring"}, NotPermitted),
    ):
        with pytest.raises(error):
            server.answer(opening(wrong))


def test_plain_numbers_are_for_tests_alone() -> None:
    weights = served().weights
    strict = gelu_server.GeluServer(weights, SERVER, ROSTER, allowance=served().allowance)
    for cipher in ("plain", "ring"):
        with pytest.raises(NotPermitted, match="does not compute under"):
            GeluClient(
                SMALL,
                ANN,
                ROSTER,
                "server",
                strict.answer,
                PlainSealer() if cipher == "plain" else sealer(cipher, SMALL),
            )


def test_masked_weights_are_for_the_client_that_has_the_masks() -> None:
    server = served(trainers=("ann", "bob"))
    sides(SMALL, "plain", MaskedUpdates(SMALL), server=server).client.step(*batch())
    with pytest.raises(NotPermitted, match="masks of 'ann'"):
        sides(SMALL, "plain", ClearUpdates(), server=server)
    with pytest.raises(NotPermitted, match="masks of 'ann'"):
        GeluClient(SMALL, BOB, ROSTER, "server", server.answer, PlainSealer(), MaskedUpdates(SMALL), "train")
    late = served(trainers=("ann", "bob"))
    bob = GeluClient(SMALL, BOB, ROSTER, "server", late.answer, PlainSealer(), ClearUpdates(), "train")
    sides(SMALL, "plain", MaskedUpdates(SMALL), server=late).client.step(*batch())
    other = GeluClient(SMALL, BOB, ROSTER, "server", served().answer, PlainSealer())
    for ask in (lambda: bob.update([np.zeros((17, 8)), np.zeros((9, 4))]), lambda: bob.forward(batch()[0])):
        with pytest.raises(NotPermitted, match="masks of 'ann'"):
            ask()
    assert other.forward(batch()[0]).outputs.shape == (20, 4)


def test_two_clients_that_began_to_train_under_masks_do_not_mix_them() -> None:
    server = served(trainers=("ann", "bob"))
    ann = sides(SMALL, "plain", MaskedUpdates(SMALL), server=server)
    bob = GeluClient(SMALL, BOB, ROSTER, "server", server.answer, PlainSealer(), MaskedUpdates(SMALL), "train")
    ann.client.step(*batch())
    before = server.weights.copied_values()
    with pytest.raises(NotPermitted, match="masks of 'ann'"):
        bob.update([np.zeros((17, 8)), np.zeros((9, 4))])
    for one, other in zip(before, server.weights.copied_values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_slots_are_not_made_wider_by_masks_that_are_not_there() -> None:
    """A slot as wide as masks would tell about half as many bits again as telling_slots counts on."""
    assert SMALL.packing(0, "forward", masked=True).width > SMALL.packing(0, "forward").width
    with pytest.raises(NotPermitted, match="there are no masks"):
        sides(SMALL, "plain", MaskedUpdates(SMALL), "predict")


def test_what_is_kept_of_a_session_is_bounded_and_the_rest_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, classes = batch(SMALL, 12)
    for name, most in (("MOST_BATCHES", 2), ("MOST_KEPT", 2 * 8 * 3 * 16)):
        with monkeypatch.context() as patch:
            patch.setattr(gelu_server, name, most)
            own = sides(SMALL)
            losses = own.client.fit(inputs, classes, 3, 3, np.random.default_rng(0))
            session = own.server._sessions["ann"]
            assert len(session.kept) == 2
            assert session.kept_bytes == 2 * 8 * 3 * 16
            sealed = [one for one in own.said if b'"direction":"forward"' in (body := one.message.body)
                and b'"place":0' in body and b'"sent":1' in body]  # fmt: skip
            assert len(sealed) == 2 + 2 * 3  # two batches once, two in each of three epochs
        assert losses == sides(SMALL).client.fit(inputs, classes, 3, 3, np.random.default_rng(0))


def messages() -> Iterator[tuple[str, Sides, bytes]]:
    """A valid body of each kind, in a session in which it is due."""
    own = ready("train", "paillier")
    yield "open", own, own.said[0].message.body
    yield "product", own, GeluBody(PRODUCT, payload(own)).to_bytes()
    yield "update", own, GeluBody({"number": 1}, bytes(4 * SMALL.weights)).to_bytes()


def spoiled(data: bytes, draw: random.Random) -> bytes:
    """With some bytes changed, left out, doubled, or anything at all."""
    found = bytearray(data)
    match draw.randrange(5):
        case 0:
            for _ in range(draw.randrange(1, 9)):
                found[draw.randrange(min(len(found), draw.choice([60, 400, len(found)])))] = draw.randrange(256)
        case 1:
            del found[draw.randrange(len(found)) :]
        case 2:
            at = draw.randrange(len(found))
            found[at:at] = found[at : at + draw.randrange(64)]
        case 3:
            at = draw.randrange(len(found))
            del found[at : at + draw.randrange(1, 64)]
        case _:
            found = bytearray(draw.randbytes(draw.randrange(200)))
    return bytes(found)


def fuzz(times: int) -> None:
    for kind, own, body in messages():
        draw = random.Random(kind)
        round = "hello" if kind == "open" else own.client._session
        for _ in range(times):
            tried = Message(round, "ann", kind, spoiled(body, draw)).signed(ANN)
            try:
                own.server.answer(tried)
            except DiscreetError:
                continue
            if kind != "open":  # a number that happened to be due: the weights and the order are as before
                own = ready("train", "paillier")
                round = own.client._session


def fuzz_frames(times: int) -> None:
    """What is not signed is not read."""
    own, draw = ready(), random.Random(5)
    whole = said(own, "product", PRODUCT, payload(own)).to_bytes()
    for _ in range(times):
        data = spoiled(whole, draw)
        if data != whole:
            with pytest.raises(ProtocolError):
                own.server.answer(Signed.from_bytes(data, "ann"))


def fuzz_answers(times: int) -> None:
    """What the server says, garbled and signed by it: the client refuses it, or reads other numbers."""
    inputs = batch(SMALL, 2)[0]
    for kind in ("opened", "answer", "updated"):
        draw = random.Random(kind)
        own = sides(SMALL, "paillier")
        own.client.step(*batch(SMALL, 2))
        heard = next(one.message for one in own.heard if one.message.kind == kind)
        asks: dict[str, Callable[[], object]] = {
            "opened": lambda own=own: GeluClient(SMALL, ANN, ROSTER, "server", own.client._line, PlainSealer()),  # type: ignore[misc]
            "answer": lambda own=own: own.client.forward(inputs),  # type: ignore[misc]
            "updated": lambda own=own: own.client.update([np.zeros((17, 8)), np.zeros((9, 4))]),  # type: ignore[misc]
        }
        for _ in range(times):
            body = spoiled(heard.body, draw)
            round = "hello" if kind == "opened" else own.client._session
            own.client._line = lambda _, round=round, body=body, kind=kind: Message(round, "server", kind, body).signed(
                SERVER
            )  # type: ignore[misc]
            try:
                asks[kind]()
            except DiscreetError:
                continue


def test_fuzzed_messages_of_every_kind_are_refused_without_a_crash() -> None:
    fuzz(300)
    fuzz_frames(300)
    fuzz_answers(150)


@pytest.mark.slow
def test_ten_thousand_fuzzed_messages_of_every_kind() -> None:
    fuzz(10_000)
    fuzz_frames(10_000)
    fuzz_answers(10_000)


def test_nothing_secret_is_in_an_error_or_its_traceback() -> None:
    """The values of weights are in no message of a refusal, and the refusal holds no object that has them."""
    own = ready("predict", "paillier", limit=3)
    with pytest.raises(NotPermitted) as error:
        own.server.answer(said(own, "product", PRODUCT, payload(own)))
    refusal = own.server.refusal("hello", error.value)
    words = GeluBody.from_bytes(refusal.message.body, words=str, refused=str).facts
    assert words["refused"] == "NotPermitted"
    for one in own.server.weights.copied_values():
        assert all(f"{number:.4f}" not in str(error.value) + words["words"] for number in one.ravel()[:20])
    assert not any(referent is own.server.weights for referent in gc.get_referents(error.value))
