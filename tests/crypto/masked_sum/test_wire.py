"""Every message of a masked sum, to the byte, against the vectors that `docs/wire/masks.md` names.

    python -m tests.crypto.masked_sum.test_wire

writes them anew, after the protocol has changed on purpose, and with it its name.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from discreet.crypto.derivation import PROTOCOL
from discreet.crypto.messages import Signed
from tests.crypto.rehearsal import Rehearsal, identity, terms_of, vector_of

HERE = Path(__file__).parent
VECTORS = HERE / "vectors" / "rounds.json"
PAGE = HERE.parents[2] / "docs" / "wire" / "masks.md"
ROUNDS: dict[str, dict[str, int]] = {"all stay": {}, "p2 leaves after its shares": {"p2": 2}}


class Recorded(Rehearsal):
    """Keeps what each party said."""

    def carry(self, signed: Signed) -> None:
        whole = signed.to_bytes()
        self.heard.setdefault(signed.sender, []).append(whole.hex() if signed.sender == "p0" else _digest(whole))
        super().carry(signed)

    heard: dict[str, list[str]]


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def vector(name: str) -> dict[str, Any]:
    """A round with bits that anybody can draw again."""
    terms = terms_of(4, 3, 3)
    run = Recorded(terms, ROUNDS[name], seed=7)
    run.heard = {}
    total = run.run()
    return {
        "terms": {field: getattr(terms, field) for field in ("round", "parties", "threshold", "size", "server")},
        "digest": terms.digest.hex(),
        "keys": {one: identity(one).public.hex() for one in (*terms.parties, terms.server)},
        "numbers": {one: vector_of(terms, one).tolist() for one in terms.parties},
        "said": run.heard,
        "survivors": total.survivors,
        "total": total.vector.view(np.int64).tolist(),
    }


def written() -> str:
    return json.dumps({name: vector(name) for name in ROUNDS}, indent=1) + "\n"


def test_every_message_is_as_it_was() -> None:
    expected = json.loads(VECTORS.read_text())
    assert set(expected) == set(ROUNDS)
    for name, known in expected.items():
        found = json.loads(json.dumps(vector(name)))
        for part, value in known.items():
            assert found[part] == value, (name, part)


def test_the_page_names_every_message_and_purpose() -> None:
    page = PAGE.read_text()
    assert f"`{PROTOCOL.decode()}`" in page
    kinds = ("keys", "shares", "masked", "agreement", "reveal", "announcements", "delivery", "survivors", "agreements")
    for word in (*kinds, "self mask", "commitment", "pair mask", "seal"):
        assert f"| `{word}` |" in page, word


if __name__ == "__main__":
    VECTORS.write_text(written())
