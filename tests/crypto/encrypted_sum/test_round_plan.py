"""A plan counts what a round then sends, and more work for more numbers and parties."""

from __future__ import annotations

from dataclasses import replace

from discreet.crypto.encrypted_sum.round_plan import plan_round
from tests.crypto.encrypted_sum.test_encrypted_sum import PARTIES, Rehearsal, terms


def test_bytes_are_those_that_are_sent_but_for_names_and_signatures() -> None:
    run = Rehearsal()
    run.run()
    plan = plan_round(terms())
    assert plan.sealed.ciphertexts == plan.opened.ciphertexts == terms().ciphertexts
    for part, said in zip((plan.sealed, plan.opened), run.said["p0"], strict=True):
        assert abs(part.bytes - len(said.to_bytes())) < 600
        assert 0 < part.seconds < 1
    assert plan.received == len(PARTIES) * plan.sealed.bytes
    assert str(plan).startswith("sealed: ")


def test_more_numbers_take_longer() -> None:
    few, many = (plan_round(replace(terms(), size=size)) for size in (9, 900))
    assert many.sealed.seconds > 10 * few.sealed.seconds
    assert many.opened.seconds > 10 * few.opened.seconds
