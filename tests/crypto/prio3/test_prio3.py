"""Prio3: the draft's vectors to the last byte, alone and side by side, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.crypto.prio3.shares import Decision
from tests.crypto.prio3.vectors import FILES, Vector


@pytest.mark.parametrize("name", FILES)
def test_every_vector_of_the_draft_is_met_to_the_last_byte(name: str) -> None:
    for copies in (1, 70):  # Python's integers and the compiled permutation; limbs, and numpy's
        vector = Vector(name, copies)
        vdaf, expected, many = vector.vdaf, vector.expected, len(vector.reports)
        nonces, public = vector.rows(lambda one: one["nonce"]), vector.rows(lambda one: one["public_share"])
        inputs = [vector.rows(lambda one, k=k: one["input_shares"][k]) for k in range(vdaf.shares)]  # type: ignore[misc]
        if expected.get(("shard", None)):
            sent = vdaf.shard(vector.measurements, nonces, vector.rows(lambda one: one["rand"]))
            assert (sent.public == public).all()
            assert all((ours == theirs).all() for ours, theirs in zip(sent.inputs, inputs, strict=True))
        seen = {
            k: vdaf.verified(k, vector.key, nonces, public, inputs[k])
            for k in range(vdaf.shares)
            if ("verify_init", k) in expected
        }
        for k, one in seen.items():
            assert one.usable.all()
            assert (one.verifiers == vector.rows(lambda report, k=k: report["verifier_shares"][0][k])).all()  # type: ignore[misc]
        verdict = Decision(np.empty((many, 0), np.uint8), np.ones(many, dtype=bool))
        if len(seen) == vdaf.shares:
            verdict = vdaf.verdict([one.verifiers for one in seen.values()])
            wanted = expected.get(("verifier_shares_to_message", None), True)
            assert (verdict.accepted == wanted).all()
        if ("verify_next", 0) not in expected:
            continue
        messages = vector.rows(lambda one: one["verifier_messages"][0])
        assert len(seen) < vdaf.shares or (verdict.messages == messages).all()
        shares = []
        for k, one in seen.items():
            agreed = vdaf.agreed(one, Decision(messages, verdict.accepted))
            assert (agreed == expected[("verify_next", k)]).all()
            shares.append(vdaf.aggregated(one, agreed))
        if copies == 1 and ("unshard", None) in expected:
            assert [one.tobytes().hex() for one in shares] == vector.given["agg_shares"]
            result = vector.given["agg_result"]
            assert vdaf.unsharded(shares) == (result if isinstance(result, list) else [result])
