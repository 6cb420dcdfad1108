"""Paillier's encryption against phe on gmpy2, measured in turns: single numbers, packed sums, a layer, and holders.

phe has one number in each ciphertext, and no arrays: it adds in a loop over lists of as many. Its packed figures
are those of single numbers times how many there are; those of the layer are an encryption for each input, a product and
an addition for each weight, a decryption for each output.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rows import Row, at_least, at_most, missing, printed
from discreet.crypto.paillier.big_integers import gmp
from discreet.crypto.paillier.decryption_proof import DecryptionProof
from discreet.crypto.paillier.encrypted_array import encrypt
from discreet.crypto.paillier.packing import Packing
from discreet.crypto.paillier.private_key import PrivateKey
from discreet.crypto.paillier.public_key import PublicKey
from discreet.crypto.paillier.threshold_key import KeyShare, dealt_from
from discreet.crypto.paillier.zero_pool import ZeroPool
from discreet.noise.system_bits import system_bits

PEER = "benchmarks/peers/phe_encrypted.py"
NUMBERS, WORDS = 10**5, 2**32
INPUTS, OUTPUTS, BATCH = 784, 128, 56
PHE_INPUTS = 60
ARRAY, FEW = 200, 40  # numbers that are encrypted and added at once, and that are decrypted
ROUNDS = 5


class Phe:
    """phe in a process of its own, which answers when it is asked."""

    def __init__(self) -> None:
        own = Path(".venv/bench-phe/bin/python")
        python = os.environ.get("DISCREET_PHE") or (str(own) if own.exists() else sys.executable)
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen([python, PEER], **pipes)

    def seconds(self, bits: int, of: str) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"bits": bits, "of": of}) + "\n")
        self._process.stdin.flush()
        return float(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def spent(job: Callable[[], Any], times: int = 1) -> float:
    """The processor time of one run."""
    start = time.process_time()
    for _ in range(times):
        job()
    return (time.process_time() - start) / times


def ratio(peer: Callable[[], float], own: Callable[[], float], rounds: int = ROUNDS) -> float:
    """How many times as long the peer takes: the median over rounds of both in turns."""
    own()
    return statistics.median(peer() / own() for _ in range(rounds))


def rows() -> list[Row]:
    try:
        phe = Phe()
        phe.seconds(2048, "add")
    except (OSError, ValueError):
        return [missing("Paillier against phe, which is not there: set DISCREET_PHE")]
    try:
        key = PrivateKey.drawn(2048)
        found = [*_single(phe, key), *_subgroup(phe), *_sums(phe, key), *_layer(phe, key)]
    finally:
        phe.close()
    return [*found, *_holders(key)]


def _single(phe: Phe, key: PrivateKey) -> list[Row]:
    """Arrays with one number in each ciphertext, for each number."""
    packing, bits = Packing(0, WORDS - 1, headroom=2), system_bits()
    values = np.random.default_rng(1).integers(0, WORDS, (1, ARRAY))
    one, two = (encrypt(values, packing, key) for _ in range(2))
    few = one[:, :FEW]
    pool = ZeroPool(key.public)
    pool.fill(6 * ARRAY)
    started = spent(lambda: PublicKey(key.public.modulus, key.public.base).zeros(ARRAY, bits))
    jobs: dict[str, tuple[str, Callable[[], float]]] = {
        "encryption by anybody": ("encrypt", lambda: spent(lambda: encrypt(values, packing, key.public, bits)) / ARRAY),
        "encryption by the owner": ("encrypt", lambda: spent(lambda: encrypt(values, packing, key, bits)) / ARRAY),
        "addition": ("add", lambda: spent(lambda: one + two, 20) / ARRAY),
        "decryption": ("decrypt", lambda: spent(lambda: key.decrypt(few)) / FEW),
        "the online part with a pool": ("encrypt", lambda: spent(lambda: encrypt(values, packing, pool)) / ARRAY),
    }
    goals = {"encryption by anybody": 12, "encryption by the owner": 17, "addition": 1.6, "decryption": 0.95}
    found = []
    for name, (of, own) in jobs.items():
        times = ratio(lambda of=of: phe.seconds(2048, of), own)  # type: ignore[misc]
        claim = f"2048 bits, arrays of {ARRAY} with one number in each ciphertext, {name}: times phe's loop"
        found.append(
            at_least(claim, times, goals[name]) if name in goals else printed(f"{claim} (work moved, not saved)", times)
        )
    return [*found, *_alone(phe, key, packing), printed(f"the first {ARRAY} encryptions with their table, s", started)]


def _alone(phe: Phe, key: PrivateKey, packing: Packing) -> list[Row]:
    """Where what is done once for each array counts most, and least."""
    alone, full = encrypt([12345], packing, key), encrypt(np.arange(20 * packing.slots(2048)), packing, key)
    single = ratio(lambda: phe.seconds(2048, "add"), lambda: spent(lambda: alone + alone, 2000))
    packed = ratio(lambda: phe.seconds(2048, "add"), lambda: spent(lambda: full + full, 100) / full.shape[0])
    return [
        printed("2048 bits, addition of arrays of a single number: times phe", single),
        printed(f"2048 bits, addition of arrays with {full.slots} numbers in each ciphertext: times phe", packed),
    ]


def _subgroup(phe: Phe) -> list[Row]:
    key, packing, bits = PrivateKey.drawn(2048, "subgroup"), Packing(0, WORDS - 1, headroom=2), system_bits()
    values = np.random.default_rng(1).integers(0, WORDS, (1, ARRAY))
    few = encrypt(values[:, :FEW], packing, key)

    def anybody(own: PrivateKey) -> Callable[[], float]:
        return lambda: spent(lambda: encrypt(values, packing, own.public, bits)) / ARRAY

    public = ratio(lambda: phe.seconds(2048, "encrypt"), anybody(key))
    opened = ratio(lambda: phe.seconds(2048, "decrypt"), lambda: spent(lambda: key.decrypt(few)) / FEW)
    long = ratio(lambda: phe.seconds(2048, "encrypt"), anybody(PrivateKey.drawn(2048, "full")))
    return [
        at_least("2048 bits, a subgroup (a further assumption), encryption by anybody: times phe", public, 23),
        at_least("2048 bits, a subgroup (a further assumption), decryption: times phe", opened, 2.5),
        printed("2048 bits, full exponents (no further assumption), encryption by anybody: times phe", long),
    ]


def _sums(phe: Phe, key: PrivateKey) -> list[Row]:
    """1e5 numbers of 32 bits: encrypted by anybody, added up, decrypted."""
    found = []
    values = np.random.default_rng(0).integers(0, WORDS, NUMBERS)
    for bits, goal in ((2048, 600), (3072, 1000)):
        own = key if bits == 2048 else PrivateKey.drawn(bits)
        packing = Packing(0, WORDS - 1, headroom=-(-NUMBERS // (bits // 48)))  # a slot of at most 48 bits
        assert packing.width <= 48

        def total(own: PrivateKey = own, packing: Packing = packing) -> int:
            return int(own.decrypt(encrypt(values, packing, own.public).folded()).sum())

        assert total() == values.sum()

        def peer(bits: int = bits) -> float:
            return NUMBERS * (phe.seconds(bits, "encrypt") + phe.seconds(bits, "add")) + phe.seconds(bits, "decrypt")

        times = ratio(peer, lambda total=total: spent(total), 3)  # type: ignore[misc]
        found.append(
            at_least(f"{bits} bits, sum of 1e5 numbers of 32 bits, {packing.slots(bits)} slots: times phe", times, goal)
        )
    return found


def _layer(phe: Phe, key: PrivateKey) -> list[Row]:
    """784-128 at batch 56: the owner encrypts and decrypts, the server multiplies and makes fresh ciphertexts."""
    draw = np.random.default_rng(0)
    weights = np.clip(np.rint(draw.normal(0, 0.05, (INPUTS, OUTPUTS)) * 2**11), -4095, 4095).astype(np.int64)
    images = draw.integers(0, 256, (BATCH, INPUTS))
    packing = Packing(0, 255, headroom=int(np.abs(weights).sum(axis=0).max()))
    assert packing.slots(2048) >= BATCH
    parts: dict[str, list[float]] = {"encrypt": [], "multiply": [], "decrypt": []}

    def own() -> float:
        start = time.process_time()
        sealed = encrypt(images, packing, key)
        parts["encrypt"].append(time.process_time() - start)
        answer = (sealed @ weights).refreshed()
        parts["multiply"].append(time.process_time() - start - parts["encrypt"][-1])
        opened = key.decrypt(answer)
        parts["decrypt"].append(time.process_time() - start - parts["encrypt"][-1] - parts["multiply"][-1])
        assert (opened == images @ weights).all()
        return (time.process_time() - start) / BATCH

    def peer() -> float:
        one = phe.seconds(2048, "layer") / PHE_INPUTS
        return INPUTS * phe.seconds(2048, "encrypt") + INPUTS * OUTPUTS * one + OUTPUTS * phe.seconds(2048, "decrypt")

    times = ratio(peer, own, 3)
    seconds = {name: round(statistics.median(each), 2) for name, each in parts.items()}
    return [
        at_least(
            f"layer {INPUTS}-{OUTPUTS} at batch {BATCH}, {packing.width} bits a slot: times phe for each sample",
            times,
            1000,
        ),
        printed(
            f"the same, seconds of a batch ({', '.join(f'{name} {each}' for name, each in seconds.items())})",
            sum(seconds.values()),
        ),
    ]


def _holders(key: PrivateKey) -> list[Row]:
    """Threshold decryption, 3 of 5."""
    share: KeyShare = next(iter(dealt_from(key, ("a", "b", "c", "d", "e"), 3, "the benchmark").values()))
    array = encrypt(np.arange(32)[None], Packing(0, 99), key)
    square, exponent, bits = key.public.square, 2 * share.exponent, system_bits()
    ciphertexts = array.ciphertexts
    parts = [gmp().powmod(one, exponent, square) for one in ciphertexts]
    jobs: list[Callable[[], float]] = [
        lambda: spent(lambda: key.plain(ciphertexts[0]), 20),
        lambda: spent(lambda: gmp().powmod(ciphertexts[0], exponent, square), 4),
        lambda: spent(lambda: DecryptionProof.made(share, b"", ciphertexts[:1], parts[:1], bits), 4),
        lambda: spent(lambda: DecryptionProof.made(share, b"", ciphertexts, parts, bits), 1) / 32,
    ]
    proof = DecryptionProof.made(share, b"", ciphertexts, parts, bits)
    assert proof.holds(share.key, "a", b"", ciphertexts, parts)
    taken = [[job() for job in jobs] for _ in range(ROUNDS)]
    part, alone, together = (
        statistics.median(one[place] / one[place - 1 if place < 3 else 1] for one in taken) for place in (1, 2, 3)
    )
    return [
        at_most("a partial decryption, 3 of 5: times a decryption", part, 10),
        at_most("its proof: times a partial decryption", alone, 1.6),
        at_most("one proof over 32 ciphertexts: times a partial decryption, for each", together, 0.15),
    ]
