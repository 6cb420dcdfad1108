"""Whoever was not there gets the same total and the same liars; whatever was changed is refused, with its place."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest

from discreet.crypto.errors import BadSignature, Disagreement, Malformed, OutOfOrder, ProtocolError
from discreet.crypto.messages import Message, framed, split
from discreet.crypto.odo.transcript import Transcript
from tests.crypto.odo.cheats import CHEATS, Accuser, FalseSum, NotABit, WrongShare
from tests.crypto.odo.rehearsal import OdoRehearsal, known, terms_of
from tests.crypto.rehearsal import identity


def run_of(cheat: type | None = None) -> OdoRehearsal:
    run = OdoRehearsal(terms_of(4, 1), {} if cheat is None else {"p2": cheat})
    run.run()
    return run


def transcript(cheat: type | None = None) -> Transcript:
    return Transcript.from_bytes(run_of(cheat).relay.transcript(b"a question"))


def test_the_total_and_the_liars_are_found_again_by_whoever_was_not_there() -> None:
    for cheat in CHEATS:
        run = OdoRehearsal(terms_of(4, 1), {"p2": cheat})
        total = run.run()
        found = Transcript.from_bytes(run.relay.transcript(b"a question"))
        again = found.verified(known())
        assert np.array_equal(again.vector, total.vector), cheat
        assert (again.survivors, again.liars) == (total.survivors, total.liars), cheat
        assert found.reasons(known()) == run.relay.refuted
        assert (found.call, found.terms) == (b"a question", run.terms)


def test_another_total_is_refused() -> None:
    found = transcript()
    with pytest.raises(Disagreement, match="transcript: total"):
        dataclasses.replace(found, vector=found.vector + np.uint64(1)).verified(known())


@pytest.mark.parametrize(
    "kind", ["keys", "header", "dealt", "seeds", "proof", "complaints", "answers", "agreed", "sum"]
)
def test_a_message_that_was_changed_is_named(kind: str) -> None:
    found = transcript(Accuser)
    each = dict(found.said[kind])
    each["p1"] = each["p1"][:-1] + bytes([each["p1"][-1] ^ 1])
    with pytest.raises(BadSignature, match=f"transcript: {kind} of 'p1'.*Nothing in it is proved"):
        dataclasses.replace(found, said={**found.said, kind: each}).verified(known())


def test_a_message_that_was_left_out_is_noticed_by_what_others_signed_afterwards() -> None:
    """A complaint that goes missing would change whose dealings count; what came after it says that it was heard."""
    found = transcript(NotABit)
    for kind in [one for one in found.said if one != "sum"]:
        fewer = {name: data for name, data in found.said[kind].items() if name != "p3"}
        with pytest.raises(ProtocolError, match="transcript"):
            dataclasses.replace(found, said={**found.said, kind: fewer}).verified(known())


def test_steps_that_were_left_out_added_or_moved_are_refused() -> None:
    plain, disputed = transcript(), transcript(WrongShare)
    assert "agreed" not in plain.said
    assert "agreed" in disputed.said
    for found in (plain, disputed):
        for kind in found.said:
            rest = {one: each for one, each in found.said.items() if one != kind}
            with pytest.raises(ProtocolError, match="transcript"):
                dataclasses.replace(found, said=rest).verified(known())
    moved = {**plain.said, "proof": plain.said["seeds"]}
    with pytest.raises(Malformed, match=r"transcript: proof of 'p0'.*elsewhere"):
        dataclasses.replace(plain, said=moved).verified(known())
    terms = dataclasses.replace(plain.terms, coins=2)
    with pytest.raises(ProtocolError):
        dataclasses.replace(plain, terms=terms).verified(known())


def test_a_liar_cannot_say_it_later_in_another_way() -> None:
    """Signed again by p2 alone, with another content: the others had seen something else."""
    found = transcript()
    view, content = split(Message.read(found.said["proof"]["p2"][64:]).body, 2)
    other = Message("r1", "p2", "proof", framed(view, bytes(len(content)))).signed(identity("p2")).to_bytes()
    said = {**found.said, "proof": {**found.said["proof"], "p2": other}}
    with pytest.raises(Disagreement, match=r"transcript: complaints.*who had seen"):
        dataclasses.replace(found, said=said).verified(known())


def test_fuzzed_files_end_in_a_refusal() -> None:
    data, rng = run_of(FalseSum).relay.transcript(), random.Random(1)
    for _ in range(60):
        place = rng.randrange(len(data))
        broken = data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 + rng.randrange(3) :]
        with pytest.raises(ProtocolError):
            Transcript.from_bytes(broken).verified(known())
    for junk in (b"", b"\0" * 40, framed(b"discreet transcript 1", b"", b"", b"", b"")):
        with pytest.raises(Malformed, match="the file is none"):
            Transcript.from_bytes(junk)


def test_there_is_none_before_the_total() -> None:
    run = OdoRehearsal(terms_of(4, 1))
    with pytest.raises(OutOfOrder):
        run.relay.transcript()
