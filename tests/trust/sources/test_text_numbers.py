"""Numbers written as text are those that Python reads, and nothing makes the reading fail."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa

from discreet.trust.sources.text_numbers import text_numbers


def pythons(raw: bytes) -> float | None:
    try:
        number = float(raw.decode("ascii"))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def test_a_text_is_the_number_that_python_reads() -> None:
    rng = np.random.default_rng(2)
    alphabet = np.frombuffer(b"0123456789.eE+-_ \t\x1c\x00naifINFty\xff\xc3\n\\", np.uint8)
    odd = [bytes(rng.choice(alphabet, size)) for size in rng.integers(0, 8, 20_000)]
    long = [f"{a}.{b}e{c}".encode() for a, b, c in rng.integers(-(10**18), 10**18, (20_000, 3)) % (10**18, 10**18, 660)]
    wild = [b"1e999", b"-1e999", b"9" * 5000, b"0." + b"0" * 400 + b"1", b"1e" + b"9" * 30, b"1e-" + b"9" * 30, b"+.5"]
    raw = [*odd, *long, *wild]
    found = text_numbers(pa.array(raw, pa.large_binary())).to_pylist()
    finite = [None if number is None or math.isinf(number) else number for number in found]
    assert finite == [pythons(one) for one in raw]
    assert sum(number is not None for number in finite) > 10_000
