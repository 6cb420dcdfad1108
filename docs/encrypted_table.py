"""The table of seconds and bytes in `encrypted.md`: one sum, by every scheme. Run: python docs/encrypted_table.py

It writes what it measures here and now into the page, between its marks.
"""

from __future__ import annotations

import dataclasses
import re
import time
from pathlib import Path

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bound import Bound
from discreet.core.events import LaplaceLoss
from discreet.core.grid import Grid
from discreet.core.neighbors import Neighbors
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Signed
from discreet.crypto.rounds.terms import Terms, UsedRounds
from discreet.mechanisms.additive.binomial import BinomialShare
from discreet.mechanisms.additive.share_of import share_of
from discreet.noise.system_bits import system_bits
from discreet.trust.schemes.sum_scheme import SumScheme, scheme_named

MARK, END = "<!-- the table of schemes -->", "<!-- its end -->"
PARTIES, THRESHOLD = 5, 4
SIZES = (19, 1000)
LARGEST = 1023
NAMES = {
    "masks": "masks (`SecureSum`)",
    "odo": "verified shares (`odo`), counts below 1,024 with 80 coins",
    "paillier": "encryption (`paillier`), 2048 bits",
}


@dataclasses.dataclass(frozen=True)
class Measured:
    """What one round took."""

    setup: float
    seconds: float
    sent: float
    received: float


def measured(name: str, size: int) -> Measured:
    """A round of one scheme: processor time of all, and the bytes of one party."""
    bits, start = system_bits(), time.process_time()
    server, *drawn = (Identity.drawn(f"p{place}" if place else "server", bits) for place in range(PARTIES + 1))
    names = tuple(one.name for one in drawn)
    dealt = scheme_named(name).setup(drawn, THRESHOLD, bits)
    scheme = scheme_named(name).keyed(dealt.key, names, THRESHOLD)
    begun = time.process_time()
    sent, received = _round(
        scheme, Terms("r1", names, THRESHOLD, size, protocol=scheme.protocol), server, dealt.identities
    )
    return Measured(begun - start, time.process_time() - begun, sent / PARTIES, received / PARTIES)


def _round(scheme: SumScheme, terms: Terms, server: Identity, identities: tuple[Identity, ...]) -> tuple[int, int]:
    bits, roster = system_bits(), Roster.of([server, *identities])
    share = BinomialShare(80, 1, THRESHOLD) if scheme.coins else share_of(LaplaceLoss(1.0), THRESHOLD)
    empty = Answer(np.zeros(terms.size, np.int64), Grid(0), Bound("l1", 1.0), Neighbors.ADD_REMOVE)
    own = scheme.terms(terms, share, LARGEST, scheme.prepared(share, empty))
    relay = scheme.relay(server, own, roster, UsedRounds())
    parties = {one.name: scheme.speaker(one, own, roster, UsedRounds(), bits) for one in identities}
    vectors = {name: np.random.default_rng(place).integers(0, LARGEST, own.size) for place, name in enumerate(parties)}
    sent = received = 0

    def heard(said: Signed) -> None:
        nonlocal sent
        sent += len(said.to_bytes())
        relay.receive(said)

    for one in parties.values():
        heard(one.begin())
    while messages := relay.passed_on():
        for name, message in messages.items():
            received += len(message.to_bytes())
            heard(parties[name].answer(message, lambda name=name: vectors[name]))  # type: ignore[misc]
    found = relay.total().vector.view(np.int64)
    if not scheme.coins and not (found == sum(vectors.values())).all():
        raise SystemExit(f"{scheme.name}: the sum is wrong")
    return sent, received


def table() -> str:
    """The rows."""
    rows = ["| numbers | scheme | processor seconds, all parties | a party sends | a party receives | set-up, once |"]
    rows.append("|---|---|---|---|---|---|")
    for size in SIZES:
        for name, words in NAMES.items():
            one = measured(name, size)
            cells = (f"{one.seconds:.2f}", _bytes(one.sent), _bytes(one.received), f"{one.setup:.1f} s")
            rows.append(f"| {size:,} | {words} | {' | '.join(cells)} |")
    return "\n".join(rows)


def _bytes(count: float) -> str:
    return f"{count / 1e6:.2f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


if __name__ == "__main__":
    page = Path(__file__).parent / "encrypted.md"
    text = page.read_text(encoding="utf-8")
    made = f"{MARK}\n{table()}\n{END}"
    page.write_text(re.sub(f"{MARK}.*?{END}", lambda _: made, text, flags=re.DOTALL), encoding="utf-8")
    print(made)
