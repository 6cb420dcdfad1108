"""Every message of a round, to the byte, against the vectors that `docs/wire/masks.md` names.

    python -m tests.crypto.masked_sum.test_wire

writes them anew, after the protocol has changed on purpose, and with it its name.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from discreet.crypto.masked_sum.mask_terms import SECOND, THIRD, MaskTerms
from discreet.crypto.messages import Signed
from discreet.crypto.rounds.terms import Terms
from tests.crypto.rehearsal import NAMES, Rehearsal, terms_of

HERE = Path(__file__).parent
VECTORS = HERE / "vectors" / "rounds.json"
PAGE = HERE.parents[2] / "docs" / "wire" / "masks.md"
ROUNDS: dict[str, tuple[Terms, dict[str, int]]] = {
    "eight bytes": (terms_of(4, 3), {}),
    "eight bytes, one leaves": (terms_of(4, 3), {"p3": 2}),
    "three bytes": (MaskTerms("r1", NAMES[:4], 3, 3, protocol=SECOND, width=3, lowest=-10), {"p3": 2}),
    "four chosen of seven": (MaskTerms("r1", NAMES[:8], 7, 3, protocol=THIRD, degree=4, needed=3), {"p5": 2}),
}


def recorded(name: str) -> dict[str, Any]:
    """What went in, all that `p0` and the server said to it, digests of what the others said, and the total."""
    terms, steps = ROUNDS[name]
    said: dict[str, list[str]] = {}
    run = Rehearsal(terms, steps)
    carry, spoke = run.carry, run.server._said

    def heard(signed: Signed) -> None:
        whole = signed.to_bytes()
        said.setdefault(signed.sender, []).append(whole.hex() if signed.sender == "p0" else sha256(whole).hexdigest())
        carry(signed)

    def spoken(kind: str, body: bytes) -> Signed:
        signed = spoke(kind, body)
        said.setdefault("server", []).append(f"{kind} {sha256(signed.to_bytes()).hexdigest()}")
        return signed

    run.carry, run.server._said = heard, spoken  # type: ignore[method-assign]
    total = run.run()
    return {"terms": run.server.terms.digest.hex(), "said": said, "total": [int(word) for word in total.vector]}


@pytest.mark.parametrize("name", ROUNDS)
def test_every_message_is_as_in_the_vectors(name: str) -> None:
    assert recorded(name) == json.loads(VECTORS.read_text())[name]


def test_the_digests_on_the_page_are_those_of_the_vectors() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, one in json.loads(VECTORS.read_text()).items():
        assert f"| {name} |" in page
        assert one["terms"] in page


if __name__ == "__main__":
    VECTORS.write_text(json.dumps({name: recorded(name) for name in ROUNDS}, indent=1) + "\n")
