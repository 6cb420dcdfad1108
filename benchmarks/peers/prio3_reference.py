"""Prio3 line by line as the listings of draft-irtf-cfrg-vdaf-20 have it, in Python's integers, one report at a time.

Written from the text of the draft, step by step as its listings go, with a class for field elements as the draft has
one, and none of `discreet.crypto`: what is fast is compared with it, and tests hold both to the same bytes. What a
listing does for every report is done for every report, a copy of the circuit for each proof and query included. So is
what the draft says of fields in words (sections 6.1 and 6.1.2): elements are made of integers between minus and plus
the modulus, a root of unity is a power of `gen()`, and its powers are `Wn ** i`. Two things are faster than that: the
stream of an XOF is squeezed on, and not computed again from its beginning for each element, as the draft itself
advises; and nothing is inverted by a power.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from math import prod
from typing import Any

from Cryptodome.Hash import TurboSHAKE128

VERSION, SEED_SIZE, NONCE_SIZE = 18, 32, 16
MEAS_SHARE, PROOF_SHARE, JOINT_RANDOMNESS, PROVE_RANDOMNESS, QUERY_RANDOMNESS, JOINT_RAND_SEED, JOINT_RAND_PART = range(
    1, 8
)


class F:
    """An element of a field; subclasses have the field's numbers."""

    MODULUS: int
    ENCODED_SIZE: int
    GEN_ORDER: int

    def __init__(self, val: int) -> None:
        if not -self.MODULUS < val < self.MODULUS:
            raise ValueError("not between minus and plus the modulus")
        self.val = val % self.MODULUS

    def __add__(self, other: F) -> F:
        return self.__class__((self.val + other.val) % self.MODULUS)

    def __sub__(self, other: F) -> F:
        return self.__class__((self.val - other.val) % self.MODULUS)

    def __mul__(self, other: F) -> F:
        return self.__class__(self.val * other.val % self.MODULUS)

    def __neg__(self) -> F:
        return self.__class__(-self.val % self.MODULUS)

    def __pow__(self, n: int) -> F:
        return self.__class__(pow(self.val, n, self.MODULUS))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, F) and self.val == other.val

    __hash__ = None  # type: ignore[assignment]

    def inv(self) -> F:
        return self.__class__(pow(self.val, -1, self.MODULUS))

    @classmethod
    def gen(cls) -> F:
        raise NotImplementedError

    @classmethod
    def nth_root(cls, n: int) -> F:
        return cls.gen() ** (cls.GEN_ORDER // n)

    @classmethod
    def nth_root_powers(cls, n: int) -> list[F]:
        root = cls.nth_root(n)
        return [root**i for i in range(n)]

    @classmethod
    def encode_vec(cls, vec: Sequence[F]) -> bytes:
        encoded = b""
        for x in vec:
            encoded += x.val.to_bytes(cls.ENCODED_SIZE, "little")
        return encoded

    @classmethod
    def decode_vec(cls, data: bytes) -> list[F]:
        vec: list[F] = []
        while len(data) > 0:
            one, data = front(cls.ENCODED_SIZE, data)
            x = int.from_bytes(one, "little")
            if x >= cls.MODULUS:
                raise ValueError("modulus overflow")
            vec.append(cls(x))
        return vec

    @classmethod
    def ntt(cls, p: list[F], n: int, set_s: bool = False) -> list[F]:
        p = p + [cls(0)] * (n - len(p))
        if set_s:
            p = [a * b for a, b in zip(p, cls.nth_root_powers(2 * n), strict=False)]
        return cls._ntt(p, cls.nth_root_powers(n))

    @classmethod
    def _ntt(cls, p: list[F], powers: list[F]) -> list[F]:
        if len(p) == 1:
            return p
        even, odd = cls._ntt(p[0::2], powers[0::2]), cls._ntt(p[1::2], powers[0::2])
        turned = [a * b for a, b in zip(odd, powers, strict=False)]
        return [a + b for a, b in zip(even, turned, strict=True)] + [a - b for a, b in zip(even, turned, strict=True)]

    @classmethod
    def inv_ntt(cls, v: list[F], n: int) -> list[F]:
        found, scale = cls._ntt(v, cls.nth_root_powers(n)), cls(n).inv()
        return [x * scale for x in found[:1] + found[:0:-1]]


class Field64(F):
    MODULUS, ENCODED_SIZE, GEN_ORDER = 2**32 * 4294967295 + 1, 8, 2**32

    @classmethod
    def gen(cls) -> F:
        return cls(7) ** 4294967295


class Field128(F):
    MODULUS, ENCODED_SIZE, GEN_ORDER = 2**66 * 4611686018427387897 + 1, 16, 2**66

    @classmethod
    def gen(cls) -> F:
        return cls(7) ** 4611686018427387897


def front(n: int, items: Any) -> tuple[Any, Any]:
    return items[:n], items[n:]


def next_power_of_2(n: int) -> int:
    return 1 << (n - 1).bit_length()


class Xof:
    def __init__(self, seed: bytes, dst: bytes, binder: bytes) -> None:
        data = len(dst).to_bytes(2, "little") + dst + len(seed).to_bytes(1, "little") + seed + binder
        self.stream = TurboSHAKE128.new(domain=1, data=data)

    def next_vec(self, field: type[F], length: int) -> list[F]:
        vec: list[F] = []
        mask = next_power_of_2(field.MODULUS) - 1
        while len(vec) < length:
            x = int.from_bytes(self.stream.read(field.ENCODED_SIZE), "little") & mask
            if x < field.MODULUS:
                vec.append(field(x))
        return vec


class Lagrange:
    def __init__(self, field: type[F]) -> None:
        self.field = field

    def poly_eval_batched(self, polys: list[list[F]], x: F) -> list[F]:
        n = len(polys[0])
        nodes = self.field.nth_root_powers(n)
        k = self.field(1)
        u = [p[0] for p in polys]
        d = nodes[0] - x
        for i in range(1, n):
            k *= d
            d = nodes[i] - x
            t = k * nodes[i]
            for j, p in enumerate(polys):
                u[j] *= d
                if i < len(p):
                    u[j] += t * p[i]
        factor = self.field(-1) ** (n - 1) * self.field(n).inv()
        return [one * factor for one in u]

    def extend_values_to_power_of_2(self, p: list[F], n: int) -> None:
        x = self.field.nth_root_powers(n)
        w = [self.field(0)] * n
        for i in range(len(p)):
            w[i] = prod((x[i] - x[j] for j in range(len(p)) if i != j), start=self.field(1))
        for k in range(len(p), n):
            for i in range(k):
                w[i] *= x[i] - x[k]
            y_num, y_den = self.field(0), self.field(1)
            for i, v in enumerate(p):
                y_num = y_num * w[i] + y_den * v
                y_den *= w[i]
            w[k] = prod((x[k] - x[j] for j in range(k)), start=self.field(1))
            p.append(-w[k] * y_num * y_den.inv())

    def double_evaluations(self, p: list[F]) -> list[F]:
        n = len(p)
        odd = self.field.ntt(self.field.inv_ntt(p, n), n, True)
        return [i for pair in zip(p, odd, strict=True) for i in pair]

    def poly_mul(self, p: list[F], q: list[F]) -> list[F]:
        return [a * b for a, b in zip(self.double_evaluations(p), self.double_evaluations(q), strict=True)]


class Mul:
    ARITY = DEGREE = 2

    def eval(self, field: type[F], inp: list[F]) -> F:
        return inp[0] * inp[1]

    def eval_poly(self, field: type[F], inp: list[list[F]]) -> list[F]:
        return Lagrange(field).poly_mul(inp[0], inp[1])


def poly_eval(field: type[F], p: list[F], x: F) -> F:
    found = p[-1]
    for coefficient in reversed(p[:-1]):
        found = found * x + coefficient
    return found


class Range2:
    """PolyEval of x**2 - x."""

    ARITY, DEGREE, P = 1, 2, (0, -1, 1)

    def eval(self, field: type[F], inp: list[F]) -> F:
        return poly_eval(field, [field(one) for one in self.P], inp[0])

    def eval_poly(self, field: type[F], inp: list[list[F]]) -> list[F]:
        n, p = 2 * len(inp[0]), [field(one) for one in self.P]
        return [poly_eval(field, p, x) for x in field.ntt(field.inv_ntt(inp[0], len(inp[0])), n)]


class ParallelSum:
    DEGREE = 2

    def __init__(self, count: int) -> None:
        self.subcircuit, self.count, self.ARITY = Mul(), count, 2 * count

    def eval(self, field: type[F], inp: list[F]) -> F:
        out = field(0)
        for i in range(self.count):
            out += self.subcircuit.eval(field, inp[2 * i : 2 * i + 2])
        return out

    def eval_poly(self, field: type[F], inp: list[list[F]]) -> list[F]:
        out = [field(0)] * (2 * len(inp[0]))
        for i in range(self.count):
            current = self.subcircuit.eval_poly(field, inp[2 * i : 2 * i + 2])
            out = [a + b for a, b in zip(out, current, strict=True)]
        return out


class Recorded:
    """ProveGadget, or QueryGadget where it has a gadget polynomial."""

    def __init__(self, field: type[F], seeds: list[F], inner: Any, calls: int, poly: list[F] | None = None) -> None:
        p = next_power_of_2(1 + calls)
        self.inner, self.k = inner, 0
        self.wires = [[seed, *[field(0)] * (p - 1)] for seed in seeds]
        self.poly, self.step = poly, 2
        if poly is not None:
            Lagrange(field).extend_values_to_power_of_2(poly, 2 * p)

    def eval(self, field: type[F], inp: list[F]) -> F:
        self.k += 1
        for j, x in enumerate(inp):
            self.wires[j][self.k] = x
        return self.inner.eval(field, inp) if self.poly is None else self.poly[self.k * self.step]


class Valid:
    """The circuits: Count, Sum, SumVec, Histogram and MultihotCountVec."""

    def __init__(self, kind: str, field: type[F], length: int = 1, most: int = 1, chunk: int = 0) -> None:
        self.kind, self.field, self.length, self.most, self.chunk = kind, field, length, most, chunk
        bits = most.bit_length()
        sizes = {"Count": 1, "Sum": bits, "SumVec": length * bits, "Histogram": length, "Multihot": length + bits}
        self.MEAS_LEN = sizes[kind]
        self.CALLS = -(-self.MEAS_LEN // chunk) if chunk else self.MEAS_LEN
        self.JOINT_RAND_LEN = self.CALLS if chunk else 0
        self.EVAL_OUTPUT_LEN = {"Sum": bits, "Histogram": 2, "Multihot": 2}.get(kind, 1)
        self.gadget: Any = ParallelSum(chunk) if chunk else Mul() if kind == "Count" else Range2()
        p = next_power_of_2(1 + self.CALLS)
        self.PROOF_LEN = self.gadget.ARITY + 2 * (p - 1) + 1
        self.QUERY_RAND_LEN = 1 + (self.EVAL_OUTPUT_LEN if self.EVAL_OUTPUT_LEN > 1 else 0)
        self.VERIFIER_LEN = self.gadget.ARITY + 2

    def encode_int(self, value: int) -> list[F]:
        bits = self.most.bit_length()
        rest_all_ones_value = 2 ** (bits - 1) - 1
        last = value > rest_all_ones_value
        rest = value - (self.most - rest_all_ones_value) if last else value
        return [self.field((rest >> k) & 1) for k in range(bits - 1)] + [self.field(int(last))]

    def decode_int(self, encoded: list[F]) -> F:
        bits = self.most.bit_length()
        decoded = self.field(0)
        for k, bit in enumerate(encoded[: bits - 1]):
            decoded += self.field(1 << k) * bit
        return decoded + self.field(self.most - (2 ** (bits - 1) - 1)) * encoded[bits - 1]

    def encode(self, measurement: Any) -> list[F]:
        if self.kind == "Count":
            return [self.field(measurement)]
        if self.kind == "Sum":
            return self.encode_int(measurement)
        if self.kind == "SumVec":
            return [x for value in measurement for x in self.encode_int(value)]
        if self.kind == "Histogram":
            return [self.field(int(k == measurement)) for k in range(self.length)]
        return [self.field(int(x)) for x in measurement] + self.encode_int(sum(measurement))

    def wrapped(self, seeds: list[F], poly: list[F] | None = None) -> Valid:
        """ProveGadget.wrap and QueryGadget.wrap: a copy of the circuit whose gadget records its wires."""
        gadget = Recorded(self.field, seeds, self.gadget, self.CALLS, poly)
        copied = deepcopy(self)
        copied.gadget = gadget
        return copied

    def eval(self, meas: list[F], joint_rand: list[F], num_shares: int) -> list[F]:
        field, gadget = self.field, self.gadget
        if self.kind == "Count":
            return [gadget.eval(field, [meas[0], meas[0]]) - meas[0]]
        if self.kind == "Sum":
            return [gadget.eval(field, [b]) for b in meas]
        out, shares_inv = field(0), field(num_shares).inv()
        for i in range(self.CALLS):
            r = joint_rand[i]
            r_power, inputs = r, []
            for j in range(self.chunk):
                index = i * self.chunk + j
                elem = meas[index] if index < len(meas) else field(0)
                inputs += [r_power * elem, elem - shares_inv]
                r_power *= r
            out += gadget.eval(field, inputs)
        if self.kind == "SumVec":
            return [out]
        if self.kind == "Histogram":
            return [out, sum(meas, field(0)) - shares_inv]
        return [out, sum(meas[: self.length], field(0)) - self.decode_int(meas[self.length :])]

    def truncate(self, meas: list[F]) -> list[F]:
        if self.kind in ("Sum", "SumVec"):
            bits = self.most.bit_length()
            return [self.decode_int(meas[i : i + bits]) for i in range(0, len(meas), bits)]
        return meas[: self.length]

    def prove(self, meas: list[F], prove_rand: list[F], joint_rand: list[F]) -> list[F]:
        valid = self.wrapped(prove_rand)
        valid.eval(meas, joint_rand, 1)
        g = valid.gadget
        poly = self.gadget.eval_poly(self.field, g.wires)
        return prove_rand + poly[: 2 * (len(g.wires[0]) - 1) + 1]

    def query(self, meas: list[F], proof: list[F], query_rand: list[F], joint_rand: list[F], shares: int) -> list[F]:
        seeds, poly = front(self.gadget.ARITY, proof)
        valid = self.wrapped(seeds, list(poly))
        out, g = valid.eval(meas, joint_rand, shares), valid.gadget
        v = out[0]
        if self.EVAL_OUTPUT_LEN > 1:
            rand, query_rand = front(self.EVAL_OUTPUT_LEN, query_rand)
            v = sum((r * x for r, x in zip(rand, out, strict=True)), self.field(0))
        t = query_rand[0]
        if t ** len(g.wires[0]) == self.field(1):
            raise ValueError("test point is a root of unity")
        lag = Lagrange(self.field)
        assert g.poly is not None
        return [v, *lag.poly_eval_batched(g.wires, t), *lag.poly_eval_batched([g.poly], t)]

    def decide(self, verifier: list[F]) -> bool:
        return verifier[0] == self.field(0) and self.gadget.eval(self.field, verifier[1:-1]) == verifier[-1]


class ReferencePrio3:
    """Prio3 of a circuit, for one report at a time; shares are bytes, as they travel."""

    def __init__(self, flp: Valid, algorithm: int, shares: int = 2, ctx: bytes = b"", proofs: int = 1) -> None:
        self.flp, self.ID, self.SHARES, self.ctx, self.PROOFS = flp, algorithm, shares, ctx, proofs

    def xof(self, usage: int, seed: bytes, binder: bytes) -> Xof:
        dst = bytes([VERSION, 0]) + self.ID.to_bytes(4, "big") + usage.to_bytes(2, "big") + self.ctx
        return Xof(seed, dst, binder)

    def vec(self, usage: int, seed: bytes, binder: bytes, length: int) -> list[F]:
        return self.xof(usage, seed, binder).next_vec(self.flp.field, length)

    def helper(self, agg_id: int, seed: bytes) -> tuple[list[F], list[F]]:
        meas = self.vec(MEAS_SHARE, seed, bytes([agg_id]), self.flp.MEAS_LEN)
        return meas, self.vec(PROOF_SHARE, seed, bytes([self.PROOFS, agg_id]), self.flp.PROOF_LEN * self.PROOFS)

    def joint_rand_part(self, agg_id: int, blind: bytes, meas: list[F], nonce: bytes) -> bytes:
        binder = bytes([agg_id]) + nonce + self.flp.field.encode_vec(meas)
        return self.xof(JOINT_RAND_PART, blind, binder).stream.read(SEED_SIZE)

    def joint_rand_seed(self, parts: list[bytes]) -> bytes:
        return self.xof(JOINT_RAND_SEED, bytes(SEED_SIZE), b"".join(parts)).stream.read(SEED_SIZE)

    def joint_rands(self, seed: bytes) -> list[F]:
        return self.vec(JOINT_RANDOMNESS, seed, bytes([self.PROOFS]), self.flp.JOINT_RAND_LEN * self.PROOFS)

    def shard(self, measurement: Any, nonce: bytes, rand: bytes) -> tuple[bytes, list[bytes]]:
        seeds = [rand[i : i + SEED_SIZE] for i in range(0, len(rand), SEED_SIZE)]
        field, meas, joint = self.flp.field, self.flp.encode(measurement), self.flp.JOINT_RAND_LEN > 0
        helpers = range(1, self.SHARES)
        own = seeds[: 2 * (self.SHARES - 1) : 2] if joint else seeds[: self.SHARES - 1]
        blinds = [seeds[2 * (self.SHARES - 1)], *seeds[1 : 2 * (self.SHARES - 1) : 2]] if joint else []
        shares = [self.helper(j, own[j - 1]) for j in helpers]
        leader = meas
        for share, _ in shares:
            leader = [a - b for a, b in zip(leader, share, strict=True)]
        parts, joint_rands = [], []
        if joint:
            held = [leader, *(share for share, _ in shares)]
            parts = [self.joint_rand_part(j, blinds[j], held[j], nonce) for j in range(self.SHARES)]
            joint_rands = self.joint_rands(self.joint_rand_seed(parts))
        prove_rands = self.vec(PROVE_RANDOMNESS, seeds[-1], bytes([self.PROOFS]), self.flp.gadget.ARITY * self.PROOFS)
        proofs: list[F] = []
        for _ in range(self.PROOFS):
            prove_rand, prove_rands = front(self.flp.gadget.ARITY, prove_rands)
            joint_rand, joint_rands = front(self.flp.JOINT_RAND_LEN, joint_rands)
            proofs += self.flp.prove(meas, prove_rand, joint_rand)
        for _, share in shares:
            proofs = [a - b for a, b in zip(proofs, share, strict=True)]
        inputs = [field.encode_vec(leader + proofs), *own]
        return b"".join(parts), [one + blinds[j] if joint else one for j, one in enumerate(inputs)]

    def verify_init(
        self, key: bytes, agg_id: int, nonce: bytes, public: bytes, share: bytes
    ) -> tuple[tuple[list[F], bytes], bytes]:
        flp, blind = self.flp, share[-SEED_SIZE:]
        if agg_id > 0:
            meas, proofs = self.helper(agg_id, share[:SEED_SIZE])
        else:
            end = (flp.MEAS_LEN + flp.PROOF_LEN * self.PROOFS) * flp.field.ENCODED_SIZE
            meas, proofs = front(flp.MEAS_LEN, flp.field.decode_vec(share[:end]))
        seed, part, joint_rands = b"", b"", []
        if flp.JOINT_RAND_LEN > 0:
            part = self.joint_rand_part(agg_id, blind, meas, nonce)
            parts = [public[i : i + SEED_SIZE] for i in range(0, len(public), SEED_SIZE)]
            parts[agg_id] = part
            seed = self.joint_rand_seed(parts)
            joint_rands = self.joint_rands(seed)
        query_rands = self.vec(QUERY_RANDOMNESS, key, bytes([self.PROOFS]) + nonce, flp.QUERY_RAND_LEN * self.PROOFS)
        verifiers: list[F] = []
        for _ in range(self.PROOFS):
            proof, proofs = front(flp.PROOF_LEN, proofs)
            query_rand, query_rands = front(flp.QUERY_RAND_LEN, query_rands)
            joint_rand, joint_rands = front(flp.JOINT_RAND_LEN, joint_rands)
            verifiers += flp.query(meas, proof, query_rand, joint_rand, self.SHARES)
        return (flp.truncate(meas), seed), flp.field.encode_vec(verifiers) + part

    def verifier_shares_to_message(self, shares: list[bytes]) -> bytes:
        flp, length = self.flp, self.flp.VERIFIER_LEN * self.PROOFS * self.flp.field.ENCODED_SIZE
        verifiers = flp.field.decode_vec(shares[0][:length])
        for one in shares[1:]:
            verifiers = [a + b for a, b in zip(verifiers, flp.field.decode_vec(one[:length]), strict=True)]
        for _ in range(self.PROOFS):
            verifier, verifiers = front(flp.VERIFIER_LEN, verifiers)
            if not flp.decide(verifier):
                raise ValueError("proof verifier check failed")
        return self.joint_rand_seed([one[length:] for one in shares]) if flp.JOINT_RAND_LEN > 0 else b""

    def verify_next(self, state: tuple[list[F], bytes], message: bytes) -> list[F]:
        if state[1] != message:
            raise ValueError("joint randomness check failed")
        return state[0]
