"""A whole device in one file, with nothing but Python's standard library: to be copied, or translated.

    python wire_client.py http://collector:8080 VALUE

asks the collector for its protocol, randomises the value here, and sends one message. It knows the kinds "grr", "sue",
"oue", "hadamard" and "pgr"; docs/local.md has the formats and test vectors.

The collector is not trusted: this file computes every probability from epsilon itself, and a protocol that asks for a
larger epsilon than `MOST_EPSILON` is refused. The numbers that a protocol derives (q, t, blocks, order) only say which
reports there are; wrong ones make reports useless, and no less private.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import secrets
import sys
import urllib.request
from decimal import Context, Decimal, localcontext
from typing import Any

VERSION = 1
MOST_EPSILON = 10.0


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


def fingerprint(parameters: dict[str, Any]) -> bytes:
    """What identifies the parameters in a message."""
    text = json.dumps(parameters, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()[:8]


def message(protocol: dict[str, Any], value: Any) -> bytes:
    """The message that reports a value: the only thing that may leave the device, and once."""
    parameters = protocol["parameters"]
    domain, epsilon, kind = parameters["domain"], parameters["epsilon"], parameters["kind"]
    if not 0 < epsilon <= MOST_EPSILON:
        raise ValueError(f"epsilon {epsilon} is not above 0 and at most {MOST_EPSILON}; nothing was sent")
    size = domain if isinstance(domain, int) else len(domain)
    known: Any = range(size) if isinstance(domain, int) else domain
    if value not in known:
        raise ValueError("the value is not in the domain; nothing was sent")
    place, derived = known.index(value), protocol["derived"]
    if kind == "grr":
        body = whole(response(epsilon, size, place), size)
    elif kind in ("sue", "oue"):
        body = unary(epsilon, size, place, kind == "oue")
    elif kind == "hadamard":
        blocks, order = derived["blocks"], derived["order"]
        body = whole(hadamard(epsilon, blocks, order, place), blocks * order)
    elif kind == "pgr":
        q, t = derived["q"], derived["t"]
        body = whole(point(epsilon, q, t, place), (q**t - 1) // (q - 1))
    else:
        raise ValueError(f"this client does not know the kind {kind!r}; nothing was sent")
    return bytes([VERSION]) + fingerprint(parameters) + body


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
    bits = 0
    for i in range(size):
        bits |= (not coin(0.5 if optimized else flip) if i == place else coin(flip)) << i
    return bits.to_bytes((size + 7) // 8, "little")


def hadamard(epsilon: float, blocks: int, order: int, place: int) -> int:
    """A code: block * order + column, more likely one of the value."""
    codes, inside = blocks * order, order // 2
    miss = coin(miss_chance(epsilon, inside, codes - inside))
    while True:
        code = secrets.randbelow(codes)
        if is_hadamard_code(order, place, code) != miss:
            return code


def is_hadamard_code(order: int, place: int, code: int) -> bool:
    """Whether a code is of the block of a value, and its column has an even number of bits in common with the row."""
    block, row = place // (order - 1), place % (order - 1) + 1
    return code // order == block and (code % order & row).bit_count() % 2 == 0


def point(epsilon: float, q: int, t: int, place: int) -> int:
    """The number of a point of a projective space, more likely one that is orthogonal to that of the value."""
    points, inside = (q**t - 1) // (q - 1), (q ** (t - 1) - 1) // (q - 1)
    miss = coin(miss_chance(epsilon, inside, points - inside))
    own = vector(q, t, place)
    while True:
        drawn = [secrets.randbelow(q) for _ in range(t)]
        orthogonal = sum(a * b for a, b in zip(own, drawn, strict=True)) % q == 0
        if any(drawn) and orthogonal != miss:
            return number(q, drawn)


def vector(q: int, t: int, number: int) -> list[int]:
    """The point with this number: points of m digits to the base q after a leading 1 come before those of m + 1."""
    m = 0
    while number >= q**m:
        number -= q**m
        m += 1
    value = q**m + number
    return [value // q**i % q for i in range(t - 1, -1, -1)]


def number(q: int, vector: list[int]) -> int:
    """The number of the point on which a vector lies that is not zero."""
    while vector[0] == 0:
        vector = vector[1:]
    inverse, value, m = pow(vector[0], -1, q), 0, len(vector) - 1
    for digit in vector:
        value = value * q + digit * inverse % q
    return value - q**m + (q**m - 1) // (q - 1)


def main(url: str, value: str) -> None:
    """Report one value to a collector."""
    with urllib.request.urlopen(f"{url}/protocol", timeout=30) as answer:
        protocol = json.load(answer)
    known = protocol["parameters"]["domain"]
    made = message(protocol, int(value) if isinstance(known, int) else value)
    report = {"id": secrets.token_hex(16), "message": base64.b64encode(made).decode()}
    request = urllib.request.Request(f"{url}/reports", json.dumps({"reports": [report]}).encode())
    for attempt in range(3):  # the same message with the same identifier: it is counted once
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                print(answer.read().decode())
                return
        except TimeoutError:
            if attempt == 2:
                raise


if __name__ == "__main__":
    main(*sys.argv[1:])
