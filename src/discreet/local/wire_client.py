"""A whole device in one file, with nothing but Python's standard library: to be copied, or translated.

    python wire_client.py http://collector:8080 VALUE

asks the collector for its protocol, randomises the value here, and sends one message. It knows the kinds "grr", "sue",
"oue", "hadamard" and "pgr"; docs/local.md has the formats and test vectors.

The collector is not trusted. Of what it sends, this file believes the kind, epsilon and the domain, and computes all
other numbers from them; a protocol that says otherwise is refused, and so is an epsilon above `MOST_EPSILON`, before
the value is looked at. Then a message is sent, whatever the value is: one that is not in the domain is answered by the
report of a random value, since silence would tell. Nothing is drawn again and again until it fits, so that time does
not tell either.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import operator
import secrets
import sys
import urllib.request
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from typing import Any

VERSION = 1
LEAST_EPSILON, MOST_EPSILON = 2.0**-20, 10.0
MOST_VALUES = 2**20
MOST_BYTES = 2**26  # of a protocol
MOST_VECTORS = 2**27  # of a space
WORSE = 1.03  # the variance that a smaller space may cost
KINDS = ("grr", "sue", "oue", "hadamard", "pgr")


@dataclass(frozen=True)
class Protocol:
    """What this file believes of what a collector sends."""

    kind: str
    epsilon: float
    labels: tuple[str, ...] | None  # None for the numbers from 0 to size - 1
    size: int

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters as they are published."""
        domain = self.size if self.labels is None else list(self.labels)
        return {"kind": self.kind, "epsilon": self.epsilon, "domain": domain}

    @property
    def derived(self) -> dict[str, int]:
        """The numbers that follow: the matrices of "hadamard", the space of "pgr"."""
        if self.kind == "hadamard":
            blocks, order = matrices(self.epsilon, self.size)
            return {"blocks": blocks, "order": order}
        if self.kind == "pgr":
            q, t = space(self.epsilon, self.size)
            return {"q": q, "t": t}
        return {}

    def place(self, value: Any) -> int:
        """The number of a value; a random one for what is not in the domain."""
        if self.labels is not None:
            known: dict[str | None, int] = {label: place for place, label in enumerate(self.labels)}
            return known.get(value if isinstance(value, str) else None, stand_in(self.size))
        try:
            place = int(value) if isinstance(value, str) else -1 if isinstance(value, bool) else operator.index(value)
        except (ValueError, TypeError):
            place = -1
        return place if 0 <= place < self.size else stand_in(self.size)


def stand_in(size: int) -> int:
    """A value that is drawn without looking at the person's."""
    return secrets.randbelow(size)


def believed(document: Any) -> Protocol:
    """What a collector sent, if all of it follows from kind, epsilon and domain; else an error."""
    if not isinstance(document, dict) or not isinstance(document.get("parameters"), dict):
        raise _refused("this is no protocol")
    given = document["parameters"]
    kind, epsilon, domain = given.get("kind"), given.get("epsilon"), given.get("domain")
    if kind not in KINDS or set(given) != {"kind", "epsilon", "domain"}:
        raise _refused(f"this client does not know the kind {kind!r:.40}, or not all of its parameters")
    if type(epsilon) not in (int, float) or not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise _refused(f"epsilon is {epsilon!r:.40} and not from {LEAST_EPSILON:.2g} to {MOST_EPSILON:g}")
    found = Protocol(kind, float(epsilon), *_domain(domain))
    said = (document.get("version"), document.get("derived"), document.get("fingerprint"))
    if said != (VERSION, found.derived, fingerprint(found.parameters).hex()):
        raise _refused("version, derived numbers or fingerprint are not those of its parameters")
    return found


def _domain(given: Any) -> tuple[tuple[str, ...] | None, int]:
    if type(given) is int and 2 <= given <= MOST_VALUES:
        return None, given
    texts = isinstance(given, list) and all(isinstance(one, str) for one in given)
    if texts and 2 <= len(given) <= MOST_VALUES and len(set(given)) == len(given):
        return tuple(given), len(given)
    raise _refused(f"the domain is not 2 to {MOST_VALUES} different values")


def _refused(why: str) -> ValueError:
    return ValueError(f"{why}; nothing was sent")


def fingerprint(parameters: dict[str, Any]) -> bytes:
    """What identifies the parameters in a message."""
    text = json.dumps(parameters, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()[:8]


def message(document: Any, value: Any) -> bytes:
    """The message that reports a value: the only thing that may leave the device, and once."""
    protocol = believed(document)
    place, epsilon, size, derived = protocol.place(value), protocol.epsilon, protocol.size, protocol.derived
    if protocol.kind == "grr":
        body = whole(response(epsilon, size, place), size)
    elif protocol.kind == "hadamard":
        blocks, order = derived["blocks"], derived["order"]
        body = whole(hadamard(epsilon, blocks, order, place), blocks * order)
    elif protocol.kind == "pgr":
        q, t = derived["q"], derived["t"]
        body = whole(point(epsilon, q, t, place), (q**t - 1) // (q - 1))
    else:
        body = unary(epsilon, size, place, protocol.kind == "oue")
    return bytes([VERSION]) + fingerprint(protocol.parameters) + body


def miss_chance(epsilon: float, inside: int, outside: int) -> float:
    """The least float that is not below outside / (inside * exp(epsilon) + outside)."""
    with localcontext(Context(prec=60)):
        exact = Decimal(outside) / (inside * Decimal(epsilon).exp() + outside)
        chance = float(exact)
        return chance if Decimal(chance) >= exact else math.nextafter(chance, 1.0)


def coin(chance: float) -> bool:
    """True with exactly this probability, which is a whole number over a power of two."""
    numerator, denominator = chance.as_integer_ratio()
    return secrets.randbelow(denominator) < numerator


def whole(number: int, upper: int) -> bytes:
    """A number below `upper` in 1, 2, 4 or 8 bytes, the lowest first."""
    return number.to_bytes(next(size for size in (1, 2, 4, 8) if upper <= 256**size), "little")


def response(epsilon: float, size: int, place: int) -> int:
    """Randomised response: the place, or another."""
    other = secrets.randbelow(size - 1)
    other += other >= place
    return other if coin(miss_chance(epsilon, 1, size - 1)) else place


def unary(epsilon: float, size: int, place: int, optimized: bool) -> bytes:
    """A bit for each value; the bit of value i is bit i % 8 of byte i // 8."""
    flip = miss_chance(epsilon if optimized else epsilon / 2, 1, 1)
    made = bytearray((size + 7) // 8)
    for i in range(size):
        made[i // 8] |= (not coin(0.5 if optimized else flip) if i == place else coin(flip)) << i % 8
    return bytes(made)


def matrices(epsilon: float, size: int) -> tuple[int, int]:
    """How many Hadamard matrices there are, and their order: the powers of two with the least variance."""
    odds = math.exp(epsilon)
    powers = range(math.ceil(math.log2(min(2 * odds, size))) + 1)
    blocks = min((1 << one for one in powers), key=lambda b: (odds + 2 * b - 1) ** 2 / (b * (odds - 1) ** 2))
    return blocks, 1 << (-(-size // blocks)).bit_length()


def hadamard(epsilon: float, blocks: int, order: int, place: int) -> int:
    """A code: block * order + column, more likely one of the value.

    A uniform column is turned into one of the value, or not of the value, by a bit that the row has; other blocks are
    drawn as often as their size says.
    """
    block, row, away = place // (order - 1), place % (order - 1) + 1, (blocks - 1) * order
    column, far = secrets.randbelow(order), secrets.randbelow(away + order // 2)
    miss = coin(miss_chance(epsilon, order // 2, blocks * order - order // 2))
    turned = column ^ (row & -row) * (((column & row).bit_count() % 2 == 1) != miss)
    other = far + order * (far >= block * order)
    return other if miss and far < away else block * order + turned


def space(epsilon: float, size: int) -> tuple[int, int]:
    """The prime q and the number t of coordinates of the smallest space whose variance is near the least one."""
    most = min(int(2 * math.exp(epsilon) + 4), 1021)
    found = []
    for q in (q for q in range(2, most + 1) if all(q % p for p in range(2, math.isqrt(q) + 1))):
        t = next(t for t in range(2, 64) if (q**t - 1) // (q - 1) >= size)
        if q**t <= MOST_VECTORS:
            found.append((variance(epsilon, q, t), q, t))
    least = min(one[0] for one in found)
    return min(((q, t) for noise, q, t in found if noise <= WORSE * least), key=lambda one: one[0] ** one[1])


def variance(epsilon: float, q: int, t: int) -> float:
    """The variance of a report in this space, for a value that nobody has."""
    points, hyperplane, meet = ((q ** (t - less) - 1) // (q - 1) for less in (0, 1, 2))
    odds = math.expm1(epsilon)
    unit = 1 / (odds * hyperplane + points)
    own, other = (odds + 1) * unit * hyperplane, unit * (odds * meet + hyperplane)
    return other * (1 - other) / (own - other) ** 2


def point(epsilon: float, q: int, t: int, place: int) -> int:
    """The number of a point of a projective space, more likely one that is orthogonal to that of the value.

    All coordinates but one are drawn, not all of them 0 for the product 0; that one, where the point of the value has
    its leading 1, makes the product what it should be.
    """
    points, inside = (q**t - 1) // (q - 1), (q ** (t - 1) - 1) // (q - 1)
    miss = coin(miss_chance(epsilon, inside, points - inside))
    product, any_free, some_free = (
        1 + secrets.randbelow(q - 1),
        secrets.randbelow(q ** (t - 1)),
        1 + secrets.randbelow(q ** (t - 1) - 1),
    )
    free, own = any_free if miss else some_free, vector(q, t, place)
    pivot = own.index(1)
    drawn = [free // q**i % q for i in range(t - 1)]
    drawn.insert(pivot, 0)
    drawn[pivot] = (product * miss - sum(a * b for a, b in zip(own, drawn, strict=True))) % q
    return number(q, drawn)


def vector(q: int, t: int, number: int) -> list[int]:
    """The point with this number: points of m digits to the base q after a leading 1 come before those of m + 1."""
    m = next(m for m in range(t) if number < (q ** (m + 1) - 1) // (q - 1))
    value = number - (q**m - 1) // (q - 1) + q**m
    return [value // q**i % q for i in range(t - 1, -1, -1)]


def number(q: int, vector: list[int]) -> int:
    """The number of the point on which a vector lies that is not zero."""
    first = next(place for place, digit in enumerate(vector) if digit)
    inverse, value, m = pow(vector[first], -1, q), 0, len(vector) - 1 - first
    for digit in vector[first:]:
        value = value * q + digit * inverse % q
    return value - q**m + (q**m - 1) // (q - 1)


def main(url: str, value: str) -> None:
    """Report one value to a collector."""
    with urllib.request.urlopen(f"{url}/protocol", timeout=30) as answer:
        document = json.loads(answer.read(MOST_BYTES))
    made = message(document, value)
    report = {"id": secrets.token_hex(16), "message": base64.b64encode(made).decode()}
    request = urllib.request.Request(f"{url}/reports", json.dumps({"reports": [report]}).encode())
    for attempt in range(3):  # the same message with the same identifier: it is counted once
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                said = answer.read(MOST_BYTES).decode(errors="replace")
                print("".join(one if one.isprintable() else "?" for one in said))
                return
        except TimeoutError:
            if attempt == 2:
                raise


if __name__ == "__main__":
    main(*sys.argv[1:])
