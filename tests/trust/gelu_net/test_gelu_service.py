"""Both sides on lines of mutual TLS."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import NotPermitted, ParameterError
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.gelu_net.gelu_client import GeluClient
from discreet.crypto.gelu_net.gelu_message import GeluBody
from discreet.crypto.gelu_net.gelu_server import GeluServer
from discreet.crypto.gelu_net.linear_cipher import PlainSealer
from discreet.crypto.gelu_net.updates import ClearUpdates
from discreet.crypto.identity import Identity
from discreet.crypto.messages import Message
from discreet.noise.system_bits import system_bits
from discreet.trust.gelu_net.gelu_line import GeluLine
from discreet.trust.gelu_net.gelu_members import GeluMembers
from discreet.trust.round import Refused
from tests.crypto.gelu_net.two_sides import ANN, BOB, ROSTER, SERVER, SMALL, batch, sides
from tests.crypto.gelu_net.two_sides import served as served_here
from tests.trust.gelu_net.two_hosts import listening, members_of


def served(limit: int = 100) -> GeluServer:
    return served_here(SMALL, limit=limit)


def test_training_and_predictions_over_a_line_are_those_in_one_process() -> None:
    server, told = served(), list[str]()
    inputs, classes = batch()
    here = sides(SMALL)
    here.client.step(inputs, classes)
    with listening(server, told) as address:
        with GeluLine(address, ANN, members_of(ANN)) as line:
            client = GeluClient(SMALL, ANN, ROSTER, "server", line, PlainSealer(), ClearUpdates(), "train")
            client.step(inputs, classes)
        with GeluLine(address, BOB, members_of(BOB)) as line:
            asked = GeluClient(SMALL, BOB, ROSTER, "server", line, PlainSealer())
            np.testing.assert_array_equal(
                asked.outputs(inputs), sides(SMALL, purpose="predict", server=here.server).client.outputs(inputs)
            )
            assert asked.left == 100
    for one, other in zip(server.weights.copied_values(), here.server.weights.copied_values(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert any("ann is connected" in line for line in told)


def test_refusals_arrive_with_their_reason_and_end_the_line() -> None:
    told = list[str]()
    with listening(served(limit=5), told) as address:
        with GeluLine(address, BOB, members_of(BOB)) as line:
            client = GeluClient(SMALL, BOB, ROSTER, "server", line, PlainSealer())
            with pytest.raises(NotPermitted, match="20 slots are asked, and 'bob' has 5 left"):
                client.outputs(batch()[0])
            with pytest.raises(ConnectionError):
                client.outputs(batch()[0][:2])
        with GeluLine(address, BOB, members_of(BOB)) as line:
            client = GeluClient(SMALL, BOB, ROSTER, "server", line, PlainSealer())
            client._number = 7
            with pytest.raises(Refused, match="number 0 is due"):
                client.outputs(batch()[0][:2])
    assert sum("is refused" in line for line in told) == 2


def test_a_session_ends_with_its_line() -> None:
    server = served()
    with listening(server, []) as address:
        with GeluLine(address, BOB, members_of(BOB)) as line:
            client = GeluClient(SMALL, BOB, ROSTER, "server", line, PlainSealer())
            client.outputs(batch()[0][:2])
        with GeluLine(address, BOB, members_of(BOB)) as line:
            client._line = line
            with pytest.raises(Refused, match="no such session"):
                client.outputs(batch()[0][:2])


def test_a_failure_of_the_server_shows_its_kind_and_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("the weights are 3.14159")

    told, server = list[str](), served()
    with listening(server, told) as address, GeluLine(address, BOB, members_of(BOB)) as line:
        client = GeluClient(SMALL, BOB, ROSTER, "server", line, PlainSealer())
        monkeypatch.setattr(type(server.weights), "matrix", broken)
        with pytest.raises(Refused, match="ValueError") as error:
            client.outputs(batch()[0][:2])
    assert "3.14159" not in str(error.value) + " ".join(told)


def test_strangers_and_others_in_the_place_of_the_server_are_not_answered() -> None:
    eve = Identity.drawn("eve", system_bits())
    with listening(served(), []) as address:
        line = GeluLine(address, eve, members_of(eve))  # its own end of TLS 1.3 is done before it is turned away
        with line, pytest.raises(ConnectionError):
            line(Message("hello", "eve", "open", GeluBody({}).to_bytes()).signed(eve))
        wrong = GeluMembers(PartyCertificate.of(eve), (PartyCertificate.of(ANN),))
        with pytest.raises(ConnectionError):
            GeluLine(address, ANN, wrong)
    with pytest.raises(ConnectionError):
        GeluLine("127.0.0.1:9", ANN, members_of(ANN))


def test_who_calls_in_one_name_cannot_speak_in_another() -> None:
    with listening(served(), []) as address, GeluLine(address, BOB, members_of(BOB)) as line:
        said = Message("hello", "ann", "open", GeluBody({}).to_bytes()).signed(ANN)
        with pytest.raises(Refused, match="signature is not theirs"):
            line(said)


def test_members_are_listed_once() -> None:
    ann, server = PartyCertificate.of(ANN), PartyCertificate.of(SERVER)
    for wrong in ((), (ann, ann), (server,)):
        with pytest.raises(ParameterError, match="comes twice, or nobody may ask"):
            GeluMembers(server, wrong)
