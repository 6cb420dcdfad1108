"""What phe on gmpy2 needs for each number. Takes jobs as lines and answers with seconds of processor time, in JSON.

It runs beside the benchmark and answers when asked, so that both are measured in turns. A job is {"bits": 2048, "of":
"encrypt"}; "add" adds two lists, number by number; "layer" is one output of a layer, for so many inputs, by floats as a
user would write it.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import phe
import phe.util

ARRAY = 200  # numbers that are added to as many others in a loop
TIMES = {"encrypt": 12, "add": 10 * ARRAY, "decrypt": 40, "layer": 1}
INPUTS = 60  # of a layer, measured; cost is linear in them


@cache
def keys(bits: int) -> tuple[Any, Any, Any, Any]:
    public, private = phe.generate_paillier_keypair(n_length=bits)
    return public, private, public.encrypt(12345), public.encrypt(54321)


@cache
def layer(bits: int) -> tuple[list[Any], list[float]]:
    draw = random.Random(0)
    public = keys(bits)[0]
    inputs = [public.encrypt(draw.randrange(256) / 255) for _ in range(INPUTS)]
    return inputs, [draw.gauss(0, 0.05) for _ in range(INPUTS)]


@cache
def arrays(bits: int) -> tuple[list[Any], list[Any]]:
    draw, public = random.Random(2), keys(bits)[0]
    ones, twos = ([public.encrypt(draw.randrange(2**32)) for _ in range(ARRAY)] for _ in range(2))
    return ones, twos


def job(bits: int, of: str) -> Callable[[], Any]:
    public, private, one, two = keys(bits)
    if of == "layer":
        inputs, weights = layer(bits)
        return lambda: sum((x * w for x, w in zip(inputs, weights, strict=True)), two)
    if of == "add":
        ones, twos = arrays(bits)
        return lambda: [left + right for left, right in zip(ones, twos, strict=True)]
    number = random.Random(1).randrange(2**32)
    return {
        "encrypt": lambda: public.encrypt(number),
        "decrypt": lambda: private.decrypt(one),
    }[of]


def main() -> None:
    if not phe.util.HAVE_GMP:
        raise SystemExit("phe does not find gmpy2, and would look slower than it is")
    for line in sys.stdin:
        asked = json.loads(line)
        run = job(asked["bits"], asked["of"])
        run()
        times, start = TIMES[asked["of"]], time.process_time()
        for _ in range(times // ARRAY if asked["of"] == "add" else times):
            run()
        print(json.dumps((time.process_time() - start) / times), flush=True)


if __name__ == "__main__":
    main()
