"""Every message of a round, to the byte, against the vectors that `docs/wire/odo.md` names.

    python -m tests.crypto.odo.test_wire

writes them anew, after the protocol has changed on purpose, and with it its name.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from discreet.crypto.fields.share_field import MIDDLE, NARROW, WIDE
from discreet.crypto.messages import Signed
from discreet.crypto.odo.odo_party import OdoParty
from discreet.crypto.odo.odo_terms import OdoTerms
from discreet.crypto.odo.public_coins import PublicCoins, extracted
from discreet.crypto.odo.share_dealing import committed
from tests.crypto.odo.cheats import WrongShare
from tests.crypto.odo.rehearsal import OdoRehearsal, known, numbers_of, terms_of

HERE = Path(__file__).parent
VECTORS = HERE / "vectors" / "rounds.json"
PAGE = HERE.parents[2] / "docs" / "wire" / "odo.md"
ROUNDS: dict[str, tuple[OdoTerms, dict[str, type[OdoParty]]]] = {
    "counts": (terms_of(4, 1), {}),
    "counts with a wrong share": (terms_of(4, 1), {"p2": WrongShare}),
    "numbers": (terms_of(4, 1, size=2, coins=0, largest=100_000, offset=50_000), {}),
}


class Recorded(OdoRehearsal):
    """Keeps what each party and the relay said."""

    said: dict[str, list[str]]

    def step(self, name: str, message: Signed) -> None:
        self.said.setdefault("relay", [])
        self.said["relay"].append(sha256(message.to_bytes()).hexdigest())
        super().step(name, message)


class Kept:
    """A relay that notes what it hears."""

    def __init__(self, relay: Any, said: dict[str, list[str]]) -> None:
        self._relay, self._said = relay, said

    def receive(self, signed: Signed) -> None:
        whole = signed.to_bytes().hex() if signed.sender == "p0" else sha256(signed.to_bytes()).hexdigest()
        self._said.setdefault(signed.sender, []).append(whole)
        self._relay.receive(signed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._relay, name)


def vector(name: str) -> dict[str, Any]:
    """A round with bits that anybody can draw again: what went in, what was said, and what came out."""
    terms, cheats = ROUNDS[name]
    run = Recorded(terms, cheats, seed=7)
    run.said = {}
    relay: Any = Kept(run.relay, run.said)
    run.relay = relay
    total = run.run()
    coins: PublicCoins = relay._proceedings.coins
    return {
        "terms": {field: getattr(terms, field) for field in ("round", "parties", "threshold", "size", "server")}
        | {"coins": terms.coins, "largest": terms.largest, "offset": terms.offset, "places": terms.places},
        "digest": terms.digest.hex(),
        "keys": {one: key.hex() for one, key in known().keys.items() if one in (*terms.parties, "server")},
        "numbers": {one: numbers_of(terms, one).tolist() for one in terms.parties},
        "said": run.said,
        "seeds": {str(index): seed for index, seed in coins.seeds.items()},
        "first weights": coins.weights[:, :3].tolist(),
        "flips": {str(index): np.packbits(coins.flips(index)).tobytes().hex() for index in coins.seeds},
        "survivors": total.survivors,
        "total": total.vector.view(np.int64).tolist(),
    }


def written() -> str:
    return json.dumps({name: vector(name) for name in ROUNDS}, indent=1) + "\n"


def test_every_message_is_as_it_was() -> None:
    known_vectors = json.loads(VECTORS.read_text())
    assert set(known_vectors) == set(ROUNDS)
    for name, expected in known_vectors.items():
        found = json.loads(json.dumps(vector(name)))
        for part, value in expected.items():
            assert found[part] == value, (name, part)


def test_the_page_states_what_is_true() -> None:
    page = PAGE.read_text()
    for field in (NARROW, MIDDLE, WIDE):
        assert f"| {field.prime} | {field.size} | {field.tests} |" in page
    terms = terms_of(4, 1)
    assert f"`{terms.protocol.decode()}`" in page
    for kind in ("keys", "deal", "header", "dealt", "seeds", "proof", "complaints", "answers", "agreed", "sum"):
        assert f"| `{kind}` |" in page
    assert extracted({1: [10], 2: [20], 4: [1]}, 2, 101) == [31, 54]
    assert "10, 20 and 1 of the parties 1, 2 and 4, modulo 101, are 31 and 54" in page
    example = committed(terms, terms.field.elements(range(terms.sealed_seeds)))
    assert example.hex() in page
    assert terms.digest.hex() in page


if __name__ == "__main__":
    VECTORS.write_text(written())
